package generator

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Sentinels: what a caller can branch on. sqlfuncs maps each to one SQLSTATE
// and one MySQL error number (the codes in brackets).
var (
	ErrName      = errors.New("invalid generator name")              // 22023
	ErrOption    = errors.New("invalid generator option")            // 22023
	ErrCount     = errors.New("invalid count")                       // 22023
	ErrTooMany   = errors.New("too many generators")                 // 54000
	ErrUnknown   = errors.New("unknown generator")                   // 42P01
	ErrExists    = errors.New("generator already exists")            // 42710
	ErrWrongKind = errors.New("not supported by this generator")     // 0A000
	ErrExhausted = errors.New("generator exhausted")                 // 2200H
	ErrNotNow    = errors.New("this server cannot issue ids now")    // 57P03: another server may
	ErrRetry     = errors.New("no id in time")                       // 55P03: try again here
	ErrRegressed = errors.New("store is inconsistent")               // 58000: an operator is needed
	ErrNotHeld   = errors.New("number is not held")                  // 55000
	ErrPinned    = errors.New("configuration contradicts the store") // 58000
)

// Error is one failure with what a DBA needs to act on it.
type Error struct {
	Kind    error  // one of the sentinels above
	Reason  Reason // why not now, for ErrNotNow
	Name    string // generator name, "" when none is concerned
	Message string // one sentence, no trailing period
	Hint    string // what to do about it; may be empty
	Cause   error  // underlying error, may be nil
}

// Reason tells the cases of ErrNotNow apart, for programs: what has to be set
// right before this server issues ids again.
type Reason string

// The reasons.
const (
	ReasonClock    Reason = "clock"     // this server's clock was set back, or is wrong
	ReasonWorkerID Reason = "worker id" // another server holds it, or all of them are held
	ReasonSlice    Reason = "slice"     // the time slice in hand is lost or used up by another server, or may be
	ReasonStore    Reason = "store"     // the store, or the database that ids come from, does not answer or takes no writes
	ReasonShutdown Reason = "shutdown"  // the server stops, or the generator was changed
)

// ReasonOf is the reason that an error or one of its causes gives, the
// innermost one; "" if none does.
func ReasonOf(err error) Reason {
	var r Reason
	for {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return r
		}
		if e.Reason != "" {
			r = e.Reason
		}
		err = e.Cause
	}
}

func (e *Error) Error() string {
	if e.Cause == nil || e.Cause == context.DeadlineExceeded || e.Cause == context.Canceled { //nolint:errorlint // the message says so itself
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap makes errors.Is find both the sentinel and the cause. A cause that is
// io.EOF, as of a connection to a store that ended, stays hidden: callers
// take io.EOF for the end of rows, and would answer with none and no error.
func (e *Error) Unwrap() []error {
	if e.Cause == nil || errors.Is(e.Cause, io.EOF) {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// FewError is the error of a request for n numbers of which fewer are left. why
// is that of the generator's end.
func FewError(name string, n int64, why error) error {
	hint := "Ask for fewer."
	if e, ok := errors.AsType[*Error](why); ok && e.Hint != "" {
		hint += " " + e.Hint
	}
	return &Error{Kind: ErrExhausted, Name: name, Message: fmt.Sprintf("generator %q has fewer than %d numbers left", name, n), Hint: hint}
}

// CountError is the ErrCount of a draw of n < 1 ids.
func CountError(name string, n int64) error {
	return &Error{Kind: ErrCount, Name: name, Message: fmt.Sprintf("cannot draw %d ids", n), Hint: "Ask for at least one id."}
}

// ClosedError is the ErrNotNow of a draw from a generator that was closed.
func ClosedError(name string) error {
	return &Error{
		Kind: ErrNotNow, Reason: ReasonShutdown, Name: name, Message: fmt.Sprintf("generator %q is closed", name),
		Hint: "Connect again: the server is shutting down or the generator was changed.",
	}
}

// ShutdownError is the ErrNotNow of a server that issues no more ids.
func ShutdownError(name string) error {
	return &Error{
		Kind: ErrNotNow, Reason: ReasonShutdown, Name: name, Message: "the server is shutting down",
		Hint: "Connect to another nextid server, or try again when this one is back.",
	}
}

// ChangedError is the ErrRetry of a store whose definition of a name is
// another than the one to change.
func ChangedError(name string) error {
	return &Error{
		Kind: ErrRetry, Name: name,
		Message: fmt.Sprintf("generator %q was changed by somebody else at the same time", name),
		Hint:    "Look at it again and repeat the change.",
	}
}

// StoreClosedError is the ErrNotNow of a store that was closed.
func StoreClosedError() error {
	return &Error{
		Kind: ErrNotNow, Reason: ReasonShutdown, Message: "the store is closed",
		Hint: "Connect to another nextid server, or try again when this one is back.",
	}
}

// StoreLateError is the ErrRetry of a store whose caller waits no longer.
func StoreLateError(ctx context.Context) error {
	return &Error{Kind: ErrRetry, Message: "no answer from the store in time", Hint: "Try again.", Cause: ctx.Err()}
}
