package segment

import (
	"context"
	"math"

	"nextid/generator"
)

// batch holds the draws of a strict generator that use one reservation. It collects
// draws while the reservation before it runs.
type batch struct {
	total int64 // ids of all draws
	done  chan struct{}

	// Set before done is closed.
	b   *buffer
	end int64 // end of the reservation
	err error
}

// nextStrict draws from a reservation that began after the request. So a cloned or
// restored process never issues ids from memory that its twin also has. Draws that
// wait at the same time use one reservation (group commit). Ids that a draw does
// not fetch are lost.
func (g *Generator) nextStrict(ctx context.Context, n int64) (generator.Range, error) {
	patient, cancel := g.patience(ctx)
	defer cancel()
	for {
		batch, at, err := g.join(n)
		if err != nil {
			return generator.Range{}, err
		}
		if err := g.clock.Receive(patient, batch.done); err != nil {
			return generator.Range{}, g.impatient(ctx)
		}
		if batch.err != nil {
			return generator.Range{}, batch.err
		}
		at += batch.b.next.Load() // used by newBuffer
		count := min(n, batch.b.size-at)
		switch {
		case count > 0:
			g.mu.Lock()
			g.spent += count
			g.mu.Unlock()
			return g.run(batch.b, at, count), nil
		case batch.end >= g.limit:
			return generator.Range{}, g.errExhausted()
		}
		// Raise has passed the reservation meanwhile. A later reservation lies above.
	}
}

// join adds a draw to the batch that is next to be sent. at is the index of its
// first id there.
func (g *Generator) join(n int64) (b *batch, at int64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, 0, generator.ClosedError(g.name)
	}
	g.waits.Add(1)
	if g.batch == nil {
		g.batch = &batch{done: make(chan struct{})}
		if !g.sending {
			g.sending = true
			g.clock.Go(&g.work, g.send)
		}
	}
	b, at = g.batch, g.batch.total
	b.total = min(b.total, math.MaxInt64-n) + n
	return b, at, nil
}

// send sends batches, one after the other, until no draw waits.
func (g *Generator) send() {
	for {
		g.mu.Lock()
		b := g.batch
		g.batch = nil
		if b == nil {
			g.sending = false
			g.mu.Unlock()
			return
		}
		atLeast := max(g.first, g.above)
		g.mu.Unlock()

		lo, hi, err := g.reserve(g.ctx, g.span(b.total), atLeast, 0)
		g.mu.Lock()
		if b.err = err; err != nil {
			g.failures++
		} else {
			g.refills++
			g.end, b.end = hi, hi
			b.b = g.newBuffer(lo, hi, g.above, 1)
		}
		g.mu.Unlock()
		close(b.done)
	}
}
