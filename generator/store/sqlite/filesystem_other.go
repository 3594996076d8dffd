//go:build !linux

package sqlite

// filesystemOf takes every file system outside Linux for a local one, and does not
// bind the store to an inode.
func filesystemOf(string) (filesystem, error) { return filesystem{name: "unknown"}, nil }

// machineID returns "": it is not read outside Linux.
func machineID() string { return "" }
