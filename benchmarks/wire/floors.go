package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// line is one line of the table: how nextid stands to another server, or to
// itself with something else.
type line struct {
	what       string
	ours       asked
	other      asked                // without a server, the figure is that of ours alone
	of         func(sample) float64 // of both; more of perSecond is better, less of the others
	figure     func() report.Cell   // the line is measured in a way of its own
	more       bool                 // more is better
	bound, aim float64              // what the figure should reach; 0: nothing is asked
	often      int                  // multiplies the rounds, where the bound is close to the figure; 0: 1
}

// Floors measures what the bounds of nextid's speed are set for, each beside
// what it is compared with, in turns. beside, which may be empty, is another
// build of nextid.
func Floors(ctx context.Context, c Config, beside string) (*report.Report, error) {
	return c.during(ctx, &report.Report{
		Title: "nextid-bench sql --floors: nextid and its bounds",
		Intro: "Each figure is a ratio of two measurements that were made in turns. A floor is a server that answers every query " +
			"with the same bytes, with as many threads as nextid has.",
		Settings: []string{
			fmt.Sprintf("%s × %d rounds a measurement, medians; [least–greatest] of the rounds' ratios", c.Length, c.Rounds),
			"three to ten times the rounds where the bound is close: texts that differ, servers on one store, and the p99 of 1,000 connections",
			"at a fixed rate client and server have processors of their own, half of them each: else the client measures how long it waits itself",
			"limits.max_names, limits.connections and limits.connections_per_ip as the names and the idle connections need them",
			"congestion control: " + report.Content("/proc/sys/net/ipv4/tcp_congestion_control") + "; the client, the floor and nextid use reno on loopback",
		},
	}, func(r *run) {
		lines := append(r.lines(beside), r.figures()...)
		lines = slices.DeleteFunc(lines, func(l line) bool { return !strings.Contains(l.what, c.Only) })
		table := report.Table{First: "what", Columns: report.Columns("measured", "at least", "aim", "holds")}
		for _, l := range lines {
			var cell report.Cell
			if ctx.Err() == nil {
				c.Progress.Part(l.what)
				r.try(l.what, func() { cell = r.line(l) })
			}
			table.Rows = append(table.Rows, l.row(cell))
		}
		r.report.Sections = []report.Section{{Title: "Bounds", Table: table}}
	})
}

// line measures both sides in turns.
func (r *run) line(l line) report.Cell {
	if l.figure != nil {
		return l.figure()
	}
	var ours, others []float64
	for range r.Rounds * max(l.often, 1) {
		for values, a := range map[*[]float64]asked{&ours: l.ours, &others: l.other} {
			if a.server == nil {
				continue
			}
			*values = append(*values, l.of(a.measure(r)))
		}
	}
	if l.other.server == nil {
		return report.Number(ours...)
	}
	return report.Ratio(ours, others)
}

// row is the line with its figure.
func (l line) row(c report.Cell) report.Row {
	words := func(v float64) report.Cell {
		switch {
		case v == 0:
			return report.Text("–")
		case l.more:
			return report.Text("≥ " + report.Format(v) + c.Suffix)
		}
		return report.Text("≤ " + report.Format(v) + c.Suffix)
	}
	holds := "–"
	if c.Number && l.bound > 0 {
		holds = "no"
		if c.Value == l.bound || (c.Value > l.bound) == l.more {
			holds = "yes"
		}
	}
	return report.Row{Name: l.what, Cells: []report.Cell{c, words(l.bound), words(l.aim), report.Text(holds)}}
}

// lines starts the servers that are installed.
func (r *run) lines(beside string) []line {
	nextid := r.begin(r.nextid().Start, makeSegments)
	sockets := dbtest.Nextid{Binary: r.Binary, Sockets: true}.Start(r) // of which one client may hold many
	bottom, mysqlBottom := dbtest.AsFloor(r.Floor, false, 0)(r), dbtest.AsFloor(r.Floor, true, 0)(r)
	ask := func(conns, depth int, sql ...string) asked {
		return asked{url: nextid.URL, server: nextid, sql: sql, conns: conns, depth: depth}
	}
	on := func(server *dbtest.Server, url string, a asked, sql ...string) asked {
		a.server, a.url = server, url
		if len(sql) > 0 {
			a.sql = sql
		}
		return a
	}
	prepared := func(a asked) asked { a.prepared = true; return a }
	apart := func(a asked) asked { a.apart = true; return a }
	onFloor := func(a asked) asked { return on(bottom, bottom.URL, a) }
	onMySQL := func(a asked) asked { return on(nextid, nextid.MySQL, a) }
	onMySQLFloor := func(a asked) asked { return on(mysqlBottom, mysqlBottom.URL, a) }

	one := ask(8, 1, nextID)
	deep, equal, differ := prepared(ask(8, 16, nextID)), ask(8, 16, nextID), ask(8, 16, different...)
	crowd, wide := ask(1000, 1, nextID), ask(64, 1, nextID)
	steady := ask(32, 1, nextID)
	steady.rate = 20_000
	lines := []line{
		{what: "prepared, 8 × 16 at a time: ids/s against the floor", ours: deep, other: onFloor(deep), of: perSecond, more: true, bound: 0.95},
		{what: "simple, 64 connections: CPU against the floor", ours: wide, other: onFloor(wide), of: cpu, bound: 1.05, aim: 1},
		{what: "8 × 16 at a time, names that differ: CPU against equal texts", ours: ask(8, 16, names...), other: equal, of: cpu, bound: 1.2, aim: 1.1, often: 6},
		{what: "8 × 16 at a time, parse_id between: CPU against each text on a connection of its own", ours: differ, other: apart(differ), of: cpu, bound: 1.2, aim: 1.1, often: 6},
		{what: "8 × 16 at a time, parse_id between: CPU against next_id alone", ours: differ, other: equal, of: cpu},
		{what: "8 × 16 at a time, parse_id alone: CPU against next_id alone", ours: ask(8, 16, parseID), other: equal, of: cpu},
		{what: "20,000/s, 32 connections: p99 against the floor", ours: steady, other: onFloor(steady), of: p99},
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
		lines = append(lines, line{what: f[0] + ", 8 connections: CPU against next_id", ours: asks, other: one, of: cpu, bound: 1.6, aim: 1.3})
	}
	lines = append(lines,
		line{what: "MySQL prepared, 8 connections: ids/s against its floor", ours: onMySQL(prepared(one)), other: onMySQLFloor(prepared(one)), of: perSecond, more: true, bound: 0.9, aim: 1},
		line{what: "MySQL, 8 × 16 at a time: ids/s against its floor", ours: onMySQL(equal), other: onMySQLFloor(equal), of: perSecond, more: true, bound: 0.9, aim: 1})
	if pg := r.begin(dbtest.AsPostgres, "CREATE SEQUENCE one CACHE 1"); pg != nil {
		const nextval = "SELECT nextval('one')"
		crowded := on(sockets, sockets.URL, crowd)
		lines = append(append(lines, r.onOneStore(pg)...),
			line{what: "prepared, 8 × 16 at a time: ids/s against PostgreSQL", ours: deep, other: on(pg, pg.URL, deep, nextval), of: perSecond, more: true, bound: 15, aim: 18},
			line{what: "20,000/s, 32 connections: p99 against PostgreSQL", ours: steady, other: on(pg, pg.URL, steady, nextval), of: p99, bound: 0.2},
			line{what: "20,000/s, 32 connections: p99 of the floor against PostgreSQL", ours: onFloor(steady), other: on(pg, pg.URL, steady, nextval), of: p99},
			line{what: "1,000 connections, Unix sockets: ids/s against PostgreSQL", ours: crowded, other: on(pg, pg.SocketURL, crowd, nextval), of: perSecond, more: true, bound: 8},
			line{what: "1,000 connections, Unix sockets: p99, ms", ours: crowded, of: func(s sample) float64 { return s.p99 / 1e3 }, bound: 12, often: 3},
			line{what: "1,000 connections, Unix sockets: p99 against the floor's over TCP", ours: crowded, other: onFloor(crowd), of: p99})
	}
	if redis := r.begin(dbtest.AsRedis); redis != nil {
		lines = append(lines, line{what: "20,000/s, 32 connections: p99 against Redis", ours: steady, other: on(redis, redis.URL, steady, "INCR s"), of: p99, bound: 1})
	}
	if beside != "" {
		other := dbtest.Nextid{Binary: beside}.Start(r)
		r.report.Versions = append(r.report.Versions, "beside: "+other.Name)
		r.Exec(other.URL, makeOrders)
		for _, conns := range []int{1, 8, 32, 64} {
			a := ask(conns, 1, nextID)
			what := fmt.Sprintf("simple, %d connections: ", conns)
			lines = append(lines,
				line{what: what + "CPU against the build beside", ours: a, other: on(other, other.URL, a), of: cpu},
				line{what: what + "ids/s against the build beside", ours: a, other: on(other, other.URL, a), of: perSecond, more: true})
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
	const most = 5
	start := func(args ...string) (servers []*dbtest.Server) {
		for range most {
			servers = append(servers, r.nextid(args...).Start(r))
		}
		return servers
	}
	own, shared := start(), start("--store", store.URL)
	for _, server := range append(own, shared[0]) {
		r.Exec(server.URL, makeOrders)
	}
	of := func(servers []*dbtest.Server) asked {
		return asked{url: servers[0].URL, server: servers[0], beside: servers[1:], sql: []string{nextID}, conns: 4, depth: 1}
	}
	for _, n := range []int{2, most} {
		what := fmt.Sprintf("%d servers, 4 connections each: CPU on one store against stores of their own", n)
		lines = append(lines, line{what: what, ours: of(shared[:n]), other: of(own[:n]), of: cpu, bound: 1.02, aim: 1, often: 10})
	}
	return lines
}

// makeSegments creates all names as segments. A snowflake costs more than a number of a
// segment, whatever the text.
const makeSegments = "SELECT create_generator(name, 'segment') FROM unnest(ARRAY[" +
	"'orders', 'customers', 'invoices', 'payments', 'events', 'users', 'shipments', 'codes']) name"

const parseID = "SELECT parse_id(7123456789012345678)"

// names are texts that draw an id; of those in different, one calls parse_id.
var (
	names = []string{
		nextID, "SELECT next_id('customers')", "SELECT next_id('invoices') AS id", "SELECT nextval('orders')",
		"SELECT next_id('payments')", "SELECT next_id('events')", "SELECT next_id('users')", "SELECT next_id('shipments')",
	}
	different = append(slices.Clone(names[:7]), parseID)
)
