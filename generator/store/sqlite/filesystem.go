package sqlite

// filesystem holds what matters of the file system that a directory is on.
type filesystem struct {
	name         string
	magic        uint32 // as statfs(2) says it
	remote       bool   // shared between machines: locks and fsync cannot be trusted
	steadyInodes bool   // a file keeps its inode number over a remount
}
