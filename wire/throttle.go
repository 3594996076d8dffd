package wire

import (
	"sync"
	"time"
)

// Throttle bounds log lines to Lines a second, to one if Lines is 0.
type Throttle struct {
	Lines int

	mu      sync.Mutex
	since   time.Time // when the second began
	logged  int       // in it
	skipped int
}

// Next reports whether to log now, and the number of lines that were left out since
// the last one.
func (t *Throttle) Next(now time.Time) (skipped int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= time.Second {
		t.since, t.logged = now, 0
	}
	if t.logged >= max(1, t.Lines) {
		t.skipped++
		return 0, false
	}
	t.logged++
	skipped, t.skipped = t.skipped, 0
	return skipped, true
}
