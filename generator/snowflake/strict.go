package snowflake

import (
	"context"
	"sync"
	"time"

	"nextid/generator"
	"nextid/generator/worker"
)

// strictGenerator issues each id inside a reservation that began after the request.
// So a cloned or restored process never issues ids from memory that its twin also
// has. The cost is one round trip to the store for each batch of draws that wait at
// the same time.
type strictGenerator struct {
	*Generator // only its layout and slot are used
	time       *worker.Strict

	ctx  context.Context // canceled by Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	batch   *batch // waiting draws
	sending bool
	closed  bool
	until   int64 // Unix ms; end of the latest grant
}

// batch holds draws that use one grant. Its ids go to these draws only; later draws
// get others.
type batch struct {
	total int64   // ids of all draws
	wants []int64 // ids of each draw
	done  chan struct{}
	runs  []generator.Range // one per draw; set before done is closed
	err   error             // set before done is closed
}

var (
	_ generator.Closer    = (*strictGenerator)(nil)
	_ generator.Raiser    = (*strictGenerator)(nil)
	_ generator.Reporter  = (*strictGenerator)(nil)
	_ generator.Explainer = (*strictGenerator)(nil)
)

// strictPatience is the longest wait for the store.
const strictPatience = 5 * time.Second

// newStrict returns the strict generator with base's options.
func newStrict(base *Generator, time *worker.Strict) *strictGenerator {
	g := &strictGenerator{Generator: base, time: time}
	g.ctx, g.stop = context.WithCancel(context.Background())
	return g
}

// TryNext always fails, and hides that of Generator: a strict generator never
// answers from memory.
func (g *strictGenerator) TryNext(int64) (generator.Range, bool) { return generator.Range{}, false }

// Next implements generator.Generator.
func (g *strictGenerator) Next(ctx context.Context, n int64) (generator.Range, error) {
	if n < 1 {
		return generator.Range{}, generator.CountError(g.name, n)
	}
	g.waits.Add(1)
	if err := g.clocksAgree(ctx); err != nil {
		return generator.Range{}, err
	}
	patient, cancel := context.WithTimeout(ctx, strictPatience)
	defer cancel()
	for {
		r, err := g.draw(patient, n)
		if err != nil && ctx.Err() == nil && patient.Err() != nil {
			err = g.errSlow()
		}
		if err != nil || r.Count > 0 {
			return r, err
		}
	}
}

// draw takes part in one batch. The result is empty if the other draws have taken
// all of the grant.
func (g *strictGenerator) draw(ctx context.Context, n int64) (generator.Range, error) {
	b, place, err := g.join(n)
	if err != nil {
		return generator.Range{}, err
	}
	if err := g.time.Clock().Receive(ctx, b.done); err != nil {
		return generator.Range{}, err
	}
	if b.err != nil {
		return generator.Range{}, b.err
	}
	return b.runs[place], nil
}

// takeLocked takes up to n ids of a window, as Generator.TryNext does. The caller
// holds mu.
func (g *strictGenerator) takeLocked(w *window, n int64) generator.Range {
	last := g.slot.Load()
	first := last + 1
	if tick := g.Tick(max(first, w.first)); tick > g.Tick(last) {
		first = g.startSlot(tick, last)
	}
	if first > w.last || last == Closed {
		return generator.Range{}
	}
	end := w.last
	if !g.layout.Seamless() || g.high > 0 { // the run ends with the tick
		end = min(end, g.FirstSlot(g.Tick(first)+1)-1)
	}
	count := min(n, end-first+1)
	g.Advance(last, first, first+count-1) // no other draw runs
	return generator.Range{First: w.base | g.layout.Place(first), Step: g.layout.SlotStep(), Count: count}
}

// clocksAgree waits or fails as on_rollback requires.
func (g *strictGenerator) clocksAgree(ctx context.Context) error {
	var until time.Duration
	for g.rollback != Continue {
		behind := time.Duration(g.time.Now()-g.time.Wall()) * time.Microsecond
		switch {
		case behind <= tolerance:
			return nil
		case g.rollback == Refuse && behind > g.lag:
			return g.errRollback(behind)
		}
		now := g.time.Clock().Monotonic()
		if until == 0 {
			until = now + g.rollbackWait
		}
		if now >= until {
			return g.errRollback(behind)
		}
		if err := g.time.Clock().Sleep(ctx, min(behind, maxRecheck, until-now)); err != nil {
			return err
		}
	}
	return nil
}

// join adds a draw to the batch that is next to be sent.
func (g *strictGenerator) join(n int64) (b *batch, place int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, 0, generator.ClosedError(g.name)
	}
	if g.batch == nil {
		g.batch = &batch{done: make(chan struct{})}
	}
	b, place = g.batch, len(g.batch.wants)
	b.wants = append(b.wants, n)
	b.total = min(b.total+min(n, g.most()), g.most())
	if !g.sending {
		g.sending = true
		g.time.Clock().Go(&g.work, g.send)
	}
	return b, place, nil
}

// most returns the greatest number of ids of one grant.
func (g *strictGenerator) most() int64 {
	return max(int64(g.time.MaxSpan()/g.layout.Unit), 1) << g.sequenceBits
}

// send sends batches, one after the other, until no draw waits.
func (g *strictGenerator) send() {
	for {
		g.mu.Lock()
		b := g.batch
		g.batch = nil
		if b == nil {
			g.sending = false
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		b.err = g.fill(b)
		close(b.done)
	}
}

// fill reserves the time for a batch and distributes its ids.
func (g *strictGenerator) fill(b *batch) error {
	last := g.slot.Load()
	now := floorDiv(g.time.Now()-g.epoch, g.unit)
	switch {
	case last == Closed:
		return generator.ClosedError(g.name)
	case now < 0:
		return g.layout.BeforeEpochError(g.name)
	case now > g.maxTick:
		return g.layout.ExhaustedError(g.name)
	}
	full := g.sequenceBits
	if g.start != Zero && full > 0 {
		full-- // each tick has at least half of its sequences left, see startSlot
	}
	ticks := (b.total-1)>>full + 1
	if !g.wholeMillis() { // the grant may begin inside a tick
		ticks++
	}
	from := -floorDiv(-(g.epoch + (g.Tick(last)+1)*g.unit), 1000)
	lease, err := g.time.Grant(g.ctx, time.Duration(ticks)*g.layout.Unit, from)
	if err != nil {
		return worker.StoreError(g.ctx, g.name, err)
	}
	w := g.newWindow(lease)
	if w.last < w.first {
		return g.layout.ExhaustedError(g.name)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = lease.Hi
	b.runs = make([]generator.Range, len(b.wants))
	for i, n := range b.wants {
		b.runs[i] = g.takeLocked(w, n)
	}
	return nil
}

// wholeMillis reports whether the tick is a multiple of a millisecond, or a divisor
// of one. Then a grant is a number of whole ticks.
func (g *strictGenerator) wholeMillis() bool {
	return g.unit%1000 == 0 && g.epoch%1000 == 0 || 1000%g.unit == 0 && g.epoch%g.unit == 0
}

// Close implements generator.Closer.
func (g *strictGenerator) Close(context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.time.Clock().Join(&g.work)
	g.mu.Lock()
	defer g.mu.Unlock()
	if last := g.Finish(); last >= 0 && last != Closed {
		g.time.Leave(g.EndMillis(g.Tick(last)))
	}
	return nil
}

// Raise implements generator.Raiser. A v in the future is ErrOption.
func (g *strictGenerator) Raise(ctx context.Context, v int64, used bool) error {
	if !used {
		v--
	}
	if v < 0 {
		return nil
	}
	if _, err := g.layout.Explain(v); err != nil {
		return err
	}
	tick, _, _, _ := g.layout.Unpack(v)
	if tick > floorDiv(g.time.Now()-g.epoch, g.unit)+g.ahead {
		return g.layout.FutureError(g.name, v)
	}
	// The line must be reserved beyond v. Otherwise v would be forgotten after a
	// crash.
	if _, err := g.time.Grant(ctx, g.layout.Unit, g.EndMillis(tick)); err != nil {
		return worker.StoreError(ctx, g.name, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Skip(g.FirstSlot(tick+1) - 1) // skips the whole tick of v: its worker bits may be greater than this server's
	if g.Slot() == Closed {
		return generator.ClosedError(g.name)
	}
	return nil
}

// Stats implements generator.Reporter.
func (g *strictGenerator) Stats() generator.Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return generator.Stats{
		Issued: g.Issued(), ReservedUntil: g.until, Step: 1, Waits: g.waits.Load(), ClockBack: g.time.ClockBack(),
		Direct: true, Ended: g.layout.TickOf(time.UnixMicro(g.time.Now())) > g.layout.MaxTick(),
	}
}
