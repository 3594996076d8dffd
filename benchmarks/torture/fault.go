package torture

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"nextid/dbtest"
)

// fault is one kind of fault. do injects it for about last, and removes it.
type fault struct {
	name string
	can  func(*node) bool    // selects the servers that it can hit; nil: it hits the store
	why  func(*place) string // why a place cannot have it, "" if it can; may be nil
	do   func(ctx context.Context, p *place, n *node, last time.Duration) error
}

func plain(n *node) bool    { return n.clock == "" }
func skewed(n *node) bool   { return n.clock != "" }
func killable(n *node) bool { return !n.steady }
func linked(n *node) bool   { return len(n.links) > 0 }

var faults = []*fault{
	{name: "server killed with kill -9, and started again", can: killable, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		return n.do(func() { n.Kill(); rest(ctx, last); n.Start() })
	}},
	{name: "server ended with SIGTERM, and started again", can: func(n *node) bool { return plain(n) && killable(n) }, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		return n.do(func() { n.Stop(); rest(ctx, last/4); n.Start() })
	}},
	// A server under skewclock does not stop: the tracer suppresses SIGSTOP.
	{name: "server stopped with SIGSTOP, and continued", can: plain, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		return n.do(func() { n.Freeze(); rest(ctx, last); n.Thaw() })
	}},
	{name: "server cut off from the store, silently", can: linked, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		n.set(dbtest.HoldAll)
		rest(ctx, last)
		n.set(dbtest.Open)
		return nil
	}},
	{name: "store's answers to a server held back", can: linked, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		n.set(dbtest.HoldAnswers)
		rest(ctx, last)
		n.set(dbtest.Open)
		return nil
	}},
	{
		name: "network interface of a server down",
		can:  func(n *node) bool { return n.space != nil && linked(n) },
		why:  func(p *place) string { return p.run.namespaces },
		do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
			if err := n.space.up(false); err != nil {
				return err
			}
			rest(ctx, last)
			return n.space.up(true)
		},
	},
	{name: "clock of a server set back", can: skewed, why: clocks, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		return n.moveClock(ctx, -time.Duration(rand.Int64N(int64(time.Hour))), last)
	}},
	{name: "clock of a server set ahead", can: skewed, why: clocks, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		return n.moveClock(ctx, time.Duration(rand.Int64N(int64(time.Hour))), last)
	}},
	{name: "clock of a server stopped", can: skewed, why: clocks, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		if err := n.setClock(0, time.Now().UnixNano()); err != nil {
			return err
		}
		rest(ctx, last)
		return n.setClock(0, 0)
	}},
	{name: "clock of a server jumping to and fro", can: skewed, why: clocks, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		for end := time.Now().Add(last); time.Now().Before(end) && ctx.Err() == nil; {
			if err := n.setClock(time.Duration(rand.Int64N(int64(time.Second)))-500*time.Millisecond, 0); err != nil {
				return err
			}
			rest(ctx, 5*time.Millisecond)
		}
		return n.setClock(0, 0)
	}},
	{name: "server killed, and started again with its clock set back", can: skewed, why: clocks, do: func(ctx context.Context, _ *place, n *node, last time.Duration) error {
		err := n.do(n.Kill)
		if err = errors.Join(err, n.setClock(-time.Duration(rand.Int64N(int64(time.Minute))), 0)); err != nil {
			return err
		}
		if err := n.do(n.Start); err != nil {
			return err
		}
		rest(ctx, last)
		return n.setClock(0, 0)
	}},
	{
		name: "store killed with kill -9, and started again",
		why:  noRestart,
		do:   func(ctx context.Context, p *place, _ *node, _ time.Duration) error { return p.restart(ctx) },
	},
	{name: "store failed over to an older state, beside a wrong clock", can: skewed, why: noLoss, do: func(ctx context.Context, p *place, n *node, last time.Duration) error {
		by := time.Duration(float64(2*time.Second) * math.Pow(12*60*60, rand.Float64())) // 2 s to a day
		if rand.IntN(2) == 0 {
			by = -by
		}
		// The first draw from a name reserves numbers. The failover must not lose
		// these.
		if err := p.awaitAnswers(ctx, nil); err != nil {
			return err
		}
		var moved error
		if err := p.lose(func() {
			rest(ctx, last/2)
			moved = n.setClock(by, 0)
			rest(ctx, last/2)
		}); err != nil {
			return err
		}
		return errors.Join(moved, p.awaitAnswers(ctx, n), n.setClock(0, 0))
	}},
	{name: "store cut off from all servers", why: noWay, do: func(ctx context.Context, p *place, _ *node, last time.Duration) error {
		for _, n := range p.nodes {
			n.set(dbtest.HoldAll)
		}
		rest(ctx, last)
		for _, n := range p.nodes {
			n.set(dbtest.Open)
		}
		return nil
	}},
}

// awaitAnswers waits until every server except but answers draws from all
// generators.
func (p *place) awaitAnswers(ctx context.Context, but *node) error {
	ctx, cancel := context.WithTimeout(ctx, dbtest.Patience)
	defer cancel()
	for _, n := range p.nodes {
		if n == but {
			continue
		}
		if err := n.awaitAnswers(ctx); err != nil {
			return err
		}
	}
	return nil
}

func clocks(p *place) string { return p.run.clocks }

// noStore, noWay, noRestart and noLoss return why a place cannot have a fault, "" if
// it can: the store is embedded, its connections cannot be cut, it cannot be
// restarted, it cannot lose data.
func noStore(p *place) string {
	if p.url == "" {
		return "the store is a file of its server"
	}
	return ""
}

func noWay(p *place) string {
	if p.direct {
		return "servers must reach the store at its own addresses"
	}
	return noStore(p)
}

func noRestart(p *place) string {
	if p.url == "" {
		return noStore(p)
	}
	if p.restart == nil {
		return "the store was given by its URL, without --store-restart"
	}
	return ""
}

func noLoss(p *place) string {
	if why := noRestart(p); why != "" {
		return why
	}
	if p.lose == nil {
		return "a store of this kind that starts from an older state shows no failover"
	}
	return p.run.clocks
}

// moveClock moves a clock for a while.
func (n *node) moveClock(ctx context.Context, by, last time.Duration) error {
	if err := n.setClock(by, 0); err != nil {
		return err
	}
	rest(ctx, last)
	return n.setClock(0, 0)
}

// possible returns why a fault cannot happen in this run, "" if it can.
func (f *fault) possible(p *place) (why string) {
	if f.why != nil {
		if why := f.why(p); why != "" {
			return why
		}
	}
	if f.can != nil && f.victim(p) == nil {
		if p.direct {
			return noWay(p)
		}
		if p.url == "" {
			return "an embedded store has one server, which has a clock of its own and no connection to a store"
		}
		return "no server of this run can have it; give more --nodes"
	}
	return ""
}

// victim returns a random server that the fault can hit, nil if there is none.
func (f *fault) victim(p *place) *node {
	if f.can == nil {
		return nil
	}
	for _, i := range rand.Perm(len(p.nodes)) {
		if f.can(p.nodes[i]) {
			return p.nodes[i]
		}
	}
	return nil
}
