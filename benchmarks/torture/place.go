package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
)

// place is a store with its servers and generators.
type place struct {
	run     *run
	name    string                      // of the store, with its version
	kind    string                      // scheme of its URL, or name in Stores and Clusters
	url     string                      // "" for the embedded store of the only server
	restart func(context.Context) error // kills and starts the store; nil if it cannot be restarted
	direct  bool                        // servers connect to the store without a Proxy
	lose    func(f func()) error        // runs f, and restarts the store in its state before f; nil: see noLoss
	nodes   []*node
	names   []string // generators that give ids from memory
	strict  []string // generators that wait for the store at each draw
}

// store is a store that this run has started.
type store struct {
	members []*dbtest.Server // at most one is killed at a time
	url     string
	direct  bool // clients must connect to the members' own addresses
}

// starters maps names of Stores and Clusters to functions that start a durable
// store.
var starters = map[string]func(t testing.TB) store{
	"postgres":  alone(dbtest.AsPostgres),
	"mariadb":   alone(dbtest.AsMariaDB),
	"redis":     alone(func(t testing.TB) *dbtest.Server { return dbtest.Redis(t) }),
	"etcd":      alone(func(t testing.TB) *dbtest.Server { return dbtest.Etcd(t, 1)[0] }),
	"zookeeper": alone(func(t testing.TB) *dbtest.Server { return dbtest.ZooKeeper(t, 1)[0] }),
	"redis-cluster": func(t testing.TB) store {
		nodes := dbtest.RedisCluster(t)
		return store{nodes, dbtest.ClusterURL(nodes), true} // it redirects clients to the members' own addresses
	},
	"etcd-cluster": func(t testing.TB) store {
		members := dbtest.Etcd(t, 3)
		return store{members, dbtest.EtcdURL(members), false}
	},
	"etcd-tls": func(t testing.TB) store {
		e := dbtest.EtcdTLS(t)
		return store{[]*dbtest.Server{e.Server}, e.URL("nextid:pass word") + "?ca=" + url.QueryEscape(e.CA), true} // its certificate names its address
	},
	"zookeeper-ensemble": func(t testing.TB) store {
		members := dbtest.ZooKeeper(t, 3)
		return store{members, dbtest.ZooKeeperURL(members), false}
	},
}

// alone returns a starter of a store with one process.
func alone(kind dbtest.Kind) func(t testing.TB) store {
	return func(t testing.TB) store {
		s := kind(t)
		return store{[]*dbtest.Server{s}, s.URL, false}
	}
}

// embedded names the store that is a file of its server.
const embedded = "embedded"

// Stores returns the names of the stores of one process that Run can start.
func Stores() []string {
	return []string{"postgres", "mariadb", "redis", "etcd", "zookeeper", embedded}
}

// Clusters returns the names of the stores of several processes, or with TLS, that
// Run can start.
func Clusters() []string {
	return []string{"redis-cluster", "etcd-cluster", "etcd-tls", "zookeeper-ensemble"}
}

// newPlace starts the named store, or uses the store at a URL, and prepares its
// servers.
func (r *run) newPlace(ctx context.Context, store string) (*place, error) {
	kind, _, given := strings.Cut(store, "://")
	r.cfg.Progress.Part("start " + kind)
	p := &place{run: r, name: kind, kind: kind}
	r.places = append(r.places, p)
	nodes := r.cfg.Nodes
	switch {
	case given:
		p.url = store
		if r.cfg.StoreRestart != "" {
			p.restart = func(ctx context.Context) error { return shell(ctx, r.cfg.StoreRestart) }
		}
		if err := r.nextid(ctx, "migrate", "store", "status", "--dsn", store); err != nil {
			return nil, err
		}
	case store == embedded:
		nodes = 1
	default:
		if err := p.start(ctx, starters[store]); err != nil {
			return nil, err
		}
	}
	for i := range nodes {
		n, err := p.newNode(i)
		if n != nil {
			p.nodes = append(p.nodes, n)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// start starts the store.
func (p *place) start(ctx context.Context, starter func(testing.TB) store) error {
	if starter == nil {
		return fmt.Errorf("no store %q: a URL, or one of %s", p.kind, strings.Join(slices.Concat(Stores(), Clusters()), ", "))
	}
	var s store
	if err := p.run.rig.Do(func(t testing.TB) { s = starter(t) }); err != nil {
		return err
	}
	p.name, p.url, p.direct = s.members[0].Name, s.url, s.direct
	if len(s.members) > 1 {
		p.name = fmt.Sprintf("%s, %d processes", p.name, len(s.members))
	}
	p.restart = func(context.Context) error { return p.failOver(s.members, func() {}) }
	switch p.kind { // nextid does not detect an older state of another kind as a failover
	case "redis":
		p.lose = func(f func()) error { return p.run.rig.Do(func(testing.TB) { s.members[0].LoseWhile(f) }) }
	case "redis-cluster":
		p.lose = func(f func()) error { return p.failOver(s.members, f) }
	}
	return p.run.nextid(ctx, "migrate", "store", "up", "--dsn", s.url)
}

// failOver kills a member, in a Redis Cluster a master, calls f, and starts the
// member again.
func (p *place) failOver(members []*dbtest.Server, f func()) error {
	return p.run.rig.Do(func(t testing.TB) {
		redis := p.kind == "redis-cluster"
		one := members[rand.IntN(len(members))]
		for redis && one.RedisRole() != "master" {
			one = members[rand.IntN(len(members))]
		}
		one.Kill()
		f()
		one.Start()
		if redis {
			dbtest.Await(t, "a replica for every master", func() bool { return one.RedisRole() == "master" || one.RedisFollows() })
		}
	})
}

// generators makes a generator of each kind. The names are new in each run.
func (p *place) generators(ctx context.Context) error {
	conn, err := p.nodes[0].connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
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
		if _, err := conn.Exec(ctx, "SELECT create_generator($1, $2, $3)", name, g.kind, g.options); err != nil {
			return err
		}
		*g.to = append(*g.to, name)
	}
	return nil
}

// shell runs a command of the user.
func shell(ctx context.Context, command string) error {
	out, err := exec.CommandContext(ctx, "/bin/sh", "-c", command).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return nil
}

// nextid runs a command of the program and waits for its end.
func (r *run) nextid(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, r.cfg.Binary, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("nextid %s: %w\n%s", strings.Join(slices.Concat(args[:min(3, len(args))], []string{"…"}), " "), err, out)
	}
	return nil
}
