package ids

import (
	"errors"

	"nextid/generator"
	"nextid/sqlfuncs/sqlstate"
)

// states are the SQLSTATEs of the errors of generators (generator.Error.Kind).
var states = []struct {
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

// StateOf returns the SQLSTATE of a generator's error, Internal for an unknown one.
func StateOf(kind error) sqlstate.Code {
	for _, s := range states {
		if errors.Is(kind, s.kind) {
			return s.code
		}
	}
	return sqlstate.Internal
}
