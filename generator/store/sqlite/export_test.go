package sqlite

// InodesLast reports whether a store in dir is bound to the inode of its file.
func InodesLast(dir string) bool {
	fs, err := filesystemOf(dir)
	return err == nil && fs.steadyInodes
}
