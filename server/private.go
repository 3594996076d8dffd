package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readPrivate reads a file that only its owner may read, such as a users file or a
// private key. As with PostgreSQL's keys, the group may read a file of root. what
// names the file in errors.
func readPrivate(what, path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !isPrivate(info) {
		return nil, &Error{
			What: fmt.Sprintf("the %s %s can be read or changed by others (mode %04o)", what, path, info.Mode().Perm()),
			Hint: "Run: chmod 600 " + path,
		}
	}
	return readPublic(what, path)
}

// readPublic reads a file that others may read, but not change: it decides who may
// log in.
func readPublic(what, path string) ([]byte, error) {
	if err := checkReplaceable(what, path); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, readFailure(what, path, err)
	}
	return content, nil
}

// checkReplaceable returns an error for a file that any user of the machine can
// change or replace. That is so if the file, its target or a directory above one of
// them is writable by all, except for a directory with the sticky bit. sshd checks
// authorized_keys in this way (StrictModes).
func checkReplaceable(what, path string) error {
	start, err := filepath.Abs(path)
	if err != nil {
		return readFailure(what, path, err)
	}
	target, err := filepath.EvalSymlinks(start)
	if err != nil {
		target = start // the file may be missing; its directories are checked
	}
	for _, at := range []string{start, target} {
		for last := ""; at != last; last, at = at, filepath.Dir(at) {
			info, err := os.Stat(at)
			if err == nil && !modeless && info.Mode().Perm()&0o002 != 0 && info.Mode()&(fs.ModeDir|fs.ModeSticky) != fs.ModeDir|fs.ModeSticky {
				return &Error{
					What: fmt.Sprintf("the %s %s can be changed by others: %s is writable by all (mode %04o)", what, path, at, info.Mode().Perm()),
					Hint: "Run: chmod o-w " + at,
				}
			}
		}
	}
	return nil
}

// isPrivate reports whether the mode of a file keeps its content secret.
func isPrivate(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	return modeless || mode&0o077 == 0 || mode&0o037 == 0 && ownedBy(info, 0)
}

// readFailure returns an error of reading a file, with a hint for its cause.
func readFailure(what, path string, err error) error {
	f := &Error{What: fmt.Sprintf("the %s %s: %s", what, path, rootCause(err)), Err: err}
	_, hidden := os.Lstat(path)
	switch {
	case errors.Is(hidden, fs.ErrPermission):
		f.What = fmt.Sprintf("the directory of the %s %s: %s", what, path, rootCause(err))
		f.Hint = "The user that runs nextid must be allowed to enter it (chown, chmod)."
	case errors.Is(err, fs.ErrPermission):
		f.Hint = "Give it to the user that runs nextid (chown), with mode 0600."
	case errors.Is(err, fs.ErrNotExist):
		f.Hint = "Check the path; relative ones start where nextid was started."
	}
	return f
}

// editPrivate replaces the content of a file by that which edit returns, in one step
// and for its owner only: a reader gets the old content or the new. Meanwhile it
// holds a lock on the directory of the file, so that edits by other processes wait.
// It makes the directory if it is missing.
func editPrivate(path string, edit func() ([]byte, error)) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace the target, not the link
	}
	failed := func(err error) error {
		return &Error{What: fmt.Sprintf("write %s: %s", path, rootCause(err)), Err: err}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return failed(err)
	}
	defer d.Close() // releases the lock
	if err := lockFile(d); err != nil {
		return failed(err)
	}
	content, err := edit()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".") // with mode 0600
	if err != nil {
		return failed(err)
	}
	like, statErr := os.Stat(path)
	if statErr != nil {
		like, statErr = d.Stat()
	}
	_, err = f.Write(content)
	if err == nil && statErr == nil {
		err = giveLike(f, like)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return failed(errors.Join(err, os.Remove(f.Name())))
	}
	if modeless {
		return nil
	}
	return d.Sync() // makes the rename durable
}
