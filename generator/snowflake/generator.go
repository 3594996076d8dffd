// Package snowflake is the kind of generators whose ids hold a time, a worker id
// and a sequence, after Twitter's Snowflake (2010). It serves every layout of
// package layout.
//
// The state of a Generator is one atomic number, its slot:
// tick<<sequenceBits|sequence. Slots only grow, and each id has its own pair of
// slot and worker id. A draw is one compare-and-swap of the slot. All bounds are
// checked before it: the time slice in hand (package worker), the clock, the end of
// the time bits. Twitter's code checked after the change, which was a bug (issue
// #6).
//
// A Window is the time slice in hand in slots of one layout. The pool (package
// worker) renews slices in the background; draws follow. rewind issues ids while
// the wall clock is behind (on_rollback bits). past issues ids of past times. A
// strictGenerator reserves time for each batch of draws.
package snowflake

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// Generator issues the ids of one name. A server may have very many. A draw reads
// two cache lines of the Generator and writes the second.
type Generator struct {
	*timing
	rewind *rewind // for on_rollback bits, else nil
	name   string
	Cursor
	waits atomic.Int64
	past  atomic.Pointer[past] // nil before the first id of the past
	_     [16]byte
}

// timing holds what generators with equal options have in common: their layout, and
// how they follow the clock and the pool's slices.
type timing struct {
	Grid
	pool *worker.Pool // nil for strict ids

	ahead        int64 // ticks by which ids may be ahead of the clock
	start        string
	low, high    int64 // bounds of the first sequence of a tick; 0 and 0 if start sets it
	rollback     string
	rollbackWait time.Duration
	lag          time.Duration // lag of the wall clock that Refuse tolerates
	bound        bool          // ids must not be ahead of the wall clock: rollback is Wait or Refuse

	window atomic.Pointer[Window]
}

// newTiming reads the options of a layout. pool may be nil.
func newTiming(o Options, l *layout.Layout, pool *worker.Pool) *timing {
	t := &timing{
		Grid: NewGrid(l), pool: pool, ahead: int64(time.Duration(o.MaxAhead) / l.Unit), start: string(o.SequenceStart), rollbackWait: defaultRollbackWait,
	}
	t.low, t.high, _ = startRange(t.start, l.SequenceBits()) // checked when the options were stored
	t.rollback, t.lag, _ = onRollback(o.OnRollback)          // also checked then
	t.bound = t.rollback == Wait || t.rollback == Refuse
	if o.RollbackWait != nil {
		t.rollbackWait = time.Duration(*o.RollbackWait)
	}
	t.rollbackWait = max(t.rollbackWait, 11*t.lag) // id time runs at 9/10 of real speed until the wall clock has caught up
	if pool != nil {
		t.window.Store(t.NewWindow(pool.Lease()))
	}
	return t
}

// newGenerator returns the generator of a name. It continues after the slot above.
// It also continues after used (Unix ms), the end of the times of generators that
// have left: one of them may have had the same name.
func newGenerator(name string, t *timing, used, above int64) *Generator {
	g := &Generator{timing: t, name: name}
	used = min(max(g.TickFrom(used), 0), g.maxTick+1) // a slot of a tick before the epoch could overflow
	g.Begin(max(-1, above, g.LastSlot(used-1)))
	return g
}

// micros returns the present in Unix µs. That is the pool's id time, which does not
// go back. For a bound generator it is at most the wall clock.
func (t *timing) micros() int64 { return t.microsAt(t.pool.Monotonic()) }

func (t *timing) microsAt(mono time.Duration) int64 {
	now := t.pool.At(mono)
	if t.bound {
		now = min(now, t.pool.Wall())
	}
	return now
}

// present returns the present tick.
func (t *timing) present(w *Window) int64 { return t.presentAt(w, t.micros()) }

// presentAt returns the tick of a moment in Unix µs. If ids may be ahead of the
// clock, it is at least the first tick of the slice. The slice belongs to this
// process, so waiting for that tick would gain nothing.
func (t *timing) presentAt(w *Window, micros int64) int64 {
	now := micros - t.epoch
	if t.unit == 1000 && now >= 0 {
		now /= 1000 // faster: a division by a constant compiles to a multiplication
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
	w := g.window.Load()
	mono := g.pool.Monotonic()
	now := g.presentAt(w, g.microsAt(mono))
	if now > g.maxTick {
		return generator.Range{}, false
	}
	limit := w.Last
	if horizon := now + g.ahead; horizon < g.Tick(limit) {
		limit = g.LastSlot(horizon)
	}
	if !g.Small(n) {
		limit -= g.Left(&g.Grid, mono)
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
		first = max(first, w.First)
		if tick := g.Tick(first); g.high > 0 && first == g.FirstSlot(tick) {
			first = g.startSlot(tick, last)
		}
		if first > w.Last && n > 0 && g.follow(w) { // the slice was renewed since the last draw
			return g.TryNext(n)
		}
		if first > limit || n < 1 {
			return generator.Range{}, false
		}
		count := min(n, g.runEnd(first, limit)-first+1)
		if !g.Advance(last, first, first+count-1) {
			continue
		}
		if first >= w.soon && !g.follow(w) {
			g.pool.Wake()
		}
		return g.Run(w.Base, first, count), true
	}
}

// runEnd returns RunEnd. If each tick has a random start, a run ends with its tick.
func (t *timing) runEnd(first, end int64) int64 {
	if t.high > 0 {
		end = min(end, t.LastSlot(t.Tick(first)))
	}
	return t.RunEnd(first, end)
}

// startSlot returns the first slot of a new tick. Random and carried starts lie in
// the lower half of the sequence. So at least half of it is left for the tick.
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

// follow replaces the window by the pool's present slice. It reports whether that
// differs from w.
func (t *timing) follow(w *Window) bool {
	l := t.pool.Lease()
	if l == w.Lease {
		return false
	}
	t.window.CompareAndSwap(w, t.NewWindow(l))
	return true
}

// draw holds what one call of Next has done.
type draw struct {
	counted bool          // in waits
	until   time.Duration // see catchUp
}

// waited counts a draw that has to wait.
func (g *Generator) waited(d *draw) {
	if !d.counted {
		d.counted = true
		g.waits.Add(1)
	}
}

// Next implements generator.Generator.
func (g *Generator) Next(ctx context.Context, n int64) (generator.Range, error) {
	for d := (draw{}); ; {
		if r, ok := g.TryNext(n); ok {
			return r, nil
		}
		var r generator.Range
		var err error
		if g.rewind != nil && g.rewind.behind() {
			r, err = g.rewind.next(ctx, n, &d)
		} else {
			err = g.prepare(ctx, n, &d)
		}
		if err != nil || r.Count > 0 {
			return r, err
		}
	}
}

// prepare handles the reason why TryNext could not answer: it follows or extends
// the slice, waits for the tick, or returns an error. It may find no reason, since
// other draws change the state meanwhile.
func (g *Generator) prepare(ctx context.Context, n int64, d *draw) error {
	last, w := g.slot.Load(), g.window.Load()
	if last != Closed && g.follow(w) {
		return nil
	}
	now := g.present(w)
	if err := g.Usable(&g.Grid, g.name, now); err != nil {
		return err
	}
	next := max(last+1, w.First, g.FirstSlot(now))
	if !g.Small(n) {
		next += min(g.Left(&g.Grid, g.pool.Monotonic()), Closed-next)
	}
	tick := g.Tick(next)
	switch {
	case tick > g.maxTick || next == Closed:
		return g.ExhaustedError(g.name)
	case tick > now+g.ahead:
		g.Crowd(&g.Grid, n, g.pool.Monotonic())
		g.waited(d)
		return g.await(ctx, tick-g.ahead, &d.until)
	case next > w.Last:
		return worker.StoreError(ctx, g.name, g.pool.Extend(ctx, g.EndMillis(tick)-1))
	}
	return nil
}

const (
	// Patience is the longest wait for a tick.
	Patience = 5 * time.Second
	// tolerance is the lag of the wall clock that on_rollback refuse tolerates by
	// default.
	tolerance = 10 * time.Millisecond
	// maxRecheck is the longest sleep of on_rollback wait between two readings of the
	// wall clock, which may be corrected at any moment.
	maxRecheck = 100 * time.Millisecond
	// minRecheck is the shortest such sleep. Without it a wall clock that stands still
	// just before a tick would cause a busy loop.
	minRecheck = time.Millisecond
)

// await waits for the beginning of a tick. until is that of catchUp.
func (g *Generator) await(ctx context.Context, tick int64, until *time.Duration) error {
	missing := g.Until(tick, g.micros())
	switch {
	case g.bound && g.pool.Now() >= g.epoch+tick*g.unit: // id time has come, only the wall clock is behind
		return g.catchUp(ctx, g.pool.Runtime(), missing, until)
	case missing > Patience:
		return g.AheadError(g.name, g.TimeOf(tick))
	}
	return g.pool.Sleep(ctx, missing)
}

// catchUp sleeps while the wall clock is behind the ids, or returns an error as
// on_rollback requires. *until is the end of the wait, by the monotonic clock. It is
// 0 before the first call.
func (g *Generator) catchUp(ctx context.Context, clock generator.Runtime, behind time.Duration, until *time.Duration) error {
	now := clock.Monotonic()
	if *until == 0 {
		*until = now + g.rollbackWait
	}
	if g.rollback == Refuse && behind > g.lag || now >= *until {
		return generator.Errorf(generator.ReasonClock, g.name, "Set the server's clock, or alter the generator to on_rollback continue.",
			"the clock of this server is %v behind the ids of generator %q", behind.Round(time.Millisecond), g.name)
	}
	return clock.Sleep(ctx, min(max(behind, minRecheck), maxRecheck, *until-now))
}

// Close implements generator.Closer. It does not ask the store: the pool gives the
// time back.
func (g *Generator) Close(ctx context.Context) error {
	if last := g.Finish(); last >= 0 && last != Closed {
		g.pool.Leave(g.EndMillis(g.Tick(last)))
	} else if last != Closed {
		g.pool.Leave(0)
	}
	if r := g.rewind; r != nil && g.pool.Runtime().Receive(ctx, r.lock) == nil {
		r.giveBack(ctx) // no draw follows
		r.lock <- struct{}{}
	}
	return nil
}

// Raise implements generator.Raiser. A v in the future is ErrOption.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	w, last := g.window.Load(), g.Slot()
	if newest := w.Base | g.Place(last); g.Ordered() && last >= 0 && last != Closed && (newest >= v || !used && newest == v-1) {
		return nil // v has passed
	}
	return g.Cursor.Raise(&g.Grid, g.name, v, used, g.present(w)+g.ahead, func(tick int64) error {
		err := g.pool.Extend(ctx, g.EndMillis(tick)-1)
		if err == nil && g.rewind != nil {
			raise(&g.rewind.above, g.LastSlot(tick))
		}
		return worker.StoreError(ctx, g.name, err)
	})
}

// WorkerID implements generator.WorkerIDHolder.
func (g *Generator) WorkerID() (datacenter, worker int64) {
	w := g.window.Load()
	if w == nil {
		return 0, 0 // strict, and nothing was drawn yet
	}
	return g.SplitWorker(w.Lease.Worker)
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	l := g.pool.Lease()
	w := g.NewWindow(l)
	next := max(g.slot.Load(), g.FirstSlot(min(g.present(w), g.maxTick))-1)
	return generator.Stats{
		Issued: g.Issued(), ReservedUntil: l.Hi, Buffered: max(w.Last-next, 0),
		Step: l.Hi - l.Lo, Waits: g.waits.Load(), ClockBack: g.pool.ClockBack(),
		Lasts: time.Duration(max(l.Hi*1000-g.pool.Now(), 0)) * time.Microsecond,
		Ended: g.Over(g.pool.Now()),
	}
}
