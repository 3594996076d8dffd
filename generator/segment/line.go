package segment

import (
	"math"
	"sync/atomic"

	"nextid/generator"
)

// line describes where the ids of a name lie: on the number line as it is, or
// mirrored for a descending generator, so that positions always rise. Ids
// are the positions that agree with residue modulo increment.
type line struct {
	direction int64 // 1 or -1: id = direction · position
	increment int64 // > 0
	residue   int64 // 0 ≤ residue < increment
	first     int64 // no id lies below
	limit     int64 // exclusive end
}

func newLine(o Options) line {
	l := line{direction: 1, increment: o.Increment, limit: generator.NoLimit}
	if o.Increment < 0 {
		l.direction, l.increment = -1, -o.Increment
	}
	l.first = l.position(o.Start)
	l.residue = modulo(l.first, l.increment)
	for _, v := range []*int64{o.Restart, o.Offset} {
		if v != nil {
			l.residue = modulo(l.position(*v), l.increment)
		}
	}
	if b := o.bound(); b != nil && l.position(*b) < generator.NoLimit {
		l.limit = l.position(*b) + 1
	}
	return l
}

// span returns how long a stretch of the line with n ids is.
func (l *line) span(n int64) int64 {
	if n > generator.NoLimit/l.increment {
		return generator.NoLimit
	}
	return n * l.increment
}

// need returns how long a stretch that begins at lo has to be to hold n ids; ok is
// false where the line ends before.
func (l *line) need(lo, n int64) (positions int64, ok bool) {
	gap := modulo(l.residue-modulo(lo, l.increment), l.increment)
	return gap + (n-1)*l.increment + 1, n-1 <= (generator.NoLimit-1-gap)/l.increment
}

func modulo(a, m int64) int64 { return (a%m + m) % m }

// position returns where a number lies. The one number that has no mirror image
// is taken as the last position.
func (l *line) position(v int64) int64 {
	if l.direction < 0 && v == math.MinInt64 {
		return math.MaxInt64
	}
	return l.direction * v
}

// buffer is one reservation, [lo, hi) on the line, and the ids in it: the
// positions first, first+increment, … , size of them.
type buffer struct {
	lo, hi int64
	first  int64
	size   int64

	// mark is the index whose id is drawn by Next, which asks for the next
	// buffer first; math.MaxInt64 once that was done.
	mark atomic.Int64

	_    [64]byte     // every draw writes next: keep it off the line of what is only read
	next atomic.Int64 // index of the next id; beyond size when used up
	_    [64]byte
}

// newBuffer returns the buffer of a reservation, in which the ids up to and
// including position above are used already.
func (l *line) newBuffer(lo, hi, above int64, prefetchAt float64) *buffer {
	b := &buffer{lo: lo, hi: hi}
	if gap := modulo(l.residue-modulo(lo, l.increment), l.increment); gap < hi-lo || hi-lo < 0 {
		b.first = lo + gap
		b.size = int64((uint64(hi)-uint64(b.first)-1)/uint64(l.increment)) + 1
	}
	b.mark.Store(int64(float64(b.size) * prefetchAt))
	l.skip(b, above)
	return b
}

// skip uses up the ids up to and including position p.
func (l *line) skip(b *buffer, p int64) {
	if b.size == 0 || p < b.first {
		return
	}
	to := min(int64((uint64(p)-uint64(b.first))/uint64(l.increment)), b.size-1) + 1
	for i := b.next.Load(); i < to && !b.next.CompareAndSwap(i, to); i = b.next.Load() {
	}
}

// restFrom is the first position of a buffer behind its first used ids.
func (l *line) restFrom(b *buffer, used int64) int64 {
	if used == 0 {
		return b.lo
	}
	return b.first + (used-1)*l.increment + 1
}

// used returns how many ids of the buffer are gone.
func (b *buffer) used() int64 { return min(b.next.Load(), b.size) }

// reaches reports whether a draw of n ids reaches the mark.
func (b *buffer) reaches(n int64) bool { return b.next.Load()+min(n, b.size) > b.mark.Load() }

// empty reports whether nothing is left. An empty buffer stays empty.
func (b *buffer) empty() bool { return b.next.Load() >= b.size }
