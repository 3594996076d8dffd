package sqlite

import (
	"errors"
	"fmt"
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
	hintInUse = "One process at a time uses a data directory: stop that one, or choose another directory with --data."
	hintDisk  = "Look at the disk and at the system's log. Ids that are already reserved can still be issued."
)

// refuse returns the error of a store that cannot be used now.
func refuse(hint, format string, args ...any) error {
	return &generator.Error{Kind: generator.ErrNotNow, Reason: generator.ReasonStore, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// inconsistent returns the error of a store whose content cannot be trusted.
func inconsistent(hint, format string, args ...any) error {
	return &generator.Error{Kind: generator.ErrRegressed, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// damagedRow returns the error for a row with a wrong checksum.
func damagedRow(what, name string) error {
	return inconsistent(hintRestore, "the stored %s %q is damaged, or was changed by hand", what, name)
}

// storeError turns an error of SQLite or the file system about path into an *Error.
// It returns an *Error unchanged.
func storeError(path string, err error) error {
	var known *generator.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &generator.Error{Kind: generator.ErrNotNow, Reason: generator.ReasonStore, Message: "cannot use the store " + path, Hint: hintDisk, Cause: err}
	switch sqliteCode(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH:
		// The last three occur if the tables differ from those that the migrations made.
		e.Kind, e.Message, e.Hint = generator.ErrRegressed, "the store "+path+" is damaged", hintRestore
	case sqlite3.SQLITE_NOTADB:
		e.Kind, e.Message = generator.ErrRegressed, path+" is damaged, or not a store of nextid"
		e.Hint = "Name the right data directory. If it is the right one: " + hintRestore
	case sqlite3.SQLITE_BUSY:
		e.Message = "the store " + path + " is in use by another process"
		e.Hint = hintInUse
	case sqlite3.SQLITE_READONLY:
		e.Message = "the store " + path + " cannot be written"
		e.Hint = "nextid must be able to write the data directory and nextid.db in it."
	case sqlite3.SQLITE_FULL:
		e.Message = "no space left for the store " + path
		e.Hint = "Free some space on the disk; nextid goes on by itself then."
	default:
		describeErrno(e, path, err)
	}
	return e
}

// describeErrno sets message and hint for errors of the operating system.
func describeErrno(e *generator.Error, path string, err error) {
	switch {
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		e.Message = path + " cannot be written"
		e.Hint = "nextid must be able to write the data directory and the files in it."
	case errors.Is(err, syscall.ENOSPC):
		e.Message = "no space left for " + path
		e.Hint = "Free some space on the disk."
	}
}

// sqliteCode returns the primary result code of an SQLite error, else -1.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return -1
	}
	return e.Code() & 0xff
}
