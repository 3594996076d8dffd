package compare

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// failover is what one source of ids did when its server went away.
type failover struct {
	name    string
	ours    bool
	crash   string // killed, and started again on its own disk
	standby string // killed, and a copy that lags behind took over
}

// failoverDraws is how many ids are drawn before, between and after.
const failoverDraws = 500

// recovering is a source of ids on a server that may be killed.
type recovering struct {
	name   string
	ours   bool
	create string // "" if there is nothing to create
	draw   string
}

// measureFailovers kills servers and counts what came twice. It uses servers
// of its own.
func (s *stage) measureFailovers(ctx context.Context, n *notebook) []failover {
	var all []failover
	for _, group := range []struct {
		start   func(ctx context.Context) (*rig.Server, error)
		sources []recovering
	}{
		{func(ctx context.Context) (*rig.Server, error) { return s.rig.MariaDB(ctx) }, []recovering{
			{"auto_increment of MariaDB", false, "CREATE TABLE a (id bigint AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO a VALUES ()"},
			{"ticket table (Flickr, MyISAM)", false, "CREATE TABLE b (id bigint AUTO_INCREMENT PRIMARY KEY, stub char(1) UNIQUE) ENGINE=MyISAM", "REPLACE INTO b (stub) VALUES ('a')"},
		}},
		{s.rig.PostgreSQL, []recovering{
			{"sequence of PostgreSQL", false, "CREATE SEQUENCE a", "SELECT nextval('a')"},
			{"sequence of PostgreSQL, CACHE 1000", false, "CREATE SEQUENCE b CACHE 1000", "SELECT nextval('b')"},
		}},
		{s.rig.Redis, []recovering{{"Redis INCR, as the package sets it up", false, "", "INCR a"}}},
		{func(ctx context.Context) (*rig.Server, error) {
			n, err := s.rig.Nextid(ctx, s.binary)
			if err != nil {
				return nil, err
			}
			return n.Server, nil
		}, []recovering{
			{"next_id snowflake", true, "", "SELECT next_id('a')"},
			{"next_id segment", true, "SELECT create_generator('b', 'segment')", "SELECT next_id('b')"},
		}},
	} {
		results, err := s.measureFailover(ctx, group.start, group.sources)
		if ctx.Err() != nil {
			return all
		}
		if err != nil {
			n.once("failover of %s: %v", group.sources[0].name, err)
			continue
		}
		all = append(all, results...)
	}
	if ctx.Err() == nil {
		shared, err := s.measureSharedStore(ctx)
		if err != nil && ctx.Err() == nil {
			n.once("failover of a shared store: %v", err)
		} else if err == nil {
			all = append(all, shared)
		}
	}
	return append(all, failover{"UUIDs", false, "nothing to lose", "nothing to lose"})
}

// measureSharedStore kills the PostgreSQL that a nextid keeps its reservations
// in, and promotes a standby that has not seen the last ones. That server goes
// on, and another one begins.
func (s *stage) measureSharedStore(ctx context.Context) (failover, error) {
	f := failover{name: "next_id segment, store in PostgreSQL", ours: true}
	store, err := s.rig.PostgreSQL(ctx)
	if err != nil {
		return f, err
	}
	relay, err := rig.NewRelay(store.URL)
	if err != nil {
		return f, err
	}
	defer relay.Close()
	if out, err := exec.CommandContext(ctx, s.binary, "migrate", "store", "up", "--dsn", relay.URL).CombinedOutput(); err != nil {
		return f, fmt.Errorf("nextid migrate store up: %w: %s", err, out)
	}
	begin := func() (*rig.Nextid, error) {
		return s.rig.Nextid(ctx, s.binary, "--store", relay.URL, "--store-failover", "skip")
	}
	first, err := begin()
	if err != nil {
		return f, err
	}
	defer first.Kill()
	sources := []recovering{{"", true, "SELECT create_generator('b', 'segment', step => 100)", "SELECT next_id('b')"}}
	seen := make([][]load.ID, 1)
	if err := createAll(ctx, first.Server, sources); err != nil {
		return f, err
	}
	draw := func(server *rig.Nextid) error { return drawAll(ctx, server.Server, sources, seen) }
	again := func(start func(context.Context) (*rig.Server, error)) error {
		server, err := start(ctx)
		if err != nil {
			return err
		}
		store = server
		return relay.To(server)
	}
	same := func(ctx context.Context) (*rig.Server, error) { return s.rig.Again(ctx, store) }
	if err := draw(first); err != nil {
		return f, err
	}
	store.Kill()
	if err := errors.Join(again(same), draw(first)); err != nil {
		return f, err
	}
	f.crash = fmt.Sprintf("%d of %d ids twice", duplicates(seen[0]), failoverDraws)
	store.Stop()
	promote, err := s.rig.Standby(ctx, store)
	if err != nil {
		return f, err
	}
	if err := errors.Join(again(same), draw(first)); err != nil {
		return f, err
	}
	before := slices.MaxFunc(seen[0], load.ID.Compare).Lo
	store.Kill()
	if err := again(promote); err != nil {
		return f, err
	}
	second, err := begin()
	if err != nil {
		return f, err
	}
	defer second.Kill()
	if err := errors.Join(draw(second), draw(first)); err != nil {
		return f, err
	}
	f.standby = fmt.Sprintf("%d of %d ids twice; the count jumps by %s", duplicates(seen[0]), failoverDraws,
		report.Format(float64(slices.MaxFunc(seen[0], load.ID.Compare).Lo-before)))
	return f, nil
}

func (s *stage) measureFailover(ctx context.Context, start func(context.Context) (*rig.Server, error), sources []recovering) ([]failover, error) {
	server, err := start(ctx)
	if err != nil {
		return nil, err
	}
	seen := make([][]load.ID, len(sources))
	draw := func(server *rig.Server) error { return drawAll(ctx, server, sources, seen) }
	twice := func() []string {
		texts := make([]string, len(sources))
		for i := range sources {
			texts[i] = fmt.Sprintf("%d of %d ids twice", duplicates(seen[i]), failoverDraws)
		}
		return texts
	}
	if err := createAll(ctx, server, sources); err != nil {
		return nil, err
	}
	if err := draw(server); err != nil {
		return nil, err
	}
	server.Kill()
	if server, err = s.rig.Again(ctx, server); err != nil {
		return nil, err
	}
	if err := draw(server); err != nil {
		return nil, err
	}
	crash := twice()
	// The standby stands where the server was now; what follows has not
	// reached it when the server dies.
	server.Stop()
	promote, err := s.rig.Copy(ctx, server)
	if err != nil {
		return nil, err
	}
	if server, err = s.rig.Again(ctx, server); err != nil {
		return nil, err
	}
	clear(seen)
	if err := draw(server); err != nil {
		return nil, err
	}
	server.Kill()
	promoted, err := promote(ctx)
	var standby []string
	switch {
	case err != nil && strings.Contains(err.Error(), "is a copy"):
		standby = slices.Repeat([]string{"refuses to start on a copy"}, len(sources))
	case err != nil:
		return nil, err
	default:
		if err := draw(promoted); err != nil {
			return nil, err
		}
		standby = twice()
		promoted.Kill()
	}
	all := make([]failover, len(sources))
	for i, source := range sources {
		all[i] = failover{source.name, source.ours, crash[i], standby[i]}
	}
	return all, nil
}

func createAll(ctx context.Context, server *rig.Server, sources []recovering) error {
	link, err := load.Dial(ctx, server.URL)
	if err != nil {
		return err
	}
	defer link.Close()
	for _, source := range sources {
		if source.create == "" {
			continue
		}
		if _, err := link.Exec(ctx, source.create); err != nil {
			return err
		}
	}
	return nil
}

// drawAll draws ids from each source and adds them to those seen.
func drawAll(ctx context.Context, server *rig.Server, sources []recovering, seen [][]load.ID) error {
	link, err := load.Dial(ctx, server.URL)
	if err != nil {
		return err
	}
	defer link.Close()
	for i, source := range sources {
		for range failoverDraws {
			ids, err := link.Exec(ctx, source.draw)
			if err != nil {
				return err
			}
			seen[i] = append(seen[i], ids...)
		}
	}
	return nil
}
