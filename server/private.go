package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxSecretFile bounds files with users, rules, certificates and keys.
const maxSecretFile = 64 << 20

// ReadPrivate reads a file that only its owner may read: verifiers of
// passwords, private keys. As with PostgreSQL's keys, a file of root's may be
// read by its group.
func ReadPrivate(what, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, readFailure(what, path, err)
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, readFailure(what, path, err)
	}
	if info.Mode().IsRegular() && !isPrivate(info) {
		return nil, &Error{
			Message: fmt.Sprintf("the %s %s can be read or changed by others (mode %04o)", what, path, info.Mode().Perm()),
			Hint:    "Run: chmod 600 " + path,
		}
	}
	if err := CheckReplaceable(what, path); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, maxSecretFile))
	if err != nil {
		return nil, readFailure(what, path, err)
	}
	return content, nil
}

// CheckReplaceable refuses a file that any user of the machine can change or
// replace: it, or a directory above it or its target, is writable by all and
// has no sticky bit. sshd does so with authorized_keys (StrictModes).
func CheckReplaceable(what, path string) error {
	start, err := filepath.Abs(path)
	if err != nil {
		return readFailure(what, path, err)
	}
	target, err := filepath.EvalSymlinks(start)
	if err != nil {
		target = start // it does not exist, and its directories may
	}
	for _, at := range []string{start, target} {
		for up := ""; ; at = up {
			info, err := os.Stat(at)
			if err == nil && !modeless && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
				return &Error{
					Message: fmt.Sprintf("the %s %s can be changed by others: %s is writable by all (mode %04o)", what, path, at, info.Mode().Perm()),
					Hint:    "Run: chmod o-w " + at,
				}
			}
			if up = filepath.Dir(at); up == at {
				break
			}
		}
	}
	return nil
}

// isPrivate reports whether a file's mode keeps it secret.
func isPrivate(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	return modeless || mode&0o077 == 0 || mode&0o037 == 0 && ownedByRoot(info)
}

func readFailure(what, path string, err error) error {
	f := &Error{Message: fmt.Sprintf("the %s %s: %s", what, path, RootCause(err)), Cause: err}
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.Hint = "Give it to the user that runs nextid (chown), with mode 0600."
	case errors.Is(err, fs.ErrNotExist):
		f.Hint = "Check the path; relative ones start where nextid was started."
	}
	return f
}

// EditPrivate runs edit while no other EditPrivate on the file's directory runs. It
// makes the directory if it is missing.
func EditPrivate(path string, edit func() error) error {
	dir := filepath.Dir(path)
	err := os.MkdirAll(dir, 0o700)
	var d *os.File
	if err == nil {
		d, err = os.Open(dir)
	}
	if err == nil {
		defer d.Close() // ends the lock
		err = lockFile(d)
	}
	if err != nil {
		return &Error{Message: fmt.Sprintf("write %s: %s", path, RootCause(err)), Cause: err}
	}
	return edit()
}

// WritePrivate replaces a file as a whole, for its owner only: a reader sees
// the old content or the new one.
func WritePrivate(path string, content []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // do not put a file into the place of a link
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	like, statErr := os.Stat(path)
	if statErr != nil {
		like, statErr = os.Stat(dir)
	}
	_, err = f.Write(content)
	if err == nil && statErr == nil {
		err = giveLike(f, like)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a rename in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if !modeless {
		err = d.Sync()
	}
	return errors.Join(err, d.Close())
}
