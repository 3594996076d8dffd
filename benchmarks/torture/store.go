package torture

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"nextid/benchmarks/rig"
)

// place is the store that the servers share.
type place struct {
	name    string
	url     string
	restart func(context.Context) (url string, err error) // kill -9 and start; nil if it is not ours
}

// starters start a store of each kind with what makes it durable.
var starters = map[string]func(context.Context, *rig.Rig) (*rig.Server, error){
	"postgres":  func(ctx context.Context, r *rig.Rig) (*rig.Server, error) { return r.PostgreSQL(ctx) },
	"mariadb":   func(ctx context.Context, r *rig.Rig) (*rig.Server, error) { return r.MariaDB(ctx) },
	"redis":     func(ctx context.Context, r *rig.Rig) (*rig.Server, error) { return r.DurableRedis(ctx) },
	"etcd":      func(ctx context.Context, r *rig.Rig) (*rig.Server, error) { return r.Etcd(ctx) },
	"zookeeper": func(ctx context.Context, r *rig.Rig) (*rig.Server, error) { return r.ZooKeeper(ctx) },
}

// Stores are the kinds of store that can be started here.
func Stores() []string {
	return []string{"postgres", "mariadb", "redis", "etcd", "zookeeper"}
}

// openStore starts the store that was named, or takes the one at a URL as it
// is.
func (r *run) openStore(ctx context.Context) error {
	if strings.Contains(r.cfg.Store, "://") {
		kind, _, _ := strings.Cut(r.cfg.Store, "://")
		r.place = &place{name: kind, url: r.cfg.Store}
		if command := r.cfg.StoreRestart; command != "" {
			r.place.restart = func(ctx context.Context) (string, error) {
				out, err := exec.CommandContext(ctx, "/bin/sh", "-c", command).CombinedOutput()
				if err != nil {
					return "", fmt.Errorf("%s: %w\n%s", command, err, out)
				}
				return r.cfg.Store, nil
			}
		}
		return r.nextid(ctx, "migrate", "store", "status", "--dsn", r.cfg.Store)
	}
	start := starters[r.cfg.Store]
	if start == nil {
		return fmt.Errorf("no store %q: a URL, or one of %s", r.cfg.Store, strings.Join(Stores(), ", "))
	}
	server, err := start(ctx, r.rig)
	if err != nil {
		return err
	}
	r.place = &place{name: server.Name, url: server.URL}
	r.place.restart = func(ctx context.Context) (string, error) {
		server.Kill()
		again, err := r.rig.Again(ctx, server)
		if err != nil {
			return "", err
		}
		server = again
		return server.URL, nil
	}
	return r.nextid(ctx, "migrate", "store", "up", "--dsn", server.URL)
}

// nextid runs a command of the program to its end.
func (r *run) nextid(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, r.cfg.Binary, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("nextid %s: %w\n%s", strings.Join(slices.Concat(args[:min(3, len(args))], []string{"…"}), " "), err, out)
	}
	return nil
}
