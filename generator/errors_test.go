package generator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

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
