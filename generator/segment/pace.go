package segment

import (
	"math"
	"time"
)

// pace describes how fast ids are drawn, measured from the reservation before the last
// one: the last may be only a moment ago.
type pace struct {
	before, last reading
	began        bool
}

// reading describes how many ids were handed out at a time.
type reading struct {
	issued int64
	at     time.Duration
}

// mark notes that a reservation came.
func (p *pace) mark(issued int64, now time.Duration) {
	p.before, p.last = p.last, reading{issued, now}
	if !p.began {
		p.before, p.began = p.last, true
	}
}

// lasts is for how long the buffered ids are enough at that pace.
func (p *pace) lasts(buffered, issued int64, now time.Duration) time.Duration {
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
