package pgwire

import (
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// maxNameBytes bounds the names of prepared statements and portals. PostgreSQL
// uses 63 bytes of them.
const maxNameBytes = 1024

// checkName checks the name of a new statement or portal.
func checkName(name []byte) error {
	if len(name) > maxNameBytes {
		return sqlstate.New(sqlstate.LimitExceeded, "a name of %d bytes is longer than %d bytes", len(name), maxNameBytes)
	}
	return checkText(name)
}

// checkText returns an error (22021) for text that is not UTF-8, as PostgreSQL does.
// Package sqlfuncs relies on it.
func checkText(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	return sqlstate.BrokenText(string(b))
}
