package compare

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"nextid/benchmarks/load"
	"nextid/benchmarks/rig"
)

// stage is the servers that take part.
type stage struct {
	rig     *rig.Rig
	binary  string
	servers map[engine][]*rig.Server // the shards; the first has the tables that are not sharded
	redis   *rig.Server
	nextid  *rig.Nextid
	floor   *rig.Server          // nil: there is none
	foreign map[foreignWay]error // why a way to ask nextid cannot be measured
	own     bool                 // the servers are ours: they may be killed
}

// open starts the servers, or uses the given ones, and notes what is missing.
func (c *Config) open(ctx context.Context, r *rig.Rig, n *notebook) (*stage, error) {
	s := &stage{rig: r, binary: c.Binary, servers: map[engine][]*rig.Server{}, foreign: map[foreignWay]error{}, own: len(c.DSN) == 0}
	var err error
	if s.nextid, err = r.Nextid(ctx, c.Binary); err != nil {
		return nil, err
	}
	n.version(s.nextid.Name)
	if c.Floor != "" {
		if s.floor, err = r.Floor(ctx, c.Floor); err != nil {
			return nil, err
		}
	}
	if s.own {
		s.start(ctx, c, n)
	} else if err := s.use(ctx, c.DSN, n); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(s.servers[postgres]) == 0 && len(s.servers[mariadb]) == 0 {
		return nil, errors.New("there is no database to compare with: on Debian, apt-get install postgresql mariadb-server")
	}
	if err := s.exec(ctx, s.nextid.URL, "SELECT create_generator('tickets', 'segment')", "SELECT next_id('orders')", "SELECT next_id('tickets')"); err != nil {
		return nil, err
	}
	s.openForeign(ctx)
	if maria := s.servers[mariadb]; len(maria) > 0 {
		err = s.exec(ctx, maria[0].URL,
			"CREATE TABLE tickets (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL UNIQUE) ENGINE=MyISAM")
	}
	return s, err
}

// start starts what is installed.
func (s *stage) start(ctx context.Context, c *Config, n *notebook) {
	for shard := range c.Shards {
		c.Progress.Step(fmt.Sprintf("shard %d of %d", shard+1, c.Shards))
		if pg, err := s.rig.PostgreSQL(ctx); err != nil {
			n.once("%v", err)
		} else {
			s.servers[postgres] = append(s.servers[postgres], pg)
		}
		if maria, err := s.rig.MariaDB(ctx); err != nil {
			n.once("%v", err)
		} else {
			s.servers[mariadb] = append(s.servers[mariadb], maria)
		}
		if shard == 0 {
			var err error
			if s.redis, err = s.rig.Redis(ctx); err != nil {
				n.once("%v", err)
			}
		}
	}
	for _, e := range []engine{postgres, mariadb} {
		if servers := s.servers[e]; len(servers) > 0 {
			n.version(fmt.Sprintf("%d × %s", len(servers), servers[0].Name))
		}
	}
	if s.redis != nil {
		n.version(s.redis.Name)
	}
}

// Schema is what a comparison makes, uses and removes in databases that are
// given: a schema of PostgreSQL, a database of MySQL and MariaDB, a key of
// Redis.
const Schema = "nextid_bench"

// use takes the servers that were given.
func (s *stage) use(ctx context.Context, dsns []string, n *notebook) error {
	for _, dsn := range dsns {
		u, err := url.Parse(dsn)
		if err != nil {
			return errors.New("a --dsn is not a URL") // which may hold a password
		}
		server := &rig.Server{URL: dsn, Name: u.Scheme + " at " + u.Host}
		switch u.Scheme {
		case "postgres", "postgresql":
			if err := s.exec(ctx, dsn, "CREATE SCHEMA "+Schema); err != nil {
				return fmt.Errorf("%s: %w", server.Name, err)
			}
			query := u.Query()
			query.Set("search_path", Schema)
			u.RawQuery = query.Encode()
			s.servers[postgres] = append(s.servers[postgres], server)
		case "mysql", "mariadb":
			if err := s.exec(ctx, dsn, "CREATE DATABASE "+Schema); err != nil {
				return fmt.Errorf("%s: %w", server.Name, err)
			}
			u.Path = "/" + Schema
			s.servers[mariadb] = append(s.servers[mariadb], server)
		case "redis":
			s.redis = server
		default:
			return fmt.Errorf("a --dsn begins with postgres://, mysql://, mariadb:// or redis://, not with %q", u.Scheme)
		}
		server.URL = u.String()
		server.PID = localPID(ctx, server.URL)
		n.version(server.Name)
	}
	return nil
}

// localPID is the process of a server on this machine, 0 if it is elsewhere.
func localPID(ctx context.Context, dsn string) int {
	u, err := url.Parse(dsn)
	if err != nil || !slices.Contains([]string{"127.0.0.1", "localhost", "::1", ""}, u.Hostname()) {
		return 0
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return 0 // the others do not say
	}
	link, err := load.Dial(ctx, dsn)
	if err != nil {
		return 0
	}
	defer link.Close()
	ids, err := link.Exec(ctx, "SELECT pg_backend_pid()")
	if err != nil || len(ids) == 0 {
		return 0
	}
	return rig.Parent(int(ids[0].Lo), "postgres")
}

// close removes what was made in databases that were given.
func (s *stage) close(ctx context.Context) error {
	if s.own {
		return nil
	}
	var errs []error
	if s.redis != nil {
		errs = append(errs, s.exec(ctx, s.redis.URL, "DEL "+Schema))
	}
	for e, servers := range s.servers {
		for _, server := range servers {
			drop := "DROP DATABASE " + Schema
			if e == postgres {
				drop = "DROP SCHEMA " + Schema + " CASCADE"
			}
			errs = append(errs, s.exec(ctx, server.URL, drop))
		}
	}
	return errors.Join(errs...)
}

// openForeign lets the first servers ask nextid themselves.
func (s *stage) openForeign(ctx context.Context) {
	if !s.own {
		err := errors.New("it changes a database more than a comparison should; run without --dsn")
		s.foreign[postgresFDW], s.foreign[federated] = err, err
		return
	}
	if pg := s.servers[postgres]; len(pg) > 0 {
		s.foreign[postgresFDW] = s.migrateForeign(ctx, pg[0].URL, s.nextid.URL)
	}
	if maria := s.servers[mariadb]; len(maria) > 0 {
		err := s.exec(ctx, maria[0].URL, "INSTALL SONAME 'ha_federatedx'")
		if err == nil {
			err = s.federate(ctx, s.nextid.MySQL)
		}
		s.foreign[federated] = err
	}
}

// migrateForeign runs nextid migrate foreign up.
func (s *stage) migrateForeign(ctx context.Context, dsn, server string) error {
	out, err := exec.CommandContext(ctx, s.binary, "migrate", "foreign", "up", "--dsn", dsn, "--server", server).CombinedOutput()
	if err != nil {
		return fmt.Errorf("nextid migrate foreign up: %w: %s", err, out)
	}
	return nil
}

// federate makes the table through which the first MariaDB asks nextid.
func (s *stage) federate(ctx context.Context, nextid string) error {
	return s.exec(ctx, s.servers[mariadb][0].URL, "CREATE OR REPLACE TABLE orders_id (id bigint NOT NULL) ENGINE=FEDERATED CONNECTION='"+nextid+"/orders_id'")
}

// exec runs statements on a server.
func (s *stage) exec(ctx context.Context, dsn string, statements ...string) error {
	link, err := load.Dial(ctx, dsn)
	if err != nil {
		return err
	}
	defer link.Close()
	for _, sql := range statements {
		if _, err := link.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
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
	case c.foreign != notForeign:
		return s.foreign[c.foreign]
	}
	return nil
}

// tables are the servers that hold a contestant's table.
func (s *stage) tables(c *contestant) []*rig.Server {
	if c.sharded {
		return s.servers[c.engine]
	}
	return s.servers[c.engine][:1]
}

// source is the server that a contestant takes ids from, and its URL; nil if
// there is none.
func (s *stage) source(c *contestant) (*rig.Server, string) {
	if c.foreign != notForeign {
		return s.nextid.Server, ""
	}
	if c.from == nil {
		return nil, ""
	}
	switch c.from.server {
	case redisServer:
		return s.redis, s.redis.URL
	case ticketsServer:
		return s.servers[mariadb][0], s.servers[mariadb][0].URL
	}
	if c.engine == mariadb {
		return s.nextid.Server, s.nextid.MySQL // what such an application has a driver for
	}
	return s.nextid.Server, s.nextid.URL
}

// processes are all servers that work for a contestant.
func (s *stage) processes(c *contestant) []*rig.Server {
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
func (s *stage) create(ctx context.Context, c *contestant, table string) error {
	servers := s.tables(c)
	for i, server := range servers {
		statements := []string{
			"DROP TABLE IF EXISTS {table}",
			"CREATE TABLE {table} (id " + c.column + " PRIMARY KEY, customer bigint NOT NULL, note varchar(100) NOT NULL)",
			"CREATE INDEX {table}_customer ON {table} (customer)",
		}
		statements = append(append(statements, c.before...), c.after...)
		for k := range statements {
			statements[k] = named(shard(statements[k], i, len(servers)), table)
		}
		if err := s.exec(ctx, server.URL, statements...); err != nil {
			return err
		}
	}
	return nil
}

// links opens the connections of client i.
func (s *stage) links(ctx context.Context, c *contestant, i int) (links []*load.Link, err error) {
	defer func() {
		if err != nil {
			load.Client{Links: links}.Close()
		}
	}()
	servers := s.tables(c)
	at := i % len(servers)
	link, err := load.Dial(ctx, servers[at].URL)
	if err != nil {
		return nil, err
	}
	links = append(links, link)
	for _, sql := range c.session {
		if _, err := link.Exec(ctx, shard(sql, at, len(servers))); err != nil {
			return links, err
		}
	}
	link.Values = c.generated()
	if _, dsn := s.source(c); dsn != "" {
		second, err := load.Dial(ctx, dsn)
		if err != nil {
			return links, err
		}
		second.Values = true
		links = append(links, second)
	}
	return links, nil
}
