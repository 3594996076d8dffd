package wire

import (
	"context"
	"sync"
	"time"
)

// Statement is the context of the statement that a connection runs. Most
// statements end without an interrupt and leave it to the next one, so that a
// statement costs no context and no timer.
type Statement struct {
	Took func(time.Duration) // is told how long each took, if it is not nil

	mu      sync.Mutex
	ctx     context.Context // nil: the next Begin makes one
	cancel  context.CancelCauseFunc
	running bool
	lost    error         // not nil: no statement runs any more
	began   time.Duration // by monotonic, like all that follow

	deadline time.Duration // of the running statement, 0 for none
	overdue  error         // why it ends then
	timer    *time.Timer
	wakes    time.Duration // when timer looks at deadline, 0 while it is stopped
}

var processStart = time.Now()

// monotonic reads one clock where time.Now reads two, which a short statement
// notices.
func monotonic() time.Duration { return time.Since(processStart) }

// at is when monotonic will be d; of 0, which stands for never, the zero Time.
func at(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return processStart.Add(d)
}

// Begin returns the context of a statement. It ends with parent, with
// Interrupt and, where timeout is above 0, after that time with the cause
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
		if s.wakes == 0 || s.deadline < s.wakes {
			s.wake(timeout)
		}
	}
	return s.ctx
}

// wake sets the timer. The caller holds mu.
func (s *Statement) wake(after time.Duration) {
	s.wakes = monotonic() + after
	if s.timer == nil {
		s.timer = time.AfterFunc(after, s.look)
	} else {
		s.timer.Reset(after)
	}
}

// look ends the statement whose deadline is over. The deadline may be a later
// one than the timer was set for.
func (s *Statement) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes = 0
	if !s.running || s.deadline == 0 {
		return
	}
	if left := s.deadline - monotonic(); left > 0 {
		s.wake(left)
		return
	}
	s.cancel(s.overdue)
}

// End is the end of the statement.
func (s *Statement) End() {
	if s.Took != nil {
		s.Took(monotonic() - s.began)
	}
	s.Unread()
}

// Unread is the end of one that has not begun to run: its text could not be read, or
// needs no longer to be. Where none is read or runs it does nothing.
func (s *Statement) Unread() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	if s.ctx != nil && s.ctx.Err() != nil {
		s.release()
	}
}

// Interrupt ends the statement that runs, if one does, from any goroutine.
func (s *Statement) Interrupt(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.cancel(why)
	}
}

// Lose ends the statement that runs, and each that begins, from any goroutine.
func (s *Statement) Lose(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost = why; s.running {
		s.cancel(why)
	}
}

// Close releases what the statements left.
func (s *Statement) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		s.release()
	}
	if s.timer != nil {
		s.timer.Stop()
	}
}

// release gives the context back to its parent. The caller holds mu.
func (s *Statement) release() {
	s.cancel(nil)
	s.ctx, s.cancel = nil, nil
}
