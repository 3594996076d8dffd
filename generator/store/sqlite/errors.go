package sqlite

import (
	"errors"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"nextid/generator"
)

const (
	hintRestore = "Do not go on with this file: ids could be given out twice. Restore the data directory, " +
		"start with --adopt once, and raise every segment generator above its last id with setval."
	hintOlder = "An older copy was put in its place, or the disk lost what it had confirmed. Put the newer " +
		"file back; or start with --adopt once and raise every segment generator above its last id with setval."
	hintInUse  = "One process at a time uses a data directory: stop that one, or choose another directory with --data."
	hintAccess = "nextid must be able to write the data directory and the files in it: " +
		"look at their owners (ls -l), and at the limit of open files."
	hintDisk = "Look at the disk and at the system's log. Ids that are already reserved can still be issued."
)

// refuse returns the error of a store that cannot be used now.
func refuse(hint, format string, args ...any) error {
	return generator.Errorf(generator.ReasonStore, "", hint, format, args...)
}

// inconsistent returns the error of a store whose content cannot be trusted.
func inconsistent(hint, format string, args ...any) error {
	return generator.Errorf(generator.ErrRegressed, "", hint, format, args...)
}

// damagedRow returns the error for a row with a wrong checksum.
func damagedRow(what, name string) error {
	return inconsistent(hintRestore, "the stored %s %q is damaged, or was changed by hand", what, name)
}

// storeError turns an error of SQLite or the file system about path into an *Error.
// It returns an *Error unchanged.
func storeError(path string, err error) error {
	if _, known := errors.AsType[*generator.Error](err); known || err == nil {
		return err
	}
	e := &generator.Error{Kind: generator.ErrNotNow, Reason: generator.ReasonStore, Message: "cannot use the store " + path, Hint: hintDisk, Cause: err}
	code := -1 // primary result code
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code() & 0xff
	}
	switch {
	case code == sqlite3.SQLITE_CORRUPT, code == sqlite3.SQLITE_ERROR, code == sqlite3.SQLITE_CONSTRAINT, code == sqlite3.SQLITE_MISMATCH:
		// The last three occur if the tables differ from those that the migrations made.
		e.Kind, e.Message, e.Hint = generator.ErrRegressed, "the store "+path+" is damaged", hintRestore
	case code == sqlite3.SQLITE_NOTADB:
		e.Kind, e.Message = generator.ErrRegressed, path+" is damaged, or not a store of nextid"
		e.Hint = "Name the right data directory. If it is the right one: " + hintRestore
	case code == sqlite3.SQLITE_BUSY:
		e.Message, e.Hint = "the store "+path+" is in use by another process", hintInUse
	case code == sqlite3.SQLITE_READONLY:
		e.Message, e.Hint = "the store "+path+" cannot be written", hintAccess
	case code == sqlite3.SQLITE_CANTOPEN:
		e.Message, e.Hint = "the store "+path+" cannot be opened", hintAccess
	case code == sqlite3.SQLITE_FULL:
		e.Message = "no space left for the store " + path
		e.Hint = "Free some space on the disk; nextid goes on by itself then."
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		e.Message, e.Hint = path+" cannot be written", hintAccess
	case errors.Is(err, syscall.ENOTDIR):
		e.Hint = "Name a directory with --data."
	case errors.Is(err, syscall.ENOSPC):
		e.Message, e.Hint = "no space left for "+path, "Free some space on the disk."
	}
	return e
}
