package segment

import (
	"context"
	"errors"
	"time"

	"nextid/generator"
)

// Leaf's rules for the step (SegmentIDGenImpl): a segment that lasted less
// than shortLife makes the next one twice as large, one that lasted longer
// than longLife half as large. They begin with the third reservation.
const (
	shortLife  = 15 * time.Minute
	longLife   = 2 * shortLife
	fixedSteps = 2
)

const (
	// storeTimeout bounds one question to the store. It is longer than any
	// usual deadline: a slow answer still helps those who come later.
	storeTimeout = 15 * time.Second
	retryFirst   = 100 * time.Millisecond
	retryMost    = 5 * time.Second
)

// flight is one reservation that is on its way, shared by all who wait.
type flight struct {
	all  int64 // ids that it brings all or none of, 0 for others
	done chan struct{}
	err  error // set before done is closed
}

// failure returns the error of a flight for those who asked for any ids. After a
// flight for all of another request they ask again.
func (f *flight) failure() error {
	if f.all > 0 {
		return nil
	}
	return f.err
}

// prefetch asks for the next buffer in a goroutine, which Close waits for.
func (g *Generator) prefetch() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 && !g.closed {
		g.startFlight(1)
	}
}

// startFlight asks the store for a step, or for n ids if that is more. There
// is at most one flight. Called with mu, and not after Close.
func (g *Generator) startFlight(n int64) *flight {
	if g.flight == nil {
		g.launch(&flight{}, n)
	}
	return g.flight
}

// launch starts a flight for a step, or for n ids if that is more. Called with
// mu.
func (g *Generator) launch(f *flight, n int64) {
	f.done = make(chan struct{})
	g.flight = f
	step := g.nextStep()
	positions := g.span(max(step, n))
	if g.options.Strict { // only Raise asks, and keeps nothing
		positions = 1
	}
	atLeast := max(g.first, g.above)
	g.clock.Go(&g.work, func() { g.fly(f, step, positions, atLeast) })
}

// nextStep is Leaf's dynamic step. Called with mu.
func (g *Generator) nextStep() int64 {
	if g.refills < fixedSteps {
		return g.options.Step
	}
	switch lasted := g.clock.Monotonic() - g.lastFetch; {
	case lasted < shortLife:
		return min(2*g.step, g.options.MaxStep)
	case lasted >= longLife:
		return max(g.step/2, g.options.Step)
	}
	return g.step
}

// fly carries out a flight. What the store does not grant for certain is
// never used (rule R3).
func (g *Generator) fly(f *flight, step, positions, atLeast int64) {
	lo, hi, err := g.reserve(g.ctx, positions, atLeast, f.all)
	g.mu.Lock()
	defer g.mu.Unlock()
	defer close(f.done)
	g.flight = nil
	if err != nil {
		f.err = err
		g.failures++
		if !errors.Is(err, generator.ErrExhausted) {
			g.retryLater()
		}
		return
	}
	g.step, g.pause = step, retryFirst
	g.refills++
	g.lastFetch = g.clock.Monotonic()
	g.pace = g.pace.Marked(g.issuedLocked(), g.lastFetch)
	g.end = hi
	if g.options.Strict {
		return
	}
	b := g.newBuffer(lo, hi, g.above, g.options.PrefetchAt)
	if g.queue = append(g.queue, b); len(g.queue) == 1 && g.current.Load().empty() && !g.closed {
		g.change(0)
	}
}

// retryLater tries again after a while, so that the store's return is
// noticed before the buffer is empty. Called with mu.
func (g *Generator) retryLater() {
	if g.closed || g.options.Strict {
		return
	}
	pause := g.pause
	g.clock.Go(&g.work, func() {
		if g.clock.Pause(g.ctx, pause) == nil {
			g.prefetch()
		}
	})
	g.pause = min(2*g.pause, retryMost)
}

// reserve asks the store for a stretch of the line that holds, where all is not
// 0, so many ids.
func (g *Generator) reserve(ctx context.Context, positions, atLeast, all int64) (lo, hi int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	r := generator.Reservation{Key: generator.NameKey(g.name), AtLeast: atLeast, N: positions, Limit: g.limit, Owner: g.owner}
	if all == 0 {
		lo, hi, err = g.store.Reserve(ctx, r)
	} else {
		lo, hi, err = generator.ReserveAll(ctx, g.store, r, func(lo int64) (int64, bool) { return g.need(lo, all) })
	}
	return lo, hi, g.storeError(err)
}
