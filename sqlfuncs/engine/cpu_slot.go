package engine

import (
	"context"
	"runtime"
	"sync/atomic"

	"nextid/sqlfuncs/syntax"
)

// CPUSlots are the admission control of a server's long statements: there is
// one slot fewer than processors, so that such statements never take them all.
// They hold a slot for about a quarter of a millisecond each. Short statements
// and logins need none.
type CPUSlots struct {
	places  chan struct{}
	waiting atomic.Int32
}

// NewCPUSlots returns the slots of a server.
func NewCPUSlots() *CPUSlots {
	return &CPUSlots{places: make(chan struct{}, max(runtime.GOMAXPROCS(0)-1, 1))}
}

// CPUSlot is a session's slot, held or not. Only the session's goroutine uses it.
type CPUSlot struct {
	of   *CPUSlots
	held bool
}

// Slot returns the slot of a new session, not held.
func (s *CPUSlots) Slot() CPUSlot { return CPUSlot{of: s} }

// Held reports whether the session holds its slot.
func (s *CPUSlot) Held() bool { return s.held }

// Acquire waits for a slot, first come, first served. A session that holds one while
// others wait gives it up and queues again. In any case goroutines that are ready
// run first.
func (s *CPUSlot) Acquire(ctx context.Context) error {
	defer syntax.Yield()
	if s.held {
		if s.of.waiting.Load() == 0 {
			return nil
		}
		s.Release()
	}
	s.of.waiting.Add(1)
	defer s.of.waiting.Add(-1)
	select {
	case s.of.places <- struct{}{}:
		s.held = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release gives the slot back, if it is held.
func (s *CPUSlot) Release() {
	if s.held {
		s.held = false
		<-s.of.places
	}
}
