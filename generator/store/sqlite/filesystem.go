package sqlite

// filesystem describes the file system of a directory.
type filesystem struct {
	name         string
	magic        uint32 // f_type of statfs(2)
	remote       bool   // shared between machines: locks and fsync cannot be trusted
	steadyInodes bool   // inode numbers are kept over a remount
}
