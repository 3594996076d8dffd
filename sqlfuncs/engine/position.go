package engine

import (
	"errors"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Located turns byte offsets that the planner put into errors into the
// character positions that clients want.
func (p *Planner) Located(err error) error {
	var pe *posError
	if !errors.As(err, &pe) {
		return err
	}
	var se *sqlstate.Error
	if errors.As(pe.err, &se) && se.Position == 0 && pe.pos >= 0 && int(pe.pos) <= len(p.Source) {
		c := *se
		c.Position = utf8.RuneCountInString(p.Source[:pe.pos]) + 1
		return &c
	}
	return pe.err
}

// posError is an error at a place in the statement.
type posError struct {
	pos syntax.Pos
	err error
}

func (e *posError) Error() string { return e.err.Error() }
func (e *posError) Unwrap() error { return e.err }

// At adds a place to an error, unless it has one.
func At(pos syntax.Pos, err error) error {
	var pe *posError
	if err == nil || errors.As(err, &pe) {
		return err
	}
	return &posError{pos, err}
}

// Unsupported is the refusal of an SQL construct.
func Unsupported(pos syntax.Pos, what string) error {
	return At(pos, sqlstate.New(sqlstate.FeatureNotSupported, "%s is not supported by nextid", what).
		WithHint("nextid answers SELECT over its id functions and tables; it stores no rows."))
}
