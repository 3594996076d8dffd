package segment

import (
	"context"
	"errors"
	"math"

	"nextid/generator"
)

// Ends implements generator.AllGenerator.
func (g *Generator) Ends() bool { return g.limit != generator.NoLimit }

// NextAll implements generator.AllGenerator.
func (g *Generator) NextAll(ctx context.Context, n int64) ([]generator.Range, error) {
	runs, err := g.nextAll(ctx, n)
	if n > 1 && errors.Is(err, generator.ErrExhausted) {
		err = generator.FewError(g.name, n, err)
	}
	return runs, err
}

func (g *Generator) nextAll(ctx context.Context, n int64) ([]generator.Range, error) {
	patient, cancel := g.patience(ctx)
	defer cancel()
	if g.options.Strict {
		runs, err := g.allStrict(patient, math.MinInt64, n)
		if err != nil && patient.Err() != nil {
			err = g.impatient(ctx)
		}
		return runs, err
	}
	for {
		runs, f, mine, err := g.takeAll(n)
		if err != nil || runs != nil {
			return runs, err
		}
		g.waits.Add(1)
		if err := g.clock.Receive(patient, f.done); err != nil {
			return nil, g.impatient(ctx)
		}
		if mine && f.err != nil {
			return nil, f.err
		}
	}
}

// takeAll draws n ids from the buffers, or none if they hold fewer. In the second
// case it returns the reservation to wait for. mine reports whether that
// reservation was started for this draw.
func (g *Generator) takeAll(n int64) (runs []generator.Range, f *flight, mine bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, false, generator.ClosedError(g.name)
	}
	b := g.current.Load()
	for { // other goroutines draw from the current buffer without the lock
		i := b.next.Load()
		take := min(n, max(0, b.size-i))
		have := take
		for _, q := range g.queue {
			have += q.size - q.used()
		}
		switch {
		case have < n && g.flight != nil:
			return nil, g.flight, false, nil
		case have < n:
			f = &flight{all: n - have}
			g.launch(f, n-have)
			return nil, f, true, nil
		case take == 0, b.next.CompareAndSwap(i, i+take):
			if take > 0 {
				runs = append(runs, g.run(b, i, take))
			}
			return g.takeQueued(runs, n-take, take > 0 && i+take > b.mark.Load()), nil, false, nil
		}
	}
}

// takeQueued draws n ids from the queued buffers, which hold at least n. The
// current buffer is empty unless n is 0. marked reports that the draw has reached
// the mark of the current buffer. The caller holds mu.
func (g *Generator) takeQueued(runs []generator.Range, n int64, marked bool) []generator.Range {
	for n > 0 {
		b := g.queue[0]
		used := b.used()
		take := min(n, b.size-used)
		g.change(take)
		if take > 0 {
			runs = generator.AppendRun(runs, g.run(b, used, take))
		}
		n -= take
		marked = take > 0 && used+take > b.mark.Load()
	}
	if marked && len(g.queue) == 0 {
		g.startFlight(1)
	}
	return runs
}

// allStrict makes one reservation for all ids of a request. It begins after the
// request, and above a position; see fill.
func (g *Generator) allStrict(ctx context.Context, above, n int64) ([]generator.Range, error) {
	g.mu.Lock()
	closed, atLeast := g.closed, max(g.first, max(above, g.above)+1)
	g.mu.Unlock()
	if closed {
		return nil, generator.ClosedError(g.name)
	}
	g.waits.Add(1)
	for {
		lo, hi, err := g.reserve(ctx, g.span(n), atLeast, n)
		g.mu.Lock()
		if err == nil && g.closed { // what follows Close may not know of these ids
			err = generator.ClosedError(g.name)
		}
		if err != nil {
			g.failures++
			g.mu.Unlock()
			return nil, err
		}
		g.refills++
		g.end = max(g.end, hi)
		above = max(above, g.above)
		atLeast = max(g.first, above+1)
		b := g.newBuffer(lo, hi, above, 1)
		if used := b.next.Load(); b.size-used >= n {
			g.spent += n
			g.mu.Unlock()
			return []generator.Range{g.run(b, used, n)}, nil
		}
		g.mu.Unlock()
		if b.size < n { // the limit cut it, and it began between two ids
			_ = g.store.Release(ctx, generator.NameKey(g.name), hi, lo) // lost if it fails
			return nil, g.errExhausted()
		} // else Raise has passed it meanwhile
	}
}

// NextBlock implements generator.BlockGenerator. It reserves the block apart from
// the buffers.
func (g *Generator) NextBlock(ctx context.Context, above, n int64) (generator.Range, error) {
	if g.direction*g.increment != 1 {
		return generator.Range{}, generator.Errorf(generator.ErrWrongKind, g.name, "Use a segment generator with increment 1.",
			"generator %q counts in steps, or down: it has no consecutive numbers", g.name)
	}
	patient, cancel := g.patience(ctx)
	defer cancel()
	runs, err := g.allStrict(patient, above, n)
	if err != nil {
		return generator.Range{}, err
	}
	return runs[0], nil
}

// GiveBack implements generator.AllGenerator. A strict generator has no buffers, so
// its ids are lost.
func (g *Generator) GiveBack(runs []generator.Range) {
	if len(runs) == 0 || g.options.Strict {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r, b := runs[len(runs)-1], g.current.Load()
	i := (g.position(r.First) - b.first) / g.increment
	end := i + r.Count
	i = max(i, g.upTo(b, g.above))             // Raise may have passed them
	if i < end && end <= b.size && !g.closed { // ids of earlier buffers are lost
		b.next.CompareAndSwap(end, i)
	}
}

// fill makes one reservation for a batch of draws of a strict generator. It begins after
// these requests. So a cloned or restored process never issues ids from memory that its
// twin also has. Ids that a draw does not fetch are lost. Some draws get nothing if the
// reservation ended at the limit, or if Raise has passed it meanwhile.
func (g *Generator) fill(wants []int64) ([]generator.Range, error) {
	total := int64(0)
	for _, n := range wants {
		total = min(total, math.MaxInt64-n) + n
	}
	g.mu.Lock()
	atLeast := max(g.first, g.above)
	g.mu.Unlock()
	lo, hi, err := g.reserve(g.ctx, g.span(total), atLeast, 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.failures++
		return nil, err
	}
	g.refills++
	g.end = hi
	b := g.newBuffer(lo, hi, g.above, 1)
	runs := make([]generator.Range, len(wants))
	for i, n := range wants {
		used := b.used()
		if n = min(n, b.size-used); n > 0 {
			b.next.Store(used + n)
			g.spent += n
			runs[i] = g.run(b, used, n)
		}
	}
	return runs, nil
}
