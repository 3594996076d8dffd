package snowflake

import (
	"context"
	"fmt"
	"time"

	"nextid/generator"
	"nextid/generator/worker"
)

const (
	// pastMargin is how long the time of an id of the past is over at least. A
	// claim after a failover begins later, unless a clock is more than that ahead.
	pastMargin = time.Hour
	// pastShares bounds the shares of a name.
	pastShares = 256
	// maxPastTicks bounds the ticks that are remembered of one share.
	maxPastTicks = 1_000_000
)

// past is the share of a name's ids of the past that this server issues.
type past struct {
	lock          chan struct{} // holds one token: who has it may draw. It guards what follows
	worker, share int64
	// used holds how many ids of a tick were issued. Where that is all, the
	// distance to a later tick is added, before which none is left.
	used map[int64]int64
}

func newPast() *past {
	p := &past{lock: make(chan struct{}, 1)}
	p.lock <- struct{}{}
	return p
}

// NextAt implements generator.PastGenerator.
func (g *Generator) NextAt(ctx context.Context, at time.Time) (int64, error) {
	if g.pool == nil {
		return 0, &generator.Error{
			Kind: generator.ErrWrongKind, Name: g.name,
			Message: fmt.Sprintf("the ids of generator %q are strict: each is greater than all before it", g.name),
			Hint:    "Draw ids of the past from a generator without the option strict.",
		}
	}
	tick := g.layout.TickOf(at)
	if tick < 0 {
		return 0, generator.OptionError("", "at %s is before the epoch of generator %q, %s", at.UTC().Format(time.RFC3339), g.name, g.layout.Epoch.UTC().Format(time.RFC3339))
	}
	latest := time.UnixMicro(min(g.pool.Now(), g.pool.Wall())).Add(-pastMargin)
	if !at.Before(latest) {
		return 0, generator.OptionError("Take next_id(name) for the present.", "at must be more than an hour ago, not %s", at.UTC().Format(time.RFC3339))
	}
	p := g.past.Load()
	if p == nil {
		g.past.CompareAndSwap(nil, newPast())
		p = g.past.Load()
	}
	if err := g.pool.Runtime().Receive(ctx, p.lock); err != nil {
		return 0, err
	}
	defer func() { p.lock <- struct{}{} }()
	shares := min(int64(1)<<g.sequenceBits, pastShares)
	each := int64(1) << g.sequenceBits / shares
	for {
		if g.Slot() == Closed {
			return 0, generator.ClosedError(g.name)
		}
		if n, found := p.take(tick, each, max(int64(pastMargin/time.Microsecond)/g.unit-1, 0)); found >= 0 {
			g.skipped.Add(-1) // Issued counts it
			return g.layout.Pack(found, p.worker, 0, p.share*each+n), nil
		}
		id, share, err := g.pool.ReservePast(ctx, g.name, shares)
		if err != nil {
			return 0, worker.StoreError(ctx, g.name, err) // the share in hand stays
		}
		p.worker, p.share, p.used = id, share, map[int64]int64{}
	}
}

// take finds the first tick from tick on of which the share has an id left, and
// which of each that is. The tick is -1 where none is within reach, or too many
// ticks are remembered.
func (p *past) take(tick, each, reach int64) (n, found int64) {
	if p.used == nil || len(p.used) >= maxPastTicks {
		return 0, -1
	}
	for found = tick; ; {
		n = p.used[found]
		if n < each {
			break
		}
		found += n - each + 1
	}
	if found > tick {
		p.used[tick] = each + found - tick - 1
	}
	if found-tick > reach {
		return 0, -1
	}
	p.used[found] = n + 1
	return n, found
}
