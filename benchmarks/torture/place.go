package torture

import (
	"context"
	"fmt"
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
	lose    func(f func()) error        // runs f, and starts from the state before f; nil where that is no failover
	nodes   []*node
	names   []string // that give from memory, and
	strict  []string // that wait for the store with each draw
}

// starters start a store of each kind with what makes it durable.
var starters = map[string]dbtest.Kind{
	"postgres":  dbtest.AsPostgres,
	"mariadb":   dbtest.AsMariaDB,
	"redis":     func(t testing.TB) *dbtest.Server { return dbtest.Redis(t) },
	"etcd":      func(t testing.TB) *dbtest.Server { return dbtest.Etcd(t, 1)[0] },
	"zookeeper": func(t testing.TB) *dbtest.Server { return dbtest.ZooKeeper(t, 1)[0] },
}

// embedded is the store that is a file of its server.
const embedded = "embedded"

// Stores are the kinds of store that can be started here.
func Stores() []string {
	return []string{"postgres", "mariadb", "redis", "etcd", "zookeeper", embedded}
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
func (p *place) start(ctx context.Context, kind dbtest.Kind) error {
	if kind == nil {
		return fmt.Errorf("no store %q: a URL, or one of %s", p.kind, strings.Join(Stores(), ", "))
	}
	server, err := p.run.rig.Start(kind)
	if err != nil {
		return err
	}
	p.name, p.url = server.Name, server.URL
	p.restart = func(context.Context) error {
		return p.run.rig.Do(func(testing.TB) {
			server.Kill()
			server.Start()
		})
	}
	if p.kind == "redis" { // another one that starts from older data shows no failover
		p.lose = func(f func()) error {
			return p.run.rig.Do(func(testing.TB) { server.LoseWhile(f) })
		}
	}
	return p.run.nextid(ctx, "migrate", "store", "up", "--dsn", server.URL)
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
