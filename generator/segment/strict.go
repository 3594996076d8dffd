package segment

import (
	"math"

	"nextid/generator"
)

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
