package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// timesAreExact: Windows may note a write when the file is closed.
const timesAreExact = false

// tryLock takes the lock of f for as long as f is open, without waiting. It
// locks a byte far behind the content, which others may go on reading.
func tryLock(f *os.File) (ok bool, err error) {
	at := windows.Overlapped{OffsetHigh: 1}
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// syncDirectory does nothing: Windows has no such call, its file systems
// keep their directories in a journal.
func syncDirectory(*os.File) error { return nil }

// inodeOf is 0: the store is not bound to a file here.
func inodeOf(os.FileInfo) uint64 { return 0 }
