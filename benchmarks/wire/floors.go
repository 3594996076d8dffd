package wire

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// line is one line of the table: how nextid stands to another server, or to
// itself with something else.
type line struct {
	what       string
	ours       asked
	other      asked              // without a server, the figure is that of ours alone
	of         figure             // of both; more of perSecond is better, less of the others
	figure     func() report.Cell // the line is measured in a way of its own
	bound, aim float64            // what the figure should reach; 0: nothing is asked
	often      int                // multiplies the rounds, where the bound is close to the figure; 0: 1
}

// Floors measures what the bounds of nextid's speed are set for, each beside
// what it is compared with, in turns.
func Floors(ctx context.Context, c Config) (*report.Report, error) {
	return c.Measure(ctx, &report.Report{
		Title: "nextid-bench sql --floors: nextid and its bounds",
		Intro: "Each figure is a ratio of two measurements that were made in turns. A floor is a server that answers every query " +
			"with the same bytes, by one thread that polls: with more threads, or asleep, it was slower than nextid. Its CPU includes the polling.",
		Settings: []string{
			c.settings(),
			"three to ten times the rounds where the bound is close: texts that differ, servers on one store, and the p99 of many connections",
			"at a fixed rate client and server have processors of their own, half of them each: else the client measures how long it waits itself",
			"limits.max_names, limits.connections and limits.connections_per_ip as the names and the idle connections need them",
			report.Congestion(),
		},
	}, func(s *load.Stage) {
		r := &run{s, c}
		table := report.Table{First: "what", Columns: report.Columns("measured", "at least", "aim", "holds")}
		for _, l := range slices.Concat(r.lines(), r.figures()) {
			if !strings.Contains(l.what, c.Only) {
				continue
			}
			var cell report.Cell
			if ctx.Err() == nil {
				c.Progress.Print(l.what)
				_ = r.Try(l.what, func() { cell = r.line(l) }) // the error is noted
			}
			table.Rows = append(table.Rows, l.row(cell))
		}
		r.Report.Sections = []report.Section{{Title: "Bounds", Table: table}}
	})
}

// line measures both sides in turns.
func (r *run) line(l line) report.Cell {
	if l.figure != nil {
		return l.figure()
	}
	var ours, others series
	for range r.cfg.Rounds * max(l.often, 1) {
		ours.add(r.measure(l.ours))
		if l.other.server != nil {
			others.add(r.measure(l.other))
		}
	}
	if l.other.server == nil {
		return report.Number(ours[l.of]...)
	}
	return report.Ratio(ours[l.of], others[l.of])
}

// row is the line with its figure.
func (l line) row(c report.Cell) report.Row {
	sign, holds := "≤ ", "–"
	if l.of == perSecond {
		sign = "≥ "
	}
	words := func(v float64) report.Cell {
		if v == 0 {
			return report.Text("–")
		}
		return report.Text(sign + report.Format(v) + c.Suffix)
	}
	if c.Number && l.bound > 0 {
		holds = "no"
		if c.Value == l.bound || (c.Value > l.bound) == (l.of == perSecond) {
			holds = "yes"
		}
	}
	return report.Row{Name: l.what, Cells: []report.Cell{c, words(l.bound), words(l.aim), report.Text(holds)}}
}

const parseID = "SELECT parse_id(7123456789012345678)"

// names are texts that draw an id; of those in different, one calls parse_id.
var (
	names = []string{
		nextID, "SELECT next_id('customers')", "SELECT next_id('invoices') AS id", "SELECT nextval('orders')",
		"SELECT next_id('payments')", "SELECT next_id('events')", "SELECT next_id('users')", "SELECT next_id('shipments')",
	}
	different = append(slices.Clone(names[:7]), parseID)
)

// makeSegments creates all names as segments. A snowflake costs more than a number of a
// segment, whatever the text.
const makeSegments = "SELECT create_generator(name, 'segment') FROM unnest(ARRAY[" +
	"'orders', 'customers', 'invoices', 'payments', 'events', 'users', 'shipments', 'codes']) name"

// lines starts the servers that are installed.
func (r *run) lines() []line {
	nextid := r.Open(r.Server().Start, makeSegments)
	sockets := dbtest.Nextid{Binary: r.Nextid, Sockets: true}.Start(r) // of which one client may hold many
	bottom, mysqlBottom := r.Floor(false), r.Floor(true)
	ask := func(conns, depth int, sql ...string) asked {
		return asked{url: nextid.URL, server: nextid, sql: sql, setting: setting{conns: conns, depth: depth}}
	}
	on := func(server *dbtest.Server, url string, a asked, sql ...string) asked {
		a.server, a.url = server, url
		if len(sql) > 0 {
			a.sql = sql
		}
		return a
	}
	onFloor := func(a asked) asked { return on(bottom, bottom.URL, a) }
	onMySQL := func(a asked) asked { return on(nextid, nextid.MySQL, a) }
	onMySQLFloor := func(a asked) asked { return on(mysqlBottom, mysqlBottom.URL, a) }

	one, crowd, wide := ask(8, 1, nextID), ask(r.cfg.Crowd, 1, nextID), ask(64, 1, nextID)
	equal, differ := ask(8, 16, nextID), ask(8, 16, different...)
	preparedOne, preparedDeep, apart, steady := one, equal, differ, ask(32, 1, nextID)
	preparedOne.prepared, preparedDeep.prepared, apart.apart, steady.rate = true, true, true, 20_000
	lines := []line{
		{what: "prepared, 8 × 16 at a time: ids/s against the floor", ours: preparedDeep, other: onFloor(preparedDeep), of: perSecond, bound: 0.95},
		{what: "simple, 64 connections: CPU against the floor", ours: wide, other: onFloor(wide), bound: 1.05, aim: 1},
		{what: "8 × 16 at a time, names that differ: CPU against equal texts", ours: ask(8, 16, names...), other: equal, bound: 1.2, aim: 1.1, often: 6},
		{
			what: "8 × 16 at a time, parse_id between: CPU against each text on a connection of its own",
			ours: differ, other: apart, bound: 1.2, aim: 1.1, often: 6,
		},
	}
	for _, f := range [][2]string{
		{"currval", "SELECT currval('orders')"},
		{"next_range", "SELECT * FROM next_range('orders', 10)"},
		{"next_ids(10)", "SELECT * FROM next_ids('orders', 10)"},
		{"next_code", "SELECT next_code('codes')"},
		{"parse_id", parseID},
		{"id_time", "SELECT id_time(7123456789012345678)"},
		{"SELECT 1", "SELECT 1"},
	} {
		asks := ask(8, 1, f[1])
		asks.first = nextID // currval needs one, and others do not mind
		lines = append(lines, line{what: f[0] + ", 8 connections: CPU against next_id", ours: asks, other: one, bound: 1.6, aim: 1.3})
	}
	lines = append(lines,
		line{
			what: "MySQL prepared, 8 connections: ids/s against its floor", of: perSecond,
			ours: onMySQL(preparedOne), other: onMySQLFloor(preparedOne), bound: 0.9, aim: 1,
		},
		line{what: "MySQL, 8 × 16 at a time: ids/s against its floor", ours: onMySQL(equal), other: onMySQLFloor(equal), of: perSecond, bound: 0.9, aim: 1})
	if pg := r.Begin(dbtest.AsPostgres, "CREATE SEQUENCE one CACHE 1"); pg != nil {
		onPg := func(a asked) asked { return on(pg, pg.URL, a, "SELECT nextval('one')") }
		crowds := fmt.Sprintf("%d connections, Unix sockets: ", r.cfg.Crowd)
		crowded, pgCrowd := on(sockets, sockets.URL, crowd), onPg(crowd)
		pgCrowd.url = pg.SocketURL
		lines = append(append(lines, r.onOneStore(pg)...),
			line{what: "prepared, 8 × 16 at a time: ids/s against PostgreSQL", ours: preparedDeep, other: onPg(preparedDeep), of: perSecond, bound: 15, aim: 18},
			line{what: "20,000/s, 32 connections: p99 against PostgreSQL", ours: steady, other: onPg(steady), of: p99, bound: 0.2},
			line{what: crowds + "ids/s against PostgreSQL", ours: crowded, other: pgCrowd, of: perSecond, bound: 8},
			line{what: crowds + "p99, ms", ours: crowded, of: p99Millis, bound: 12, often: 3})
	}
	if redis := r.Begin(dbtest.AsRedis); redis != nil {
		lines = append(lines, line{what: "20,000/s, 32 connections: p99 against Redis", ours: steady, other: on(redis, redis.URL, steady, "INCR s"), of: p99, bound: 1})
	}
	if r.cfg.Beside != "" {
		other := dbtest.Nextid{Binary: r.cfg.Beside}.Start(r)
		r.Report.Versions = append(r.Report.Versions, "beside: "+other.Name)
		r.Exec(other.URL, makeOrders)
		for _, conns := range []int{1, 8, 32, 64} {
			a := ask(conns, 1, nextID)
			what := fmt.Sprintf("simple, %d connections: ", conns)
			lines = append(lines,
				line{what: what + "CPU against the build beside", ours: a, other: on(other, other.URL, a)},
				line{what: what + "ids/s against the build beside", ours: a, other: on(other, other.URL, a), of: perSecond})
		}
	}
	r.Must(r.Ctx.Err())
	return lines
}

// onOneStore compares two and five servers on one store in PostgreSQL with as many
// that have stores of their own. They share the processors, so that what an id
// costs is compared.
func (r *run) onOneStore(store *dbtest.Server) (lines []line) {
	r.Command("migrate", "store", "up", "--dsn", store.URL)
	var own, shared []*dbtest.Server
	for range 5 {
		own, shared = append(own, r.Server().Start(r)), append(shared, r.Server("--store", store.URL).Start(r))
	}
	for _, server := range append(own, shared[0]) {
		r.Exec(server.URL, makeOrders)
	}
	of := func(servers []*dbtest.Server) asked {
		return asked{url: servers[0].URL, server: servers[0], beside: servers[1:], sql: []string{nextID}, setting: setting{conns: 4, depth: 1}}
	}
	for _, n := range []int{2, 5} {
		what := fmt.Sprintf("%d servers, 4 connections each: CPU on one store against stores of their own", n)
		lines = append(lines, line{what: what, ours: of(shared[:n]), other: of(own[:n]), bound: 1.02, aim: 1, often: 10})
	}
	return lines
}

// figures returns the lines that are no simple ratio of two measurements.
func (r *run) figures() []line {
	c := r.cfg
	idle := sync.OnceValues(r.idleMemory)
	many := sync.OnceValues(func() (*dbtest.Server, time.Duration) {
		// gctrace logs each pass of the garbage collector; package runtime documents
		// the line.
		env := []string{"GODEBUG=gctrace=1", fmt.Sprintf("NEXTID_LIMITS_MAX_NAMES=%d", c.Names+c.Many)}
		server, began := dbtest.Nextid{Binary: r.Nextid, Env: env}.Start(r), time.Now()
		r.makeNames(server, 1, c.Names, 1)
		return server, time.Since(began)
	})
	return []line{
		{what: "TLS 1.3, 8 connections: CPU against plain", bound: 1.5, aim: 1.3, figure: r.underTLS},
		{what: fmt.Sprintf("%d names made by one statement, s", c.Names), bound: 10, figure: func() report.Cell {
			_, took := many()
			return report.Number(took.Seconds())
		}},
		{what: fmt.Sprintf("greatest pause of the garbage collector, %d names, 8 connections, ms", c.Names), bound: 1, figure: func() report.Cell {
			server, _ := many()
			return r.pause(server)
		}},
		{what: fmt.Sprintf("%d names, prepared, 8 connections: CPU against one name", c.Many), bound: 1.5, aim: 1.2, figure: func() report.Cell {
			server, _ := many()
			r.makeNames(server, c.Names+1, c.Many, 64)
			one := asked{url: server.URL, server: server, sql: []string{"SELECT next_id($1)"}, args: []string{"tenant1"}, setting: setting{true, 8, 1}}
			all := one
			for i := range c.Many - 1 {
				all.args = append(all.args, "tenant"+strconv.Itoa(i+2))
			}
			return r.line(line{ours: all, other: one})
		}},
		{what: fmt.Sprintf("resident memory of an idle connection, kB, of %d", c.Idle), bound: 2.5, aim: 1.5, figure: func() report.Cell {
			before, after := idle()
			return report.Number((after - before) / float64(c.Idle) / 1e3)
		}},
		{what: fmt.Sprintf("resident memory of a server with %d idle connections, MB", c.Idle), bound: 60, figure: func() report.Cell {
			_, after := idle()
			return report.Number(after / 1e6)
		}},
	}
}

// makeNames draws an id from each of the names tenantFROM to tenantTO, by one
// statement a connection. The store creates names of several connections in one
// commit.
func (r *run) makeNames(server *dbtest.Server, from, to, conns int) {
	var work errgroup.Group
	for i := range conns {
		work.Go(func() error {
			return r.Do(func(testing.TB) {
				r.Exec(server.URL, "SET statement_timeout = 0",
					fmt.Sprintf("SELECT count(next_id('tenant' || g)) FROM generate_series(%d, %d, %d) g", from+i, to, conns))
			})
		})
	}
	r.Must(work.Wait())
}

// underTLS returns the ratio of CPU times with TLS and without, measured by the same
// driver.
func (r *run) underTLS() report.Cell {
	cert, key := dbtest.Certificate(r, r.TempDir())
	server := r.Open(r.Server("--tls-cert", cert, "--tls-key", key).Start, nextID)
	defer server.Stop()
	used := map[string][]float64{}
	for range r.cfg.Rounds {
		for _, mode := range []string{"require", "disable"} {
			url := strings.Replace(server.URL, "sslmode=disable", "sslmode="+mode, 1)
			used[mode] = append(used[mode], r.byDriver(server, url))
		}
	}
	return report.Ratio(used["require"], used["disable"])
}

// byDriver sends queries over 8 connections of pgconn, and returns the server's CPU
// time per query in microseconds.
func (r *run) byDriver(server *dbtest.Server, url string) float64 {
	var conns [8]*pgconn.PgConn
	for i := range conns {
		conn, err := pgconn.Connect(r.Ctx, url)
		r.Must(err)
		defer func() { _ = conn.Close(context.WithoutCancel(r.Ctx)) }()
		conns[i] = conn
	}
	var queries atomic.Int64
	var work errgroup.Group
	before, end := load.CPU(server), time.Now().Add(r.cfg.Length)
	for _, conn := range conns {
		work.Go(func() error {
			for time.Now().Before(end) {
				if _, err := conn.Exec(r.Ctx, nextID).ReadAll(); err != nil {
					return err
				}
				queries.Add(1)
			}
			return nil
		})
	}
	r.Must(work.Wait())
	return float64(load.CPU(server)-before) / 1e3 / float64(queries.Load())
}

// pause measures at least passesARound passes of the garbage collector per round,
// and no more than mostPasses: the maximum of few pauses is not reliable.
const (
	passesARound = 3
	mostPasses   = 12
)

// pause returns the longest pause of the garbage collector in milliseconds, during
// queries that allocate.
func (r *run) pause(server *dbtest.Server) report.Cell {
	earlier := server.Log()
	const parts = "SELECT count(parse_id(7123456789012345678 + n)) FROM generate_series(1, 100) n"
	busy := asked{url: server.URL, server: server, sql: []string{parts}, setting: setting{conns: 8, depth: 1}}
	var all []float64
	for len(all) < 2*min(passesARound*r.cfg.Rounds, mostPasses) {
		r.measure(busy)
		all = pauses(strings.TrimPrefix(server.Log(), earlier))
	}
	return report.Number(slices.Max(all))
}

// pass matches a line of gctrace. The first and the third number are the times of
// the two stop-the-world phases, before and after marking.
var pass = regexp.MustCompile(`(?m)^gc \d+ @.*: ([0-9.]+)\+[0-9.]+\+([0-9.]+) ms clock`)

// pauses returns the pauses of all passes in a log, two per pass, in milliseconds.
func pauses(log string) (all []float64) {
	for _, line := range pass.FindAllStringSubmatch(log, -1) {
		for _, stop := range line[1:] {
			if ms, err := strconv.ParseFloat(stop, 64); err == nil {
				all = append(all, ms)
			}
		}
	}
	return all
}

// quiet is the idle time before memory is measured. A server frees unused memory
// after it was idle for five to ten seconds.
const quiet = 11 * time.Second

// idleMemory returns the resident memory of a server in bytes: before and after each
// of Idle connections has drawn an id and has become idle.
func (r *run) idleMemory() (before, after float64) {
	most := strconv.Itoa(r.cfg.Idle + 1000)
	server := dbtest.Nextid{Binary: r.Nextid, Env: []string{"NEXTID_LIMITS_CONNECTIONS=" + most, "NEXTID_LIMITS_CONNECTIONS_PER_IP=" + most}}.Start(r)
	defer server.Stop()
	draw := func(_ int, c *load.Client) {
		_, err := r.Dial(c, server.URL).Exec(r.Ctx, nextID)
		r.Must(err)
	}
	resident := func() float64 {
		load.Rest(r.Ctx, quiet)
		r.Must(r.Ctx.Err())
		bytes, err := load.Resident(server.PID)
		r.Must(err)
		return bytes
	}
	r.With(100, draw, func([]load.Client) { // the first connections allocate memory that all use
		before = resident()
		r.With(r.cfg.Idle, draw, func([]load.Client) { after = resident() })
	})
	return before, after
}
