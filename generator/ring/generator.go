package ring

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// Generator issues the ids of one name.
type Generator struct {
	name    string
	options Options
	layout  *layout.Layout
	pool    *worker.Pool
	clock   generator.Runtime

	perTick   int64 // ids in a block
	step      int64 // between the ids of a block
	capacity  int64 // ids in the ring
	threshold int64 // padding is asked for when fewer are left
	borrow    time.Duration

	ctx  context.Context // of the work in the background, ends with Close
	stop context.CancelFunc
	work sync.WaitGroup
	wake chan struct{} // asks for a padding

	closed atomic.Bool
	lock   chan struct{} // holds one token: who has it may pad. It guards what follows
	tail   *block
	next   int64 // first tick that was never put into the ring
	line   lease
	last   time.Duration // when the line was reserved last, by the monotonic clock

	span    atomic.Int64 // length of the last reservation, ms
	until   atomic.Int64 // its end, Unix ms
	counts  [causes]atomic.Int64
	puts    atomic.Int64 // paddings that found the ring full
	takes   atomic.Int64 // draws that found the ring empty
	waits   atomic.Int64
	skipped atomic.Int64 // ids that left the ring without being drawn
	refills atomic.Int64 // reservations of time
	failed  atomic.Int64 // and those that the store did not grant

	_      [64]byte // head and padded are written often, by different goroutines
	head   atomic.Pointer[block]
	_      [64]byte
	padded atomic.Int64 // ids that were ever put into the ring
	asked  atomic.Bool  // a padding is on its way
	_      [64]byte
}

var (
	_ generator.TryGenerator = (*Generator)(nil)
	_ generator.Closer       = (*Generator)(nil)
	_ generator.Raiser       = (*Generator)(nil)
	_ generator.Reporter     = (*Generator)(nil)
	_ generator.Detailed     = (*Generator)(nil)
	_ generator.Explainer    = (*Generator)(nil)
	_ generator.Stamper      = (*Generator)(nil)
)

// block is all ids of one tick. Blocks form a list; a block that is used up
// stays so.
type block struct {
	first     int64 // id
	size      int64
	before    int64 // ids that were put into the ring before
	tick      int64
	following atomic.Pointer[block]

	_    [64]byte     // the cursor of Baidu's ring: every draw writes it
	next atomic.Int64 // ids drawn; beyond size when used up
	_    [64]byte
}

// used is how many ids of the block are gone.
func (b *block) used() int64 { return min(b.next.Load(), b.size) }

// skip uses up the block. It returns how many ids of it were drawn.
func (b *block) skip() int64 { return min(b.next.Swap(b.size), b.size) }

// take draws up to n ids of the block.
func (b *block) take(n int64) (from, count int64) {
	if b.next.Load() >= b.size {
		return 0, 0
	}
	n = min(n, b.size) // or the cursor would come round
	i := b.next.Add(n) - n
	return i, min(n, b.size-i)
}

// lease is what is reserved of the time line.
type lease struct {
	key    string
	worker int64
	hi     int64 // Unix ms, exclusive
	lo     int64
}

func newGenerator(name string, o Options, l *layout.Layout, pool *worker.Pool, first int64) *Generator {
	g := &Generator{
		name: name, options: o, layout: l, pool: pool, clock: pool.Runtime(),
		perTick: 1 << l.SequenceBits(), step: l.SlotStep(), borrow: time.Duration(o.MaxBorrow),
		wake: make(chan struct{}, 1), lock: make(chan struct{}, 1),
		next: max(first, 0), tail: &block{},
	}
	g.capacity = g.perTick << o.BoostPower
	g.threshold = max(g.capacity*int64(o.PaddingFactor)/100, 1)
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.head.Store(g.tail)
	g.lock <- struct{}{}
	return g
}

// TryNext implements generator.TryGenerator.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	if n < 1 {
		return generator.Range{}, false
	}
	b := g.head.Load()
	for {
		if i, count := b.take(n); count > 0 {
			if g.padded.Load()-b.before-i-count < g.threshold && !g.asked.Load() {
				g.ask()
			}
			return generator.Range{First: b.first + i*g.step, Step: g.step, Count: count}, true
		}
		f := b.following.Load()
		if f == nil {
			return generator.Range{}, false
		}
		g.head.CompareAndSwap(b, f) // another draw may have gone on already
		b = g.head.Load()
	}
}

// ask has the ring padded in the background.
func (g *Generator) ask() {
	if g.asked.CompareAndSwap(false, true) {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
}

// left is how many ids wait in the ring.
func (g *Generator) left() int64 {
	b := g.head.Load()
	return g.padded.Load() - b.before - b.used()
}

// Next implements generator.Generator.
func (g *Generator) Next(ctx context.Context, n int64) (generator.Range, error) {
	if n < 1 {
		return generator.Range{}, generator.CountError(g.name, n)
	}
	for first := true; ; first = false {
		if r, ok := g.TryNext(n); ok {
			return r, nil
		}
		if first {
			g.takes.Add(1)
		}
		err := g.pad(ctx, demand)
		wait, late := errorsAsBorrowed(err)
		switch {
		case err == nil || g.left() > 0:
			continue
		case !late:
			return generator.Range{}, err
		case g.options.RejectTake == Fail:
			return generator.Range{}, g.errEmpty()
		case wait > patience:
			return generator.Range{}, g.errAhead(wait)
		}
		if first {
			g.waits.Add(1)
		}
		if err := g.clock.Sleep(ctx, wait); err != nil {
			return generator.Range{}, err
		}
	}
}

// patience bounds the wait for time to go on.
const patience = 5 * time.Second

// Close implements generator.Closer: the unused time goes back.
func (g *Generator) Close(ctx context.Context) error {
	if g.closed.Swap(true) {
		return nil
	}
	g.stop()
	g.clock.Join(&g.work)
	err := g.clock.Receive(ctx, g.lock) // a draw may be padding
	unused := int64(math.MaxInt64)      // first tick of those that nobody has drawn from
	for b := g.head.Load(); b != nil; b = b.following.Load() {
		if drawn := b.skip(); drawn > 0 || b.size == 0 {
			unused = math.MaxInt64
		} else {
			unused = min(unused, b.tick)
		}
	}
	g.pool.Leave(0)
	if err != nil {
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	unused = min(unused, g.next)
	to := max(-floorDiv(-g.layout.TimeOf(unused).UnixMicro(), 1000), g.line.lo)
	if g.line.key == "" || to >= g.line.hi {
		return nil
	}
	return g.pool.ReleaseLine(ctx, g.line.key, g.line.hi, to)
}

// Raise implements generator.Raiser. A v that is further ahead of the clock
// than max_borrow cannot be reached and is ErrOption.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	if !used && v > 0 {
		v--
	}
	if v < 0 {
		return nil
	}
	if _, err := g.layout.Explain(v); err != nil {
		return err
	}
	tick, _, _, _ := g.layout.Unpack(v)
	if err := g.clock.Receive(ctx, g.lock); err != nil {
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	if g.closed.Load() {
		return generator.ClosedError(g.name)
	}
	if g.endMicros(tick) > g.bound() {
		return g.layout.FutureError(g.name, v)
	}
	if tick >= g.next { // it must outlast a crash
		if err := g.reserve(ctx, tick); err != nil {
			return worker.StoreError(ctx, g.name, err)
		}
		g.next = max(g.next, tick+1)
	}
	for b := g.head.Load(); b != nil; b = b.following.Load() {
		if b.size > 0 && b.tick <= tick {
			g.skipped.Add(b.size - b.skip())
		}
	}
	return nil
}

// WorkerID implements generator.Stamper.
func (g *Generator) WorkerID() (datacenter, worker int64) {
	return g.layout.SplitWorker(g.pool.Lease().Worker)
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	b := g.head.Load()
	return generator.Stats{
		Issued: b.before + b.used() - g.skipped.Load(), Buffered: g.left(), ReservedUntil: g.until.Load(), Step: g.span.Load(),
		Waits: g.waits.Load(), ClockBack: g.pool.ClockBack(), Refills: g.refills.Load(), RefillErrors: g.failed.Load(),
		Lasts: time.Duration(max(g.until.Load()*1000-g.pool.Now(), 0)) * time.Microsecond,
		Ended: g.layout.TickOf(time.UnixMicro(g.pool.Now())) > g.layout.MaxTick(),
	}
}

// standing is how a ring stands. Counts are of this process.
type standing struct {
	Capacity  int64 // ids that fit into the ring
	Buffered  int64 // ids that wait in it
	Threshold int64 // a padding is asked for when fewer wait

	Borrowed  time.Duration // by which the next id is ahead of the clock
	MaxBorrow time.Duration // by which ids may be

	PaddedAtStart, PaddedOnThreshold, PaddedOnSchedule, PaddedOnDemand int64

	RejectedPuts  int64 // paddings on schedule that found the ring full
	RejectedTakes int64 // draws that found it empty
}

// Details implements generator.Detailed: nextid.rings.
func (g *Generator) Details() generator.Details {
	s := g.standing()
	paddings := func(cause string) generator.Metric {
		return generator.Metric{Name: "nextid_ring_paddings_total", Help: "Times the ring was padded, by cause.", Cause: cause}
	}
	fields := []generator.Field{
		{Name: "capacity", Value: s.Capacity, Metric: generator.Metric{Name: "nextid_ring_capacity_ids", Help: "Ids that fit into the ring."}},
		{Name: "buffered", Value: s.Buffered, Metric: generator.Metric{Name: "nextid_ring_buffered_ids", Help: "Ids in the ring."}},
		{Name: "threshold", Value: s.Threshold},
		{Name: "borrowed_seconds", Value: s.Borrowed.Seconds(), Metric: generator.Metric{Name: "nextid_ring_borrowed_seconds", Help: "Time of the ring's next id minus the clock."}},
		{Name: "max_borrow_seconds", Value: s.MaxBorrow.Seconds(), Metric: generator.Metric{Name: "nextid_ring_max_borrow_seconds", Help: "Limit of nextid_ring_borrowed_seconds."}},
		{Name: "padded_at_start", Value: s.PaddedAtStart, Counter: true, Metric: paddings("start")},
		{Name: "padded_on_threshold", Value: s.PaddedOnThreshold, Counter: true, Metric: paddings("threshold")},
		{Name: "padded_on_schedule", Value: s.PaddedOnSchedule, Counter: true, Metric: paddings("schedule")},
		{Name: "padded_on_demand", Value: s.PaddedOnDemand, Counter: true, Metric: paddings("demand")},
		{Name: "rejected_puts", Value: s.RejectedPuts, Counter: true, Metric: generator.Metric{Name: "nextid_ring_rejected_puts_total", Help: "Paddings on schedule that found the ring full."}},
		{Name: "rejected_takes", Value: s.RejectedTakes, Counter: true, Metric: generator.Metric{Name: "nextid_ring_rejected_takes_total", Help: "Draws that found the ring empty."}},
	}
	return generator.Details{Table: "rings", Rows: []generator.Row{{Fields: fields}}}
}

// standing says how the ring stands.
func (g *Generator) standing() standing {
	b := g.head.Load()
	s := standing{
		Capacity: g.capacity, Buffered: g.left(), Threshold: g.threshold, MaxBorrow: g.borrow,
		PaddedAtStart: g.counts[start].Load(), PaddedOnThreshold: g.counts[threshold].Load(),
		PaddedOnSchedule: g.counts[schedule].Load(), PaddedOnDemand: g.counts[demand].Load(),
		RejectedPuts: g.puts.Load(), RejectedTakes: g.takes.Load(),
	}
	if b.size > 0 {
		s.Borrowed = max(time.Duration(g.endMicros(b.tick-1)-g.pool.Now())*time.Microsecond, 0)
	}
	return s
}

// Field implements generator.Fielder.
func (g *Generator) Field() (shift, bits uint8) { return g.layout.Own() }

// Explain implements generator.Explainer.
func (g *Generator) Explain(id int64) (generator.Parts, error) { return g.layout.Explain(id) }

// Floor implements generator.Explainer.
func (g *Generator) Floor(t time.Time) (int64, error) { return g.layout.Floor(t) }

// Ceil implements generator.Explainer.
func (g *Generator) Ceil(t time.Time) (int64, error) { return g.layout.Ceil(t) }
