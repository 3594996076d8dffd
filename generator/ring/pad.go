package ring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nextid/generator"
	"nextid/generator/snowflake"
	"nextid/generator/worker"
)

// cause is the reason why a ring is padded.
type cause int

const (
	start     cause = iota // the generator was opened
	threshold              // fewer ids are left than padding_factor demands
	schedule               // schedule_interval has passed
	demand                 // a draw found the ring empty
	causes
)

// causeNames are the column of nextid.rings and the metric label of each cause.
var causeNames = [causes]struct{ field, label string }{
	{"padded_at_start", "start"}, {"padded_on_threshold", "threshold"}, {"padded_on_schedule", "schedule"}, {"padded_on_demand", "demand"},
}

// borrowedError is returned if the next tick may be borrowed only after wait.
type borrowedError struct{ wait time.Duration }

func (e borrowedError) Error() string { return fmt.Sprintf("the ring may borrow again in %v", e.wait) }

// asBorrowed returns the wait of a borrowedError in err.
func asBorrowed(err error) (wait time.Duration, ok bool) {
	b, ok := errors.AsType[borrowedError](err)
	return b.wait, ok
}

// retryFirst and retryMost bound the pauses of padOnThreshold after errors of the
// store.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

// padOnThreshold runs in a goroutine of the Generator. When a draw asks for it, it
// pads until the ring holds enough ids. It waits for ticks that cannot be borrowed
// yet, and tries again if the store fails.
func (g *Generator) padOnThreshold() {
	for g.clock.Receive(g.ctx, g.wake) == nil {
		for pause := retryFirst; ; pause = min(2*pause, retryMost) {
			err := g.pad(g.ctx, threshold, 0)
			if errors.Is(err, generator.ErrExhausted) {
				break // asked stays set, so that no draw asks again
			}
			g.asked.Store(false)
			if g.left() >= g.threshold {
				break
			}
			wait, late := asBorrowed(err)
			if err != nil && !late {
				wait = pause
			}
			if g.clock.Sleep(g.ctx, max(wait, time.Millisecond)) != nil {
				return
			}
		}
	}
}

// padOnSchedule runs in a goroutine of the Generator and pads every
// schedule_interval.
func (g *Generator) padOnSchedule() {
	for g.clock.Sleep(g.ctx, time.Duration(g.options.ScheduleInterval)) == nil {
		if err := g.pad(g.ctx, schedule, 0); err != nil && g.ctx.Err() == nil {
			g.pool.Logger().Debug("cannot pad the ring on schedule", "generator", g.name, "error", err)
		}
	}
}

// pad fills the ring. n is the size of the draw that asks on demand, else 0. The
// error is a borrowedError if time must pass first.
func (g *Generator) pad(ctx context.Context, why cause, n int64) error {
	if err := g.clock.Receive(ctx, g.lock); err != nil {
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	if n > 0 && g.found(n) {
		return nil // another draw has padded it
	}
	if why == schedule { // else ids that are not drawn would keep old times for ever, as in Baidu's generator
		now := time.UnixMicro(g.pool.Now())
		oldest := g.layout.TickOf(now.Add(-time.Duration(g.options.ScheduleInterval)))
		if next, left := g.head(); left > 0 && g.Tick(next) < oldest {
			if err := g.reserve(ctx, max(g.next, g.layout.TickOf(now))); err != nil {
				return worker.StoreError(ctx, g.name, err) // the old ids stay usable
			}
			g.cursor.Skip(min(g.FirstSlot(oldest)-1, g.ready.Load().last))
		}
	}
	var err error
	added := false
	for err == nil && (g.left()+g.perTick <= g.capacity || n > 0 && !g.found(n)) {
		err = g.put(ctx)
		added = added || err == nil
	}
	switch {
	case added:
		g.counts[why].Add(1)
	case why == schedule && err == nil:
		g.puts.Add(1)
		if g.options.RejectPut == Log {
			g.pool.Logger().Warn("the ring is full: nothing was put into it", "generator", g.name, "ids", g.left())
		}
	}
	return err
}

// put adds the ids of the next tick to the ring. They replace the ids in it if time
// has passed since the tick before, or if the worker id has changed. Called with
// the lock.
func (g *Generator) put(ctx context.Context) error {
	if g.cursor.Slot() == snowflake.Closed {
		return generator.ClosedError(g.name)
	}
	now := g.layout.TickOf(time.UnixMicro(g.pool.Now()))
	if now < 0 {
		return g.layout.BeforeEpochError(g.name)
	}
	tick := max(g.next, now)
	for {
		if tick > g.layout.MaxTick() {
			return g.layout.ExhaustedError(g.name)
		}
		if late := g.endMicros(tick) - g.bound(); late > 0 {
			return borrowedError{time.Duration(late) * time.Microsecond}
		}
		if err := g.reserve(ctx, tick); err != nil {
			return worker.StoreError(ctx, g.name, err)
		}
		first := max(tick, g.TickFrom(g.line.lo))
		if first == tick && g.EndMillis(tick) <= g.line.hi {
			break
		}
		tick = first
	}
	r := &ready{base: g.layout.Base(g.line.worker, 0), first: g.FirstSlot(tick), last: g.FirstSlot(tick+1) - 1}
	if before := g.ready.Load(); before.base == r.base && before.last+1 == r.first {
		r.first = before.first
	}
	g.next = tick + 1
	g.ready.Store(r)
	return nil
}

// reserve extends the reservation to the end of a tick. A changed worker id begins
// a reservation on another time line. Called with the lock.
func (g *Generator) reserve(ctx context.Context, tick int64) error {
	id := g.pool.Lease().Worker
	from, until := g.layout.TimeOf(tick).UnixMilli(), g.EndMillis(tick)
	if g.line.key != "" && g.line.worker == id && from >= g.line.lo && until <= g.line.hi {
		return nil
	}
	now := g.clock.Monotonic()
	least := min(time.Second, g.borrow/4).Milliseconds() // else each round trip to the store would gain too little time
	span := 2 * max(g.capacity/g.perTick*g.layout.Unit.Milliseconds(), least)
	if g.line.key != "" && now-g.last < time.Second {
		span = 2 * g.span.Load() // the last reservation lasted less than a second
	}
	g.last = now
	span = max(min(span, g.bound()/1000-from), until-from)
	g.span.Store(span)
	pace := g.pace.Load().Marked(g.cursor.Issued(), now) // also after failures: while the store is down, draws call reserve again and again
	g.pace.Store(&pace)
	key := g.pool.Line(g.name, id, 0)
	lo, hi, err := g.pool.ReserveLine(ctx, key, from, span)
	if err != nil {
		g.failed.Add(1)
		return err
	}
	g.refills.Add(1)
	if g.line.key != key || lo != g.line.hi {
		g.line = reservation{key: key, worker: id, lo: lo}
	}
	g.line.hi = hi
	g.until.Store(hi)
	return nil
}
