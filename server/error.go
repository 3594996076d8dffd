package server

import (
	"errors"
	"strings"

	"nextid/generator"
	"nextid/migrations/appdb"
)

// Error is an error for the person who runs the server. Message says in one line
// what went wrong, Hint what to do about it.
type Error struct {
	Message string
	Hint    string
	Cause   error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Cause }

// HintOf returns the hint of an Error, of one of the generators or of the
// migrations; else "".
func HintOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	if e, ok := errors.AsType[*generator.Error](err); ok {
		return e.Hint
	}
	return appdb.HintOf(err)
}

// OneLine joins the lines of s, so that one message is not mistaken for several.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
