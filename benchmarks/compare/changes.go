package compare

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
	"nextid/migrations/appdb"
)

// writeRows writes rows as client i of a contestant, until ctx ends. After an error
// it connects again. It calls done after each row and each error. A row is not
// cancelled, as it could exist with an unknown id.
func (r *run) writeRows(ctx context.Context, c *contestant, i int, done func(error)) {
	for ; ctx.Err() == nil; load.Rest(ctx, outagePause) {
		err := r.Do(func(testing.TB) {
			open := r.inserting(c, 1, &journal{})
			r.With(1, func(_ int, client *load.Client) { open(i, client) }, func(clients []load.Client) {
				for ; ctx.Err() == nil; load.Rest(ctx, outagePause) {
					r.Must(clients[0].Once(r.Ctx))
					done(nil)
				}
			})
		})
		if err != nil && r.Ctx.Err() == nil {
			done(err)
		}
	}
}

// outage holds the figures of one contestant about an outage of nextid.
type outage struct {
	rows   [after + 1]int
	errors int
	gap    time.Duration // longest time between two rows of a client
}

// The phases of an outage. Clients open their connections while it is awaited.
const (
	awaited = iota
	before
	during
	after
)

const (
	outageClients = 2                     // of each contestant
	outagePause   = 20 * time.Millisecond // between two rows of a client
)

// measureOutage kills nextid and starts it again, while clients of the contestants
// in outageSection write rows.
func (r *run) measureOutage() {
	ctx, stop := context.WithCancel(r.Ctx)
	var clients sync.WaitGroup
	var phase atomic.Int32
	var mu sync.Mutex
	defer clients.Wait()
	defer stop()
	for _, c := range r.all {
		if !c.beside || c.missing != nil {
			continue
		}
		c.outage = &outage{}
		for i := range outageClients {
			last := time.Now()
			clients.Go(func() {
				r.writeRows(ctx, c, i, func(err error) {
					mu.Lock()
					defer mu.Unlock()
					now, wait := phase.Load(), time.Since(last)
					if err == nil {
						last = time.Now()
						c.outage.rows[now]++
					}
					if now != awaited {
						c.outage.gap = max(c.outage.gap, wait)
						if err != nil {
							c.outage.errors++
						}
					}
				})
			})
		}
	}
	load.Rest(ctx, r.plan.Outage/2)
	phase.Store(before)
	load.Rest(ctx, r.plan.Outage)
	r.nextid.Kill()
	phase.Store(during)
	load.Rest(ctx, r.plan.Outage)
	phase.Store(after)
	r.nextid.Start()
}

// failover is a source of ids whose server is killed, and the results.
type failover struct {
	name    string
	ours    bool
	create  string // "" if there is nothing to create
	draw    string
	seen    []load.ID
	crash   string // after a start on its own disk
	standby string // after a start of a late copy
}

// failoverDraws is the number of ids that are drawn before and after each failover.
const failoverDraws = 500

// failoverPatience bounds the time for which a client asks again after 57P03 (the
// server cannot issue now).
const failoverPatience = 30 * time.Second

// twice states how many of the ids came twice.
func (f *failover) twice() string {
	return fmt.Sprintf("%d of %d ids twice", duplicates(f.seen), failoverDraws)
}

// draw draws ids from each source of a server and appends them to seen.
func (r *run) draw(server *dbtest.Server, sources ...*failover) {
	var client load.Client
	defer func() { client.Close() }()
	link := r.Dial(&client, server.URL)
	for _, f := range sources {
		for range failoverDraws {
			ids, err := link.Exec(r.Ctx, f.draw)
			for end := time.Now().Add(failoverPatience); appdb.Code(err) == "57P03" && time.Now().Before(end); {
				ids, err = link.Exec(r.Ctx, f.draw) // it has waited for the store, for up to 5 s
			}
			r.Must(err)
			f.seen = append(f.seen, ids...)
		}
	}
}

// measureFailovers kills servers that it starts itself, and counts duplicate ids.
func (r *run) measureFailovers() {
	for _, group := range []struct {
		kind    dbtest.Kind
		sources []*failover
	}{
		{dbtest.AsMariaDB, []*failover{
			{name: "auto_increment of MariaDB", create: "CREATE TABLE a (id bigint AUTO_INCREMENT PRIMARY KEY)", draw: "INSERT INTO a VALUES ()"},
			{
				name: "ticket table (Flickr, MyISAM)", create: "CREATE TABLE b (id bigint AUTO_INCREMENT PRIMARY KEY, stub char(1) UNIQUE) ENGINE=MyISAM",
				draw: "REPLACE INTO b (stub) VALUES ('a')",
			},
		}},
		{dbtest.AsPostgres, []*failover{
			{name: "sequence of PostgreSQL", create: "CREATE SEQUENCE a", draw: "SELECT nextval('a')"},
			{name: "sequence of PostgreSQL, CACHE 1000", create: "CREATE SEQUENCE b CACHE 1000", draw: "SELECT nextval('b')"},
		}},
		{dbtest.AsRedis, []*failover{{name: "Redis INCR, as the package sets it up", draw: "INCR a"}}},
		{r.Server().Start, []*failover{
			{name: "next_id snowflake", ours: true, draw: "SELECT next_id('a')"},
			{name: "next_id segment", ours: true, create: "SELECT create_generator('b', 'segment')", draw: "SELECT next_id('b')"},
		}},
	} {
		r.part("failover of "+group.sources[0].name, func() {
			r.failOver(group.kind(r), group.sources)
			r.fail = append(r.fail, group.sources...)
		})
	}
	r.part("failover of a shared store", func() { r.fail = append(r.fail, r.sharedStore()) })
	r.fail = append(r.fail, &failover{name: "UUIDs", crash: "nothing to lose", standby: "nothing to lose"})
}

// failOver kills a server twice. It starts once on its own disk, and once on a copy
// of its data from before the last draws.
func (r *run) failOver(server *dbtest.Server, sources []*failover) {
	for _, f := range sources {
		if f.create != "" {
			r.Exec(server.URL, f.create)
		}
	}
	r.draw(server, sources...)
	server.Kill()
	server.Start()
	r.draw(server, sources...)
	for _, f := range sources {
		f.crash, f.standby = f.twice(), "refuses to start on a copy"
		f.seen = nil
	}
	// The standby is a copy of the present data. It does not get the later draws
	// before the server is killed.
	server.Stop()
	standby := server.Copy()
	server.Start()
	r.draw(server, sources...)
	server.Kill()
	err := r.Do(func(testing.TB) { standby.Begin() })
	if err != nil && strings.Contains(err.Error(), "is a copy") {
		return
	}
	r.Must(err)
	r.draw(standby, sources...)
	for _, f := range sources {
		f.standby = f.twice()
	}
	standby.Kill()
}

// sharedStore kills the PostgreSQL that is the store of a nextid server, and
// promotes a standby without the latest reservations. The server continues to draw,
// and a second one is started.
func (r *run) sharedStore() *failover {
	f := &failover{name: "next_id segment, store in PostgreSQL", ours: true, draw: "SELECT next_id('b')"}
	store := dbtest.AsPostgres(r)
	u, err := url.Parse(store.URL)
	r.Must(err)
	relay := dbtest.Cut(r, u.Host)
	u.Host = relay.Addr
	r.Command("migrate", "store", "up", "--dsn", u.String())
	nextid := r.Server("--store", u.String(), "--store-failover", "skip")
	first := nextid.Start(r)
	defer first.Kill()
	r.Exec(first.URL, "SELECT create_generator('b', 'segment', step => 100)")
	greatest := func() uint64 { return slices.MaxFunc(f.seen, load.ID.Compare).Lo }
	r.draw(first, f)
	store.Kill()
	store.Start()
	r.draw(first, f)
	f.crash = f.twice()
	standby := store.PostgresStandby()
	standby.Stop() // so that it lacks what follows
	r.draw(first, f)
	before := greatest()
	store.Kill()
	standby.Start()
	standby.Promote()
	relay.To(standby.Addr)
	second := nextid.Start(r)
	defer second.Kill()
	r.draw(second, f)
	r.draw(first, f)
	f.standby = fmt.Sprintf("%s; the count jumps by %s", f.twice(), report.Format(float64(greatest()-before)))
	return f
}
