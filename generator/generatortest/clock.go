// Package generatortest holds what the tests of generators and stores have in
// common. Clock is a clock whose wall clock can be set, stopped and moved, as NTP
// and operators do. Faulty is a store that fails on demand. RunStore checks every
// sentence of generator.Store. Load is a constant load on a store.
package generatortest

import (
	"sync"
	"time"

	"nextid/generator"
)

// Clock is a generator.Runtime. Both its clocks follow package time, so in a
// testing/synctest bubble they follow the bubble's clock. Elsewhere Advance moves
// them. It may be used by several goroutines at once.
type Clock struct {
	generator.Goroutines

	start time.Time

	mu       sync.Mutex
	advanced time.Duration // by Advance, added to both clocks
	wall     int64         // Unix ns; if not frozen, when the monotonic clock was 0
	frozen   bool
}

var _ generator.Runtime = (*Clock)(nil)

// NewClock returns a Clock whose wall clock shows wall.
func NewClock(wall time.Time) *Clock {
	return &Clock{start: time.Now(), wall: wall.UnixNano()}
}

// Wall implements generator.Clock.
func (c *Clock) Wall() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen {
		return c.wall
	}
	return c.wall + int64(c.elapsed())
}

// Monotonic implements generator.Clock.
func (c *Clock) Monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed()
}

func (c *Clock) elapsed() time.Duration { return time.Since(c.start) + c.advanced }

// Time returns the wall clock as a time.Time in UTC.
func (c *Clock) Time() time.Time { return time.Unix(0, c.Wall()).UTC() }

// Advance moves both clocks forward by d ≥ 0.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advanced += d
}

// Step moves the wall clock by d, backward if d is negative.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += int64(d)
}

// Set sets the wall clock to t.
func (c *Clock) Set(t time.Time) { c.Step(t.Sub(c.Time())) }

// Freeze stops the wall clock (true) or starts it again (false). The monotonic
// clock is not affected.
func (c *Clock) Freeze(stop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case stop && !c.frozen:
		c.wall += int64(c.elapsed())
	case !stop && c.frozen:
		c.wall -= int64(c.elapsed())
	}
	c.frozen = stop
}
