package sqlfuncs

import (
	"context"
	"errors"

	"nextid/generator"
	"nextid/generator/quota"
	"nextid/sqlfuncs/sqlstate"
)

// generatorCodes maps what the engines say to SQLSTATE (docs/codes.md).
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
	{generator.ErrNotHeld, sqlstate.NotPrerequisite},
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
	if q, ok := errors.AsType[*quota.Exceeded](err); ok {
		return &sqlstate.Error{Code: sqlstate.QuotaExceeded, Message: q.Message, Hint: q.Hint, Retry: q.Retry}
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
				if r := generator.ReasonOf(err); r != "" && errors.Is(m.kind, generator.ErrNotNow) {
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
