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

// open starts the servers that are installed, and notes what is missing.
func (r *run) open(shards int) {
	r.nextid = r.Open(r.Server().Start, "SELECT create_generator('tickets', 'segment')", "SELECT next_id('orders')", "SELECT next_id('tickets')")
	r.bottom = r.Floor(false)
	kinds := map[engine]dbtest.Kind{postgres: dbtest.AsPostgres, mariadb: dbtest.AsMariaDB}
	for _, e := range []engine{postgres, mariadb} {
		for range shards {
			if err := r.Do(func(t testing.TB) { r.servers[e] = append(r.servers[e], kinds[e](t)) }); err != nil {
				r.Note("%v", err)
				break
			}
		}
		if n := len(r.servers[e]); n > 0 {
			r.Report.Versions = append(r.Report.Versions, fmt.Sprintf("%d × %s", n, r.servers[e][0].Name))
		}
	}
	r.redis = r.Begin(dbtest.AsRedis)
	r.Must(r.Ctx.Err())
	if len(r.servers) == 0 {
		r.Fatal("there is no database to compare with: on Debian, apt-get install postgresql mariadb-server")
	}
	// The first servers ask nextid themselves.
	if maria := r.servers[mariadb]; len(maria) > 0 {
		r.foreign[mariadb] = r.Do(func(testing.TB) {
			r.Exec(maria[0].URL, "INSTALL SONAME 'ha_federatedx'",
				"CREATE TABLE orders_id (id bigint NOT NULL) ENGINE=FEDERATED CONNECTION='"+r.nextid.MySQL+"/orders_id'")
		})
		r.Exec(maria[0].URL, "CREATE TABLE tickets (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL UNIQUE) ENGINE=MyISAM")
	}
	if pg := r.servers[postgres]; len(pg) > 0 {
		r.foreign[postgres] = r.Do(func(testing.TB) { r.Command("migrate", "foreign", "up", "--dsn", pg[0].URL, "--server", r.nextid.URL) })
	}
}

// place sets the servers of a contestant. It returns why it cannot take part, nil if
// it can.
func (r *run) place(c *contestant) error {
	servers := r.servers[c.engine]
	switch {
	case len(servers) == 0:
		return fmt.Errorf("no %s", c.engine)
	case c.sharded && len(servers) < 2:
		return fmt.Errorf("only one %s", c.engine)
	case c.sharded:
		c.on = servers
	default:
		c.on = servers[:1]
	}
	c.processes = c.on
	if c.foreign {
		c.processes = append(slices.Clone(c.on), r.nextid)
		return r.foreign[c.engine]
	}
	if c.from == nil {
		return nil
	}
	source := c.from.server(r)
	if source == nil {
		return errors.New("no Redis")
	}
	if c.sourceURL = source.URL; c.engine == mariadb && source == r.nextid {
		c.sourceURL = source.MySQL // what such an application has a driver for
	}
	if !slices.Contains(c.on, source) {
		c.processes = append(slices.Clone(c.on), source)
	}
	return nil
}

// fill fills in the table of a statement, and which of n shards it is for.
func fill(sql, table string, i, n int) string {
	return strings.NewReplacer("{table}", table, "{shard}", strconv.Itoa(i+1), "{shards}", strconv.Itoa(n)).Replace(sql)
}

// create makes the empty table of a contestant, on each of its servers. The caller
// feeds it.
func (r *run) create(c *contestant) {
	for i, server := range c.on {
		statements := append([]string{
			"DROP TABLE IF EXISTS {table}",
			"CREATE TABLE {table} (id " + c.column + " PRIMARY KEY, customer bigint NOT NULL, note varchar(100) NOT NULL)",
			"CREATE INDEX {table}_customer ON {table} (customer)",
		}, c.after...)
		for k := range statements {
			statements[k] = fill(statements[k], c.table, i, len(c.on))
		}
		r.Exec(server.URL, statements...)
	}
}

// feed runs nextid migrate feed up --cron. The sequence of a column gets a block on
// each database, which lasts longer than the table, and the server keeps no
// connection.
func (r *run) feed(c *contestant) {
	args := []string{"migrate", "feed", "up", "--cron", "--server", r.nextid.URL, "--column", c.table + ".id", "--name", "fed_" + c.table}
	for _, server := range c.on {
		args = append(args, "--dsn", server.URL)
	}
	r.Command(args...)
}

// dial opens the links of client i: to its table's server and, if there is one, to
// the source of ids.
func (r *run) dial(c *contestant, i int, client *load.Client) {
	at := i % len(c.on)
	link := r.Dial(client, c.on[at].URL)
	for _, sql := range c.session {
		_, err := link.Exec(r.Ctx, fill(sql, c.table, at, len(c.on)))
		r.Must(err)
	}
	if c.sourceURL != "" {
		r.Dial(client, c.sourceURL)
	}
}

// inserting returns a function for With that opens clients which write rows.
func (r *run) inserting(c *contestant, rows int, j *journal) func(i int, client *load.Client) {
	return func(i int, client *load.Client) {
		r.dial(c, i, client)
		client.Work = &inserter{c: c, journal: j, links: client.Links, rows: rows, n: uint64(i+1) << 40}
	}
}
