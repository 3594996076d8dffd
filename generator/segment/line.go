package segment

import (
	"math"
	"sync/atomic"

	"nextid/generator"
)

// line maps the ids of a name to positions, which always rise: id = direction ·
// position. Ids are at the positions that equal residue modulo increment.
type line struct {
	direction int64 // 1, or -1 for a descending generator
	increment int64 // > 0
	residue   int64 // 0 ≤ residue < increment
	first     int64 // no id has a lower position
	limit     int64 // exclusive end
}

func newLine(o Options) line {
	l := line{direction: 1, increment: o.Increment, limit: generator.NoLimit}
	if o.Increment < 0 {
		l.direction, l.increment = -1, -o.Increment
	}
	l.first = l.position(o.Start)
	l.residue = generator.Modulo(l.first, l.increment)
	for _, v := range []*int64{o.Restart, o.Offset} {
		if v != nil {
			l.residue = generator.Modulo(l.position(*v), l.increment)
		}
	}
	if _, b := o.bounds(); b != nil && l.position(*b) < generator.NoLimit {
		l.limit = l.position(*b) + 1
	}
	return l
}

// span returns the length of a range of the line with n ids.
func (l *line) span(n int64) int64 {
	if n > generator.NoLimit/l.increment {
		return generator.NoLimit
	}
	return n * l.increment
}

// position returns the position of a number. The least int64, which cannot be
// negated, has the last position.
func (l *line) position(v int64) int64 {
	if l.direction < 0 && v == math.MinInt64 {
		return math.MaxInt64
	}
	return l.direction * v
}

// buffer is one reservation [lo, hi) of the line, and the size ids in it: first,
// first+increment, ….
type buffer struct {
	lo, hi int64
	first  int64
	size   int64

	// mark is the index from which a draw is left to Next, which then starts the
	// flight for the next buffer. It is math.MaxInt64 once that flight was started.
	mark atomic.Int64

	_    [64]byte     // keeps next, which every draw writes, off the cache line of fields that are only read
	next atomic.Int64 // index of the next id; ≥ size when used up
	_    [64]byte
}

// newBuffer returns the buffer of a reservation. Its ids up to and including
// position above count as used.
func (l *line) newBuffer(lo, hi, above int64, prefetchAt float64) *buffer {
	b := &buffer{lo: lo, hi: hi}
	if gap := generator.Gap(l.residue, l.increment, lo); gap < hi-lo || hi-lo < 0 {
		b.first = lo + gap
		b.size = int64((uint64(hi)-uint64(b.first)-1)/uint64(l.increment)) + 1
	}
	b.mark.Store(int64(float64(b.size) * prefetchAt))
	l.skip(b, above)
	return b
}

// upTo returns the number of ids of a buffer up to and including position p.
func (l *line) upTo(b *buffer, p int64) int64 {
	if b.size == 0 || p < b.first {
		return 0
	}
	return int64(min((uint64(p)-uint64(b.first))/uint64(l.increment), uint64(b.size-1))) + 1
}

// skip marks the ids up to and including position p as used.
func (l *line) skip(b *buffer, p int64) {
	to := l.upTo(b, p)
	for i := b.next.Load(); i < to && !b.next.CompareAndSwap(i, to); i = b.next.Load() {
	}
}

// restFrom returns the position after the first used ids of a buffer.
func (l *line) restFrom(b *buffer, used int64) int64 {
	if used == 0 {
		return b.lo
	}
	return b.first + (used-1)*l.increment + 1
}

// used returns the number of used ids.
func (b *buffer) used() int64 { return min(b.next.Load(), b.size) }

// reaches reports whether a draw of n ids reaches the mark.
func (b *buffer) reaches(n int64) bool { return b.next.Load()+min(n, b.size) > b.mark.Load() }

// empty reports whether all ids are used. Only GiveBack fills an empty buffer.
func (b *buffer) empty() bool { return b.next.Load() >= b.size }
