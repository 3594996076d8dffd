package snowflake

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/worker"
)

// rewind issues ids while the wall clock shows a time that has been before
// (on_rollback bits). Their time is that of the wall clock, and their rollback
// field is not 0.
//
// Each value of the field has its own time line (worker.Pool.Line). Time on it is
// reserved as on the worker id's. A value is free for the present if its line ends
// before the present. So no value is used twice for one moment: not by another
// server, and not after a restart, since the lines are in the store. Value 0
// belongs to the worker id's own line, on which time never goes back.
type rewind struct {
	g     *Generator
	above atomic.Int64 // slot: no id at or below it
	lead  int64        // µs by which id time may be ahead of a wall clock that was not set back

	lock chan struct{} // a mutex with one token; guards the fields below
	line string
	id   int64 // worker id
	bits int64 // value of the rollback field
	lo   int64 // begin of the reservation, Unix ms
	hi   int64
	slot int64 // last slot issued on the line, or below its first
}

// newRewind returns the rewind of a generator. slice is the time that is
// reserved ahead: after a crash, id time may be ahead by that much.
func newRewind(g *Generator, above int64, slice time.Duration) *rewind {
	r := &rewind{g: g, lead: tolerance.Microseconds(), lock: make(chan struct{}, 1)}
	if lead := g.pool.Now() - g.pool.Wall(); lead <= slice.Microseconds() {
		r.lead += max(lead, 0)
	}
	r.above.Store(above)
	r.lock <- struct{}{}
	return r
}

const (
	// rewound is the length of a reservation on a line. It is short because a restart
	// cannot use the rest of it.
	rewound = 3 * time.Second
	// lineAttempts bounds how often another server may reserve first on a line.
	lineAttempts = 8
)

// behind reports whether the wall clock shows a time that has been before.
func (r *rewind) behind() bool {
	return r.g.pool.Now()-r.g.pool.Wall() > r.lead
}

// next draws up to n ids. The run is empty if the clock has caught up.
func (r *rewind) next(ctx context.Context, n int64, d *draw) (run generator.Range, err error) {
	g := r.g
	if err := g.pool.Runtime().Receive(ctx, r.lock); err != nil {
		return run, err
	}
	defer func() { r.lock <- struct{}{} }()
	for attempts := 0; r.behind(); {
		now, id, wait := g.At(g.pool.Wall()), g.pool.Lease().Worker, time.Duration(0)
		if err := g.Usable(&g.Grid, g.name, now); err != nil {
			return run, err
		}
		switch {
		case r.line == "" || r.id != id || now+r.slack() < g.Tick(r.slot):
			if attempts++; attempts > lineAttempts {
				return run, g.errSpent(id, g.pool.Wall()/1000+rewound.Milliseconds())
			}
			if wait, err = r.begin(ctx, now); err != nil {
				return run, err
			}
			if wait > 0 {
				attempts = 0
			}
		default:
			first := max(r.slot+1, r.above.Load()+1, g.FirstSlot(g.TickFrom(r.lo)))
			if now > g.Tick(r.slot) {
				first = max(first, g.startSlot(now, r.slot))
			}
			tick := g.Tick(first)
			if tick > now+r.slack() {
				wait = max(g.Until(tick-r.slack(), g.pool.Wall()), minRecheck)
				if wait > Patience {
					return run, g.AheadError(g.name, g.TimeOf(tick))
				}
			} else if until := g.EndMillis(tick); until > r.hi {
				if err := r.extend(ctx, until); err != nil {
					return run, worker.StoreError(ctx, g.name, err)
				}
			} else {
				count := min(n, g.FirstSlot(tick+1)-first)
				r.slot = first + count - 1
				g.skipped.Add(-count) // Issued counts the slots
				return g.Run(g.Base(r.id, r.bits), first, count), nil
			}
		}
		if wait > 0 {
			g.waited(d)
			if err := g.pool.Sleep(ctx, min(wait, maxRecheck)); err != nil {
				return run, err
			}
		}
	}
	return run, nil
}

// slack returns the ticks by which ids may be ahead of the clock: max_ahead, and
// what a clock may lose without being set back.
func (r *rewind) slack() int64 { return r.g.ahead + tolerance.Microseconds()/r.g.unit }

// begin takes the next value of the rollback field whose line ends before the
// present. If all are in use, it returns how long to wait.
func (r *rewind) begin(ctx context.Context, now int64) (wait time.Duration, err error) {
	r.giveBack(ctx)
	id, values := r.g.pool.Lease().Worker, int64(1)<<r.g.RollbackBits()
	ends, err := r.g.pool.LineEnds(ctx, r.g.name, id, values)
	if err != nil {
		return 0, worker.StoreError(ctx, r.g.name, err)
	}
	// The ids and the line begin with the present tick if it is free.
	from := floorDiv(r.g.epoch+now*r.g.unit, 1000)
	first := int64(math.MaxInt64)
	for i := range values - 1 {
		bits := (r.bits+i)%(values-1) + 1
		if ends[bits] > from {
			first = min(first, ends[bits])
			continue
		}
		line := r.g.pool.Line(r.g.name, id, bits)
		lo, hi, err := r.g.pool.ReserveLine(ctx, line, from, r.length(), generator.NoLimit)
		if err != nil {
			return 0, worker.StoreError(ctx, r.g.name, err)
		}
		if lo != from { // another server with this worker id reserved first
			_ = r.g.pool.ReleaseLine(ctx, line, hi, lo) // lost if it fails
			return 0, nil
		}
		r.line, r.id, r.bits, r.lo, r.hi = line, id, bits, lo, hi
		r.slot = r.g.FirstSlot(r.g.TickFrom(lo)) - 1
		r.g.pool.Logger().Warn("the wall clock was set back; ids carry its time and another rollback value",
			"generator", r.g.name, "worker", id, "rollback", bits)
		return 0, nil
	}
	wait = time.UnixMilli(first).Sub(time.UnixMicro(r.g.pool.Wall()))
	if wait > Patience {
		return 0, r.g.errSpent(id, first)
	}
	return max(wait, minRecheck), nil
}

func (r *rewind) length() int64 { return max(rewound, 2*r.g.Unit).Milliseconds() }

// extend reserves more of the line in hand.
func (r *rewind) extend(ctx context.Context, until int64) error {
	from := max(r.hi, floorDiv(r.g.pool.Wall(), 1000))
	lo, hi, err := r.g.pool.ReserveLine(ctx, r.line, from, max(r.length(), until-from), generator.NoLimit)
	if err != nil {
		return err
	}
	if lo != r.hi {
		r.lo = lo
	}
	r.hi = hi
	return nil
}

// giveBack returns the unused end of the line in hand. After an error it is lost.
func (r *rewind) giveBack(ctx context.Context) {
	if r.line == "" {
		return
	}
	used := r.lo
	if tick := r.g.Tick(r.slot); r.slot >= r.g.FirstSlot(r.g.TickFrom(r.lo)) {
		used = max(used, r.g.EndMillis(tick))
	}
	if used < r.hi {
		_ = r.g.pool.ReleaseLine(ctx, r.line, r.hi, used)
	}
	r.line = ""
}

func (g *Generator) errSpent(id, until int64) error {
	return generator.Errorf(generator.ReasonClock, g.name, "Set the server's clock right, and keep it right; another nextid server may answer.",
		"the clock of this server was set back again: every rollback value of worker id %d is used until %s for generator %q",
		id, time.UnixMilli(until).UTC().Format(time.RFC3339), g.name)
}
