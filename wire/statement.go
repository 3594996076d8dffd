package wire

import (
	"context"
	"sync"
	"time"
)

// Statement makes the contexts of the statements of a connection. The next statement
// uses the same context and timer again, unless the context was canceled.
type Statement struct {
	Took func(time.Duration) // called with the duration of each statement; may be nil

	mu      sync.Mutex
	ctx     context.Context // nil: the next Begin makes one
	cancel  context.CancelCauseFunc
	running bool
	lost    error         // not nil: ends every statement
	began   time.Duration // by monotonic, like deadline

	deadline time.Duration // of the running statement, 0 for none
	overdue  error         // cause of the end at the deadline
	timer    *time.Timer   // calls expire
}

var processStart = time.Now()

// monotonic returns the time since the process started. It reads one clock;
// time.Now reads two.
func monotonic() time.Duration { return time.Since(processStart) }

// at converts a monotonic offset to a time.Time; 0 means no deadline.
func at(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return processStart.Add(d)
}

// Begin returns the context of a statement. The context ends with parent, and by
// Interrupt and Lose. If timeout is above 0, it ends after timeout with the cause
// overdue. One statement runs at a time, and all have the same parent.
func (s *Statement) Begin(parent context.Context, timeout time.Duration, overdue error) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancelCause(parent)
	}
	s.running, s.began, s.deadline, s.overdue = true, monotonic(), 0, overdue
	if s.lost != nil {
		s.cancel(s.lost)
	}
	if timeout > 0 {
		s.deadline = s.began + timeout
		if s.timer == nil {
			s.timer = time.AfterFunc(timeout, s.expire)
		} else {
			s.timer.Reset(timeout)
		}
	}
	return s.ctx
}

// expire ends the statement if its deadline is over. The timer may have fired for an
// earlier statement.
func (s *Statement) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running && s.deadline != 0 && monotonic() >= s.deadline {
		s.cancel(s.overdue)
	}
}

// End ends the statement and calls Took.
func (s *Statement) End() {
	if s.Took != nil {
		s.Took(monotonic() - s.began)
	}
	s.Unread()
}

// Unread ends a statement that has only been parsed, without a call of Took. It
// does nothing if none has begun.
func (s *Statement) Unread() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.ctx != nil && s.ctx.Err() != nil {
		s.release()
	}
}

// Interrupt cancels the running statement, if there is one. Any goroutine may
// call it.
func (s *Statement) Interrupt(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.cancel(why)
	}
}

// Lose cancels the running statement and each that begins later. Any goroutine
// may call it.
func (s *Statement) Lose(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost = why; s.running {
		s.cancel(why)
	}
}

// Close releases the context, also of a statement that a panic has left.
func (s *Statement) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running = false; s.ctx != nil {
		s.release()
	}
}

// release detaches the context from its parent. The caller holds mu.
func (s *Statement) release() {
	s.cancel(nil)
	s.ctx, s.cancel = nil, nil
}
