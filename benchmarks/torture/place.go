package torture

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/dbtest"
)

// place is a store with its servers and generators.
type place struct {
	run     *run
	name    string         // of the store, with its version
	kind    string         // its name in Stores and Clusters
	url     string         // "" for the embedded store of the only server
	noWay   string         // why connections to the store cannot be cut, "" if they can
	restart func()         // kills and starts the store; nil: it is embedded
	lose    func(f func()) // runs f, and restarts the store in its state before f; nil: see noLoss
	nodes   []*node
	names   []string // generators that give ids from memory
	strict  []string // generators that wait for the store at each draw

	times map[*fault]int           // number of faults
	lasts map[*fault]time.Duration // their total duration
}

// starters maps names of Stores and Clusters to functions that start a durable
// store, of one member or of several.
var starters = map[string]func(t testing.TB) []*dbtest.Server{
	"postgres":           func(t testing.TB) []*dbtest.Server { return []*dbtest.Server{dbtest.AsPostgres(t)} },
	"mariadb":            func(t testing.TB) []*dbtest.Server { return []*dbtest.Server{dbtest.AsMariaDB(t)} },
	"redis":              func(t testing.TB) []*dbtest.Server { return []*dbtest.Server{dbtest.Redis(t)} },
	"etcd":               func(t testing.TB) []*dbtest.Server { return dbtest.Etcd(t, 1) },
	"zookeeper":          func(t testing.TB) []*dbtest.Server { return dbtest.ZooKeeper(t, 1) },
	redisCluster:         dbtest.RedisCluster,
	"etcd-cluster":       func(t testing.TB) []*dbtest.Server { return dbtest.Etcd(t, 3) },
	"zookeeper-ensemble": func(t testing.TB) []*dbtest.Server { return dbtest.ZooKeeper(t, 3) },
}

// redisCluster names the store whose clients must connect to the members' own
// addresses: it redirects them.
const redisCluster = "redis-cluster"

// schemes maps the names of Clusters to the schemes of their URLs.
var schemes = map[string]string{redisCluster: "redis+cluster", "etcd-cluster": "etcd", "zookeeper-ensemble": "zookeeper"}

// embedded names the store that is a file of its server.
const embedded = "embedded"

// Stores returns the names of the stores of one process that Run can start.
func Stores() []string {
	return []string{"postgres", "mariadb", "redis", "etcd", "zookeeper", embedded}
}

// Clusters returns the names of the stores of several processes that Run can start.
func Clusters() []string {
	return slices.Sorted(maps.Keys(schemes))
}

// newPlace starts the named store, and prepares its servers.
func (r *run) newPlace(kind string) {
	r.Progress.Print("start " + kind)
	p := &place{run: r, name: kind, kind: kind, times: map[*fault]int{}, lasts: map[*fault]time.Duration{}}
	r.places = append(r.places, p)
	nodes := r.cfg.Nodes
	switch {
	case kind == embedded:
		nodes = 1
		p.noWay = "the store is a file of its server"
	case starters[kind] == nil:
		r.Fatalf("no store %q: one of %s", kind, strings.Join(slices.Concat(Stores(), Clusters()), ", "))
	default:
		p.start(starters[kind](r))
		r.Command("migrate", "store", "up", "--dsn", p.url)
	}
	for i := range nodes {
		p.nodes = append(p.nodes, p.newNode(i))
	}
	r.nodes = append(r.nodes, p.nodes...)
	p.generators()
}

// start uses a store that was started.
func (p *place) start(members []*dbtest.Server) {
	p.name, p.url = members[0].Name, members[0].URL
	if len(members) > 1 {
		p.name, p.url = fmt.Sprintf("%s, %d processes", p.name, len(members)), dbtest.ClusterURL(schemes[p.kind], members)
	}
	p.restart = func() { p.failOver(members, func() {}) }
	switch p.kind { // nextid does not detect an older state of another kind as a failover
	case "redis":
		p.lose = members[0].LoseWhile
	case redisCluster:
		p.lose = func(f func()) { p.failOver(members, f) }
		p.noWay = "servers must reach the store at its own addresses"
	}
}

// failOver kills a member, in a Redis Cluster a master, calls f, and starts the
// member again.
func (p *place) failOver(members []*dbtest.Server, f func()) {
	redis := p.kind == redisCluster
	one := members[rand.IntN(len(members))]
	for redis && !one.RedisLeads() {
		one = members[rand.IntN(len(members))]
	}
	one.Kill()
	f()
	one.Start()
	if redis {
		dbtest.Await(p.run, "a replica for every master", func() bool { return one.RedisLeads() || one.RedisFollows() })
	}
}

// generators makes a generator of each kind. The names are new in each run.
func (p *place) generators() {
	run := strconv.FormatInt(time.Now().UnixMilli(), 36)
	for _, g := range []struct {
		name, kind, options string
		to                  *[]string
	}{
		{"flakes", "snowflake", "{}", &p.names},
		{"numbers", "segment", `{"step":1000}`, &p.names},
		{"rings", "ring", "{}", &p.names},
		{"strict", "segment", `{"strict":true}`, &p.strict},
		{"counts", "counter", "{}", &p.strict},
	} {
		name := "torture_" + p.kind + "_" + g.name + "_" + run
		p.run.Exec(p.nodes[0].URL, fmt.Sprintf("SELECT create_generator('%s', '%s', '%s')", name, g.kind, g.options))
		*g.to = append(*g.to, name)
	}
}

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

func clocks(p *place) string { return p.run.clocks }
func noWay(p *place) string  { return p.noWay }

// noRestart returns why the store of a place cannot be restarted, "" if it can.
func noRestart(p *place) string {
	if p.restart == nil {
		return p.noWay
	}
	return ""
}

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
	case p.restart == nil:
		return p.noWay
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
		case p.url != "" && p.noWay != "":
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
