package generator

import (
	"maps"
	"math/bits"
	"sync"
	"time"
)

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
