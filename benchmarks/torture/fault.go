package torture

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"nextid/benchmarks/load"
	"nextid/dbtest"
)

// fault is one kind of fault. do injects it for about last, and removes it.
type fault struct {
	name string
	can  func(*node) bool    // selects the servers that it can hit; nil: it hits the store
	why  func(*place) string // why a place cannot have it, "" if it can; may be nil
	do   func(ctx context.Context, p *place, n *node, last time.Duration)
}

func plain(n *node) bool    { return n.clock == "" }
func skewed(n *node) bool   { return n.clock != "" }
func killable(n *node) bool { return !n.steady }
func linked(n *node) bool   { return len(n.links) > 0 }

func clocks(p *place) string    { return p.run.clocks }
func noRestart(p *place) string { return p.noRestart }
func noWay(p *place) string     { return p.noWay }

// during returns a fault that begins, lasts, and ends.
func during(begin, end func(*node)) func(context.Context, *place, *node, time.Duration) {
	return func(ctx context.Context, _ *place, n *node, last time.Duration) {
		begin(n)
		load.Rest(ctx, last)
		end(n)
	}
}

// flow returns a function that sets the flow of all connections between a server and
// the store.
func flow(f dbtest.Flow) func(*node) {
	return func(n *node) {
		for _, link := range n.links {
			link.Set(f)
		}
	}
}

// moved returns a function that sets a server's clock to a random offset, up to by.
func moved(by time.Duration) func(*node) {
	return func(n *node) { n.setClock(time.Duration(rand.Float64()*float64(by)), 0) }
}

// right sets a server's clock right.
func right(n *node) { n.setClock(0, 0) }

var faults = []*fault{
	{name: "server killed with kill -9, and started again", can: killable, do: during((*node).Kill, (*node).Start)},
	{
		name: "server ended with SIGTERM, and started again",
		can:  func(n *node) bool { return plain(n) && killable(n) }, do: during((*node).Stop, (*node).Start),
	},
	// A server under skewclock does not stop: the tracer suppresses SIGSTOP.
	{name: "server stopped with SIGSTOP, and continued", can: plain, do: during((*node).Freeze, (*node).Thaw)},
	{name: "server cut off from the store, silently", can: linked, do: during(flow(dbtest.HoldAll), flow(dbtest.Open))},
	{name: "store's answers to a server held back", can: linked, do: during(flow(dbtest.HoldAnswers), flow(dbtest.Open))},
	{
		name: "network interface of a server down",
		can:  func(n *node) bool { return n.space != nil && linked(n) }, why: func(p *place) string { return p.run.namespaces },
		do: during(func(n *node) { n.place.run.Must(n.space.set("down")) }, func(n *node) { n.place.run.Must(n.space.set("up")) }),
	},
	{name: "clock of a server set back", can: skewed, why: clocks, do: during(moved(-time.Hour), right)},
	{name: "clock of a server set ahead", can: skewed, why: clocks, do: during(moved(time.Hour), right)},
	{
		name: "clock of a server stopped", can: skewed, why: clocks,
		do: during(func(n *node) { n.setClock(0, time.Now().UnixNano()) }, right),
	},
	{name: "clock of a server jumping to and fro", can: skewed, why: clocks, do: func(ctx context.Context, _ *place, n *node, last time.Duration) {
		for end := time.Now().Add(last); time.Now().Before(end) && ctx.Err() == nil; {
			n.setClock(rand.N(time.Second)-500*time.Millisecond, 0)
			load.Rest(ctx, 5*time.Millisecond)
		}
		right(n)
	}},
	{
		name: "server killed, and started again with its clock set back", can: skewed, why: clocks,
		do: during(func(n *node) { n.Kill(); moved(-time.Minute)(n); n.Start() }, right),
	},
	{
		name: "store killed with kill -9, and started again", why: noRestart,
		do: func(_ context.Context, p *place, _ *node, _ time.Duration) { p.restart() },
	},
	{name: "store failed over to an older state, beside a wrong clock", can: skewed, why: noLoss, do: func(ctx context.Context, p *place, n *node, last time.Duration) {
		by := time.Duration(float64(2*time.Second) * math.Pow(12*60*60, rand.Float64())) // 2 s to a day
		if rand.IntN(2) == 0 {
			by = -by
		}
		// The first draw from a name reserves numbers. The failover must not lose
		// these.
		p.awaitAnswers(ctx, nil)
		p.lose(func() {
			load.Rest(ctx, last/2)
			n.setClock(by, 0)
			load.Rest(ctx, last/2)
		})
		p.awaitAnswers(ctx, n)
		right(n)
	}},
	{name: "store cut off from all servers", why: noWay, do: func(ctx context.Context, p *place, _ *node, last time.Duration) {
		for _, n := range p.nodes {
			flow(dbtest.HoldAll)(n)
		}
		load.Rest(ctx, last)
		for _, n := range p.nodes {
			flow(dbtest.Open)(n)
		}
	}},
}

// awaitAnswers waits until every server except but answers draws from all
// generators.
func (p *place) awaitAnswers(ctx context.Context, but *node) {
	ctx, cancel := context.WithTimeout(ctx, dbtest.Patience)
	defer cancel()
	for _, n := range p.nodes {
		if n != but {
			p.run.Must(n.awaitAnswers(ctx))
		}
	}
}

// noLoss returns why the store of a place cannot lose data, "" if it can.
func noLoss(p *place) string {
	switch {
	case p.noRestart != "":
		return p.noRestart
	case p.lose == nil:
		return "a store of this kind that starts from an older state shows no failover"
	}
	return p.run.clocks
}

// possible returns why a fault cannot happen in this run, "" if it can.
func (f *fault) possible(p *place) (why string) {
	if f.why != nil {
		why = f.why(p)
	}
	if why == "" && f.can != nil && f.victim(p) == nil {
		switch {
		case p.direct:
			return p.noWay
		case p.url == "":
			return "an embedded store has one server, which has a clock of its own and no connection to a store"
		}
		return "no server of this run can have it; give more --nodes"
	}
	return why
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
