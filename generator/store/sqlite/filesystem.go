package sqlite

// filesystem is what matters of the file system that a directory is on.
type filesystem struct {
	name         string
	remote       bool // shared between machines: locks and fsync cannot be trusted
	steadyInodes bool // a file keeps its inode number over a remount
}
