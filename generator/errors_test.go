package generator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

// The cause knows best why: a generator that gets nothing from the store
// says so, and the store that it was failed over.
func TestReasonOfIsTheInnermost(t *testing.T) {
	inner := &Error{Kind: ErrNotNow, Reason: ReasonSlice, Message: "failed over"}
	for want, err := range map[Reason]error{
		ReasonSlice: fmt.Errorf("outer: %w", &Error{Kind: ErrNotNow, Reason: ReasonStore, Message: "no numbers", Cause: inner}),
		ReasonStore: &Error{Kind: ErrNotNow, Reason: ReasonStore, Cause: io.EOF},
		ReasonClock: errors.Join(io.EOF, &Error{Kind: ErrNotNow, Reason: ReasonClock}),
		"":          &Error{Kind: ErrRetry, Cause: io.EOF},
	} {
		if got := ReasonOf(err); got != want {
			t.Errorf("ReasonOf(%v) = %q, want %q", err, got, want)
		}
	}
}

func TestAnErrorIsNeverTheEndOfRows(t *testing.T) {
	t.Parallel()
	lost := &Error{Kind: ErrNotNow, Message: "no store", Cause: fmt.Errorf("read: %w", io.EOF)}
	err := fmt.Errorf("draw: %w", &Error{Kind: ErrNotNow, Message: "no ids", Cause: lost})
	if errors.Is(err, io.EOF) || !errors.Is(err, ErrNotNow) {
		t.Errorf("%v passes for io.EOF", err)
	}
	if want := "draw: no ids: no store: read: EOF"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if late := (&Error{Kind: ErrRetry, Cause: context.DeadlineExceeded}); !errors.Is(late, context.DeadlineExceeded) || !errors.Is(late, ErrRetry) {
		t.Error("other causes must be found")
	}
}
