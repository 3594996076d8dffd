package sqlfuncs

import (
	"context"
	"errors"
	"unicode/utf8"

	"nextid/generator"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// generatorCodes maps what the engines say to SQLSTATE (DESIGN.md, contract:
// errors).
var generatorCodes = []struct {
	kind error
	code sqlstate.Code
}{
	{generator.ErrName, sqlstate.InvalidParameterValue},
	{generator.ErrOption, sqlstate.InvalidParameterValue},
	{generator.ErrCount, sqlstate.InvalidParameterValue},
	{generator.ErrUnknown, sqlstate.UndefinedTable},
	{generator.ErrExists, sqlstate.DuplicateObject},
	{generator.ErrWrongKind, sqlstate.FeatureNotSupported},
	{generator.ErrExhausted, sqlstate.SequenceExhausted},
	{generator.ErrTooMany, sqlstate.LimitExceeded},
	{generator.ErrNotNow, sqlstate.CannotConnectNow},
	{generator.ErrRetry, sqlstate.LockNotAvailable},
	{generator.ErrRegressed, sqlstate.SystemError},
	{generator.ErrPinned, sqlstate.SystemError},
}

// clientError makes the one error that the client gets: what a generator or
// the context said becomes an SQLSTATE, everything unknown is internal.
func clientError(ctx context.Context, err error) error {
	var se *sqlstate.Error
	if errors.As(err, &se) {
		return err
	}
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); errors.As(cause, &se) {
			return cause
		}
		return sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to user request")
	}
	if ge, ok := errors.AsType[*generator.Error](err); ok {
		for _, m := range generatorCodes {
			if errors.Is(ge.Kind, m.kind) {
				se := &sqlstate.Error{Code: m.code, Message: ge.Message, Hint: ge.Hint, Cause: err}
				if r := generator.ReasonOf(err); r != "" && m.kind == generator.ErrNotNow {
					se.Detail = "Reason: " + string(r) + "."
				}
				return se
			}
		}
	}
	return &sqlstate.Error{
		Code: sqlstate.Internal, Message: "internal error", Cause: err,
		Hint: "The server's log has the details.",
	}
}

// located turns byte offsets that the planner put into errors into the
// character positions that clients want.
func (p *planner) located(err error) error {
	var pe *posError
	if !errors.As(err, &pe) {
		return err
	}
	var se *sqlstate.Error
	if errors.As(pe.err, &se) && se.Position == 0 && pe.pos >= 0 && int(pe.pos) <= len(p.source) {
		c := *se
		c.Position = utf8.RuneCountInString(p.source[:pe.pos]) + 1
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

// at adds a place to an error, unless it has one.
func at(pos syntax.Pos, err error) error {
	var pe *posError
	if err == nil || errors.As(err, &pe) {
		return err
	}
	return &posError{pos, err}
}

// unsupported is the refusal of an SQL construct.
func unsupported(pos syntax.Pos, what string) error {
	return at(pos, sqlstate.New(sqlstate.FeatureNotSupported, "%s is not supported by nextid", what).
		WithHint("nextid answers SELECT over its id functions and tables; it stores no rows."))
}
