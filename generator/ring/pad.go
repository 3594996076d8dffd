package ring

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// cause is why a ring is padded.
type cause int

const (
	start     cause = iota // the generator was opened
	threshold              // fewer ids were left than padding_factor says
	schedule               // schedule_interval was over
	demand                 // a draw found the ring empty
	causes
)

// borrowedError says that the next tick may not be borrowed before wait.
type borrowedError struct{ wait time.Duration }

func (e borrowedError) Error() string { return fmt.Sprintf("the ring may borrow again in %v", e.wait) }

func errorsAsBorrowed(err error) (wait time.Duration, ok bool) {
	b, ok := errors.AsType[borrowedError](err)
	return b.wait, ok
}

// startPadding starts the work in the background.
func (g *Generator) startPadding() {
	g.clock.Go(&g.work, g.padOnThreshold)
	if g.options.ScheduleInterval > 0 {
		g.clock.Go(&g.work, g.padOnSchedule)
	}
}

// padOnThreshold pads when a draw asks for it, again and again until enough
// is there: what cannot be borrowed yet is waited for, and a store that fails
// is asked again.
func (g *Generator) padOnThreshold() {
	for g.clock.Receive(g.ctx, g.wake) == nil {
		for pause := retryFirst; ; pause = min(2*pause, retryMost) {
			err := g.pad(g.ctx, threshold)
			if errors.Is(err, generator.ErrExhausted) {
				break // and nobody asks again
			}
			g.asked.Store(false)
			if g.left() >= g.threshold {
				break
			}
			wait, late := errorsAsBorrowed(err)
			if err != nil && !late {
				wait = pause
			}
			if g.clock.Sleep(g.ctx, max(wait, time.Millisecond)) != nil {
				return
			}
		}
	}
}

const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

func (g *Generator) padOnSchedule() {
	for g.clock.Sleep(g.ctx, time.Duration(g.options.ScheduleInterval)) == nil {
		if err := g.pad(g.ctx, schedule); err != nil && g.ctx.Err() == nil {
			g.pool.Logger().Debug("cannot pad the ring on schedule", "generator", g.name, "error", err)
		}
	}
}

// pad puts ids into the ring until it is full. The error is a borrowedError
// when time must go on first.
func (g *Generator) pad(ctx context.Context, why cause) error {
	if err := g.clock.Receive(ctx, g.lock); err != nil {
		return err
	}
	defer func() { g.lock <- struct{}{} }()
	if g.closed.Load() {
		return generator.ClosedError(g.name)
	}
	if why == demand && g.left() > 0 {
		return nil // somebody else has padded it
	}
	if why == schedule {
		g.dropOld()
	}
	added := 0
	for g.left()+g.perTick <= g.capacity {
		if err := g.put(ctx); err != nil {
			if added > 0 {
				g.counts[why].Add(1)
			}
			return err
		}
		added++
	}
	if added > 0 {
		g.counts[why].Add(1)
		return nil
	}
	if why == schedule {
		g.puts.Add(1)
		if g.options.RejectPut == Log {
			g.pool.Logger().Warn("the ring is full: nothing was put into it", "generator", g.name, "ids", g.left())
		}
	}
	return nil
}

// put puts the ids of the next tick into the ring.
func (g *Generator) put(ctx context.Context) error {
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
		first := max(tick, tickFrom(g.layout, g.line.lo))
		if first == tick && g.endMillis(tick) <= g.line.hi {
			break
		}
		tick = first
	}
	b := &block{
		first: g.layout.Pack(tick, g.line.worker, 0, 0), size: g.perTick, before: g.padded.Load(), tick: tick,
	}
	g.next = tick + 1
	g.padded.Add(b.size)
	g.tail.following.Store(b)
	g.tail = b
	return nil
}

// bound is how far (Unix µs) time may be borrowed now: by max_borrow, and on
// a store that several servers use no further than Pool.Furthest.
func (g *Generator) bound() int64 {
	bound := g.pool.Now() + g.borrow.Microseconds()
	if far := g.pool.Furthest(); far < math.MaxInt64/1000 {
		bound = min(bound, far*1000)
	}
	return bound
}

// reserve makes sure that the line in hand reaches over a tick. A worker id
// that has changed begins another line.
func (g *Generator) reserve(ctx context.Context, tick int64) error {
	id := g.pool.Lease().Worker
	from, until := startMillis(g.layout, tick), g.endMillis(tick)
	if g.line.key != "" && g.line.worker == id && from >= g.line.lo && until <= g.line.hi {
		return nil
	}
	now := g.clock.Monotonic()
	span := 2 * max(g.capacity/g.perTick*g.layout.Unit.Milliseconds(), g.leastSpan())
	if g.line.key != "" && now-g.last < time.Second {
		span = 2 * g.span.Load() // the last one did not last for a second
	}
	g.last = now
	span = max(min(span, g.bound()/1000-from), until-from)
	g.span.Store(span)
	key := g.pool.Line(g.name, id, 0)
	lo, hi, err := g.pool.ReserveLine(ctx, key, from, span)
	if err != nil {
		g.failed.Add(1)
		return err
	}
	g.refills.Add(1)
	if g.line.key != key || lo != g.line.hi {
		g.line = lease{key: key, worker: id, lo: lo}
	}
	g.line.hi = hi
	g.until.Store(hi)
	return nil
}

// leastSpan is the time, in ms, that one question to the store is worth.
func (g *Generator) leastSpan() int64 { return min(time.Second, g.borrow/4).Milliseconds() }

// dropOld uses up blocks whose time lies further back than the schedule: ids
// that nobody wanted would carry old times for ever. Baidu's do.
func (g *Generator) dropOld() {
	oldest := g.pool.Now() - time.Duration(g.options.ScheduleInterval).Microseconds()
	for b := g.head.Load(); b != nil && (b.size == 0 || g.endMicros(b.tick) < oldest); {
		g.skipped.Add(b.size - b.skip())
		f := b.following.Load()
		if f != nil {
			g.head.CompareAndSwap(b, f)
		}
		b = f
	}
}

// endMicros is the end of a tick in Unix µs.
func (g *Generator) endMicros(tick int64) int64 {
	return g.layout.TimeOf(tick + 1).UnixMicro()
}

// endMillis is the end of a tick in Unix ms, rounded up.
func (g *Generator) endMillis(tick int64) int64 {
	return -floorDiv(-g.endMicros(tick), 1000)
}

// startMillis is the start of a tick in Unix ms, rounded down.
func startMillis(l *layout.Layout, tick int64) int64 {
	return floorDiv(l.TimeOf(tick).UnixMicro(), 1000)
}

// tickFrom is the first tick that begins at or after a Unix millisecond.
func tickFrom(l *layout.Layout, ms int64) int64 {
	if ms == math.MinInt64 {
		return 0
	}
	at := time.UnixMilli(ms)
	tick := l.TickOf(at)
	if l.TimeOf(tick).Before(at) {
		tick++
	}
	return tick
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
