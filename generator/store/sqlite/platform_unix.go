//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// timesAreExact: a file's modification time is that of the last write.
const timesAreExact = true

// tryLock takes the lock of f without waiting. The lock lasts until unlock.
func tryLock(f *os.File) (ok bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock releases the lock of f. Closing f would not do while a child of this
// process, between fork and exec, has f open, too.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// syncDirectory makes new and renamed entries of a directory durable.
func syncDirectory(dir *os.File) error { return dir.Sync() }

// inodeOf returns the inode number of a file, 0 if it is unknown.
func inodeOf(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
