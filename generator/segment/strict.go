package segment

import (
	"context"

	"nextid/generator"
)

// strictDraw is one draw of a strict generator.
type strictDraw struct {
	n    int64
	done chan struct{}
	r    generator.Range
	err  error
}

// nextStrict answers from a reservation that began after the request: what a
// cloned or restored process holds in memory is never given out. Draws that
// wait at the same time share a reservation (group commit); nothing is kept.
func (g *Generator) nextStrict(ctx context.Context, n int64) (generator.Range, error) {
	d := &strictDraw{n: n, done: make(chan struct{})}
	g.strictMu.Lock()
	g.strict = append(g.strict, d)
	g.strictMu.Unlock()
	err := g.exclusively(ctx, func(ctx context.Context) error {
		g.serveStrict(ctx)
		return nil
	})
	select {
	case <-d.done: // by us, or by the goroutine before us
		return d.r, g.tooSlow(ctx, d.err)
	default:
		g.withdraw(d)
		select {
		case <-d.done: // served just now
			return d.r, d.err
		default:
			return generator.Range{}, err
		}
	}
}

// withdraw takes a draw that nobody served out of the queue.
func (g *Generator) withdraw(d *strictDraw) {
	g.strictMu.Lock()
	defer g.strictMu.Unlock()
	for i, q := range g.strict {
		if q == d {
			g.strict = append(g.strict[:i], g.strict[i+1:]...)
			return
		}
	}
}

// serveStrict makes one reservation for all draws that wait now. Called
// under fetch.
func (g *Generator) serveStrict(ctx context.Context) {
	g.strictMu.Lock()
	draws := g.strict
	g.strict = nil
	g.strictMu.Unlock()
	if len(draws) == 0 {
		return
	}
	total := int64(0)
	for _, d := range draws {
		total += d.n
	}
	b, err := g.reserve(ctx, total, -1<<63)
	for _, d := range draws {
		if d.err = err; err == nil {
			var ok bool
			if d.r, ok = g.takeStrict(b, d.n); !ok {
				d.err = g.exhausted()
			}
		}
		close(d.done)
	}
}

// takeStrict is take without the prefetch.
func (g *Generator) takeStrict(b *buffer, n int64) (generator.Range, bool) {
	pos := b.pos.Load()
	count := min(n, g.count(pos, b.end))
	if count == 0 {
		return generator.Range{}, false
	}
	b.pos.Store(pos + count*g.increment)
	g.issued.Add(count)
	return generator.Range{First: g.direction * pos, Step: g.direction * g.increment, Count: count}, true
}
