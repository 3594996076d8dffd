//go:build !linux

package sqlite

// filesystemOf knows nothing of file systems outside Linux: it takes them
// for local, and binds the store to no inode.
func filesystemOf(string) (filesystem, error) { return filesystem{name: "unknown"}, nil }

// machineID is unknown outside Linux.
func machineID() string { return "" }
