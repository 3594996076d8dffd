package ring

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/snowflake"
	"nextid/generator/worker"
)

// Generator issues the ids of one name. A draw takes slots from ready by a
// compare-and-swap of cursor. Adding to ready needs lock.
type Generator struct {
	snowflake.Grid
	name    string
	options Options
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

	lock chan struct{} // a mutex with one token; guards the changes of ready
	pace atomic.Pointer[generator.Pace]

	waits, refills, failed atomic.Int64 // see Stats

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

// ready holds the slots that may be drawn, all of one worker id and reserved on its
// time line. It is replaced, not changed.
type ready struct {
	first, last int64
	line        string // key of the time line
	hi          int64  // end of the reservation, in Unix ms
	base        int64  // worker bits of the ids
}

// TryNext implements generator.TryGenerator.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	for n > 0 {
		r, last, first, left := g.head(n)
		if left <= 0 {
			if g.ready.Load() != r {
				continue
			}
			break
		}
		count := min(n, g.RunEnd(first, first+left-1)-first+1)
		if !g.cursor.Advance(last, first, first+count-1) {
			continue
		}
		if r.last-(first+count-1) < g.threshold && !g.asked.Load() && g.asked.CompareAndSwap(false, true) {
			select {
			case g.wake <- struct{}{}:
			default:
			}
		}
		return g.Run(r.base, first, count), true
	}
	return generator.Range{}, false
}

// head returns the ring, the last slot drawn, the next slot, and the number of slots
// left for a draw of n: a part may be reserved for small draws.
func (g *Generator) head(n int64) (r *ready, last, next, left int64) {
	r, last = g.ready.Load(), g.cursor.Slot()
	next = max(min(last, r.last)+1, r.first)
	left = r.last - next + 1
	if !g.Small(n) && n > left-g.perTick { // else it leaves enough, and needs no clock
		left -= g.cursor.Left(&g.Grid, g.clock.Monotonic())
	}
	return r, last, next, left
}

// left returns the number of slots left for a draw of n.
func (g *Generator) left(n int64) int64 {
	_, _, _, left := g.head(n)
	return left
}

// nextTick returns the first tick that was never put into the ring or passed by
// Raise.
func (g *Generator) nextTick() int64 { return g.Tick(max(g.ready.Load().last, g.cursor.Slot())) + 1 }

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
			g.waits.Add(1)
		}
		wait, err := g.pad(ctx, n, 0)
		const patience = 5 * time.Second // longest wait until the next tick may be borrowed
		switch {
		case err == nil && wait == 0 || g.left(n) > 0:
			continue
		case err != nil:
		case g.options.RejectTake == "error":
			err = generator.Errorf(generator.ErrRetry, g.name, "Try again; alter the generator to reject_take wait, or to a greater max_borrow.",
				"the ring of generator %q is empty, and its ids are %v ahead of the clock already", g.name, g.borrow)
		case wait > patience:
			err = generator.Errorf(generator.ReasonClock, g.name, "Wait until then, or use a generator with another name.",
				"the ids of generator %q are ahead of the clock; it issues again in %v", g.name, wait.Round(time.Millisecond))
		default:
			g.cursor.Crowd(&g.Grid, n, g.clock.Monotonic())
			err = g.clock.Sleep(ctx, wait)
		}
		if err != nil {
			return generator.Range{}, err
		}
	}
}

// padOnThreshold runs in a goroutine of the Generator, and pads when a draw asks for
// it. If that leaves too few ids, the next draw asks again: after the wait for a tick
// that cannot be borrowed yet, or a second after an error of the store.
func (g *Generator) padOnThreshold() {
	for g.clock.Receive(g.ctx, g.wake) == nil {
		wait, err := g.pad(g.ctx, 0, 0)
		if errors.Is(err, generator.ErrExhausted) {
			return
		}
		if err != nil {
			wait = time.Second
		}
		_ = g.clock.Sleep(g.ctx, wait) // ends with ctx, as Receive does
		g.asked.Store(false)
	}
}

// padOnSchedule runs in a goroutine of the Generator and pads every
// schedule_interval.
func (g *Generator) padOnSchedule() {
	every := time.Duration(g.options.ScheduleInterval)
	for g.clock.Sleep(g.ctx, every) == nil {
		if _, err := g.pad(g.ctx, 0, every); err != nil && g.ctx.Err() == nil {
			g.pool.Logger().Debug("cannot pad the ring on schedule", "generator", g.name, "error", err)
		}
	}
}

// pad fills the ring. n is the size of the draw that found it empty, else 0. Ids of
// times longer ago than age are replaced; age is 0 if their times do not matter. If time
// must pass before the next tick may be borrowed, it returns how much.
func (g *Generator) pad(ctx context.Context, n int64, age time.Duration) (wait time.Duration, err error) {
	if err := g.clock.Receive(ctx, g.lock); err != nil {
		return 0, err
	}
	defer func() { g.lock <- struct{}{} }()
	now := g.At(g.pool.Now())
	switch {
	case n > 0 && g.left(n) > 0:
		return 0, nil // another draw has padded it
	case g.cursor.Slot() == snowflake.Closed:
		return 0, generator.ClosedError(g.name)
	case now < 0:
		return 0, g.BeforeEpochError(g.name)
	}
	_, _, next, left := g.head(1)
	old := int64(0)
	if age > 0 { // else ids that are not drawn would keep old times for ever, as in Baidu's generator
		old = max(min(g.FirstSlot(g.At(g.pool.Now()-age.Microseconds()))-next, left), 0)
	}
	from, ticks := g.nextTick(), (g.capacity-left+old)/g.perTick
	switch {
	case ticks == 0 && n == 0:
		if age > 0 && g.options.RejectPut == "log" {
			g.pool.Logger().Warn("the ring is full: nothing was put into it", "generator", g.name, "ids", left)
		}
		return 0, nil
	case now > from: // new ids replace all in the ring
		from, ticks = now, g.capacity/g.perTick
	}
	if wait, err = g.put(ctx, from, from+max(ticks, 1)); err == nil && wait == 0 {
		g.cursor.Skip(next + old - 1)
	}
	return wait, err
}

// put reserves the ticks of [from, end) that may be borrowed, and adds their ids to
// the ring. If the line is reserved further, it reserves as many ticks later. They
// replace the ids in the ring if ticks lie in between, or if the worker id has changed.
// If no tick may be borrowed, it returns how long to wait. Called with the lock.
func (g *Generator) put(ctx context.Context, from, end int64) (wait time.Duration, err error) {
	bound := g.bound()
	most := min(g.At(bound), g.MaxTick()+1) // first tick that may not be borrowed
	if from > g.MaxTick() {
		return 0, g.ExhaustedError(g.name)
	}
	until := func(tick int64) time.Duration {
		return time.Duration(g.TimeOf(tick+1).UnixMicro()-bound) * time.Microsecond
	}
	if end = min(end, most); end <= from {
		return until(from), nil
	}
	pace := g.pace.Load().Marked(g.cursor.Issued(), g.clock.Monotonic()) // also after failures: while the store is down, draws call put again and again
	g.pace.Store(&pace)
	had, id := g.ready.Load(), g.pool.Lease().Worker
	line, begin := g.pool.Line(g.name, id, 0), g.TimeOf(from).UnixMilli()
	lo, hi, err := g.pool.ReserveLine(ctx, line, begin, g.EndMillis(end-1)-begin, g.EndMillis(most-1))
	if errors.Is(err, generator.ErrExhausted) {
		ends, err := g.pool.LineEnds(ctx, g.name, id, 1)
		if reserved := g.TickFrom(ends[0]); reserved <= g.MaxTick() {
			return max(until(reserved), time.Millisecond), worker.StoreError(ctx, g.name, err)
		}
		return 0, g.ExhaustedError(g.name)
	}
	if err != nil {
		g.failed.Add(1)
		return 0, worker.StoreError(ctx, g.name, err)
	}
	g.refills.Add(1)
	from, end = max(from, g.TickFrom(lo)), min(g.TickAt(hi), g.MaxTick()+1)
	if end <= from { // less than a tick was left
		_ = g.pool.ReleaseLine(ctx, line, hi, lo) // lost if it fails
		return time.Millisecond, nil
	}
	r := &ready{first: g.FirstSlot(from), last: g.LastSlot(end - 1), line: line, hi: hi, base: g.Base(id, 0)}
	if had.line == line && had.last+1 == r.first {
		r.first = had.first
	}
	g.ready.Store(r)
	return 0, nil
}

// bound returns the time (Unix µs) up to which ids may be borrowed now. It is
// limited by max_borrow, and on a store of several servers by Pool.Furthest.
func (g *Generator) bound() int64 {
	bound := min(g.pool.Now()+g.borrow.Microseconds(), min(g.pool.Furthest(), math.MaxInt64/1000)*1000)
	if g.Unit < time.Millisecond { // reservations are rounded up
		bound -= 1000
	}
	return bound
}

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
	r := g.ready.Load()
	to := g.EndMillis(g.Tick(max(last, r.first-1))) // all ticks from r.first on are this server's
	if r.line == "" || to >= r.hi {
		return nil
	}
	return g.pool.ReleaseLine(ctx, r.line, r.hi, to)
}

// Raise implements generator.Raiser. A v more than max_borrow ahead of the clock is
// ErrOption.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	v, tick, err := g.Raised(v, used)
	if err != nil || tick < 0 {
		return err
	}
	if err := g.clock.Receive(ctx, g.lock); err != nil {
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	if g.cursor.Slot() == snowflake.Closed {
		return generator.ClosedError(g.name)
	}
	if g.TimeOf(tick+1).UnixMicro() > g.bound() {
		return g.FutureError(g.name, v)
	}
	if tick >= g.nextTick() { // reserved, so that a crash does not undo it
		if _, err := g.put(ctx, tick, tick+1); err != nil { // with a wait, the line is reserved beyond v
			return err
		}
	}
	g.cursor.Skip(g.LastSlot(tick))
	return nil
}

// WorkerID implements generator.WorkerIDHolder.
func (g *Generator) WorkerID() (datacenter, worker int64) {
	return g.SplitWorker(g.pool.Lease().Worker)
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	issued, now, until, left := g.cursor.Issued(), g.pool.Now(), g.ready.Load().hi, g.left(1)
	reserved := time.Duration(max(until*1000-now, 0)) * time.Microsecond
	return generator.Stats{
		Issued: issued, Buffered: left, ReservedUntil: until, Step: g.capacity / g.perTick * g.Unit.Milliseconds(),
		Waits: g.waits.Load(), ClockBack: g.pool.ClockBack(), Refills: g.refills.Load(), RefillErrors: g.failed.Load(),
		Lasts: max(reserved, g.pace.Load().Lasts(left, issued, g.clock.Monotonic())), // ids in the ring carry past times, which do not end
		Ended: g.Over(now),
	}
}

// Details implements generator.Detailed for the table nextid.rings.
func (g *Generator) Details() generator.Details {
	_, _, next, left := g.head(1)
	borrowed := max(time.Duration(g.TimeOf(g.Tick(next)).UnixMicro()-g.pool.Now())*time.Microsecond, 0)
	return generator.Details{Table: "rings", Rows: []generator.Row{{Fields: []generator.Field{
		{Name: "capacity", Value: g.capacity, Metric: generator.Metric{Name: "nextid_ring_capacity_ids", Help: "Ids that fit into the ring."}},
		{Name: "buffered", Value: left, Metric: generator.Metric{Name: "nextid_ring_buffered_ids", Help: "Ids in the ring."}},
		{Name: "threshold", Value: g.threshold},
		{Name: "borrowed_seconds", Value: borrowed.Seconds(), Metric: generator.Metric{Name: "nextid_ring_borrowed_seconds", Help: "Time of the ring's next id minus the clock."}},
		{Name: "max_borrow_seconds", Value: g.borrow.Seconds(), Metric: generator.Metric{Name: "nextid_ring_max_borrow_seconds", Help: "Limit of nextid_ring_borrowed_seconds."}},
	}}}}
}
