package ring

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/snowflake"
	"nextid/generator/worker"
)

// Generator issues the ids of one name. A draw takes slots from ready by a
// compare-and-swap of cursor. Adding to ready needs lock.
type Generator struct {
	snowflake.Grid
	name    string
	options Options
	layout  *layout.Layout
	pool    *worker.Pool
	clock   generator.Runtime

	perTick   int64 // ids in one tick
	capacity  int64 // ids in a full ring
	threshold int64 // a draw asks for a padding if fewer ids are left
	borrow    time.Duration

	ctx  context.Context // of the goroutines in the background; ends with Close
	stop context.CancelFunc
	work sync.WaitGroup
	wake chan struct{} // wakes padOnThreshold

	lock chan struct{} // a mutex with one token; guards the next three fields and ready's changes
	next int64         // first tick that was never put into the ring
	line reservation
	last time.Duration // time of the last reservation, by the monotonic clock

	span    atomic.Int64 // length of the last reservation, ms
	until   atomic.Int64 // its end on the time line, Unix ms
	counts  [causes]atomic.Int64
	puts    atomic.Int64 // paddings that found the ring full
	takes   atomic.Int64 // draws that found the ring empty
	waits   atomic.Int64
	refills atomic.Int64 // reservations of time
	failed  atomic.Int64 // reservations that failed
	pace    atomic.Pointer[generator.Pace]

	_      [64]byte // keeps the fields above out of the cache line of the cursor, which every draw writes
	cursor snowflake.Cursor
	_      [64]byte
	ready  atomic.Pointer[ready]
	asked  atomic.Bool // a padding was requested
}

var (
	_ generator.TryGenerator   = (*Generator)(nil)
	_ generator.Closer         = (*Generator)(nil)
	_ generator.Raiser         = (*Generator)(nil)
	_ generator.Reporter       = (*Generator)(nil)
	_ generator.Detailed       = (*Generator)(nil)
	_ generator.Explainer      = (*Generator)(nil)
	_ generator.WorkerIDHolder = (*Generator)(nil)
)

// ready holds the slots that may be drawn, all of one worker id. It is replaced,
// not changed.
type ready struct {
	base        int64 // worker bits of the ids
	first, last int64
}

// reservation is the reserved part of the time line of the name and a worker id, in
// Unix ms.
type reservation struct {
	key    string
	worker int64
	lo, hi int64
}

// newGenerator returns a generator with an empty ring. first is the first tick that
// its ids may have.
func newGenerator(name string, o Options, l *layout.Layout, pool *worker.Pool, first int64) *Generator {
	g := &Generator{
		Grid: snowflake.NewGrid(l), name: name, options: o, layout: l, pool: pool, clock: pool.Runtime(),
		perTick: 1 << l.SequenceBits(), borrow: time.Duration(o.MaxBorrow),
		wake: make(chan struct{}, 1), lock: make(chan struct{}, 1), next: max(first, 0),
	}
	g.capacity = g.perTick << o.BoostPower
	g.threshold = max(g.capacity*int64(o.PaddingFactor)/100, 1)
	g.ctx, g.stop = context.WithCancel(context.Background())
	begin := g.FirstSlot(min(g.next, l.MaxTick()+1)) - 1
	g.cursor.Begin(begin)
	g.ready.Store(&ready{first: begin + 1, last: begin})
	g.pace.Store(&generator.Pace{})
	g.lock <- struct{}{}
	return g
}

// TryNext implements generator.TryGenerator.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	for n > 0 {
		r, last := g.ready.Load(), g.cursor.Slot()
		end := r.last
		if !g.Small(n) && n > end-last-g.perTick { // the rest may be reserved for small draws
			end -= g.cursor.Left(&g.Grid, g.clock.Monotonic())
		}
		if last >= end {
			if g.ready.Load() != r {
				continue
			}
			break
		}
		first := max(last+1, r.first)
		if !g.layout.Seamless() { // the run ends with the tick
			end = min(end, g.FirstSlot(g.Tick(first)+1)-1)
		}
		count := min(n, end-first+1)
		if !g.cursor.Advance(last, first, first+count-1) {
			continue
		}
		if r.last-(first+count-1) < g.threshold && !g.asked.Load() && g.asked.CompareAndSwap(false, true) {
			select {
			case g.wake <- struct{}{}:
			default:
			}
		}
		return generator.Range{First: r.base | g.layout.Place(first), Step: g.layout.SlotStep(), Count: count}, true
	}
	return generator.Range{}, false
}

// found reports whether the ring has ids for a draw of n.
func (g *Generator) found(n int64) bool {
	least := int64(0)
	if !g.Small(n) {
		least = g.cursor.Left(&g.Grid, g.clock.Monotonic())
	}
	return g.left() > least
}

// head returns the next slot to draw, and the number of slots left.
func (g *Generator) head() (next, left int64) {
	r, last := g.ready.Load(), g.cursor.Slot()
	if last >= r.last {
		return r.last + 1, 0
	}
	next = max(last+1, r.first)
	return next, r.last - next + 1
}

// left returns the number of ids in the ring.
func (g *Generator) left() int64 {
	_, left := g.head()
	return left
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
		err := g.pad(ctx, demand, n)
		wait, late := asBorrowed(err)
		switch {
		case err == nil || g.found(n):
			continue
		case !late:
			return generator.Range{}, err
		case g.options.RejectTake == Fail:
			return generator.Range{}, &generator.Error{
				Kind: generator.ErrRetry, Name: g.name, Hint: "Try again; alter the generator to reject_take wait, or to a greater max_borrow.",
				Message: fmt.Sprintf("the ring of generator %q is empty, and its ids are %v ahead of the clock already", g.name, g.borrow),
			}
		case wait > patience:
			return generator.Range{}, &generator.Error{
				Kind: generator.ErrNotNow, Reason: generator.ReasonClock, Name: g.name, Hint: "Wait until then, or use a generator with another name.",
				Message: fmt.Sprintf("the ids of generator %q are ahead of the clock; it issues again in %v", g.name, wait.Round(time.Millisecond)),
			}
		}
		if first {
			g.waits.Add(1)
		}
		g.cursor.Crowd(&g.Grid, n, g.clock.Monotonic())
		if err := g.clock.Sleep(ctx, wait); err != nil {
			return generator.Range{}, err
		}
	}
}

// patience is the longest time for which a draw waits until the next tick may be
// borrowed.
const patience = 5 * time.Second

// Close implements generator.Closer. It gives the unused time back to the store.
func (g *Generator) Close(ctx context.Context) error {
	last := g.cursor.Finish()
	if last == snowflake.Closed {
		return nil
	}
	g.stop()
	g.clock.Join(&g.work)
	err := g.clock.Receive(ctx, g.lock) // a draw may be padding now
	g.pool.Leave(0)
	if err != nil {
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	to := max(g.EndMillis(g.Tick(last)), g.line.lo)
	if g.line.key == "" || to >= g.line.hi {
		return nil
	}
	return g.pool.ReleaseLine(ctx, g.line.key, g.line.hi, to)
}

// Raise implements generator.Raiser. A v more than max_borrow ahead of the clock is
// ErrOption.
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
	if g.cursor.Slot() == snowflake.Closed {
		return generator.ClosedError(g.name)
	}
	if g.endMicros(tick) > g.bound() {
		return g.layout.FutureError(g.name, v)
	}
	if tick >= g.next { // reserved, so that a crash does not undo it
		if err := g.reserve(ctx, tick); err != nil {
			return worker.StoreError(ctx, g.name, err)
		}
		g.next = tick + 1
	}
	g.cursor.Skip(g.FirstSlot(tick+1) - 1)
	return nil
}

// WorkerID implements generator.WorkerIDHolder.
func (g *Generator) WorkerID() (datacenter, worker int64) {
	return g.layout.SplitWorker(g.pool.Lease().Worker)
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	issued, left := g.cursor.Issued(), g.left()
	reserved := time.Duration(max(g.until.Load()*1000-g.pool.Now(), 0)) * time.Microsecond
	return generator.Stats{
		Issued: issued, Buffered: left, ReservedUntil: g.until.Load(), Step: g.span.Load(),
		Waits: g.waits.Load(), ClockBack: g.pool.ClockBack(), Refills: g.refills.Load(), RefillErrors: g.failed.Load(),
		Lasts: max(reserved, g.pace.Load().Lasts(left, issued, g.clock.Monotonic())), // ids in the ring carry past times, which do not end
		Ended: g.layout.TickOf(time.UnixMicro(g.pool.Now())) > g.layout.MaxTick(),
	}
}

// Details implements generator.Detailed for the table nextid.rings.
func (g *Generator) Details() generator.Details {
	next, left := g.head()
	borrowed := max(time.Duration(g.endMicros(g.Tick(next)-1)-g.pool.Now())*time.Microsecond, 0)
	fields := []generator.Field{
		{Name: "capacity", Value: g.capacity, Metric: generator.Metric{Name: "nextid_ring_capacity_ids", Help: "Ids that fit into the ring."}},
		{Name: "buffered", Value: left, Metric: generator.Metric{Name: "nextid_ring_buffered_ids", Help: "Ids in the ring."}},
		{Name: "threshold", Value: g.threshold},
		{Name: "borrowed_seconds", Value: borrowed.Seconds(), Metric: generator.Metric{Name: "nextid_ring_borrowed_seconds", Help: "Time of the ring's next id minus the clock."}},
		{Name: "max_borrow_seconds", Value: g.borrow.Seconds(), Metric: generator.Metric{Name: "nextid_ring_max_borrow_seconds", Help: "Limit of nextid_ring_borrowed_seconds."}},
	}
	for why, c := range causeNames {
		fields = append(fields, generator.Field{Name: c.field, Value: g.counts[why].Load(), Counter: true,
			Metric: generator.Metric{Name: "nextid_ring_paddings_total", Help: "Times the ring was padded, by cause.", Cause: c.label}})
	}
	fields = append(fields,
		generator.Field{Name: "rejected_puts", Value: g.puts.Load(), Counter: true, Metric: generator.Metric{Name: "nextid_ring_rejected_puts_total", Help: "Paddings on schedule that found the ring full."}},
		generator.Field{Name: "rejected_takes", Value: g.takes.Load(), Counter: true, Metric: generator.Metric{Name: "nextid_ring_rejected_takes_total", Help: "Draws that found the ring empty."}})
	return generator.Details{Table: "rings", Rows: []generator.Row{{Fields: fields}}}
}

// bound returns the time (Unix µs) up to which ids may be borrowed now. It is
// limited by max_borrow, and on a store of several servers by Pool.Furthest.
func (g *Generator) bound() int64 {
	bound := g.pool.Now() + g.borrow.Microseconds()
	if far := g.pool.Furthest(); far < math.MaxInt64/1000 {
		bound = min(bound, far*1000)
	}
	return bound
}

// endMicros returns the end of a tick in Unix µs.
func (g *Generator) endMicros(tick int64) int64 { return g.layout.TimeOf(tick + 1).UnixMicro() }
