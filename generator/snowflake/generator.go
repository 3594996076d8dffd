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
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// closedSlot is the slot of a closed generator: no draw can follow it.
const closedSlot = math.MaxInt64

// Generator issues the ids of one name.
type Generator struct {
	name    string
	layout  *layout.Layout
	pool    *worker.Pool
	options Options

	epochMicros, unitMicros int64
	sequenceBits            uint8
	aheadTicks              int64

	slot   atomic.Int64 // last slot issued
	issued atomic.Int64
	waits  atomic.Int64
}

var (
	_ generator.TryGenerator = (*Generator)(nil)
	_ generator.Closer       = (*Generator)(nil)
	_ generator.Raiser       = (*Generator)(nil)
	_ generator.Reporter     = (*Generator)(nil)
	_ generator.Explainer    = (*Generator)(nil)
)

// newGenerator returns the generator of a name. It goes on after everything
// that closed generators of the pool stamped: one of them may have served
// the same name before.
func newGenerator(name string, o Options, l *layout.Layout, pool *worker.Pool) *Generator {
	g := &Generator{name: name, layout: l, pool: pool, options: o,
		epochMicros: l.Epoch.UnixMicro(), unitMicros: l.Unit.Microseconds(), sequenceBits: l.SequenceBits(),
		aheadTicks: int64(time.Duration(o.MaxAhead) / l.Unit)}
	g.slot.Store(max(-1, g.firstSlot(g.tickAfter(pool.UsedUntil()))-1))
	return g
}

// tickNow is the tick of the present.
func (g *Generator) tickNow() int64 {
	return floorDiv(g.pool.Now()-g.epochMicros, g.unitMicros)
}

// tickAfter is the first tick that begins at or after a Unix millisecond.
func (g *Generator) tickAfter(ms int64) int64 {
	return -floorDiv(g.epochMicros-ms*1000, g.unitMicros)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (g *Generator) firstSlot(tick int64) int64 { return tick << g.sequenceBits }
func (g *Generator) tickOf(slot int64) int64    { return slot >> g.sequenceBits }

// endMillis is the end of a slot's tick, in Unix ms, rounded up.
func (g *Generator) endMillis(slot int64) int64 {
	end := g.epochMicros + (g.tickOf(slot)+1)*g.unitMicros
	return -floorDiv(-end, 1000)
}

// ticksBefore is the number of ticks that end at or before a Unix ms: the
// first tick that does not fit any more.
func (g *Generator) ticksBefore(ms int64) int64 {
	return floorDiv(ms*1000-g.epochMicros, g.unitMicros)
}

// TryNext implements generator.TryGenerator.
func (g *Generator) TryNext(n int64) (generator.Range, bool) {
	for {
		last := g.slot.Load()
		lease := g.pool.Lease()
		micros := g.pool.Now()
		first, limit := g.window(last, lease, floorDiv(micros-g.epochMicros, g.unitMicros))
		if first >= limit {
			return generator.Range{}, false
		}
		count := min(n, limit-first)
		if !g.layout.Seamless() { // the run ends with the tick
			count = min(count, g.firstSlot(g.tickOf(first)+1)-first)
		}
		if g.options.OnRollback != Continue && g.behind() > rollbackTolerance {
			return generator.Range{}, false
		}
		if !g.slot.CompareAndSwap(last, first+count-1) {
			continue
		}
		g.issued.Add(count)
		if micros >= lease.Soon*1000 {
			g.pool.Wake()
		}
		return generator.Range{First: g.layout.Base(lease.Worker, 0) | g.layout.Place(first), Step: g.layout.SlotStep(), Count: count}, true
	}
}

// window is the slots that may be issued after last: [first, limit).
func (g *Generator) window(last int64, lease *worker.Lease, now int64) (first, limit int64) {
	if last == closedSlot {
		return 0, 0
	}
	first = last + 1
	if now > g.tickOf(last) || last < 0 {
		first = max(first, g.startSlot(now, last))
	}
	if lo := g.tickAfter(lease.Lo); first < g.firstSlot(lo) {
		first = g.firstSlot(lo)
	}
	end := min(now+g.aheadTicks+1, g.ticksBefore(lease.Hi), g.layout.MaxTick()+1)
	if now < 0 || end < 0 {
		return 0, 0
	}
	return first, g.firstSlot(end)
}

// startSlot is where a new tick begins. random and carry stay in the lower
// half of the sequence, so that at least half of it is left for the tick.
func (g *Generator) startSlot(now, last int64) int64 {
	if now < 0 {
		return 0
	}
	slot := g.firstSlot(now)
	if g.sequenceBits == 0 {
		return slot
	}
	half := int64(1) << (g.sequenceBits - 1)
	switch g.options.SequenceStart {
	case Random:
		slot |= rand.Int64N(half)
	case Carry:
		slot |= (last + 1) & (half - 1)
	}
	return slot
}

// Next implements generator.Generator.
func (g *Generator) Next(ctx context.Context, n int64) (generator.Range, error) {
	for waited := false; ; waited = true {
		if r, ok := g.TryNext(n); ok {
			return r, nil
		}
		if !waited {
			g.waits.Add(1)
		}
		if err := g.prepare(ctx); err != nil {
			return generator.Range{}, err
		}
	}
}

// prepare finds out why TryNext could not answer and does something about
// it: it extends the slice, or waits for the tick, or says why not.
func (g *Generator) prepare(ctx context.Context) error {
	last := g.slot.Load()
	if last == closedSlot {
		return &generator.Error{Kind: generator.ErrNotNow, Name: g.name, Message: fmt.Sprintf("generator %q is closed", g.name),
			Hint: "Connect again: the server is shutting down or the generator was changed."}
	}
	now := g.tickNow()
	if err := g.checkTime(now); err != nil {
		return err
	}
	if err := g.checkRollback(ctx); err != nil {
		return err
	}
	lease := g.pool.Lease()
	first, limit := g.window(last, lease, now)
	tick := g.tickOf(first)
	switch {
	case first < limit:
		return nil // another goroutine was faster
	case tick > g.layout.MaxTick():
		return g.exhausted()
	case tick >= g.ticksBefore(lease.Hi):
		return g.pool.Extend(ctx, max(g.endMillis(first), lease.Hi))
	}
	wait := g.epochMicros + (tick-g.aheadTicks)*g.unitMicros - g.pool.Now()
	return sleep(ctx, time.Duration(max(wait, 1))*time.Microsecond)
}

// checkTime refuses times outside the layout.
func (g *Generator) checkTime(now int64) error {
	switch {
	case now < 0:
		return &generator.Error{Kind: generator.ErrExhausted, Name: g.name,
			Message: fmt.Sprintf("the clock is before the epoch %s of generator %q", g.layout.Epoch.Format(time.RFC3339), g.name),
			Hint:    "Set the server's clock, or give the generator an epoch in the past."}
	case now > g.layout.MaxTick():
		return g.exhausted()
	}
	return nil
}

func (g *Generator) exhausted() error {
	return &generator.Error{Kind: generator.ErrExhausted, Name: g.name,
		Message: fmt.Sprintf("the time bits of generator %q ended at %s", g.name, g.layout.Last().Format(time.RFC3339)),
		Hint:    "Create a generator with a later epoch or more time bits, and move to it."}
}

// rollbackTolerance is the step back that on_rollback wait and refuse bear.
const rollbackTolerance = 10 * time.Millisecond

// behind is by how much the wall clock is behind the time of the ids.
func (g *Generator) behind() time.Duration {
	return time.Duration(g.pool.Now()-g.pool.Wall()) * time.Microsecond
}

// checkRollback applies on_rollback while the wall clock is behind the ids.
func (g *Generator) checkRollback(ctx context.Context) error {
	if g.options.OnRollback == Continue {
		return nil
	}
	behind := g.behind()
	if behind <= rollbackTolerance {
		return nil
	}
	if g.options.OnRollback == Wait {
		return sleep(ctx, min(behind, time.Second))
	}
	return &generator.Error{Kind: generator.ErrNotNow, Name: g.name,
		Message: fmt.Sprintf("the clock is %v behind the ids of generator %q", behind.Round(time.Millisecond), g.name),
		Hint:    "Set the server's clock, or alter the generator to on_rollback continue."}
}

// Close implements generator.Closer. It needs no store: the pool gives the
// time back.
func (g *Generator) Close(context.Context) error {
	last := g.slot.Swap(closedSlot)
	if last == closedSlot {
		return nil
	}
	end := int64(0)
	if last >= 0 {
		end = g.endMillis(last)
	}
	g.pool.Leave(end)
	return nil
}

// Raise implements generator.Raiser: later ids are greater than v. A v whose
// time has not come cannot be reached and is ErrOption.
func (g *Generator) Raise(_ context.Context, v int64) error {
	if v <= 0 {
		return nil
	}
	if _, err := g.layout.Explain(v); err != nil {
		return err
	}
	tick, _, _, _ := g.layout.Unpack(v)
	if now := g.tickNow(); tick > now+g.aheadTicks {
		return &generator.Error{Kind: generator.ErrOption, Name: g.name,
			Message: fmt.Sprintf("%d is an id of %s, which is in the future", v, g.layout.TimeOf(tick).Format(time.RFC3339)),
			Hint:    "Ids of this generator follow the clock; only a segment generator can be raised freely."}
	}
	for {
		last := g.slot.Load()
		to := g.firstSlot(tick+1) - 1 // all of v's tick
		if last >= to || g.slot.CompareAndSwap(last, to) {
			return nil
		}
	}
}

// Stats implements generator.Reporter. Times are Unix milliseconds.
func (g *Generator) Stats() generator.Stats {
	lease := g.pool.Lease()
	last := g.slot.Load()
	first, _ := g.window(last, lease, g.tickNow())
	left := max(0, g.firstSlot(g.ticksBefore(lease.Hi))-first)
	return generator.Stats{Issued: g.issued.Load(), ReservedUntil: lease.Hi, Buffered: left,
		Step: lease.Hi - lease.Lo, Waits: g.waits.Load(), ClockBack: g.pool.ClockBack()}
}

// Explain implements generator.Explainer.
func (g *Generator) Explain(id int64) (generator.Parts, error) { return g.layout.Explain(id) }

// Floor implements generator.Explainer.
func (g *Generator) Floor(t time.Time) (int64, error) { return g.layout.Floor(t) }

// Ceil implements generator.Explainer.
func (g *Generator) Ceil(t time.Time) (int64, error) { return g.layout.Ceil(t) }

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
