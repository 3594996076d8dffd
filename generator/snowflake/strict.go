package snowflake

import (
	"context"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
	"nextid/generator/worker"
)

// strictGenerator issues each id inside a reservation that began after the request.
// So a cloned or restored process never issues ids from memory that its twin also
// has. The cost is one round trip to the store for each batch of draws that wait at
// the same time.
type strictGenerator struct {
	*Generator // only its layout and slot are used
	time       *worker.Strict
	batches    kinds.Draws
	ctx        context.Context // canceled by Close
	stop       context.CancelFunc

	until atomic.Int64 // Unix ms; end of the latest grant
}

// strictPatience is the longest wait for the store.
const strictPatience = 5 * time.Second

// newStrict returns the strict generator with base's options.
func newStrict(base *Generator, time *worker.Strict) *strictGenerator {
	g := &strictGenerator{Generator: base, time: time}
	g.batches = kinds.Draws{Clock: time.Runtime(), Fill: g.fill, Closed: generator.ClosedError(g.name)}
	g.ctx, g.stop = context.WithCancel(context.Background())
	return g
}

// TryNext always fails, and hides that of Generator: a strict generator never
// answers from memory.
func (g *strictGenerator) TryNext(int64) (generator.Range, bool) { return generator.Range{}, false }

func (g *strictGenerator) Next(ctx context.Context, n int64) (generator.Range, error) {
	g.waits.Add(1)
	if err := g.clocksAgree(ctx); err != nil {
		return generator.Range{}, err
	}
	return kinds.Draw(ctx, &g.batches, n, strictPatience, func(ctx context.Context) error {
		return kinds.LateError(ctx, g.name, "; a generator that is not strict needs it less often.", strictPatience)
	})
}

// fill reserves the time for a batch of draws and distributes its ids.
func (g *strictGenerator) fill(wants []int64) ([]generator.Range, error) {
	last, now := g.slot.Load(), g.At(g.time.Now())
	if err := g.Usable(&g.Grid, g.name, now); err != nil {
		return nil, err
	}
	// A dropped generator of the name may have come further. A grant of that time would
	// lead all names there.
	if next := g.Tick(last + 1); g.Until(next, g.time.Now()) > Patience {
		return nil, g.AheadError(g.name, g.TimeOf(next))
	}
	most := max(int64(g.time.MaxSpan()/g.Unit), 1) << g.sequenceBits // ids of the longest grant
	total := int64(0)
	for _, n := range wants {
		total = min(total+min(n, most), most)
	}
	full := g.sequenceBits
	if g.start != Zero && full > 0 {
		full-- // each tick has at least half of its sequences left, see startSlot
	}
	ticks := (total-1)>>full + 1
	if !(g.unit%1000 == 0 && g.epoch%1000 == 0 || 1000%g.unit == 0 && g.epoch%g.unit == 0) {
		ticks++ // the tick is no multiple and no divisor of a millisecond: the grant may begin inside a tick
	}
	lease, err := g.time.Grant(g.ctx, time.Duration(ticks)*g.Unit, g.EndMillis(g.Tick(last)))
	if err != nil {
		return nil, worker.StoreError(g.ctx, g.name, err)
	}
	w := g.NewWindow(lease)
	if w.Last < w.First {
		return nil, g.ExhaustedError(g.name)
	}
	g.until.Store(lease.Hi)
	runs := make([]generator.Range, len(wants))
	for i, n := range wants {
		runs[i] = g.take(w, n)
	}
	return runs, nil
}

// take takes up to n ids of a window, as Generator.TryNext does. No other draw runs, and
// Close has not begun to end them.
func (g *strictGenerator) take(w *Window, n int64) generator.Range {
	for {
		last := g.slot.Load()
		first := last + 1
		if tick := g.Tick(max(first, w.First)); tick > g.Tick(last) {
			first = g.startSlot(tick, last)
		}
		if first > w.Last {
			return generator.Range{}
		}
		count := min(n, g.runEnd(first, w.Last)-first+1)
		if g.Advance(last, first, first+count-1) { // else Raise has moved the slot
			return g.Run(w.Base, first, count)
		}
	}
}

// clocksAgree waits or fails as on_rollback requires.
func (g *strictGenerator) clocksAgree(ctx context.Context) error {
	var until time.Duration
	for g.rollback != Continue {
		behind := time.Duration(g.time.Now()-g.time.Wall()) * time.Microsecond
		if behind <= tolerance {
			return nil
		}
		if err := g.catchUp(ctx, g.time.Runtime(), behind, &until); err != nil {
			return err
		}
	}
	return nil
}

func (g *strictGenerator) Close(context.Context) error {
	g.batches.Close(g.stop)
	if last := g.Finish(); last >= 0 && last != Closed {
		g.time.Leave(g.EndMillis(g.Tick(last)))
	}
	return nil
}

// Raise implements generator.Raiser. A v in the future is ErrOption.
func (g *strictGenerator) Raise(ctx context.Context, v int64, used bool) error {
	return g.Cursor.Raise(&g.Grid, g.name, v, used, g.At(g.time.Now())+g.ahead, func(tick int64) error {
		_, err := g.time.Grant(ctx, g.Unit, g.EndMillis(tick))
		return worker.StoreError(ctx, g.name, err)
	})
}

func (g *strictGenerator) Stats() generator.Stats {
	return generator.Stats{
		Issued: g.Issued(), ReservedUntil: g.until.Load(), Step: 1, Waits: g.waits.Load(), ClockBack: g.time.ClockBack(),
		Direct: true, Ended: g.Over(g.time.Now()),
	}
}
