// Package wire implements nextid-bench sql. It compares servers that draw numbers:
// nextid's next_id, PostgreSQL's nextval, MariaDB's NEXT VALUE FOR and Redis's INCR.
// It uses both SQL protocols, TCP and Unix sockets, and simple, prepared and
// pipelined queries.
//
// A group is one comparison: its contestants are measured in each of its settings.
// The client (package load) measures them in turns, A B C, B C A, …, so that a drift
// of the machine's speed does not favour one. Ratios are computed round by round.
// Ratios within a run are comparable; absolute numbers of two runs are not.
//
// Run makes these comparisons. Floors checks the bounds of nextid's speed, one line
// each. Floor is a server that answers every query with the same bytes. Its speed is
// the limit that system calls and TCP set.
package wire

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config configures Run and Floors.
type Config struct {
	load.Setup
	Length time.Duration // of one measurement
	Rounds int           // measurements of each server in each setting
	Names  int           // Floors: names that one statement makes
	Many   int           // Floors: names from which it draws at random
	Idle   int           // Floors: idle connections
	Crowd  int           // Floors: the most connections that ask
	Only   string        // Floors: part of the names of the lines to measure; "": all
	Beside string        // Floors: another build of nextid; "": none
}

// run is the state of Run or Floors.
type run struct {
	*load.Stage
	cfg Config
}

// settings returns the line of a report about the measurements.
func (c Config) settings() string {
	return fmt.Sprintf("%s × %d rounds a measurement, medians; [least–greatest] of the rounds' ratios", c.Length, c.Rounds)
}

// The generator of the measurements.
const (
	makeOrders = "SELECT create_generator('orders', 'segment')"
	nextID     = "SELECT next_id('orders')"
)

// figure is a result of a measurement.
type figure int

const (
	cpu       figure = iota // of the servers, in µs per number
	p99                     // 99th percentile of the latency, in µs
	p99Millis               // the same in ms
	perSecond               // numbers
	figures
)

// sample holds the figures of one measurement, series those of several.
type (
	sample [figures]float64
	series [figures][]float64
)

func (s *series) add(one sample) {
	for f, value := range one {
		s[f] = append(s[f], value)
	}
}

// setting is one way to send queries.
type setting struct {
	prepared bool
	conns    int // connections to each server
	depth    int // pipelined queries of one request
}

func (s setting) String() string {
	name := map[bool]string{true: "prepared", false: "simple"}[s.prepared]
	if s.depth > 1 {
		name += fmt.Sprintf(", %d at a time", s.depth)
	}
	if s.conns == 1 {
		return name + ", 1 connection"
	}
	return fmt.Sprintf("%s, %d connections", name, s.conns)
}

// Settings of the groups.
var (
	few      = []setting{{false, 1, 1}, {false, 8, 1}, {false, 32, 1}}
	deep     = setting{false, 8, 16}
	prepared = setting{true, 8, 1}
)

// asked describes the queries of one measurement.
type asked struct {
	setting
	server *dbtest.Server
	url    string
	beside []*dbtest.Server // further servers, with as many connections each and the same queries
	first  string           // statement that each connection runs once before; "": none
	sql    []string         // statements, used in turns; a prepared one is alone
	args   []string         // values of its parameter, chosen at random
	apart  bool             // each connection sends only one of sql
	rate   float64          // requests per second, by a client with processors of its own; 0: a closed loop
}

// warm is the time of load before each measurement. In that time PostgreSQL's
// processes of the previous measurement end. If they ended later, their CPU time
// would be missing. A measurement that is too short for exact figures takes less.
const warm = 200 * time.Millisecond

// measure measures one sample. At a fixed rate it takes four times as long, so that
// one stall of the machine affects less than a hundredth of the requests.
func (r *run) measure(a asked) sample {
	urls, servers, length := []string{a.url}, []*dbtest.Server{a.server}, r.cfg.Length
	for _, other := range a.beside {
		urls, servers = append(urls, other.URL), append(servers, other)
	}
	if a.rate > 0 {
		length *= 4
		together, err := load.Apart(servers...)
		r.Must(err)
		defer together()
	}
	var work load.Work
	open := func(i int, c *load.Client) {
		link := r.Dial(c, urls[i%len(urls)])
		if a.first != "" {
			_, err := link.Exec(r.Ctx, a.first)
			r.Must(err)
		}
		if a.prepared {
			r.Must(link.Prepare(r.Ctx, a.sql[0]))
		}
		if i == 0 || len(a.args) == 0 { // all links share the requests with arguments, which are many
			work = a.work(i, link)
		}
		c.Work = work
	}
	result := r.Run(a.conns*len(urls), open, load.Config{Warm: min(warm, 2*length), Length: length, Rate: a.rate, Servers: servers})
	slow := float64(result.Latency.Quantile(0.99))
	return sample{
		perSecond: result.PerSecond() * float64(a.depth), cpu: result.Micros() / float64(a.depth),
		p99: slow / 1e3, p99Millis: slow / 1e6,
	}
}

// work returns the Work of the i-th client on its link.
func (a asked) work(i int, link *load.Link) load.Work {
	if len(a.args) > 0 {
		all := make(load.Repeat, len(a.args))
		for i, value := range a.args {
			all[i] = load.Step{Bytes: link.Execute(nil, value), Answers: 1}
		}
		return all
	}
	if a.prepared {
		return load.Repeat{{Bytes: slices.Repeat(link.Execute(nil), a.depth), Answers: a.depth}}
	}
	sql := a.sql
	if a.apart {
		sql = sql[i%len(sql):][:1]
	}
	var request []byte
	for i := range a.depth {
		request = link.Query(request, sql[i%len(sql)])
	}
	return load.Repeat{{Bytes: request, Answers: a.depth}}
}

// contestant is a server and the statement that draws one number from it.
type contestant struct {
	name string
	asked
}

// Names of contestants. The others are compared with ours.
const (
	ours   = "nextid"
	floor  = "floor"
	cache1 = "PostgreSQL CACHE 1"
)

// group is one comparison: all contestants in all settings.
type group struct {
	title       string
	text        string
	settings    []setting
	contestants []contestant
	samples     map[setting][]series // by contestant
}

func (g *group) add(name string, server *dbtest.Server, url, sql string) {
	g.contestants = append(g.contestants, contestant{name: name, asked: asked{server: server, url: url, sql: []string{sql}}})
}

// Run compares the installed servers. When ctx ends, it returns an incomplete
// report.
func Run(ctx context.Context, c Config) (*report.Report, error) {
	return c.Measure(ctx, &report.Report{
		Title: "nextid-bench sql: the server alone",
		Intro: "Numbers a second, and what they cost, from servers that do nothing else: one light client in a closed loop, " +
			"all servers on this machine, in turns.",
		Settings: []string{c.settings()},
	}, func(s *load.Stage) {
		r := &run{s, c}
		for _, g := range r.groups() {
			r.measureGroup(g)
			r.Report.Sections = append(r.Report.Sections, g.sections(r.Report)...)
		}
	})
}

// groups starts the installed servers, and returns the comparisons.
func (r *run) groups() []*group {
	nextid := r.Open(r.Server().Start, makeOrders)
	sockets := r.Open(dbtest.Nextid{Binary: r.Nextid, Sockets: true}.Start, makeOrders)
	tcp := &group{
		title: "PostgreSQL's protocol over TCP",
		text:  "The floor answers with the same bytes whatever it is asked, with one thread that polls: the ceiling that system calls and TCP set.",
		settings: append(slices.Clone(few), setting{false, 64, 1},
			setting{true, 1, 1}, prepared, setting{true, 32, 1}, setting{true, 64, 1}, deep),
	}
	pgSocket := &group{title: "PostgreSQL's protocol over a Unix socket", settings: append(slices.Clone(few), prepared)}
	mysqlTCP := &group{title: "MySQL's protocol over TCP", settings: append(slices.Clone(few), prepared, deep)}
	mysqlSocket := &group{title: "MySQL's protocol over a Unix socket", settings: append(slices.Clone(few), prepared)}
	for g, mysql := range map[*group]bool{tcp: false, mysqlTCP: true} {
		bottom := r.Floor(mysql)
		g.add(floor, bottom, bottom.URL, nextID)
	}
	tcp.add(ours, nextid, nextid.URL, nextID)
	pgSocket.add(ours, sockets, sockets.URL, nextID)
	mysqlTCP.add(ours, nextid, nextid.MySQL, nextID)
	mysqlSocket.add(ours, sockets, sockets.MySQL, nextID)
	groups := []*group{tcp, pgSocket, mysqlTCP, mysqlSocket}
	if pg := r.Begin(dbtest.AsPostgres, "CREATE SEQUENCE one CACHE 1", "CREATE SEQUENCE thousand CACHE 1000"); pg != nil {
		for g, url := range map[*group]string{tcp: pg.URL, pgSocket: pg.SocketURL} {
			g.add(cache1, pg, url, "SELECT nextval('one')")
			g.add("PostgreSQL CACHE 1000", pg, url, "SELECT nextval('thousand')")
		}
	}
	if maria := r.Begin(dbtest.AsMariaDB, "CREATE SEQUENCE s CACHE 1000"); maria != nil {
		for g, url := range map[*group]string{mysqlTCP: maria.URL, mysqlSocket: maria.SocketURL} {
			g.add("MariaDB CACHE 1000", maria, url, "SELECT NEXT VALUE FOR s")
		}
	}
	if redis := r.Begin(dbtest.AsRedis); redis != nil {
		beside := &group{
			title:    "Beside Redis",
			text:     "The same client speaks PostgreSQL's protocol to nextid and Redis's to Redis, which keeps its numbers in memory.",
			settings: append(slices.Clone(few), deep),
		}
		beside.add(ours, nextid, nextid.URL, nextID)
		beside.add("Redis INCR", redis, redis.URL, "INCR s")
		groups = append(groups, beside)
	}
	r.Must(r.Ctx.Err())
	return groups
}

// measureGroup measures the samples of a group, in rounds A B C, B C A, … If a
// contestant fails, it notes that and leaves the contestant out of later rounds.
func (r *run) measureGroup(g *group) {
	g.samples = map[setting][]series{}
	r.Progress.Print(g.title)
	for _, s := range g.settings {
		samples, failed := make([]series, len(g.contestants)), make([]bool, len(g.contestants))
		for round := range r.cfg.Rounds {
			for i := range g.contestants {
				k := (round + i) % len(g.contestants)
				if failed[k] || r.Ctx.Err() != nil {
					continue
				}
				c := g.contestants[k]
				c.setting = s
				failed[k] = nil != r.Try(g.title+", "+s.String()+", "+c.name, func() { samples[k].add(r.measure(c.asked)) })
			}
		}
		g.samples[s] = samples
	}
}

// floors returns the floor's numbers per second, nil in a group without a floor.
func (g *group) floors(s setting) []float64 {
	if g.contestants[0].name != floor {
		return nil
	}
	return g.samples[s][0][perSecond]
}

// ratio returns the ratio of a figure of two contestants.
func (g *group) ratio(s setting, a, b int, f figure) report.Cell {
	of := g.samples[s]
	if report.Passes(of[a][perSecond], g.floors(s)) || report.Passes(of[b][perSecond], g.floors(s)) {
		return report.Text("passes the floor")
	}
	return report.Ratio(of[a][f], of[b][f])
}

// sections returns the two sections of a group: throughput, and CPU with latency. It
// adds doubts to the report about figures that exceed the floor's.
func (g *group) sections(r *report.Report) []report.Section {
	self := slices.IndexFunc(g.contestants, func(c contestant) bool { return c.name == ours })
	type column = report.Of[setting]
	number := func(name string, k int, f figure) column {
		return column{Name: name, Cell: func(s setting) report.Cell { return report.Number(g.samples[s][k][f]...) }}
	}
	var rates, ratios, cpus, slow, cpuRatios []column
	for k, c := range g.contestants {
		rates = append(rates, number(c.name+" /s", k, perSecond))
		cpus, slow = append(cpus, number(c.name+" CPU µs", k, cpu)), append(slow, number(c.name+" p99 µs", k, p99))
		if k != self {
			ratios = append(ratios, column{Name: "nextid : " + c.name, Cell: func(s setting) report.Cell { return g.ratio(s, self, k, perSecond) }})
			cpuRatios = append(cpuRatios, column{Name: "CPU " + c.name + " : nextid", Cell: func(s setting) report.Cell { return g.ratio(s, k, self, cpu) }})
		}
	}
	row := func(s setting) report.Row { return report.Row{Name: s.String()} }
	speed := report.Section{
		Title: g.title, Text: g.text, Table: report.TableOf("setting", g.settings, row, append(rates, ratios...)...),
		Charts: []report.Chart{{Title: g.title, Unit: "numbers a second", Better: "more"}},
	}
	cost := report.Section{
		Title:  g.title + ": CPU and latency",
		Text:   "CPU time of the server's processes per number, and the 99th percentile of the time to an answer of a client that always asks.",
		Table:  report.TableOf("setting", g.settings, row, slices.Concat(cpus, slow, cpuRatios)...),
		Charts: []report.Chart{{Title: g.title + ": server CPU", Unit: "µs per number", Better: "less"}},
	}
	for _, s := range g.settings {
		panels := [2]report.Panel{{Title: s.String()}, {Title: s.String()}}
		for k, c := range g.contestants {
			of := g.samples[s][k]
			if !r.Doubt(g.title+", "+s.String(), c.name, of[perSecond], g.floors(s)) {
				bar := report.Bar{Name: c.name, Ours: k == self}
				panels[0].Bars, panels[1].Bars = append(panels[0].Bars, bar.Median(of[perSecond])), append(panels[1].Bars, bar.Median(of[cpu]))
			}
		}
		speed.Charts[0].Panels, cost.Charts[0].Panels = append(speed.Charts[0].Panels, panels[0]), append(cost.Charts[0].Panels, panels[1])
	}
	return []report.Section{speed, cost}
}
