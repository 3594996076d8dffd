// Package segment makes ids from ranges of numbers that are reserved in a
// store and handed out from memory, after Meituan's Leaf: two buffers, the
// second filled in the background, and a step that follows the demand.
//
// Numbers lie on a line, the store's key of the name. An ascending generator
// uses the line as it is, a descending one mirrored. Of every reservation it
// uses the positions that agree with start modulo increment.
package segment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Leaf's rules for the step (SegmentIDGenImpl): a segment that lasted less
// than shortLife makes the next one twice as large, one that lasted longer
// than longLife half as large.
const (
	shortLife = 15 * time.Minute
	longLife  = 2 * shortLife
)

// Generator issues the ids of one name.
type Generator struct {
	name    string
	options Options
	store   generator.Reserver
	clock   generator.Clock
	owner   string

	direction int64 // 1 or -1
	increment int64 // > 0, on the line
	origin    int64 // a position that ids agree with modulo increment
	limit     int64 // exclusive end of the line

	current atomic.Pointer[buffer]
	loading atomic.Bool // the next buffer is being fetched, or is there
	issued  atomic.Int64
	waits   atomic.Int64

	fetch     chan struct{} // held while the store is asked or the buffers are changed
	next      *buffer       // under fetch
	step      int64         // under fetch: ids in the next reservation
	fetches   int           // under fetch
	lastFetch time.Duration // under fetch
	closed    bool          // under fetch

	strictMu sync.Mutex
	strict   []*strictDraw // waiting for the next reservation

	stop context.CancelFunc
	ctx  context.Context // ends with Close; of the background fetch
	work sync.WaitGroup
}

var (
	_ generator.TryGenerator = (*Generator)(nil)
	_ generator.Closer       = (*Generator)(nil)
	_ generator.Raiser       = (*Generator)(nil)
	_ generator.Reporter     = (*Generator)(nil)
)

// buffer is one reservation, [start, end) on the line.
type buffer struct {
	pos   atomic.Int64 // next position to issue
	start int64
	end   int64
	mark  int64 // from here on the next buffer should be fetched
}

// drained is the position of a buffer that nothing may be taken from.
const drained = math.MaxInt64

func newGenerator(name string, o Options, store generator.Reserver, clock generator.Clock, owner string) *Generator {
	g := &Generator{name: name, options: o, store: store, clock: clock, owner: owner,
		direction: 1, increment: o.Increment, limit: generator.NoLimit, fetch: make(chan struct{}, 1), step: o.Step}
	if o.Increment < 0 {
		g.direction, g.increment = -1, -o.Increment
	}
	g.origin = g.direction * o.Start
	if o.Offset != nil {
		g.origin = g.direction * *o.Offset
	}
	if bound := o.bound(); bound != nil && g.direction**bound < generator.NoLimit {
		g.limit = g.direction**bound + 1
	}
	g.current.Store(&buffer{})
	g.ctx, g.stop = context.WithCancel(context.Background())
	return g
}

// align returns the first position at or after p that an id can have.
func (g *Generator) align(p int64) int64 {
	r := (p%g.increment - g.origin%g.increment) % g.increment
	if r < 0 {
		r += g.increment
	}
	if r == 0 {
		return p
	}
	if p > math.MaxInt64-g.increment {
		return math.MaxInt64
	}
	return p + g.increment - r
}

// count is how many ids positions pos to end hold.
func (g *Generator) count(pos, end int64) int64 {
	if pos >= end {
		return 0
	}
	return int64((uint64(end)-uint64(pos)-1)/uint64(g.increment)) + 1
}

// take draws up to n ids from a buffer.
func (g *Generator) take(b *buffer, n int64) (generator.Range, bool) {
	for {
		pos := b.pos.Load()
		if pos >= b.end {
			return generator.Range{}, false
		}
		count := min(n, g.count(pos, b.end))
		after := b.end
		if left := g.count(pos, b.end); count < left {
			after = pos + count*g.increment
		}
		if !b.pos.CompareAndSwap(pos, after) {
			continue
		}
		g.issued.Add(count)
		if after >= b.mark {
			g.prefetch()
		}
		return generator.Range{First: g.direction * pos, Step: g.direction * g.increment, Count: count}, true
	}
}

// TryNext implements generator.TryGenerator. A strict generator never
// answers from memory.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	if g.options.Strict {
		return generator.Range{}, false
	}
	return g.take(g.current.Load(), n)
}

// Next implements generator.Generator.
func (g *Generator) Next(ctx context.Context, n int64) (generator.Range, error) {
	if g.options.Strict {
		return g.nextStrict(ctx, n)
	}
	if r, ok := g.TryNext(n); ok {
		return r, nil
	}
	g.waits.Add(1)
	var r generator.Range
	err := g.exclusively(ctx, func(ctx context.Context) error {
		var ok bool
		if r, ok = g.TryNext(n); ok {
			return nil // another goroutine brought the buffer
		}
		if g.next == nil {
			b, err := g.reserve(ctx, n, math.MinInt64)
			if err != nil {
				return err
			}
			g.next = b
		}
		b := g.next
		g.next = nil
		r, _ = g.take(b, n)
		g.current.Store(b)
		g.loading.Store(false)
		return nil
	})
	return r, err
}

// exclusively runs f while no other goroutine asks the store for this name.
// Waiting for the turn and for the store together are bounded by the option
// deadline: ErrRetry when it passes.
func (g *Generator) exclusively(ctx context.Context, f func(ctx context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, time.Duration(g.options.Deadline))
	defer cancel()
	select {
	case g.fetch <- struct{}{}:
	case <-bounded.Done():
		return g.tooSlow(ctx, bounded.Err())
	}
	defer func() { <-g.fetch }()
	if g.closed {
		return &generator.Error{Kind: generator.ErrNotNow, Name: g.name, Message: fmt.Sprintf("generator %q is closed", g.name),
			Hint: "Connect again: the server is shutting down or the generator was changed."}
	}
	if err := f(bounded); err != nil {
		return g.tooSlow(ctx, err)
	}
	return nil
}

// tooSlow tells a deadline of ours from the caller's.
func (g *Generator) tooSlow(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &generator.Error{Kind: generator.ErrRetry, Name: g.name, Cause: err,
			Message: fmt.Sprintf("the store did not grant numbers for generator %q within %v", g.name, time.Duration(g.options.Deadline)),
			Hint:    "Try again. If it lasts, look at the store, or raise the generator's step so that it is asked less often."}
	}
	return err
}

// reserve asks the store for the next buffer: a step, or n ids if that is
// more, from position atLeast on. What the store does not grant for certain
// is never used. Called under fetch.
func (g *Generator) reserve(ctx context.Context, n, atLeast int64) (*buffer, error) {
	g.adaptStep()
	size := max(g.step, n)
	if g.options.Strict {
		size = n
	}
	numbers := int64(math.MaxInt64)
	if size < math.MaxInt64/g.increment {
		numbers = size * g.increment
	}
	first := g.direction * g.options.Start
	lo, hi, err := g.store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(g.name), AtLeast: max(atLeast, first), N: numbers, Limit: g.limit, Owner: g.owner})
	if err != nil {
		if errors.Is(err, generator.ErrExhausted) {
			return nil, g.exhausted()
		}
		return nil, err
	}
	g.lastFetch = g.clock.Monotonic()
	g.fetches++
	b := &buffer{start: g.align(lo), end: hi}
	if b.start >= hi {
		return nil, g.exhausted()
	}
	b.pos.Store(b.start)
	b.mark = b.start + int64(float64(hi-b.start)*g.options.PrefetchAt)
	return b, nil
}

// adaptStep is Leaf's dynamic step; it starts with the third reservation.
func (g *Generator) adaptStep() {
	if g.fetches < 2 {
		return
	}
	switch lasted := g.clock.Monotonic() - g.lastFetch; {
	case lasted < shortLife:
		if doubled := g.step * 2; doubled <= g.options.MaxStep {
			g.step = doubled
		}
	case lasted >= longLife:
		if half := g.step / 2; half >= g.options.Step {
			g.step = half
		}
	}
}

func (g *Generator) exhausted() error {
	bound, what := int64(math.MaxInt64), "maximum"
	if b := g.options.bound(); b != nil {
		bound = *b
	}
	if g.direction < 0 {
		what = "minimum"
	}
	return &generator.Error{Kind: generator.ErrExhausted, Name: g.name,
		Message: fmt.Sprintf("generator %q reached its %s value (%d)", g.name, what, bound),
		Hint:    "Raise the limit: SELECT alter_generator('" + g.name + "', '{\"max\": " + strconv.FormatInt(math.MaxInt64-1, 10) + "}')."}
}

// prefetch fetches the next buffer in the background, once for each buffer:
// loading stays set until the buffers are switched.
func (g *Generator) prefetch() {
	if g.loading.Load() || !g.loading.CompareAndSwap(false, true) {
		return
	}
	g.work.Go(func() {
		err := g.exclusively(g.ctx, func(ctx context.Context) error {
			if b := g.current.Load(); b.pos.Load() < b.mark {
				g.loading.Store(false) // somebody else switched the buffers
				return nil
			}
			if g.next != nil {
				return nil
			}
			var err error
			g.next, err = g.reserve(ctx, 1, math.MinInt64)
			return err
		})
		if err != nil { // the draw that finds the buffer empty will say so to its client
			sleep(g.ctx, prefetchPause)
			g.loading.Store(false)
		}
	})
}

// prefetchPause is for how long the background rests after a failure.
const prefetchPause = 200 * time.Millisecond

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Close implements generator.Closer: the unused rest goes back to the store.
func (g *Generator) Close(ctx context.Context) error {
	g.stop()
	g.work.Wait()
	select {
	case g.fetch <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.fetch }()
	if g.closed {
		return nil
	}
	g.closed = true
	b := g.current.Load()
	rest, end := b.pos.Swap(drained), b.end
	if g.next != nil {
		if g.next.start != g.align(end) || rest >= end {
			rest = g.next.start
		}
		end = g.next.end
	}
	if rest >= end {
		return nil
	}
	return g.store.Release(ctx, generator.NameKey(g.name), end, rest)
}

// Raise implements generator.Raiser: later ids are beyond v (below it, for a
// descending generator). It is durable when it returns.
func (g *Generator) Raise(ctx context.Context, v int64) error {
	p := g.direction * v
	if p >= g.limit {
		return &generator.Error{Kind: generator.ErrOption, Name: g.name,
			Message: fmt.Sprintf("%d is out of the bounds of generator %q", v, g.name), Hint: "Raise its limit first."}
	}
	return g.exclusively(ctx, func(ctx context.Context) error {
		if b := g.current.Load(); b.start < b.end && b.pos.Load() > p {
			return nil
		}
		b, err := g.reserve(ctx, 1, p+1)
		if err != nil && !errors.Is(err, generator.ErrExhausted) {
			return err
		}
		if err != nil { // v was the last number: nothing is left
			b = &buffer{}
		}
		old := g.current.Swap(b)
		old.pos.Store(drained)
		g.next = nil
		g.loading.Store(false)
		return nil
	})
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	b := g.current.Load()
	st := generator.Stats{Issued: g.issued.Load(), ReservedUntil: g.direction * b.end, Buffered: g.count(b.pos.Load(), b.end), Waits: g.waits.Load()}
	select {
	case g.fetch <- struct{}{}:
		st.Step = g.step
		if g.next != nil {
			st.Buffered += g.count(g.next.start, g.next.end)
			st.ReservedUntil = g.direction * g.next.end
		}
		<-g.fetch
	default: // a fetch is on its way: what is in hand will do
	}
	return st
}
