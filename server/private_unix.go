//go:build unix

package server

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// modeless is true where the mode of a file does not say who may read it.
const modeless = false

// ownedBy reports whether a file belongs to one of the users.
func ownedBy(info fs.FileInfo, users ...int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && slices.Contains(users, int(stat.Uid))
}

// giveLike gives a new file the owner of like, the old file or its directory. When
// root adds a user, the server must still be able to read the file. Only root can
// change the owner; for other users giveLike does nothing.
func giveLike(f *os.File, like fs.FileInfo) error {
	stat, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	err := f.Chown(int(stat.Uid), int(stat.Gid))
	if err == nil && like.Mode().IsRegular() && isPrivate(like) {
		err = f.Chmod(like.Mode().Perm())
	}
	return err
}

// lockFile waits for an exclusive lock on f (flock(2)). Closing f releases it.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
