package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of the files beside the database file.
const (
	lockSuffix        = ".lock" // see directory.takeLock
	fingerprintSuffix = ".id"   // see fingerprint
	countSuffix       = ".id-"  // see fingerprint
	newSuffix         = ".new"  // a file that is not finished yet
	journalSuffix     = "-journal"
)

// directory is the data directory of a store, locked for this process. Its files
// are opened relative to the open directory. So they stay in reach if the directory
// is renamed.
//
// No method opens the database file itself while SQLite has it open. Closing any
// descriptor of a file drops all POSIX locks of the process on that file
// (fcntl(2)), also those of SQLite.
type directory struct {
	path  string // as the user wrote it, for messages
	abs   string // for SQLite
	file  string // name of the database file
	fresh bool   // a new store requires an empty directory
	fs    filesystem
	root  *os.Root
	lock  *os.File

	database os.FileInfo // the database file that was opened
	written  time.Time   // its modification time after our last write; zero if unknown
}

// openDirectory creates the directory if needed, checks it and locks it.
func openDirectory(cfg Config) (*directory, error) {
	d := &directory{path: cmp.Or(cfg.Dir, "."), file: cmp.Or(cfg.File, DefaultFile), fresh: cfg.File == ""}
	if filepath.Base(d.file) != d.file {
		return nil, refuse("Give the directory as Dir and the file's name as File.",
			"%q is not the name of a file in the data directory", d.file)
	}
	return d, d.open(d.check)
}

// Lock locks the data directory of a server whose store is elsewhere, in the same
// way as an embedded store does. Closing the result unlocks it. Lock creates a
// missing directory.
func Lock(dir string) (io.Closer, error) {
	d := &directory{path: cmp.Or(dir, "."), file: DefaultFile}
	return d, d.open(func() error { return nil })
}

// open creates the directory if needed, and locks it if check accepts it.
func (d *directory) open(check func() error) (err error) {
	if d.abs, err = filepath.Abs(d.path); err == nil {
		err = makeDirectory(d.abs)
	}
	if err != nil {
		return d.error(err)
	}
	if err := check(); err != nil {
		return err
	}
	if d.root, err = os.OpenRoot(d.path); err != nil {
		return d.error(err)
	}
	if err := d.takeLock(); err != nil {
		d.root.Close()
		return err
	}
	return nil
}

// Close unlocks the directory. It never fails.
func (d *directory) Close() error {
	unlock(d.lock)
	d.lock.Close()
	d.root.Close()
	return nil
}

// error returns an error about the directory itself.
func (d *directory) error(err error) error { return storeError(d.path, err) }

// in returns the path of a file in the directory, for messages.
func (d *directory) in(file string) string { return filepath.Join(d.path, file) }

// makeDirectory creates a directory and its missing parents durably. If a power
// failure removed them, the next start would make a new store, which would issue
// the same ids again.
func makeDirectory(abs string) error {
	var parents []string // of the directories that are missing
	for p := abs; p != filepath.Dir(p); p = filepath.Dir(p) {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parents = append(parents, filepath.Dir(p))
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return err
	}
	for _, p := range parents {
		if err := syncOpened(os.Open(p)); err != nil {
			return err
		}
	}
	return nil
}

// sync makes the entries of the directory durable.
func (d *directory) sync() error { return syncOpened(d.root.Open(".")) }

// syncOpened syncs an opened directory and closes it. It takes the results of an
// Open call.
func syncOpened(dir *os.File, err error) error {
	if err != nil {
		return err
	}
	defer dir.Close()
	return syncDirectory(dir)
}

// check refuses directories in which a store would not be safe.
func (d *directory) check() error {
	info, err := os.Stat(d.path)
	if err != nil {
		return d.error(err)
	}
	if err := writable("the data directory "+d.path, info); err != nil {
		return err
	}
	if d.fs, err = filesystemOf(d.path); err != nil {
		return d.error(err)
	}
	if d.fs.remote {
		return refuse("Locks and fsync cannot be trusted there. Choose a directory on a local disk.",
			"the data directory %s is on a file system that machines share (%s)", d.path, d.fs.name)
	}
	return nil
}

// writable checks the mode bits. They bind root as well, which the system would let
// write.
func writable(what string, info os.FileInfo) error {
	if info.Mode().Perm()&0o200 != 0 {
		return nil
	}
	return refuse("nextid must be able to write the data directory and the files in it: chmod u+w.",
		"%s is read-only (mode %#o)", what, info.Mode().Perm())
}

// takeLock locks the lock file until the directory is closed, and writes this
// process into it for the error message of another one.
func (d *directory) takeLock() error {
	name := d.file + lockSuffix
	for {
		f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return storeError(d.in(name), err)
		}
		ok, err := tryLock(f)
		switch {
		case err != nil:
			f.Close()
			return storeError(d.in(name), err)
		case !ok:
			holder, _ := io.ReadAll(io.LimitReader(f, 512))
			f.Close()
			return refuse(hintInUse, "the data directory %s is in use by %s",
				d.path, cmp.Or(strings.TrimSpace(string(holder)), "another process"))
		case !d.still(f, name):
			f.Close() // it was deleted between opening and locking
			continue
		}
		d.lock = f
		host, _ := os.Hostname()
		if f.Truncate(0) == nil {
			_, _ = f.WriteAt(fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), cmp.Or(host, "this machine")), 0)
		}
		return nil
	}
}

// still reports whether name is the file f.
func (d *directory) still(f *os.File, name string) bool {
	opened, err1 := f.Stat()
	there, err2 := d.root.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(opened, there)
}

// usersFile is written by "nextid passwd", possibly before the first start.
const usersFile = "users"

// checkEmpty refuses to make a new store in a directory with files of other
// programs.
func (d *directory) checkEmpty() error {
	if !d.fresh {
		return nil
	}
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return d.error(err)
	}
	for _, e := range entries {
		switch e.Name() {
		case d.file + lockSuffix, d.file + newSuffix, d.file + newSuffix + journalSuffix, "lost+found", usersFile:
		default:
			return refuse("Name the data directory, or an empty directory for a new store.",
				"the directory %s holds no %s but other files, %s among them", d.path, d.file, e.Name())
		}
	}
	return nil
}

// create makes a new store. The file gets its name only when it is complete. So a
// process that is killed meanwhile leaves no file that looks like a store.
func (d *directory) create(ctx context.Context, cfg Config) error {
	temporary := d.file + newSuffix
	for _, leftover := range []string{temporary, temporary + journalSuffix} {
		if err := d.root.Remove(leftover); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storeError(d.in(leftover), err)
		}
	}
	// SQLite gives a journal the mode of its database.
	f, err := d.root.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		f.Close()
		err = create(ctx, filepath.Join(d.abs, temporary), cfg)
	}
	if err != nil {
		return storeError(d.in(temporary), err)
	}
	if err := d.root.Rename(temporary, d.file); err != nil {
		return storeError(d.in(d.file), err)
	}
	return storeError(d.path, d.sync())
}

// adoptFile remembers the identity of the database file, and checks that it is a
// regular, writable file.
func (d *directory) adoptFile() error {
	info, err := d.root.Stat(d.file)
	if err != nil {
		return storeError(d.in(d.file), err)
	}
	switch {
	case !info.Mode().IsRegular():
		return refuse("Name the directory that holds the database file.", "%s is not a regular file", d.in(d.file))
	case info.Size() == 0:
		return inconsistent(hintRestore, "%s is empty", d.in(d.file))
	}
	d.database = info
	return writable(d.in(d.file), info)
}

// changed reports whether another program has written to the database file since
// the last call of wrote. It returns an error if the file was removed or replaced.
func (d *directory) changed() (written bool, err error) {
	info, err := d.root.Stat(d.file)
	if err == nil && os.SameFile(info, d.database) {
		return timesAreExact && !d.written.IsZero() && !info.ModTime().Equal(d.written), nil
	}
	return false, inconsistent("Put the file back that was there, or stop the server and look after the data directory.",
		"%s was removed or replaced while the server was running", d.in(d.file))
}

// wrote remembers the present content of the database file as written by this
// process.
func (d *directory) wrote() {
	d.written = time.Time{} // unknown
	if info, err := d.root.Stat(d.file); err == nil {
		d.written = info.ModTime()
	}
}
