//go:build unix

package server

import (
	"io/fs"
	"os"
	"syscall"
)

// modeless says that a file's mode does not tell who may read it.
const modeless = false

func ownedByRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}

// ownedByOther reports whether a file belongs to neither this process's user
// nor root.
func ownedByOther(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
}

// giveLike gives a new file to the owner of the old one, or of the directory:
// when root adds a user, the server must still be able to read the file.
func giveLike(f *os.File, like fs.FileInfo) error {
	stat, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	if err := f.Chown(int(stat.Uid), int(stat.Gid)); err != nil {
		return err
	}
	if like.Mode().IsRegular() && isPrivate(like) {
		return f.Chmod(like.Mode().Perm())
	}
	return nil
}

// lockFile waits for the lock of an open file, which ends when the file is closed.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
