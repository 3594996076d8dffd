// Package ring is Baidu's cached uid-generator: it makes ids ahead of their use. The ring
// is padded at the start, below a threshold, and on a schedule. Under load it borrows: its
// ids carry future times, by max_borrow at most.
//
// The ring is a Window of package snowflake. A padding adds whole ticks. Nothing is
// written per id, and a draw is one compare-and-swap. The times are reserved in the store
// before their ids enter the ring, on a time line of the name and the worker id. So two
// servers, or two starts, never have the same time of one worker id.
//
// Other than in Baidu's generator, a padding replaces ids that a time without load made
// old, draws wait for an empty ring, and no draw follows the last tick of the time bits.
package ring

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
	"nextid/generator/layout"
	"nextid/generator/snowflake"
	"nextid/generator/worker"
)

// Options are the options of the kind, as they are stored. Baidu's boostPower,
// paddingFactor and scheduleInterval (in seconds) are the first three.
type Options struct {
	layout.Pinned
	BoostPower       int                `json:"boost_power"`       // capacity: 2^(sequence bits + boost_power) ids, or more with short ticks
	PaddingFactor    int                `json:"padding_factor"`    // percent of the capacity below which the ring is padded
	ScheduleInterval generator.Duration `json:"schedule_interval"` // between scheduled paddings; 0: none
	MaxBorrow        generator.Duration `json:"max_borrow"`        // greatest time by which ids may be ahead of the clock
	RejectPut        string             `json:"reject_put"`        // "log": a scheduled padding that finds the ring full is logged
	RejectTake       string             `json:"reject_take"`       // "error": while nothing may be borrowed, draws from an empty ring are ErrRetry
}

const maxBoostPower, maxRingBits = 12, 30

// Kind returns the kind. pools holds the worker ids of the process. The defaults are
// those of Baidu's CachedUidGenerator and RingBuffer, if they have one.
func Kind(pools *worker.Pools) generator.Kind {
	return kind{kinds.Base[Options]{
		Called: "ring", Title: "a ring",
		Hint: "Options: layout, bits, epoch, unit, boost_power (0 to 12), padding_factor (1 to 99), schedule_interval, max_borrow, " +
			"reject_put (discard, log), reject_take (wait, error).",
		Defaults: Options{Pinned: layout.Unpinned, BoostPower: 3, PaddingFactor: 50, MaxBorrow: -1, RejectPut: "discard", RejectTake: "wait"},
		Fill:     (*Options).fill, Check: (*Options).check,
		Keep: func(before, after *Options) error { return after.Pinned.Keep(before.Pinned) },
	}, layout.Timed{Wall: pools.Wall}, pools}
}

type kind struct {
	kinds.Base[Options]
	layout.Timed
	pools *worker.Pools
}

// fill completes the options of a new generator.
func (o *Options) fill() error {
	_, err := o.Pin("ring")
	if o.MaxBorrow == -1 {
		o.MaxBorrow = max(generator.Duration(time.Minute), o.leastBorrow())
	}
	return err
}

// leastBorrow returns the time span of two full rings: one in use, one padded.
func (o *Options) leastBorrow() generator.Duration {
	return 2 * o.Unit << min(max(o.BoostPower, 0), maxBoostPower)
}

func (o *Options) check() error {
	l, err := o.Build()
	if err != nil {
		return err
	}
	if o.ScheduleInterval != 0 && o.ScheduleInterval < generator.Duration(10*time.Millisecond) {
		return generator.WrongOption("schedule_interval must be 0, which is none, or at least 10ms, not %v", o.ScheduleInterval)
	}
	return cmp.Or(generator.Within("boost_power", o.BoostPower, 0, min(maxBoostPower, maxRingBits-int(l.SequenceBits()))),
		generator.Within("padding_factor", o.PaddingFactor, 1, 99),
		generator.Within("max_borrow", o.MaxBorrow, o.leastBorrow(), generator.Duration(24*time.Hour)),
		generator.OneOf("reject_put", o.RejectPut, "discard", "log"),
		generator.OneOf("reject_take", o.RejectTake, "wait", "error"))
}

// Open implements generator.Kind. The ring is full when it returns.
func (k kind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	o, l, above, err := layout.Open(ctx, k.Base, k.pools.Store(), d)
	if err != nil {
		return nil, err
	}
	end := int64(0) // of the times of earlier starts, if only this server uses the store
	if k.pools.Store().Exclusive() {
		if end, err = k.pools.LinesEnd(ctx, d.Name); err != nil {
			return nil, err
		}
	}
	pool, err := k.pools.Open(ctx, snowflake.Width(l), l.Unit)
	if err != nil {
		return nil, err
	}
	g := &Generator{
		Grid: snowflake.NewGrid(l), name: d.Name, options: o, pool: pool, clock: pool.Runtime(),
		perTick: 1 << l.SequenceBits(), borrow: time.Duration(o.MaxBorrow),
		wake: make(chan struct{}, 1), lock: make(chan struct{}, 1),
	}
	// Ids continue above those of the last start, also with another worker id. After a loop
	// of crashes that borrowed too much they do not; they are unique either way.
	if end > 0 && end < pool.Now()/1000+g.borrow.Milliseconds()/2 {
		above = max(above, g.LastSlot(g.TickFrom(end)-1))
	}
	// A padding is a round trip to the store. So the ring holds a second at least, or a
	// quarter of max_borrow if that is less.
	g.capacity = g.perTick * max(1<<o.BoostPower, int64(min(time.Second, g.borrow/4)/l.Unit))
	g.threshold = max(g.capacity*int64(o.PaddingFactor)/100, 1)
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.cursor.Begin(above)
	g.ready.Store(&snowflake.Window{Lease: &worker.Lease{Worker: worker.None}, First: above + 1, Last: above})
	g.pace.Store(&generator.Pace{})
	g.lock <- struct{}{}
	if _, err := g.pad(ctx, 0, 0); err != nil && !errors.Is(err, generator.ErrExhausted) {
		_ = g.Close(ctx) // the store failed: nothing was reserved
		return nil, err
	}
	g.clock.Go(&g.work, g.padOnThreshold)
	if every := time.Duration(o.ScheduleInterval); every > 0 {
		g.clock.Go(&g.work, func() {
			for g.clock.Sleep(g.ctx, every) == nil {
				_, _ = g.pad(g.ctx, 0, every) // put counts its errors
			}
		})
	}
	return g, nil
}

func (k kind) Retire(ctx context.Context, d generator.Definition) error {
	return snowflake.Retire(ctx, k.pools, d, 0)
}

// Generator issues the ids of one name. A draw takes slots from ready by a
// compare-and-swap of the Cursor. ready is replaced, not changed, and needs lock.
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

	ctx                    context.Context // of the goroutines in the background; ends with Close
	stop                   context.CancelFunc
	work                   sync.WaitGroup
	wake                   chan struct{} // wakes padOnThreshold
	lock                   chan struct{} // a mutex with one token
	pace                   atomic.Pointer[generator.Pace]
	waits, refills, failed atomic.Int64 // see Stats

	_      [64]byte // keeps the fields above out of the cache line of the cursor, which every draw writes
	cursor snowflake.Cursor
	_      [64]byte
	ready  atomic.Pointer[snowflake.Window] // slots of one worker id, reserved on its time line
	asked  atomic.Bool                      // a padding was requested
}

// TryNext implements generator.TryGenerator.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	for {
		r, last, first, left := g.head(n)
		if left <= 0 || n < 1 {
			return generator.Range{}, false
		}
		end := g.RunEnd(first, first+min(n, left)-1)
		if !g.cursor.Advance(last, first, end) {
			continue
		}
		if r.Last-end < g.threshold && !g.asked.Load() && g.asked.CompareAndSwap(false, true) {
			g.wake <- struct{}{} // does not block: padOnThreshold has received the one before
		}
		return g.Run(r.Base, first, end-first+1), true
	}
}

// head returns the ring, the last slot drawn, the next slot, and the number of slots
// left for a draw of n: a part may be reserved for small draws.
func (g *Generator) head(n int64) (r *snowflake.Window, last, next, left int64) {
	r, last = g.ready.Load(), g.cursor.Slot()
	next = max(min(last, r.Last)+1, r.First)
	left = r.Last - next + 1
	if !g.Small(n) && n > left-g.perTick { // else it leaves enough, and needs no clock
		left -= g.cursor.Left(&g.Grid, g.clock.Monotonic())
	}
	return r, last, next, left
}

// nextTick returns the first tick that was never in the ring, nor passed by Raise.
func (g *Generator) nextTick() int64 { return g.Tick(max(g.ready.Load().Last, g.cursor.Slot())) + 1 }

// Next implements generator.Generator.
func (g *Generator) Next(ctx context.Context, n int64) (generator.Range, error) {
	for waits := int64(1); ; waits = 0 {
		if r, ok := g.TryNext(n); ok {
			return r, nil
		}
		g.waits.Add(waits)
		wait, err := g.pad(ctx, n, 0)
		switch {
		case err != nil || wait == 0:
		case g.options.RejectTake == "error":
			err = generator.Errorf(generator.ErrRetry, g.name, "Try again; alter the generator to reject_take wait, or to a greater max_borrow.",
				"the ring of generator %q is empty, and its ids are %v ahead of the clock already", g.name, g.borrow)
		case wait > snowflake.Patience:
			err = g.AheadError(g.name, time.UnixMicro(g.pool.Now()).Add(wait))
		default:
			g.cursor.Crowd(&g.Grid, n, g.clock.Monotonic())
			err = g.clock.Sleep(ctx, wait)
		}
		if err != nil {
			return generator.Range{}, err
		}
	}
}

// padOnThreshold pads when a draw asks for it, in a goroutine of the Generator. If that
// leaves too few ids, the next draw asks again: after the wait for a tick that cannot be
// borrowed yet, or a second after an error of the store.
func (g *Generator) padOnThreshold() {
	for g.clock.Receive(g.ctx, g.wake) == nil {
		wait, err := g.pad(g.ctx, 0, 0)
		if err != nil {
			wait = time.Second
		}
		_ = g.clock.Sleep(g.ctx, wait) // ends with ctx, as Receive does
		g.asked.Store(false)
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
	if _, _, _, left := g.head(n); n > 0 && left > 0 {
		return 0, nil // another draw has padded it
	}
	now := g.At(g.pool.Now())
	if err := g.cursor.Usable(&g.Grid, g.name, now); err != nil {
		return 0, err
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
	end = min(end, most)
	switch {
	case from > g.MaxTick():
		return 0, g.ExhaustedError(g.name)
	case end <= from:
		return g.Until(from+1, bound), nil
	}
	pace := g.pace.Load().Marked(g.cursor.Issued(), g.clock.Monotonic()) // also after failures: while the store is down, draws call put again and again
	g.pace.Store(&pace)
	had, id := g.ready.Load(), g.pool.Lease().Worker
	line, begin := g.pool.Line(g.name, id, 0), g.TimeOf(from).UnixMilli()
	lo, hi, err := g.pool.ReserveLine(ctx, line, begin, g.EndMillis(end-1)-begin, g.EndMillis(most-1))
	if errors.Is(err, generator.ErrExhausted) {
		ends, err := g.pool.LineEnds(ctx, g.name, id, 1)
		if reserved := g.TickFrom(ends[0]); reserved <= g.MaxTick() {
			return max(g.Until(reserved+1, bound), time.Millisecond), worker.StoreError(ctx, g.name, err)
		}
		return 0, g.ExhaustedError(g.name)
	}
	if err != nil {
		g.failed.Add(1)
		return 0, worker.StoreError(ctx, g.name, err)
	}
	g.refills.Add(1)
	r := g.NewWindow(&worker.Lease{Worker: id, Lo: lo, Hi: hi})
	if r.First = max(r.First, g.FirstSlot(from)); r.Last < r.First { // less than a tick was left
		_ = g.pool.ReleaseLine(ctx, line, hi, lo) // lost if it fails
		return time.Millisecond, nil
	}
	if had.Lease.Worker == id && had.Last+1 == r.First {
		r.First = had.First
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
	g.pool.Leave(0)
	if err := g.clock.Receive(ctx, g.lock); err != nil { // a draw may be padding now
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	r := g.ready.Load()
	to := g.EndMillis(g.Tick(max(last, r.First-1))) // all ticks from r.First on are this server's
	if r.Lease.Worker == worker.None || to >= r.Lease.Hi {
		return nil
	}
	return g.pool.ReleaseLine(ctx, g.pool.Line(g.name, r.Lease.Worker, 0), r.Lease.Hi, to)
}

// Raise implements generator.Raiser, up to max_borrow ahead of the clock.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	if err := g.clock.Receive(ctx, g.lock); err != nil {
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	return g.cursor.Raise(&g.Grid, g.name, v, used, g.At(g.bound())-1, func(tick int64) error {
		if tick < g.nextTick() {
			return nil
		}
		_, err := g.put(ctx, tick, tick+1) // with a wait, the line is reserved beyond v
		return err
	})
}

// WorkerID implements generator.WorkerIDHolder.
func (g *Generator) WorkerID() (datacenter, worker int64) {
	return g.SplitWorker(g.pool.Lease().Worker)
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	r, _, _, left := g.head(1)
	issued, now, until := g.cursor.Issued(), g.pool.Now(), r.Lease.Hi
	reserved := time.Duration(until*1000-now) * time.Microsecond
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
	return generator.Details{Table: "rings", Rows: []generator.Row{{Fields: []generator.Field{
		{Name: "capacity", Value: g.capacity, Metric: generator.Metric{Name: "nextid_ring_capacity_ids", Help: "Ids that fit into the ring."}},
		{Name: "buffered", Value: left, Metric: generator.Metric{Name: "nextid_ring_buffered_ids", Help: "Ids in the ring."}},
		{Name: "threshold", Value: g.threshold},
		{Name: "borrowed_seconds", Value: max(g.Until(g.Tick(next), g.pool.Now()), 0).Seconds(), Metric: generator.Metric{Name: "nextid_ring_borrowed_seconds", Help: "Time of the ring's next id minus the clock."}},
		{Name: "max_borrow_seconds", Value: g.borrow.Seconds(), Metric: generator.Metric{Name: "nextid_ring_max_borrow_seconds", Help: "Limit of nextid_ring_borrowed_seconds."}},
	}}}}
}
