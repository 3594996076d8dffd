package snowflake

import (
	"context"
	"time"

	"nextid/generator"
	"nextid/generator/worker"
)

const (
	// pastMargin is the least age of the time in an id of the past. A claim after a
	// failover begins later than that, unless a clock is more than pastMargin ahead.
	pastMargin = time.Hour
	// pastShares is the number of shares into which the sequences of a name are
	// divided.
	pastShares = 256
	// maxPastTicks is the number of ticks that are remembered of one share.
	maxPastTicks = 1_000_000
)

// past is a share of a name's ids of the past. This server alone issues its ids.
// See worker.Pool.ReservePast.
type past struct {
	lock          chan struct{} // a mutex: the owner of its one token may draw; guards the fields below
	worker, share int64
	// used counts the issued ids of each tick. For a full tick, the distance to the
	// next tick that may have an id left is added.
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
		return 0, generator.Errorf(generator.ErrWrongKind, g.name, "Draw ids of the past from a generator without the option strict.",
			"the ids of generator %q are strict: each is greater than all before it", g.name)
	}
	tick := g.TickOf(at)
	if tick < 0 {
		return 0, generator.OptionError("", "at %s is before the epoch of generator %q, %s", at.UTC().Format(time.RFC3339), g.name, g.Epoch.UTC().Format(time.RFC3339))
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
			g.skipped.Add(-1) // Issued counts the slot
			return g.Pack(found, p.worker, 0, p.share*each+n), nil
		}
		id, share, err := g.pool.ReservePast(ctx, g.name, shares)
		if err != nil {
			return 0, worker.StoreError(ctx, g.name, err) // the present share stays
		}
		p.worker, p.share, p.used = id, share, map[int64]int64{}
	}
}

// take finds the first tick, from tick on, of which the share has an id left. each
// is the share's number of ids per tick. found is -1 if no tick within reach has
// one, or if too many ticks are remembered.
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
