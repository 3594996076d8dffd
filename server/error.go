package server

import (
	"errors"
	"strings"

	"nextid/generator"
	"nextid/migrations/appdb"
)

// Error is an error for the person who runs the server.
type Error = appdb.Error

// HintOf returns the hint of an Error, or else of an error of the generators.
func HintOf(err error) string {
	hint := appdb.HintOf(err)
	if e, ok := errors.AsType[*generator.Error](err); ok && hint == "" {
		hint = e.Hint
	}
	return hint
}

// OneLine joins the lines of s, so that one message is not mistaken for several.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
