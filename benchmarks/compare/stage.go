package compare

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nextid/benchmarks/load"
	"nextid/dbtest"
)

// stage is the servers that take part.
type stage struct {
	load.Stage
	servers map[engine][]*dbtest.Server // the shards; the first has the tables that are not sharded
	redis   *dbtest.Server              // nil: there is none
	nextid  *dbtest.Server
	floors  []*dbtest.Server     // of as many threads as there are processors, and of one
	foreign map[foreignWay]error // why a way to ask nextid cannot be measured
}

// open starts the servers, or uses the given ones, and notes what is missing.
func (r *run) open(rig *dbtest.Rig) {
	s := &stage{Stage: load.Stage{Rig: rig, Ctx: r.ctx, Nextid: r.Binary}, servers: map[engine][]*dbtest.Server{}, foreign: map[foreignWay]error{}}
	r.stage = s
	s.nextid = dbtest.Nextid{Binary: r.Binary}.Start(s)
	r.version(s.nextid.Name)
	if r.Floor != "" {
		s.floors = []*dbtest.Server{dbtest.AsFloor(r.Floor, false, 0)(s), dbtest.AsFloor(r.Floor, false, 1)(s)}
	}
	r.start()
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
	for range r.Shards {
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

// openForeign lets the first servers ask nextid themselves.
func (s *stage) openForeign() {
	if maria := s.servers[mariadb]; len(maria) > 0 {
		s.foreign[federated] = s.Do(func(testing.TB) {
			s.Exec(maria[0].URL, "INSTALL SONAME 'ha_federatedx'",
				"CREATE TABLE orders_id (id bigint NOT NULL) ENGINE=FEDERATED CONNECTION='"+s.nextid.MySQL+"/orders_id'")
		})
	}
	if pg := s.servers[postgres]; len(pg) > 0 {
		s.foreign[postgresFDW] = s.Do(func(testing.TB) { s.Command("migrate", "foreign", "up", "--dsn", pg[0].URL, "--server", s.nextid.URL) })
	}
}

// missing says why a contestant cannot take part, nil if it can.
func (s *stage) missing(c *contestant) error {
	servers := s.servers[c.engine]
	switch {
	case len(servers) == 0:
		return fmt.Errorf("no %s", c.engine)
	case c.sharded && len(servers) < 2:
		return fmt.Errorf("only one %s", c.engine)
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
	if c.fed {
		s.feed("up", urls(servers), table+".id", "--cron")
	}
}

// feed runs nextid migrate feed. With up --cron the sequence of a column gets a
// block on each database, which lasts longer than the table, and the server keeps
// no connection: reshard would wait for its end.
func (s *stage) feed(command string, dsns []string, column string, more ...string) {
	arguments := append([]string{"migrate", "feed", command, "--server", s.nextid.URL, "--column", column, "--name", "fed_" + strings.TrimSuffix(column, ".id")}, more...)
	for _, dsn := range dsns {
		arguments = append(arguments, "--dsn", dsn)
	}
	s.Command(arguments...)
}

func urls(servers []*dbtest.Server) (all []string) {
	for _, server := range servers {
		all = append(all, server.URL)
	}
	return all
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
