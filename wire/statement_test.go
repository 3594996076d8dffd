package wire_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nextid/wire"
)

var (
	errKilled  = errors.New("killed")
	errOverdue = errors.New("overdue")
)

func TestAnInterruptEndsTheRunningStatementOnly(t *testing.T) {
	var s wire.Statement
	defer s.Close()
	s.Interrupt(errKilled) // before the first
	first := s.Begin(t.Context(), 0, nil)
	if first.Err() != nil {
		t.Fatal("ended before it began")
	}
	s.End()
	s.Interrupt(errKilled) // between two
	second := s.Begin(t.Context(), 0, nil)
	if second.Err() != nil {
		t.Fatal("an interrupt between statements ended the next one")
	}
	s.Interrupt(errKilled)
	if !errors.Is(context.Cause(second), errKilled) {
		t.Fatalf("cause %v", context.Cause(second))
	}
	s.End()
	if third := s.Begin(t.Context(), 0, nil); third.Err() != nil {
		t.Fatal("an interrupt ended the statement after its own")
	}
	s.End()
}

func TestAStatementEndsWithItsParent(t *testing.T) {
	var s wire.Statement
	defer s.Close()
	parent, stop := context.WithCancelCause(t.Context())
	ctx := s.Begin(parent, time.Hour, errOverdue)
	stop(errKilled)
	if <-ctx.Done(); !errors.Is(context.Cause(ctx), errKilled) {
		t.Fatalf("cause %v", context.Cause(ctx))
	}
	s.End()
}

// Each statement ends at its own deadline, and none before.
func TestEachStatementHasItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s wire.Statement
		defer s.Close()
		for _, c := range []struct{ timeout, runs, ends time.Duration }{
			{10 * time.Second, time.Second, 0},
			{10 * time.Second, 9500 * time.Millisecond, 0}, // the first one would end in it
			{time.Second, 2 * time.Second, time.Second},
			{0, time.Hour, 0},
			{10 * time.Second, 11 * time.Second, 10 * time.Second},
			{time.Minute, 59 * time.Second, 0},
		} {
			began := time.Now()
			ctx := s.Begin(t.Context(), c.timeout, errOverdue)
			select {
			case <-ctx.Done():
				if d := time.Since(began); c.ends == 0 || d != c.ends || !errors.Is(context.Cause(ctx), errOverdue) {
					t.Errorf("%+v: ended after %s, cause %v", c, d, context.Cause(ctx))
				}
			case <-time.After(c.runs):
				if c.ends > 0 {
					t.Errorf("%+v: did not end", c)
				}
			}
			s.End()
		}
	})
}

// A connection is closed after a panic, before its statement has ended.
func TestCloseEndsTheRunningStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s wire.Statement
		ctx := s.Begin(t.Context(), time.Second, errOverdue)
		s.Close()
		<-time.After(2 * time.Second) // the deadline finds no statement
		s.Interrupt(errKilled)
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			t.Error(cause)
		}
	})
}

func TestTookGetsTheDurationOfAStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		s := wire.Statement{Took: func(d time.Duration) { took = append(took, d) }}
		defer s.Close()
		for _, d := range []time.Duration{time.Second, 3 * time.Second} {
			s.Begin(t.Context(), time.Minute, errOverdue)
			time.Sleep(d) //nolint:forbidigo // synctest's
			s.End()
		}
		if !slices.Equal(took, []time.Duration{time.Second, 3 * time.Second}) {
			t.Errorf("durations %v", took)
		}
	})
}

func TestStatementAllocatesNothing(t *testing.T) {
	var s wire.Statement
	defer s.Close()
	if n := testing.AllocsPerRun(1000, func() {
		s.Begin(t.Context(), time.Minute, errOverdue)
		s.End()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
