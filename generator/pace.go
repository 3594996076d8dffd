package generator

import (
	"maps"
	"math"
	"math/bits"
	"sync"
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

// waits counts the draws of a name that left the fast path, by their time, and the
// draws that failed, by Error.Kind. mu is taken by these draws only.
type waits struct {
	mu     sync.Mutex
	took   [40]int64 // [k]: draws of less than 2^k µs, and not of less than half of that
	n      int64
	failed map[error]int64
}

// Waits holds how draws of a name waited and failed on this server. The times are
// powers of two in microseconds: half of the waiting draws took at most P50.
type Waits struct {
	P50, P99 time.Duration // 0: no draw has waited
	Failed   map[error]int64
}

// NoteWait notes how long a draw took that left the fast path.
func (e *Entry) NoteWait(d time.Duration) {
	w := e.slow()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took[min(bits.Len64(uint64(max(d.Microseconds(), 0))), len(w.took)-1)]++
	w.n++
}

// Waits returns what NoteWait and NoteTrouble have noted.
func (e *Entry) Waits() Waits {
	w := e.waits.Load()
	if w == nil {
		return Waits{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return Waits{P50: w.quantile(0.5), P99: w.quantile(0.99), Failed: maps.Clone(w.failed)}
}

// slow returns the entry's waits, which its first slow draw makes.
func (e *Entry) slow() *waits {
	if w := e.waits.Load(); w != nil {
		return w
	}
	e.waits.CompareAndSwap(nil, &waits{failed: map[error]int64{}})
	return e.waits.Load()
}

func (w *waits) quantile(q float64) time.Duration {
	below := int64(0)
	for k, n := range w.took {
		if below += n; n > 0 && float64(below) >= q*float64(w.n) {
			return time.Duration(1<<k) * time.Microsecond
		}
	}
	return 0
}
