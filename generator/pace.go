package generator

import (
	"math"
	"time"
)

// Pace measures how fast ids are drawn, from the reservation before the last
// one: the last may be only a moment ago.
type Pace struct {
	before, last reading
	began        bool
}

// reading holds how many ids were issued at a time.
type reading struct {
	issued int64
	at     time.Duration // on the monotonic clock
}

// Marked returns the Pace after a reservation.
func (p Pace) Marked(issued int64, now time.Duration) Pace {
	next := Pace{before: p.last, last: reading{issued, now}, began: true}
	if !p.began {
		next.before = next.last
	}
	return next
}

// Lasts returns for how long the buffered ids are enough.
func (p Pace) Lasts(buffered, issued int64, now time.Duration) time.Duration {
	drawn, elapsed := issued-p.before.issued, now-p.before.at
	switch {
	case buffered == 0:
		return 0
	case drawn <= 0 || elapsed <= 0:
		return math.MaxInt64
	}
	left := float64(buffered) / float64(drawn) * float64(elapsed)
	return time.Duration(min(left, float64(math.MaxInt64/2)))
}
