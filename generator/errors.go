package generator

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Sentinels for errors.Is. Package sqlfuncs/sqlstate maps each one to an SQLSTATE,
// given at the line's end, and to a MySQL error number.
var (
	ErrName      = errors.New("invalid generator name")              // 22023
	ErrOption    = errors.New("invalid generator option")            // 22023
	ErrCount     = errors.New("invalid count")                       // 22023
	ErrTooMany   = errors.New("too many generators")                 // 54000
	ErrUnknown   = errors.New("unknown generator")                   // 42P01
	ErrExists    = errors.New("generator already exists")            // 42710
	ErrWrongKind = errors.New("not supported by this generator")     // 0A000
	ErrExhausted = errors.New("generator exhausted")                 // 2200H
	ErrNotNow    = errors.New("this server cannot issue ids now")    // 57P03: this server cannot issue ids now; another one may
	ErrRetry     = errors.New("no id in time")                       // 55P03: no id could be drawn before the deadline; the call may be repeated
	ErrRegressed = errors.New("store is inconsistent")               // 58000: an operator must act
	ErrNotHeld   = errors.New("number is not held")                  // 55000
	ErrPinned    = errors.New("configuration contradicts the store") // 58000
)

// Error is an error with a message for clients and a hint for a DBA.
type Error struct {
	Kind    error  // one of the sentinels
	Reason  Reason // set for ErrNotNow
	Name    string // generator name, "" for none
	Message string // one sentence, no trailing period
	Hint    string // what to type or do; may be empty
	Cause   error  // may be nil
}

// Reason is the machine-readable cause of an ErrNotNow: what an operator must
// repair before this server issues ids again.
type Reason string

// Error implements error, so that a Reason can be the kind of Errorf.
func (r Reason) Error() string { return string(r) }

// The reasons of ErrNotNow.
const (
	ReasonClock    Reason = "clock"     // this server's clock was set back, or is wrong
	ReasonWorkerID Reason = "worker id" // another server holds it, or all are held
	ReasonSlice    Reason = "slice"     // the time slice in hand is lost or used up by another server, or may be
	ReasonStore    Reason = "store"     // the store, or the database of the ids, does not answer or is read-only
	ReasonShutdown Reason = "shutdown"  // the server stops, or the generator was changed
)

// ReasonOf returns the innermost Reason among err and its causes, or "".
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

// Unwrap makes errors.Is find both the sentinel and the cause. A cause io.EOF, from
// a closed connection to a store, stays hidden: callers take io.EOF for the end of
// rows and would return no rows and no error.
func (e *Error) Unwrap() []error {
	if e.Cause == nil || errors.Is(e.Cause, io.EOF) {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Errorf returns an *Error about a generator. kind is one of the sentinels, or a
// Reason, which means ErrNotNow.
func Errorf(kind error, name, hint, format string, args ...any) error {
	return CausedError(nil, kind, name, hint, format, args...)
}

// CausedError is Errorf with a cause.
func CausedError(cause, kind error, name, hint, format string, args ...any) error {
	e := &Error{Kind: kind, Name: name, Message: fmt.Sprintf(format, args...), Hint: hint, Cause: cause}
	if reason, ok := kind.(Reason); ok { //nolint:errorlint // kinds are not wrapped
		e.Kind, e.Reason = ErrNotNow, reason
	}
	return e
}

// FewError returns the ErrExhausted of a request for n numbers when fewer are left.
// why is the error of the generator's end; its hint is kept.
func FewError(name string, n int64, why error) error {
	hint := "Ask for fewer."
	if e, ok := errors.AsType[*Error](why); ok && e.Hint != "" {
		hint += " " + e.Hint
	}
	return Errorf(ErrExhausted, name, hint, "generator %q has fewer than %d numbers left", name, n)
}

// ClosedError returns the ErrNotNow of a draw from a closed generator.
func ClosedError(name string) error {
	return Errorf(ReasonShutdown, name, "Connect again: the server is shutting down or the generator was changed.", "generator %q is closed", name)
}

const hintGone = "Connect to another nextid server, or try again when this one is back."

// ShutdownError returns the ErrNotNow of a server that shuts down.
func ShutdownError(name string) error {
	return Errorf(ReasonShutdown, name, hintGone, "the server is shutting down")
}

// UnknownError returns the ErrUnknown of a name.
func UnknownError(name string) error {
	return Errorf(ErrUnknown, name, "", "generator %q does not exist", name)
}

// ChangedError returns the ErrRetry of a change whose definition was changed
// meanwhile.
func ChangedError(name string) error {
	return Errorf(ErrRetry, name, "Look at it again and repeat the change.", "generator %q was changed by another session at the same time", name)
}

// StoreClosedError returns the ErrNotNow of a closed store.
func StoreClosedError() error { return Errorf(ReasonShutdown, "", hintGone, "the store is closed") }

// StoreLateError returns the ErrRetry of a call that ended before the store
// answered.
func StoreLateError(ctx context.Context) error {
	return CausedError(ctx.Err(), ErrRetry, "", "Try again.", "no answer from the store in time")
}
