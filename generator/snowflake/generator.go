// Package snowflake makes ids of time, worker id and sequence, after
// Twitter's Snowflake (2010), for every layout of package layout.
//
// The state of a name is one number, its slot: tick<<sequenceBits|sequence.
// Slots only grow, and every id has a slot and a worker id of its own. A draw
// is one compare-and-swap on the slot, made after every bound was checked:
// the time slice in hand (package worker), the clock, the end of the time
// bits. Checking after the change was a real bug of Twitter's (issue #6).
package snowflake

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// Generator issues the ids of one name. A server may have many, asked in no
// order: a draw reads two cache lines of its own, of which it writes the second.
type Generator struct {
	*timing
	rewind *rewind // of on_rollback bits, else nil
	name   string
	Cursor
	waits atomic.Int64
	past  atomic.Pointer[past] // nil before its first id of the past
	_     [16]byte
}

// timing holds what generators of the same options have in common: their layout,
// and how they follow the clock and the slices of the pool.
type timing struct {
	Grid
	pool *worker.Pool // nil where ids are strict

	ahead        int64 // ticks by which ids may be ahead of the clock
	start        string
	low, high    int64 // sequence with which every tick begins, 0 and 0 if start says it
	rollback     string
	rollbackWait time.Duration
	lag          time.Duration // of the wall clock, that Refuse bears
	bound        bool          // ids must not be ahead of the wall clock: rollback is Wait or Refuse

	window atomic.Pointer[window]
}

var (
	_ generator.TryGenerator   = (*Generator)(nil)
	_ generator.Closer         = (*Generator)(nil)
	_ generator.Raiser         = (*Generator)(nil)
	_ generator.Reporter       = (*Generator)(nil)
	_ generator.Explainer      = (*Generator)(nil)
	_ generator.WorkerIDHolder = (*Generator)(nil)
	_ generator.Fielder        = (*Generator)(nil)

	_ generator.PastGenerator = (*Generator)(nil)
)

// window is a time slice of the pool in the terms of one layout. A slice
// stays ours for good, so a draw that still uses an old window is safe.
type window struct {
	lease       *worker.Lease
	base        int64 // worker bits of the ids
	first, last int64 // slots whose tick lies wholly inside the slice
	firstTick   int64
	soon        int64 // slot from which a longer slice is asked for

	tick seenTick
}

// seenTick holds what one draw found out about the clock, for those that follow in
// the same tick: while the monotonic clock is before until, a slot from begin
// up to, not including, limit may be followed by the next one. That spares
// them the way from the clock to the tick. Nothing depends on it but speed.
type seenTick struct {
	setting atomic.Bool
	until   atomic.Int64 // ns
	begin   atomic.Int64
	limit   atomic.Int64
}

func (p *seenTick) covers(mono time.Duration, last int64) bool {
	return int64(mono) < p.until.Load() && last >= p.begin.Load() && last < p.limit.Load()
}

// set is called by one draw at a time; others leave it alone. What is read
// while it is set is of this tick or the one before it.
func (p *seenTick) set(until time.Duration, begin, limit int64) {
	if int64(until) <= p.until.Load() || !p.setting.CompareAndSwap(false, true) {
		return
	}
	p.until.Store(0)
	p.begin.Store(begin)
	p.limit.Store(limit)
	p.until.Store(int64(until))
	p.setting.Store(false)
}

// newTiming reads the options of a layout, and follows the slices of a pool, if any.
func newTiming(o Options, l *layout.Layout, pool *worker.Pool) *timing {
	low, high, _ := startRange(o.SequenceStart, l.SequenceBits()) // checked when it was stored
	t := &timing{
		Grid: NewGrid(l), pool: pool,
		ahead: int64(time.Duration(o.MaxAhead) / l.Unit), start: o.SequenceStart, low: low, high: high,
	}
	t.rollback, t.lag, _ = onRollback(o.OnRollback) // checked as well
	t.bound = t.rollback == Wait || t.rollback == Refuse
	t.rollbackWait = max(o.rollbackWait(), 11*t.lag) // our time runs at 9/10 until the clock has caught up
	if pool != nil {
		t.window.Store(t.newWindow(pool.Lease()))
	}
	return t
}

// newGenerator returns the generator of a name. It goes on after the slot
// above, and after used (Unix ms), the end of what generators that left have
// stamped: one of them may have served the same name.
func newGenerator(name string, t *timing, used, above int64) *Generator {
	g := &Generator{timing: t, name: name}
	used = min(max(g.TickFrom(used), 0), g.maxTick+1) // a slot of a tick before the epoch could overflow
	g.Begin(max(-1, above, g.FirstSlot(used)-1))
	return g
}

func (t *timing) newWindow(l *worker.Lease) *window {
	w := &window{lease: l, base: t.layout.Base(l.Worker, 0), firstTick: max(t.TickFrom(l.Lo), 0)}
	end := min(t.TickAt(l.Hi), t.maxTick+1)
	w.first = t.FirstSlot(w.firstTick)
	w.last = min(t.FirstSlot(end)-1, Closed-1)
	if w.firstTick > t.maxTick || end <= 0 {
		w.first, w.last = 0, -1
	}
	w.soon = t.FirstSlot(min(t.TickAt(l.Soon), t.maxTick))
	return w
}

// micros is the present in Unix µs: the pool's time, which does not go back,
// or for a generator that must not run ahead of the wall clock, that one.
func (t *timing) micros() int64 { return t.microsAt(t.pool.Monotonic()) }

func (t *timing) microsAt(mono time.Duration) int64 {
	now := t.pool.At(mono)
	if t.bound {
		now = min(now, t.pool.Wall())
	}
	return now
}

// present is the tick of the present.
func (t *timing) present(w *window) int64 { return t.presentAt(w, t.micros()) }

// presentAt is the tick in which that moment (Unix µs) lies. Where ids may be
// ahead of the clock it is at least the first one of the slice: the slice is
// ours, and waiting for its first whole tick would gain nothing.
func (t *timing) presentAt(w *window, micros int64) int64 {
	now := micros - t.epoch
	if t.unit == 1000 && now >= 0 {
		now /= 1000 // a multiplication, which a division by a variable is not
	} else {
		now = floorDiv(now, t.unit)
	}
	if now < w.firstTick && now >= 0 && !t.bound {
		return w.firstTick
	}
	return now
}

// TryNext implements generator.TryGenerator.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	if g.rewind != nil && g.rewind.behind() {
		return generator.Range{}, false
	}
	w, last := g.window.Load(), g.slot.Load() // before the clock, which waits for what is being read
	mono := g.pool.Monotonic()
	if n == 1 && w.tick.covers(mono, last) && g.slot.CompareAndSwap(last, last+1) {
		return generator.Range{First: w.base | g.layout.Place(last+1), Step: g.layout.SlotStep(), Count: 1}, true
	}
	micros := g.microsAt(mono)
	now := g.presentAt(w, micros)
	if now > g.maxTick {
		return generator.Range{}, false
	}
	limit := w.last
	if horizon := now + g.ahead; horizon < g.Tick(limit) {
		limit = g.FirstSlot(horizon+1) - 1
	}
	for {
		last := g.slot.Load()
		if last == Closed {
			return generator.Range{}, false
		}
		first := last + 1
		if now > g.Tick(last) {
			first = g.startSlot(now, last)
		}
		first = max(first, w.first)
		if tick := g.Tick(first); g.high > 0 && first == g.FirstSlot(tick) {
			first = g.startSlot(tick, last)
		}
		if first > w.last && n > 0 && g.follow(w) { // no draw since the slice was renewed
			return g.TryNext(n)
		}
		if first > limit || n < 1 {
			return generator.Range{}, false
		}
		end := limit
		if !g.layout.Seamless() || g.high > 0 { // the run ends with the tick
			end = min(end, g.FirstSlot(g.Tick(first)+1)-1)
		}
		count := min(n, end-first+1)
		if !g.Advance(last, first, first+count-1) {
			continue
		}
		if first >= w.soon {
			if !g.follow(w) {
				g.pool.Wake()
			}
		} else if g.Tick(first) == now && !g.bound && g.high == 0 {
			left := time.Duration(g.epoch+(now+1)*g.unit-micros) * time.Microsecond
			w.tick.set(mono+left, g.FirstSlot(now), min(limit, w.soon-1))
		}
		return generator.Range{First: w.base | g.layout.Place(first), Step: g.layout.SlotStep(), Count: count}, true
	}
}

// startSlot returns where a new tick begins. random and carry stay in the lower
// half of the sequence, so that at least half of it is left for the tick.
func (t *timing) startSlot(now, last int64) int64 {
	slot := t.FirstSlot(now)
	if t.start == Zero || t.sequenceBits == 0 {
		return slot
	}
	if t.high > 0 {
		return slot | (t.low + rand.Int64N(t.high-t.low+1))
	}
	half := int64(1) << (t.sequenceBits - 1)
	if t.start == Random {
		return slot | rand.Int64N(half)
	}
	return slot | (last+1)&(half-1)
}

// follow takes over the slice that the pool has now. It reports whether that
// is another one than that of w.
func (t *timing) follow(w *window) bool {
	l := t.pool.Lease()
	if l == w.lease {
		return false
	}
	t.window.CompareAndSwap(w, t.newWindow(l))
	return true
}

// Next implements generator.Generator.
func (g *Generator) Next(ctx context.Context, n int64) (generator.Range, error) {
	if n < 1 {
		return generator.Range{}, generator.CountError(g.name, n)
	}
	counted := false
	var until time.Duration // see await
	for {
		if r, ok := g.TryNext(n); ok {
			return r, nil
		}
		var waited bool
		var err error
		if g.rewind != nil && g.rewind.behind() {
			var r generator.Range
			if r, waited, err = g.rewind.next(ctx, n); r.Count > 0 {
				return r, nil
			}
		} else {
			waited, err = g.prepare(ctx, &until)
		}
		if waited && !counted {
			g.waits.Add(1)
			counted = true
		}
		if err != nil {
			return generator.Range{}, err
		}
	}
}

// prepare finds out why TryNext could not answer and does something about
// it: it takes over or extends the slice, or waits for the tick, or says why
// not. It may find nothing wrong: other draws go on meanwhile. until is await's.
func (g *Generator) prepare(ctx context.Context, until *time.Duration) (waited bool, err error) {
	last := g.slot.Load()
	if last == Closed {
		return false, generator.ClosedError(g.name)
	}
	w := g.window.Load()
	if g.follow(w) {
		return false, nil
	}
	now := g.present(w)
	if now < 0 {
		return false, g.layout.BeforeEpochError(g.name)
	}
	if now > g.maxTick {
		return false, g.layout.ExhaustedError(g.name)
	}
	next := max(last+1, w.first, g.FirstSlot(now))
	tick := g.Tick(next)
	switch {
	case tick > g.maxTick || next == Closed:
		return false, g.layout.ExhaustedError(g.name)
	case tick > now+g.ahead:
		return true, g.await(ctx, tick-g.ahead, until)
	case next > w.last:
		return true, worker.StoreError(ctx, g.name, g.pool.Extend(ctx, g.EndMillis(tick)-1))
	}
	return false, nil
}

const (
	// patience bounds the wait for a tick.
	patience = 5 * time.Second
	// tolerance is the lag of the wall clock that on_rollback refuse bears without a duration.
	tolerance = 10 * time.Millisecond
	// maxRecheck sets how long on_rollback wait sleeps before it looks at the wall
	// clock again, which may be set right at any moment.
	maxRecheck = 100 * time.Millisecond
	// minRecheck is the shortest such sleep: a wall clock that stands still just
	// before a tick must not make us spin.
	minRecheck = time.Millisecond
)

// await waits for the beginning of a tick. *until is when a draw that waits for
// the wall clock gives up, on the monotonic clock; 0 before it waits.
func (g *Generator) await(ctx context.Context, tick int64, until *time.Duration) error {
	missing := time.Duration(g.epoch+tick*g.unit-g.micros()) * time.Microsecond
	if g.bound && g.pool.Now() >= g.epoch+tick*g.unit { // only the wall clock is behind
		if g.rollback == Refuse && missing > g.lag {
			return g.errRollback(missing)
		}
		now := g.pool.Monotonic()
		if *until == 0 {
			*until = now + g.rollbackWait
		}
		if now >= *until {
			return g.errRollback(missing)
		}
		return g.pool.Sleep(ctx, min(max(missing, minRecheck), maxRecheck, *until-now))
	}
	if missing > patience {
		return g.errAhead(tick)
	}
	return g.pool.Sleep(ctx, missing)
}

// Close implements generator.Closer. It needs no store: the pool gives the
// time back.
func (g *Generator) Close(ctx context.Context) error {
	if g.rewind != nil {
		defer g.rewind.close(ctx)
	}
	if last := g.Finish(); last >= 0 && last != Closed {
		g.pool.Leave(g.EndMillis(g.Tick(last)))
	} else if last != Closed {
		g.pool.Leave(0)
	}
	return nil
}

// Raise implements generator.Raiser. A v whose time has not come cannot be
// reached and is ErrOption.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	if !used && v > math.MinInt64 {
		v--
	}
	if v < 0 {
		return nil
	}
	if _, err := g.layout.Explain(v); err != nil {
		return err
	}
	tick, _, _, _ := g.layout.Unpack(v)
	last := g.Slot()
	if last == Closed {
		return generator.ClosedError(g.name)
	}
	if g.layout.Ordered() && last >= 0 && g.window.Load().base|g.layout.Place(last) >= v {
		return nil // passed already
	}
	if tick > g.present(g.window.Load())+g.ahead {
		return g.layout.FutureError(g.name, v)
	}
	// The slice must cover it, or a crash would forget it.
	if err := g.pool.Extend(ctx, g.EndMillis(tick)-1); err != nil {
		return worker.StoreError(ctx, g.name, err)
	}
	to := g.FirstSlot(tick+1) - 1 // all of v's tick: its worker bits may be greater than ours
	g.Skip(to)
	if g.Slot() == Closed {
		return generator.ClosedError(g.name)
	}
	g.rewind.raise(to)
	return nil
}

// WorkerID implements generator.WorkerIDHolder.
func (g *Generator) WorkerID() (datacenter, worker int64) {
	w := g.window.Load()
	if w == nil {
		return 0, 0 // strict, and nothing was drawn
	}
	return g.layout.SplitWorker(w.lease.Worker)
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	l := g.pool.Lease()
	w := g.newWindow(l)
	next := max(g.slot.Load(), g.FirstSlot(min(g.present(w), g.maxTick))-1)
	return generator.Stats{
		Issued: g.Issued(), ReservedUntil: l.Hi, Buffered: max(w.last-next, 0),
		Step: l.Hi - l.Lo, Waits: g.waits.Load(), ClockBack: g.pool.ClockBack(),
		Lasts: time.Duration(max(l.Hi*1000-g.pool.Now(), 0)) * time.Microsecond,
		Ended: g.layout.TickOf(time.UnixMicro(g.pool.Now())) > g.layout.MaxTick(),
	}
}
