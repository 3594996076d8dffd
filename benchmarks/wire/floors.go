package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// asked is what clients ask of a server in one measurement.
type asked struct {
	url      string
	server   *rig.Server
	beside   []*rig.Server // asked the same, each by as many connections
	first    string        // asked once by each connection, before
	sql      []string      // in turns
	prepared bool          // the only one of sql is
	args     []string      // of its parameter, at random
	apart    bool          // each of sql has connections of its own
	conns    int
	depth    int     // queries sent in one piece
	rate     float64 // queries a second, by a client with processors of its own; 0: as fast as answers come
}

// line is one line of the table: how nextid stands to another server, or to
// itself with something else.
type line struct {
	what        string
	ours, other asked // without other, the figure itself
	of          func(sample) float64
	more        bool    // more is better
	bound, aim  float64 // what the figure should reach; 0: nothing is asked
	often       int     // how many times the rounds of others, for a bound so close to the figure that those do not tell; 0: once
}

// rounds is how often a line is measured.
func (c Config) rounds(l line) int { return c.Rounds * max(l.often, 1) }

// Floors measures what the bounds of nextid's speed are set for, each beside
// what it is compared with, in turns. beside, which may be empty, is another
// build of nextid.
func Floors(ctx context.Context, c Config, beside string) (*report.Report, error) {
	r := &report.Report{
		Title: "nextid-bench sql --floors: nextid and its bounds",
		Intro: "Each figure is a ratio of two measurements that were made in turns. A floor is a server that answers every query " +
			"with the same bytes, with as many threads as nextid has.",
		Began: time.Now(), Machine: report.ThisMachine(),
		Settings: []string{
			fmt.Sprintf("%s × %d rounds a measurement, medians; [least–greatest] of the rounds' ratios", c.Length, c.Rounds),
			"three to ten times the rounds where the bound is close: texts that differ, servers on one store, and the p99 of 1,000 connections",
			"at a fixed rate client and server have processors of their own, half of them each: else the client measures how long it waits itself",
			"limits.max_names, limits.connections and limits.connections_per_ip as the names and the idle connections need them",
			rig.Network(),
		},
	}
	servers, err := rig.New()
	if err != nil {
		return nil, err
	}
	defer func() { _ = servers.Close() }()
	c.Progress.Part("start the servers")
	s := &stage{ctx: ctx, rig: servers, report: r}
	lines, err := c.lines(s, beside)
	if err != nil {
		return nil, err
	}
	others := func(l line) bool { return !strings.Contains(l.what, c.Only) }
	lines = slices.DeleteFunc(lines, others)
	figures := slices.DeleteFunc(c.figures(s), func(f figure) bool { return others(f.line) })
	for _, l := range lines {
		c.Progress.Expect(time.Duration(2*c.rounds(l)) * (l.ours.length(c) + c.warm()))
	}
	table := report.Table{First: "what", Columns: []report.Column{{Name: "measured"}, {Name: "at least"}, {Name: "aim"}, {Name: "holds"}}}
	c.Progress.Part("measure")
	for _, l := range lines {
		cell, err := c.line(ctx, l)
		if err != nil && ctx.Err() == nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %v", l.what, err))
		}
		table.Rows = append(table.Rows, l.row(cell))
	}
	for _, f := range figures {
		if ctx.Err() != nil {
			break
		}
		c.Progress.Step(f.what)
		cell, err := f.measure(ctx)
		if err != nil && ctx.Err() == nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %v", f.what, err))
		}
		table.Rows = append(table.Rows, f.row(cell))
	}
	r.Sections = []report.Section{{Title: "Bounds", Table: table}}
	r.Interrupted = ctx.Err() != nil
	r.Took = time.Since(r.Began).Seconds()
	return r, nil
}

// line measures both sides in turns.
func (c Config) line(ctx context.Context, l line) (report.Cell, error) {
	var ours, others []float64
	for range c.rounds(l) {
		for _, side := range []struct {
			asked  asked
			values *[]float64
		}{{l.ours, &ours}, {l.other, &others}} {
			if side.asked.server == nil {
				continue
			}
			c.Progress.Step(l.what)
			s, err := side.asked.measure(ctx, c)
			c.Progress.Did(l.ours.length(c) + c.warm())
			if err != nil {
				return report.Cell{}, err
			}
			*side.values = append(*side.values, l.of(s))
		}
	}
	if l.other.server == nil {
		return report.Number(ours...), nil
	}
	return report.Ratio(ours, others), nil
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
func (c Config) lines(s *stage, beside string) (lines []line, err error) {
	nextid, err := s.rig.Nextid(s.ctx, c.Binary)
	if err != nil {
		return nil, err
	}
	s.report.Versions = append(s.report.Versions, nextid.Name)
	sockets, err := s.rig.NextidOnSockets(s.ctx, c.Binary) // of which one client may hold many
	if err != nil {
		return nil, err
	}
	bottom, err := s.rig.Floor(s.ctx, c.Floor)
	if err != nil {
		return nil, err
	}
	mysqlBottom, err := s.rig.FloorMySQL(s.ctx, c.Floor)
	if err != nil {
		return nil, err
	}
	if err := prepare(s.ctx, nextid.Server, makeSegments); err != nil {
		return nil, err
	}
	ask := func(conns, depth int, sql ...string) asked {
		return asked{url: nextid.URL, server: nextid.Server, sql: sql, conns: conns, depth: depth}
	}
	on := func(server *rig.Server, url string, a asked, sql ...string) asked {
		a.server, a.url = server, url
		if len(sql) > 0 {
			a.sql = sql
		}
		return a
	}
	prepared := func(a asked) asked { a.prepared = true; return a }
	apart := func(a asked) asked { a.apart = true; return a }
	at := func(rate float64, a asked) asked { a.rate = rate; return a }

	deep := prepared(ask(8, 16, nextID))
	lines = []line{
		{"prepared, 8 × 16 at a time: ids/s against the floor", deep, on(bottom, bottom.URL, deep), perSecond, true, 0.95, 0, 0},
		{"simple, 64 connections: CPU against the floor", ask(64, 1, nextID), on(bottom, bottom.URL, ask(64, 1, nextID)), cpu, false, 1.05, 1, 0},
		{"8 × 16 at a time, names that differ: CPU against equal texts", ask(8, 16, names...), ask(8, 16, nextID), cpu, false, 1.2, 1.1, 6},
		{"8 × 16 at a time, parse_id between: CPU against each text on a connection of its own", ask(8, 16, different...), apart(ask(8, 16, different...)), cpu, false, 1.2, 1.1, 6},
		{"8 × 16 at a time, parse_id between: CPU against next_id alone", ask(8, 16, different...), ask(8, 16, nextID), cpu, false, 0, 0, 0},
		{"8 × 16 at a time, parse_id alone: CPU against next_id alone", ask(8, 16, parseID), ask(8, 16, nextID), cpu, false, 0, 0, 0},
		{"20,000/s, 32 connections: p99 against the floor", at(20000, ask(32, 1, nextID)), on(bottom, bottom.URL, at(20000, ask(32, 1, nextID))), p99, false, 0, 0, 0},
	}
	for _, f := range []struct{ name, sql string }{
		{"currval", "SELECT currval('orders')"},
		{"next_range", "SELECT * FROM next_range('orders', 10)"},
		{"next_ids(10)", "SELECT * FROM next_ids('orders', 10)"},
		{"next_code", "SELECT next_code('codes')"},
		{"parse_id", parseID},
		{"id_time", "SELECT id_time(7123456789012345678)"},
		{"SELECT 1", "SELECT 1"},
	} {
		asks := ask(8, 1, f.sql)
		asks.first = nextID // currval needs one, and others do not mind
		lines = append(lines, line{f.name + ", 8 connections: CPU against next_id", asks, ask(8, 1, nextID), cpu, false, 1.6, 1.3, 0})
	}
	onMySQL := func(a asked) asked { return on(nextid.Server, nextid.MySQL, a) }
	mysqlFloor := func(a asked) asked { return on(mysqlBottom, mysqlBottom.URL, a) }
	lines = append(lines,
		line{"MySQL prepared, 8 connections: ids/s against its floor", onMySQL(prepared(ask(8, 1, nextID))), mysqlFloor(prepared(ask(8, 1, nextID))), perSecond, true, 0.9, 1, 0},
		line{"MySQL, 8 × 16 at a time: ids/s against its floor", onMySQL(ask(8, 16, nextID)), mysqlFloor(ask(8, 16, nextID)), perSecond, true, 0.9, 1, 0})
	if pg := s.start(s.rig.PostgreSQL); pg != nil {
		if err := prepare(s.ctx, pg, "CREATE SEQUENCE one CACHE 1"); err != nil {
			return nil, err
		}
		shared, err := c.onOneStore(s, pg)
		if err != nil {
			return nil, err
		}
		lines = append(lines, shared...)
		const nextval = "SELECT nextval('one')"
		crowd := ask(1000, 1, nextID)
		lines = append(lines,
			line{"prepared, 8 × 16 at a time: ids/s against PostgreSQL", deep, on(pg, pg.URL, deep, nextval), perSecond, true, 15, 18, 0},
			line{"20,000/s, 32 connections: p99 against PostgreSQL", at(20000, ask(32, 1, nextID)), at(20000, on(pg, pg.URL, ask(32, 1), nextval)), p99, false, 0.2, 0, 0},
			line{"20,000/s, 32 connections: p99 of the floor against PostgreSQL", at(20000, on(bottom, bottom.URL, ask(32, 1, nextID))), at(20000, on(pg, pg.URL, ask(32, 1), nextval)), p99, false, 0, 0, 0},
			line{"1,000 connections, Unix sockets: ids/s against PostgreSQL", on(sockets.Server, sockets.URL, crowd), on(pg, pg.Socket, crowd, nextval), perSecond, true, 8, 0, 0},
			line{"1,000 connections, Unix sockets: p99, ms", on(sockets.Server, sockets.URL, crowd), asked{}, func(s sample) float64 { return s.p99 / 1e3 }, false, 12, 0, 3},
			line{"1,000 connections, Unix sockets: p99 against the floor's over TCP", on(sockets.Server, sockets.URL, crowd), on(bottom, bottom.URL, crowd), p99, false, 0, 0, 0})
	}
	if redis := s.start(s.rig.Redis); redis != nil {
		lines = append(lines, line{
			"20,000/s, 32 connections: p99 against Redis", at(20000, ask(32, 1, nextID)),
			at(20000, on(redis, redis.URL, ask(32, 1), "INCR s")), p99, false, 1, 0, 0,
		})
	}
	if beside != "" {
		other, err := s.rig.Nextid(s.ctx, beside)
		if err != nil {
			return nil, err
		}
		s.report.Versions = append(s.report.Versions, "beside: "+other.Name)
		if err := prepare(s.ctx, other.Server, makeOrders); err != nil {
			return nil, err
		}
		for _, conns := range []int{1, 8, 32, 64} {
			a := ask(conns, 1, nextID)
			lines = append(lines, line{fmt.Sprintf("simple, %d connections: CPU against the build beside", conns), a, on(other.Server, other.URL, a), cpu, false, 0, 0, 0},
				line{fmt.Sprintf("simple, %d connections: ids/s against the build beside", conns), a, on(other.Server, other.URL, a), perSecond, true, 0, 0, 0})
		}
	}
	return lines, s.ctx.Err()
}

// makeSegments gives the names that are asked for the same engine: a snowflake costs
// more than a number of a segment, whatever the text.
const makeSegments = "SELECT create_generator(name, 'segment') FROM unnest(ARRAY[" +
	"'orders', 'customers', 'invoices', 'payments', 'events', 'users', 'shipments', 'codes']) name"

const parseID = "SELECT parse_id(7123456789012345678)"

// names are texts that ask for ids alone, and different some of them with a
// parse_id between.
var (
	names = []string{
		nextID, "SELECT next_id('customers')", "SELECT next_id('invoices') AS id", "SELECT nextval('orders')",
		"SELECT next_id('payments')", "SELECT next_id('events')", "SELECT next_id('users')", "SELECT next_id('shipments')",
	}
	different = append(slices.Clone(names[:7]), parseID)
)

// length is how long a measurement is. At a fixed rate it is longer: one stall of
// the machine must not be a hundredth of it.
func (a asked) length(c Config) time.Duration {
	if a.rate > 0 {
		return 4 * c.Length
	}
	return c.Length
}

// measure asks for one sample.
func (a asked) measure(ctx context.Context, how Config) (sample, error) {
	config := load.Config{Warm: how.warm(), Length: a.length(how), Rate: a.rate}
	defer func() {
		for _, client := range config.Clients {
			client.Close()
		}
	}()
	urls, servers := []string{a.url}, []*rig.Server{a.server}
	for _, other := range a.beside {
		urls, servers = append(urls, other.URL), append(servers, other)
	}
	if a.rate > 0 {
		together, err := rig.Apart(servers...)
		if err != nil {
			return sample{}, err
		}
		defer together()
	}
	for i := range a.conns * len(urls) {
		link, err := load.Dial(ctx, urls[i%len(urls)])
		if err != nil {
			return sample{}, err
		}
		config.Clients = append(config.Clients, load.Client{Links: []*load.Link{link}})
		if a.first != "" {
			if _, err := link.Exec(ctx, a.first); err != nil {
				return sample{}, err
			}
		}
		if a.prepared {
			if err := link.Prepare(ctx, a.sql[0]); err != nil {
				return sample{}, err
			}
		}
		config.Clients[i].Work = a.work(i, link)
	}
	var before, after rig.Usage
	config.Sample = func() { before, after = after, rig.UsageOf(servers...) }
	result, err := load.Run(ctx, config)
	if err != nil {
		return sample{}, err
	}
	micros := func(q float64) float64 { return float64(result.Latency.Quantile(q)) / 1e3 }
	return sample{
		perSecond: result.PerSecond() * float64(a.depth),
		cpu:       float64(after.Sub(before).CPU) / 1e3 / float64(result.Operations*a.depth),
		p50:       micros(0.5), p99: micros(0.99),
	}, nil
}

// work is what the i-th client does on its link.
func (a asked) work(i int, link *load.Link) load.Work {
	if len(a.args) > 0 {
		all := make(load.Pick, len(a.args))
		for i, value := range a.args {
			all[i] = load.AppendExecution(nil, value)
		}
		return all
	}
	if a.prepared {
		return &load.Repeat{Bytes: slices.Repeat(link.Execute(nil), a.depth), Answers: a.depth}
	}
	sql := a.sql
	if a.apart {
		sql = sql[i%len(sql):][:1]
	}
	var request []byte
	for i := range a.depth {
		request = link.Query(request, sql[i%len(sql)])
	}
	return &load.Repeat{Bytes: request, Answers: a.depth}
}
