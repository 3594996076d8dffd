package engine

import (
	"context"
	"runtime"
	"sync/atomic"

	"nextid/sqlfuncs/syntax"
)

// CPUSlots limits how many long statements run at a time. There is one slot fewer
// than processors, so that long statements never occupy all of them. A statement
// holds a slot for about a quarter of a millisecond at a time. Short statements and
// logins need none.
type CPUSlots struct {
	slots   chan struct{}
	waiting atomic.Int32
}

// NewCPUSlots returns the slots of a server.
func NewCPUSlots() *CPUSlots {
	return &CPUSlots{slots: make(chan struct{}, max(runtime.GOMAXPROCS(0)-1, 1))}
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

// Acquire waits for a slot, in the order of the calls. A session that holds one
// while others wait releases it and queues again. Acquire always yields to
// goroutines that are ready to run.
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
	case s.of.slots <- struct{}{}:
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
		<-s.of.slots
	}
}
