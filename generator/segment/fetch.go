package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Rules for the step, from Meituan's Leaf (SegmentIDGenImpl), from the third
// reservation on: after a segment that lasted less than shortLife the step doubles;
// after one that lasted more than longLife it is halved.
const (
	shortLife  = 15 * time.Minute
	longLife   = 2 * shortLife
	fixedSteps = 2
)

const (
	// storeTimeout bounds one request to the store. It is longer than usual deadlines:
	// even a late reservation helps later draws.
	storeTimeout = 15 * time.Second
	retryFirst   = 100 * time.Millisecond
	retryMost    = 5 * time.Second
)

// flight is a running reservation. All draws that need it wait for it.
type flight struct {
	all  int64 // size of the one request that it serves whole; 0 for any request
	done chan struct{}
	err  error // set before done is closed
}

// failure returns the error of a flight for draws of any number of ids. If the
// flight was for a whole other request, they must try again.
func (f *flight) failure() error {
	if f.all > 0 {
		return nil
	}
	return f.err
}

// await waits for a flight.
func (g *Generator) await(ctx context.Context, f *flight) error {
	if err := g.clock.Receive(ctx, f.done); err != nil {
		return err
	}
	return f.failure()
}

// prefetch starts a flight for the next buffer. Close waits for its goroutine.
func (g *Generator) prefetch() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 && !g.closed {
		g.startFlight(1)
	}
}

// startFlight returns the running flight. If there is none, it starts one for a
// step, or for n ids if that is more. At most one flight runs. The caller holds mu;
// the generator is not closed.
func (g *Generator) startFlight(n int64) *flight {
	if g.flight == nil {
		g.launch(&flight{}, n)
	}
	return g.flight
}

// launch starts a flight for a step, or for n ids if that is more. The caller holds
// mu.
func (g *Generator) launch(f *flight, n int64) {
	f.done = make(chan struct{})
	g.flight = f
	step := g.nextStep()
	positions := g.span(max(step, n))
	atLeast := max(g.first, g.above)
	g.clock.Go(&g.work, func() { g.fly(f, step, positions, atLeast) })
}

// nextStep returns the size of the next reservation by Leaf's rules. The caller
// holds mu.
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

// fly carries out a flight. After any error the range is never used (rule R3).
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
	g.queue = append(g.queue, g.newBuffer(lo, hi, g.above, g.options.PrefetchAt)) // a GiveBack may still reach current
}

// retryLater starts another flight after a pause, so that the generator notices the
// store's return before the buffer is empty. The caller holds mu.
func (g *Generator) retryLater() {
	if g.closed {
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

// reserve reserves a range of the line. If all is not 0, nothing is reserved unless that
// many ids are left. The range holds one less if it begins between two ids, and ends at
// the limit.
func (g *Generator) reserve(ctx context.Context, positions, atLeast, all int64) (lo, hi int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	r := generator.Reservation{Key: generator.NameKey(g.name), AtLeast: atLeast, N: positions, Limit: g.limit, Owner: g.owner}
	if all > 0 {
		r.Least = g.span(all) - g.increment + 1
	}
	lo, hi, err = g.store.Reserve(ctx, r)
	return lo, hi, g.storeError(err)
}

func (g *Generator) errExhausted() error {
	bound, option := "maximum", "max"
	if g.direction < 0 {
		bound, option = "minimum", "min"
	}
	return generator.Errorf(generator.ErrExhausted, g.name,
		cmp.Or(g.endHint, fmt.Sprintf("Move the bound with alter_generator('%s', '{\"%s\": …}').", g.name, option)),
		"generator %q has reached its %s value (%d)", g.name, bound, g.direction*(g.limit-1))
}

// storeError converts an error of the store to a client's error.
func (g *Generator) storeError(err error) error {
	if errors.Is(err, generator.ErrExhausted) {
		return g.errExhausted()
	}
	return kinds.StoreError(g.name, err)
}
