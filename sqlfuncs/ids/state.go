package ids

import (
	"cmp"

	"nextid/generator"
	"nextid/sqlfuncs/sqlstate"
)

// states maps the kinds of errors of generators (generator.Error.Kind) to SQLSTATEs.
var states = map[error]sqlstate.Code{
	generator.ErrName:      sqlstate.InvalidParameterValue,
	generator.ErrOption:    sqlstate.InvalidParameterValue,
	generator.ErrCount:     sqlstate.InvalidParameterValue,
	generator.ErrUnknown:   sqlstate.UndefinedTable,
	generator.ErrExists:    sqlstate.DuplicateObject,
	generator.ErrWrongKind: sqlstate.FeatureNotSupported,
	generator.ErrExhausted: sqlstate.SequenceExhausted,
	generator.ErrTooMany:   sqlstate.LimitExceeded,
	generator.ErrNotHeld:   sqlstate.NotPrerequisite,
	generator.ErrNotNow:    sqlstate.CannotConnectNow,
	generator.ErrRetry:     sqlstate.LockNotAvailable,
	generator.ErrRegressed: sqlstate.SystemError,
	generator.ErrPinned:    sqlstate.SystemError,
}

// StateOf returns the SQLSTATE of a generator's error, Internal for an unknown one.
func StateOf(kind error) sqlstate.Code { return cmp.Or(states[kind], sqlstate.Internal) }
