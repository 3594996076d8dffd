package sqlfuncs

import (
	"context"
	"errors"

	"nextid/generator"
	"nextid/generator/quota"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
)

// clientError makes the error that the client gets, an *sqlstate.Error. It gives
// errors of generators, of quotas and of the context an SQLSTATE. Any other error
// becomes an internal error (XX000), whose Cause only the log shows.
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
		if code := ids.StateOf(ge.Kind); code != sqlstate.Internal {
			se := &sqlstate.Error{Code: code, Message: ge.Message, Hint: ge.Hint, Cause: err}
			if r := generator.ReasonOf(err); r != "" && code == sqlstate.CannotConnectNow {
				se.Detail = "Reason: " + string(r) + "."
			}
			return se
		}
	}
	return &sqlstate.Error{
		Code: sqlstate.Internal, Message: "internal error", Cause: err,
		Hint: "The server's log has the details.",
	}
}
