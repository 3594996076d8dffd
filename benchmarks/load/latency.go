package load

import (
	"math/bits"
	"time"
)

// Latency is a histogram of durations. Its buckets are at most 1.6 % wide. To count
// a duration takes a few nanoseconds and allocates nothing. The zero Latency is
// empty.
type Latency struct {
	counts [buckets]uint64
	n      uint64
	max    time.Duration
}

// Each power of two is divided into 1<<fine buckets.
const (
	fine    = 6
	buckets = (64 - fine) << fine
)

// bucket returns the index of the bucket that counts a duration.
func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<fine {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - fine
	return (shift+1)<<fine + int(v>>shift) - 1<<fine
}

// middle returns the duration that represents a bucket.
func middle(b int) time.Duration {
	if b < 2<<fine {
		return time.Duration(b)
	}
	shift := b>>fine - 1
	low := uint64(b&(1<<fine-1)|1<<fine) << shift
	return time.Duration(low + 1<<shift/2)
}

// Add counts one duration.
func (l *Latency) Add(d time.Duration) {
	l.counts[bucket(d)]++
	l.n++
	l.max = max(l.max, d)
}

// N returns the number of durations.
func (l *Latency) N() uint64 { return l.n }

// Quantile returns the duration that the fraction q (0 to 1) of all does not exceed;
// 0 if there are none.
func (l *Latency) Quantile(q float64) time.Duration {
	if l.n == 0 {
		return 0
	}
	rank := uint64(q * float64(l.n))
	if rank >= l.n {
		return l.max
	}
	var seen uint64
	for b, n := range l.counts {
		if seen += n; seen > rank {
			return min(middle(b), l.max)
		}
	}
	return l.max
}
