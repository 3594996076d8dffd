package torture

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/dbtest"
	"nextid/dsn"
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

// node is one server.
type node struct {
	*dbtest.Server
	place   *place
	index   int
	steady  bool            // never killed; its use of resources is sampled
	clock   string          // control file of skewclock; "": the real clock
	links   []*dbtest.Proxy // proxies to the store, one for each address in its URL; empty if connections cannot be cut
	samples []sample        // of its goroutine watch
}

// String names the server in files and reports.
func (n *node) String() string { return n.place.kind + strconv.Itoa(n.index+1) }

// newNode starts a server with its clock. Clients use its Unix sockets. The first
// server of a store and each third one after it have a clock that can be moved. The
// third server is never killed.
func (p *place) newNode(index int) *node {
	r := p.run
	n := &node{place: p, index: index, steady: index == 2}
	config := r.Server()
	config.Sockets = true
	if r.clocks == "" && index%3 == 0 {
		n.clock = filepath.Join(r.TempDir(), "clock")
		right(n)
		config.Under = []string{r.skewclock, n.clock}
		config.Env = append(config.Env, "NEXTID_CLOCK_LIMIT=0s") // so that the server starts with a wrong clock
	}
	if p.lose != nil {
		config.Env = append(config.Env, "NEXTID_WORKER_SLICE=10s") // after a failover, claims wait for twice as long
	}
	if p.url != "" {
		config.Env = append(config.Env, "NEXTID_STORE="+n.cut()) // not an argument: it may hold a password
	}
	n.Server = r.Open(config.Start)
	return n
}

// cut puts a proxy before each host of the store, and returns the URL of the store for
// the server.
func (n *node) cut() string {
	p, r := n.place, n.place.run
	if p.noWay != "" {
		return p.url
	}
	u, hosts, err := dsn.Parse(p.url)
	r.Must(err)
	for i, host := range hosts {
		n.links = append(n.links, dbtest.Cut(r, host))
		hosts[i] = n.links[i].Addr
	}
	return dsn.Text(u, hosts)
}

// setClock sets the offset of the server's wall clock from the real one. If frozen
// (Unix ns) is not 0, the clock stands still at that time.
func (n *node) setClock(offset time.Duration, frozen int64) {
	f, err := os.OpenFile(n.clock, os.O_RDWR|os.O_CREATE, 0o600)
	n.place.run.Must(err)
	b := binary.NativeEndian.AppendUint64(nil, uint64(offset))
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(b, uint64(frozen)), 0)
	n.place.run.Must(errors.Join(err, f.Close()))
}

// awaitAnswers waits until the server answers draws from all generators.
func (n *node) awaitAnswers(ctx context.Context) error {
	for _, name := range slices.Concat(n.place.strict, n.place.names) {
		for why, err := error(nil), n.answers(ctx, name); err != nil; err = n.answers(ctx, name) {
			if ctx.Err() != nil {
				return fmt.Errorf("%s does not answer for %s: %w", n, name, cmp.Or(why, err)) // not that ctx has ended
			}
			why = err
			load.Rest(ctx, 100*time.Millisecond)
		}
	}
	return nil
}

// answers draws once from a server.
func (n *node) answers(ctx context.Context, name string) error {
	link, err := n.dial(ctx, ways[0], "")
	if err != nil {
		return err
	}
	defer link.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ids, err := link.Exec(ctx, "SELECT next_id('"+name+"')")
	if l := n.place.run.ledger; len(ids) > 0 {
		l.got(l.connection(ways[0]), name, ids)
	}
	return err
}

//go:embed clock/skewclock.c
var skewclockSource []byte

// buildSkewclock compiles the tool that runs a program with a wall clock of its own.
// If that is not possible here, why is the reason.
func (r *run) buildSkewclock() (tool, why string) {
	if runtime.GOARCH != "amd64" {
		return "", "needs Linux on amd64"
	}
	dir := r.TempDir()
	source, tool := filepath.Join(dir, "skewclock.c"), filepath.Join(dir, "skewclock")
	if err := os.WriteFile(source, skewclockSource, 0o600); err != nil {
		return "", err.Error()
	}
	if out, err := exec.CommandContext(r.Ctx, "gcc", "-O2", "-w", "-o", tool, source).CombinedOutput(); err != nil {
		return "", fmt.Sprintf("needs a C compiler, on Debian the packages gcc and libc6-dev: %v: %s", err, out)
	}
	return tool, ""
}
