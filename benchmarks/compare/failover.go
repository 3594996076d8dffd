package compare

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// failover holds the results of one source of ids whose server was killed.
type failover struct {
	name    string
	ours    bool
	crash   string // after a start on its own disk
	standby string // after a start of a late copy
}

// failoverDraws is the number of ids that are drawn before and after each failover.
const failoverDraws = 500

// failoverPatience bounds the time for which a client asks again after 57P03 (the
// server cannot issue now).
const failoverPatience = 30 * time.Second

// recovering is a source of ids on a server that is killed.
type recovering struct {
	name   string
	ours   bool
	create string // "" if there is nothing to create
	draw   string
	seen   []load.ID
}

func (s *recovering) twice() string {
	return fmt.Sprintf("%d of %d ids twice", duplicates(s.seen), failoverDraws)
}

// drawAll draws ids from each source and appends them to seen.
func (s *stage) drawAll(server *dbtest.Server, sources []*recovering) {
	link, err := load.Dial(s.Ctx, server.URL)
	s.Must(err)
	defer link.Close()
	for _, source := range sources {
		for range failoverDraws {
			ids, err := link.Exec(s.Ctx, source.draw)
			for end := time.Now().Add(failoverPatience); err != nil && strings.HasSuffix(err.Error(), "(57P03)") && time.Now().Before(end); {
				ids, err = link.Exec(s.Ctx, source.draw) // it has waited for the store, for up to 5 s
			}
			s.Must(err)
			source.seen = append(source.seen, ids...)
		}
	}
}

// measureFailovers kills servers that it starts itself, and counts duplicate ids.
func (r *run) measureFailovers() {
	for _, group := range []struct {
		kind    dbtest.Kind
		sources []*recovering
	}{
		{dbtest.AsMariaDB, []*recovering{
			{name: "auto_increment of MariaDB", create: "CREATE TABLE a (id bigint AUTO_INCREMENT PRIMARY KEY)", draw: "INSERT INTO a VALUES ()"},
			{
				name: "ticket table (Flickr, MyISAM)", create: "CREATE TABLE b (id bigint AUTO_INCREMENT PRIMARY KEY, stub char(1) UNIQUE) ENGINE=MyISAM",
				draw: "REPLACE INTO b (stub) VALUES ('a')",
			},
		}},
		{dbtest.AsPostgres, []*recovering{
			{name: "sequence of PostgreSQL", create: "CREATE SEQUENCE a", draw: "SELECT nextval('a')"},
			{name: "sequence of PostgreSQL, CACHE 1000", create: "CREATE SEQUENCE b CACHE 1000", draw: "SELECT nextval('b')"},
		}},
		{dbtest.AsRedis, []*recovering{{name: "Redis INCR, as the package sets it up", draw: "INCR a"}}},
		{dbtest.Nextid{Binary: r.Binary}.Start, []*recovering{
			{name: "next_id snowflake", ours: true, draw: "SELECT next_id('a')"},
			{name: "next_id segment", ours: true, create: "SELECT create_generator('b', 'segment')", draw: "SELECT next_id('b')"},
		}},
	} {
		r.part("failover of "+group.sources[0].name, func() { r.fail = append(r.fail, r.stage.failover(group.kind(r.stage), group.sources)...) })
	}
	r.part("failover of a shared store", func() { r.fail = append(r.fail, r.stage.sharedStore()) })
	r.fail = append(r.fail, failover{"UUIDs", false, "nothing to lose", "nothing to lose"})
}

// failover kills a server twice. It starts once on its own disk, and once on a copy
// of its data from before the last draws.
func (s *stage) failover(server *dbtest.Server, sources []*recovering) (all []failover) {
	for _, source := range sources {
		if source.create != "" {
			s.Exec(server.URL, source.create)
		}
	}
	s.drawAll(server, sources)
	server.Kill()
	server.Start()
	s.drawAll(server, sources)
	for _, source := range sources {
		all = append(all, failover{source.name, source.ours, source.twice(), "refuses to start on a copy"})
		source.seen = nil
	}
	// The standby is a copy of the present data. It does not get the later draws
	// before the server is killed.
	server.Stop()
	standby := server.Copy()
	server.Start()
	s.drawAll(server, sources)
	server.Kill()
	err := s.Do(func(testing.TB) { standby.Begin() })
	if err != nil && strings.Contains(err.Error(), "is a copy") {
		return all
	}
	s.Must(err)
	s.drawAll(standby, sources)
	for i, source := range sources {
		all[i].standby = source.twice()
	}
	standby.Kill()
	return all
}

// sharedStore kills the PostgreSQL that is the store of a nextid server, and
// promotes a standby without the latest reservations. The server continues to draw,
// and a second one is started.
func (s *stage) sharedStore() failover {
	f := failover{name: "next_id segment, store in PostgreSQL", ours: true}
	store := dbtest.AsPostgres(s)
	relay, through := relayTo(s, store.URL)
	s.Command("migrate", "store", "up", "--dsn", through)
	nextid := dbtest.Nextid{Binary: s.Nextid, Args: []string{"--store", through, "--store-failover", "skip"}}
	first := nextid.Start(s)
	defer first.Kill()
	s.Exec(first.URL, "SELECT create_generator('b', 'segment', step => 100)")
	ids := &recovering{draw: "SELECT next_id('b')"}
	draw := func(server *dbtest.Server) { s.drawAll(server, []*recovering{ids}) }
	greatest := func() uint64 { return slices.MaxFunc(ids.seen, load.ID.Compare).Lo }
	draw(first)
	store.Kill()
	store.Start()
	draw(first)
	f.crash = ids.twice()
	store.Stop()
	standby := store.LateStandby()
	store.Start()
	draw(first)
	before := greatest()
	store.Kill()
	standby.Promote()
	relay.To(standby.Addr)
	second := nextid.Start(s)
	defer second.Kill()
	draw(second)
	draw(first)
	f.standby = fmt.Sprintf("%s; the count jumps by %s", ids.twice(), report.Format(float64(greatest()-before)))
	return f
}

func parse(t testing.TB, text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// relayTo starts a Proxy in front of the server of a URL, and returns the URL with
// the Proxy's address.
func relayTo(t testing.TB, target string) (*dbtest.Proxy, string) {
	u := parse(t, target)
	relay := dbtest.Cut(t, u.Host)
	u.Host = relay.Addr
	return relay, u.String()
}
