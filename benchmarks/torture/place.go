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

// place is a store, the servers that share it, and the generators there.
type place struct {
	run     *run
	name    string                      // with its version
	kind    string                      // as it is called in URLs
	url     string                      // "" for a store that is embedded in its only server
	restart func(context.Context) error // kill -9 and start; nil if it is not ours
	direct  bool                        // servers reach it without a way that can be cut
	lose    func(f func()) error        // runs f, and starts from the state before f; nil where that is no failover
	nodes   []*node
	names   []string // that give from memory, and
	strict  []string // that wait for the store with each draw
}

// store is one that was started here.
type store struct {
	members []*dbtest.Server // one is killed at a time
	url     string
	direct  bool // clients must reach the members at their own addresses
}

// starters start a store of each kind with what makes it durable.
var starters = map[string]func(t testing.TB) store{
	"postgres":  alone(dbtest.AsPostgres),
	"mariadb":   alone(dbtest.AsMariaDB),
	"redis":     alone(func(t testing.TB) *dbtest.Server { return dbtest.Redis(t) }),
	"etcd":      alone(func(t testing.TB) *dbtest.Server { return dbtest.Etcd(t, 1)[0] }),
	"zookeeper": alone(func(t testing.TB) *dbtest.Server { return dbtest.ZooKeeper(t, 1)[0] }),
	"redis-cluster": func(t testing.TB) store {
		nodes := dbtest.RedisCluster(t)
		return store{nodes, dbtest.ClusterURL(nodes), true} // it sends clients to the addresses that it knows
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

func alone(kind dbtest.Kind) func(t testing.TB) store {
	return func(t testing.TB) store {
		s := kind(t)
		return store{[]*dbtest.Server{s}, s.URL, false}
	}
}

// embedded is the store that is a file of its server.
const embedded = "embedded"

// Stores are the kinds of store of one process that can be started here.
func Stores() []string {
	return []string{"postgres", "mariadb", "redis", "etcd", "zookeeper", embedded}
}

// Clusters are the stores of several processes, and with TLS.
func Clusters() []string {
	return []string{"redis-cluster", "etcd-cluster", "etcd-tls", "zookeeper-ensemble"}
}

// newPlace starts the store that was named, or takes the one at a URL as it
// is, and prepares its servers.
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

// start starts a store of its own.
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
	switch p.kind { // another kind that starts from older data shows no failover
	case "redis":
		p.lose = func(f func()) error { return p.run.rig.Do(func(testing.TB) { s.members[0].LoseWhile(f) }) }
	case "redis-cluster":
		p.lose = func(f func()) error { return p.failOver(s.members, f) }
	}
	return p.run.nextid(ctx, "migrate", "store", "up", "--dsn", s.url)
}

// failOver kills a member, a master where there are some, and starts it again
// after f.
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

// generators makes one of each kind, of names that no run had before.
func (p *place) generators(ctx context.Context) error {
	conn, err := p.nodes[0].connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // everything was answered
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

// nextid runs a command of the program to its end.
func (r *run) nextid(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, r.cfg.Binary, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("nextid %s: %w\n%s", strings.Join(slices.Concat(args[:min(3, len(args))], []string{"…"}), " "), err, out)
	}
	return nil
}
