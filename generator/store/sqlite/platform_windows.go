package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// timesAreExact: Windows may set the modification time when the file is closed.
const timesAreExact = false

// tryLock takes the lock of f without waiting. The lock lasts until f is closed. It
// covers one byte far behind the content, so that other processes can read the
// content.
func tryLock(f *os.File) (ok bool, err error) {
	at := windows.Overlapped{OffsetHigh: 1}
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// unlock does nothing: closing f unlocks it.
func unlock(*os.File) {}

// syncDirectory does nothing. Windows has no such call; its file systems keep
// directories in a journal.
func syncDirectory(*os.File) error { return nil }

// inodeOf returns 0: on Windows the store is not bound to a file.
func inodeOf(os.FileInfo) uint64 { return 0 }
