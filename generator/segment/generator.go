// Package segment is the kind of generators that issue numbers from reserved
// ranges, after Meituan's Leaf.
//
// A Generator draws ids from a current buffer in memory. At the buffer's mark it
// starts a flight: a reservation of the next buffer, in a goroutine. The size of a
// reservation, the step, follows the demand. A strict generator keeps no buffer: it
// reserves for each batch of waiting draws.
//
// Positions are ids on a line that always rises; line converts them, also for
// descending generators. Generator.mu guards all state except the current buffer's
// next index, which draws move by an atomic add. mu is never held while the store
// is asked.
//
// AutoRandom is a second kind: random bits above the counter of another generator.
package segment

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Generator issues the ids of one name.
type Generator struct {
	line
	name    string
	options Options
	store   generator.Reserver
	clock   generator.Runtime
	owner   string
	endHint string // where the bound cannot be moved; else ""

	current atomic.Pointer[buffer]
	waits   atomic.Int64

	ctx  context.Context // of all background work; canceled by Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu        sync.Mutex    // never held while the store is asked
	queue     []*buffer     // buffers to use after current, in this order
	flight    *flight       // the running reservation, or nil
	pause     time.Duration // before the next retry
	step      int64         // ids in the latest reservation
	refills   int64         // reservations that the store granted
	failures  int64         // reservations that failed
	lastFetch time.Duration
	pace      generator.Pace
	above     int64 // every later id lies above this position (Raise)
	end       int64 // greatest end of this server's reservations
	spent     int64 // ids issued from earlier buffers
	skipped   int64 // ids of current that Raise skipped
	closed    bool

	batches kinds.Draws // of a strict generator
}

func newGenerator(name string, o Options, store generator.Reserver, clock generator.Runtime, owner string) *Generator {
	g := &Generator{
		line: newLine(o), name: name, options: o, store: store, clock: clock, owner: owner,
		step: o.Step, pause: retryFirst, above: o.restart(), end: math.MinInt64,
	}
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.batches = kinds.Draws{Clock: clock, Fill: g.fill, Closed: generator.ClosedError(name)}
	g.current.Store(&buffer{lo: math.MinInt64, hi: math.MinInt64})
	return g
}

// TryNext implements generator.TryGenerator. The draw that reaches the buffer's
// mark is left to Next. A strict generator never answers from memory.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	b := g.current.Load()
	if n < 1 || b.empty() || b.reaches(n) {
		return generator.Range{}, false
	}
	n = min(n, b.size)
	i := b.next.Add(n) - n // may pass the end: the buffer is empty then
	if i >= b.size {
		return generator.Range{}, false
	}
	return g.run(b, i, min(n, b.size-i)), true
}

// run returns count ids of a buffer from index i on.
func (g *Generator) run(b *buffer, i, count int64) generator.Range {
	return generator.Range{
		First: g.direction * (b.first + i*g.increment), Step: g.direction * g.increment, Count: count,
	}
}

// Next implements generator.Generator. It waits for the store at most for the
// option deadline.
func (g *Generator) Next(ctx context.Context, n int64) (generator.Range, error) {
	if g.options.Strict {
		g.waits.Add(1)
		return kinds.Draw(ctx, &g.batches, n, time.Duration(g.options.Deadline), g.impatient)
	}
	var patient context.Context // ctx with the deadline
	waited := false             // for a flight that began before this draw, perhaps while the store was away
	for {
		if b := g.current.Load(); !b.empty() && b.reaches(n) {
			g.prefetch()
			b.mark.Store(math.MaxInt64)
		}
		if r, ok := g.TryNext(n); ok {
			return r, nil
		}
		f, mine, err := g.demand(n)
		if err != nil {
			return generator.Range{}, err
		}
		if f == nil {
			continue // another flight has brought a buffer
		}
		if patient == nil {
			g.waits.Add(1)
			var cancel context.CancelFunc
			patient, cancel = g.patience(ctx)
			defer cancel()
		}
		if err := g.clock.Receive(patient, f.done); err != nil {
			return generator.Range{}, g.impatient(ctx)
		}
		if err := f.failure(); err != nil && (mine || waited) {
			return generator.Range{}, err
		}
		waited = true
	}
}

// patience returns ctx with the option deadline.
func (g *Generator) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(g.options.Deadline))
}

// impatient returns the error of a draw whose deadline has passed. ctx is the
// caller's context.
func (g *Generator) impatient(ctx context.Context) error {
	return kinds.LateError(ctx, g.name, ", or raise the generator's step so that it is asked less often.", time.Duration(g.options.Deadline))
}

// demand makes sure that a buffer has ids, or returns the flight to wait for. mine
// reports whether the flight was started for this draw.
func (g *Generator) demand(n int64) (f *flight, mine bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, false, generator.ClosedError(g.name)
	case !g.current.Load().empty():
		return nil, false, nil
	case len(g.queue) > 0:
		g.change(0)
		return nil, false, nil
	}
	mine = g.flight == nil
	return g.startFlight(n), mine, nil
}

// change makes the first queued buffer the current one, with its first n ids drawn.
// The old buffer is empty. The caller holds mu.
func (g *Generator) change(n int64) {
	b := g.queue[0]
	g.queue = slices.Delete(g.queue, 0, 1)
	g.spent += g.current.Load().size - g.skipped
	g.skipped = b.used()
	b.next.Store(g.skipped + n)
	g.current.Store(b)
}

// Close implements generator.Closer. It returns the unused end of the reservations
// to the store.
func (g *Generator) Close(ctx context.Context) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	g.mu.Unlock()
	g.batches.Close(g.stop)
	g.clock.Join(&g.work)

	b := g.current.Load()
	used := min(b.next.Swap(b.size), b.size) // no draw succeeds from now on
	g.spent += used - g.skipped
	g.skipped = b.size
	to, hi := g.rest(b, used)
	if to = max(to, g.above+1); to >= hi {
		return nil
	}
	return g.store.Release(ctx, generator.NameKey(g.name), hi, to)
}

// rest returns the unused end [to, hi) of the reservations. used is the number of
// ids drawn from the current buffer b.
func (g *Generator) rest(b *buffer, used int64) (to, hi int64) {
	to, hi = g.restFrom(b, used), b.hi
	for _, n := range g.queue {
		if hi == b.hi && b.size == 0 || n.lo != hi { // another server has reserved a range in between
			to = g.restFrom(n, n.used())
		}
		hi = n.hi
	}
	return to, hi
}

// Free implements generator.Restarter.
func (g *Generator) Free(ctx context.Context) (int64, error) {
	for {
		m, ok, err := g.store.Mark(ctx, generator.NameKey(g.name))
		if err != nil {
			return 0, err
		}
		g.mu.Lock()
		f := g.flight
		least := max(g.first, g.above+1)
		b := g.current.Load()
		to, hi := g.rest(b, b.used())
		g.mu.Unlock()
		if f != nil { // the store may have granted it
			if err := g.clock.Receive(ctx, f.done); err != nil {
				return 0, err
			}
			continue
		}
		if m.Hi > hi { // other servers reserved more, or there is no buffer
			to = m.Hi
		}
		if ok {
			least = max(least, to)
		}
		return g.direction * least, nil
	}
}

// Raise implements generator.Raiser. It is durable when it returns. Other servers
// first use up their reservations.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	p := g.position(v)
	if p >= g.limit {
		return generator.Errorf(generator.ErrOption, g.name, "Move the bound with alter_generator first.",
			"%d is out of the bounds of generator %q", v, g.name)
	}
	if !used && p > math.MinInt64 {
		p--
	}
	if p < g.first {
		return nil
	}
	g.mu.Lock()
	closed := g.closed
	g.raiseLocked(p)
	mine := slices.ContainsFunc(g.inHand(), func(b *buffer) bool { return b.lo <= p && p < b.hi })
	g.mu.Unlock()
	switch {
	case closed:
		return generator.ClosedError(g.name)
	case mine: // Close gives back what lies above
		return nil
	}
	// A position above what other servers have reserved keeps them from giving p back.
	// There may be none below the bound. Strict servers give nothing back.
	r := generator.Reservation{Key: generator.NameKey(g.name), AtLeast: p, N: 1, Limit: generator.NoLimit, Owner: g.owner}
	if g.options.Strict {
		r.Limit = p + 1
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, _, err := g.store.Reserve(ctx, r)
	if errors.Is(err, generator.ErrExhausted) {
		return nil
	}
	return g.storeError(err)
}

func (g *Generator) raiseLocked(p int64) {
	g.above = max(g.above, p)
	b := g.current.Load()
	before := b.used()
	g.skip(b, p)
	g.skipped += b.used() - before
	for _, n := range g.queue {
		g.skip(n, p)
	}
}

// Peek implements generator.Peeker. A strict generator reserves nothing, so another
// server may draw the number first.
func (g *Generator) Peek(ctx context.Context) (int64, error) {
	for {
		g.mu.Lock()
		if g.closed {
			g.mu.Unlock()
			return 0, generator.ClosedError(g.name)
		}
		if p := max(g.end, g.above+1, g.first); g.options.Strict {
			g.mu.Unlock()
			if gap := generator.Gap(g.residue, g.increment, p); p < g.limit-gap {
				return g.direction * (p + gap), nil
			}
			return 0, g.errExhausted()
		}
		for _, b := range g.inHand() {
			if !b.empty() {
				next := g.direction * (b.first + b.used()*g.increment)
				g.mu.Unlock()
				return next, nil
			}
		}
		f := g.startFlight(1)
		g.mu.Unlock()
		if err := g.await(ctx, f); err != nil {
			return 0, err
		}
	}
}

// Place implements generator.Placer. A server reserves above the reservations of
// all servers. So every number below its own end is reserved by some server.
func (g *Generator) Place(id int64) generator.Place {
	first := g.first + generator.Gap(g.residue, g.increment, g.first)
	p := generator.NewPlace(g.direction*first, g.direction*g.increment, id)
	at := g.position(id)
	if at >= g.limit {
		p.Number = 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p.Reserved = p.Number > 0 && at < g.end
	for _, b := range g.inHand() {
		if p.Number > 0 && b.size > 0 && at >= b.first && at < b.hi {
			p.Block = g.run(b, 0, b.size)
		}
	}
	return p
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	st := generator.Stats{
		Issued: g.issuedLocked(), Step: g.step, Waits: g.waits.Load(),
		Refills: g.refills, RefillErrors: g.failures, Direct: g.options.Strict,
	}
	for _, b := range g.inHand() {
		st.Buffered += b.size - b.used()
	}
	if g.end != math.MinInt64 {
		st.ReservedUntil = g.direction * g.end
	}
	st.Bound(max(g.end, g.first), g.limit, g.increment)
	st.Lasts = g.pace.Lasts(st.Buffered, st.Issued, g.clock.Monotonic())
	if len(g.options.Feeds) > 0 {
		st.Lasts = math.MaxInt64 // the sequences in the databases have blocks of their own
	}
	return st
}

// Details implements generator.Detailed for nextid.buffers.
func (g *Generator) Details() generator.Details {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := generator.Details{Table: "buffers", Label: "buffer"}
	for _, b := range g.inHand() {
		if b.size == 0 {
			continue
		}
		i := len(d.Rows)
		d.Rows = append(d.Rows, generator.Row{Key: strconv.Itoa(i), Fields: []generator.Field{
			{Name: "buffer", Value: int64(i)},
			{Name: "next", Value: g.direction * (b.first + b.used()*g.increment)},
			{Name: "max", Value: g.direction * b.hi},
			{Name: "step", Value: b.size},
		}})
	}
	return d
}

// inHand returns the buffers in the order of their ids. The caller holds mu.
func (g *Generator) inHand() []*buffer { return append([]*buffer{g.current.Load()}, g.queue...) }

// issuedLocked returns the number of issued ids. The caller holds mu.
func (g *Generator) issuedLocked() int64 { return g.spent + g.current.Load().used() - g.skipped }
