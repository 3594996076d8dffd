package engine

import (
	"context"
	"runtime"
	"sync/atomic"
)

// Turns keep the long statements of a server from taking all its processors:
// all but one of them work at a time on such statements, which take turns of
// about a millisecond. Short statements and logins need not wait for them.
type Turns struct {
	places  chan struct{}
	waiting atomic.Int32
}

// NewTurns returns the turns of a server.
func NewTurns() *Turns { return &Turns{places: make(chan struct{}, max(runtime.GOMAXPROCS(0)-1, 1))} }

// Turn is one statement's at a time, for its goroutine alone.
type Turn struct {
	turns *Turns
	held  bool
}

// Turn returns one that is not held.
func (t *Turns) Turn() Turn { return Turn{turns: t} }

// Held reports whether it is held.
func (t *Turn) Held() bool { return t.held }

// Take waits for a turn, in the order of those who wait. Who has one passes it
// on if somebody waits, and waits again. In any case whatever else could run
// has its processor first: the Go scheduler would leave it to a statement for
// ten milliseconds.
func (t *Turn) Take(ctx context.Context) error {
	defer runtime.Gosched()
	if t.held {
		if t.turns.waiting.Load() == 0 {
			return nil
		}
		t.End()
	}
	t.turns.waiting.Add(1)
	defer t.turns.waiting.Add(-1)
	select {
	case t.turns.places <- struct{}{}:
		t.held = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End gives the turn back, if it is held.
func (t *Turn) End() {
	if t.held {
		t.held = false
		<-t.turns.places
	}
}
