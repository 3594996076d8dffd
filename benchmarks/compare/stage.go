package compare

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
	"nextid/dbtest"
)

// stage is the servers that take part.
type stage struct {
	load.Stage
	servers map[engine][]*dbtest.Server // the shards; the first has the tables that are not sharded
	redis   *dbtest.Server              // nil: there is none
	nextid  *dbtest.Server
	floor   *dbtest.Server       // nil: there is none
	foreign map[foreignWay]error // why a way to ask nextid cannot be measured
	own     bool                 // the servers are ours: they may be killed
}

// open starts the servers, or uses the given ones, and notes what is missing.
func (r *run) open(rig *dbtest.Rig) {
	s := &stage{Stage: load.Stage{Rig: rig, Ctx: r.ctx, Nextid: r.Binary}, servers: map[engine][]*dbtest.Server{}, foreign: map[foreignWay]error{}, own: len(r.DSN) == 0}
	r.stage = s
	s.nextid = dbtest.Nextid{Binary: r.Binary}.Start(s)
	r.version(s.nextid.Name)
	if r.Floor != "" {
		s.floor = dbtest.AsFloor(r.Floor, false)(s)
	}
	if s.own {
		r.start()
	}
	for _, dsn := range r.DSN {
		s.use(dsn, r)
	}
	s.Must(s.Ctx.Err())
	if len(s.servers[postgres]) == 0 && len(s.servers[mariadb]) == 0 {
		s.Fatal("there is no database to compare with: on Debian, apt-get install postgresql mariadb-server")
	}
	s.Exec(s.nextid.URL, "SELECT create_generator('tickets', 'segment')", "SELECT next_id('orders')", "SELECT next_id('tickets')")
	s.openForeign()
	if maria := s.servers[mariadb]; len(maria) > 0 {
		s.Exec(maria[0].URL, "CREATE TABLE tickets (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL UNIQUE) ENGINE=MyISAM")
	}
}

// start starts what is installed.
func (r *run) start() {
	start := func(kind dbtest.Kind) []*dbtest.Server {
		server, err := r.stage.Start(kind)
		if err != nil {
			r.once("%v", err)
			return nil
		}
		return []*dbtest.Server{server}
	}
	servers := r.stage.servers
	for shard := range r.Shards {
		r.Progress.Step(fmt.Sprintf("shard %d of %d", shard+1, r.Shards))
		servers[postgres] = append(servers[postgres], start(dbtest.AsPostgres)...)
		servers[mariadb] = append(servers[mariadb], start(dbtest.AsMariaDB)...)
	}
	for _, e := range []engine{postgres, mariadb} {
		if n := len(servers[e]); n > 0 {
			r.version(fmt.Sprintf("%d × %s", n, servers[e][0].Name))
		}
	}
	for _, redis := range start(dbtest.AsRedis) {
		r.stage.redis = redis
		r.version(redis.Name)
	}
}

// Schema is what a comparison makes, uses and removes in databases that are
// given: a schema of PostgreSQL, a database of MySQL and MariaDB, a key of
// Redis.
const Schema = "nextid_bench"

// use takes a server that was given.
func (s *stage) use(dsn string, r *run) {
	u, err := url.Parse(dsn)
	if err != nil {
		s.Fatal("a --dsn is not a URL") // which may hold a password
	}
	server := &dbtest.Server{Name: u.Scheme + " at " + u.Host}
	switch u.Scheme {
	case "postgres", "postgresql":
		s.Exec(dsn, "CREATE SCHEMA "+Schema)
		query := u.Query()
		query.Set("search_path", Schema)
		u.RawQuery = query.Encode()
		s.servers[postgres] = append(s.servers[postgres], server)
		if slices.Contains([]string{"127.0.0.1", "localhost", "::1", ""}, u.Hostname()) {
			server.PID = machine.Parent(int(s.Exec(dsn, "SELECT pg_backend_pid()")[0].Lo), "postgres")
		}
	case "mysql", "mariadb":
		s.Exec(dsn, "CREATE DATABASE "+Schema)
		u.Path = "/" + Schema
		s.servers[mariadb] = append(s.servers[mariadb], server)
	case "redis":
		s.redis = server
	default:
		s.Fatalf("a --dsn begins with postgres://, mysql://, mariadb:// or redis://, not with %q", u.Scheme)
	}
	server.URL = u.String()
	r.version(server.Name)
}

// close removes what was made in databases that were given.
func (s *stage) close(ctx context.Context) (err error) {
	if s.own {
		return nil
	}
	drop := func(servers []*dbtest.Server, statement string) {
		for _, server := range servers {
			_, failed := load.Exec(ctx, server.URL, statement)
			err = errors.Join(err, failed)
		}
	}
	if s.redis != nil {
		drop([]*dbtest.Server{s.redis}, "DEL "+Schema)
	}
	drop(s.servers[postgres], "DROP SCHEMA "+Schema+" CASCADE")
	drop(s.servers[mariadb], "DROP DATABASE "+Schema)
	return err
}

// openForeign lets the first servers ask nextid themselves.
func (s *stage) openForeign() {
	for e, way := range map[engine]foreignWay{postgres: postgresFDW, mariadb: federated} {
		switch {
		case !s.own:
			s.foreign[way] = errors.New("it changes a database more than a comparison should; run without --dsn")
		case len(s.servers[e]) > 0:
			s.foreign[way] = s.Do(func(testing.TB) {
				if way == federated {
					s.Exec(s.servers[e][0].URL, "INSTALL SONAME 'ha_federatedx'")
				}
				s.pointForeign(way, s.behind(way))
			})
		}
	}
}

// behind is the URL at which a database asks nextid itself.
func (s *stage) behind(way foreignWay) string {
	if way == federated {
		return s.nextid.MySQL
	}
	return s.nextid.URL
}

// pointForeign lets the first server ask nextid at a URL.
func (s *stage) pointForeign(way foreignWay, target string) {
	if way == federated {
		s.Exec(s.servers[mariadb][0].URL, "CREATE OR REPLACE TABLE orders_id (id bigint NOT NULL) ENGINE=FEDERATED CONNECTION='"+target+"/orders_id'")
		return
	}
	s.Command("migrate", "foreign", "up", "--dsn", s.servers[postgres][0].URL, "--server", target)
}

// missing says why a contestant cannot take part, nil if it can.
func (s *stage) missing(c *contestant) error {
	servers := s.servers[c.engine]
	switch {
	case len(servers) == 0:
		return fmt.Errorf("no %s", c.engine)
	case c.sharded && len(servers) < 2:
		return fmt.Errorf("only one %s: give several --dsn", c.engine)
	case c.from != nil && c.from.server == redisServer && s.redis == nil:
		return errors.New("no Redis")
	}
	return s.foreign[c.foreign]
}

// tables are the servers that hold a contestant's table.
func (s *stage) tables(c *contestant) []*dbtest.Server {
	if c.sharded {
		return s.servers[c.engine]
	}
	return s.servers[c.engine][:1]
}

// source is the server that a contestant takes ids from, and its URL for the
// application; nil and "" if there is none.
func (s *stage) source(c *contestant) (*dbtest.Server, string) {
	switch {
	case c.foreign != notForeign:
		return s.nextid, ""
	case c.from == nil:
		return nil, ""
	case c.from.server == redisServer:
		return s.redis, s.redis.URL
	case c.from.server == ticketsServer:
		return s.servers[mariadb][0], s.servers[mariadb][0].URL
	case c.engine == mariadb:
		return s.nextid, s.nextid.MySQL // what such an application has a driver for
	}
	return s.nextid, s.nextid.URL
}

// processes are all servers that work for a contestant.
func (s *stage) processes(c *contestant) []*dbtest.Server {
	all := slices.Clone(s.tables(c))
	if server, _ := s.source(c); server != nil && !slices.Contains(all, server) {
		all = append(all, server)
	}
	return all
}

// measurable reports whether all processes are on this machine.
func (s *stage) measurable(c *contestant) bool {
	return !slices.ContainsFunc(s.processes(c), func(p *dbtest.Server) bool { return p.PID == 0 })
}

// shard fills in which shard a statement is for.
func shard(sql string, i, n int) string {
	return strings.NewReplacer("{shard}", strconv.Itoa(i+1), "{shards}", strconv.Itoa(n)).Replace(sql)
}

// create makes an empty table for a contestant, on each of its servers.
func (s *stage) create(c *contestant, table string) {
	servers := s.tables(c)
	for i, server := range servers {
		statements := append([]string{
			"DROP TABLE IF EXISTS {table}",
			"CREATE TABLE {table} (id " + c.column + " PRIMARY KEY, customer bigint NOT NULL, note varchar(100) NOT NULL)",
			"CREATE INDEX {table}_customer ON {table} (customer)",
		}, c.after...)
		for k := range statements {
			statements[k] = named(shard(statements[k], i, len(servers)), table)
		}
		s.Exec(server.URL, statements...)
	}
}

// links opens the connections of client i: to its table's server and, if there
// is one, to the source of ids. f gets them, and they are closed after it, unless
// it keeps them.
func (s *stage) links(c *contestant, i int) (links []*load.Link) {
	servers := s.tables(c)
	at := i % len(servers)
	dial := func(dsn string, values bool) *load.Link {
		link, err := load.Dial(s.Ctx, dsn)
		if err != nil {
			load.Clients{{Links: links}}.Close()
			s.Fatal(err)
		}
		link.Values = values
		links = append(links, link)
		return link
	}
	link := dial(servers[at].URL, c.generated())
	for _, sql := range c.session {
		if _, err := link.Exec(s.Ctx, shard(sql, at, len(servers))); err != nil {
			link.Close()
			s.Fatal(err)
		}
	}
	if _, dsn := s.source(c); dsn != "" {
		dial(dsn, true)
	}
	return links
}
