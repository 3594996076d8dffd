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

// Config is one comparison.
type Config struct {
	Binary   string        // of nextid
	Floor    string        // the program whose command floor answers every query with the same bytes: nextid-bench
	Length   time.Duration // of one measurement
	Rounds   int           // measurements of each server in each setting
	Names    int           // how many names Floors has made by one statement
	Many     int           // how many names it asks for at random, beside one
	Idle     int           // how many connections it leaves idle
	Only     string        // a line of Floors, or a part of its name; "": all
	Progress *report.Progress
}

// contestant is a server and the statement that draws one number from it.
type contestant struct {
	name   string
	url    string
	sql    string
	server *rig.Server
}

// ours is the name of the contestant that others are compared with, and floor
// the name of the one that is no server of ids.
const (
	ours   = "nextid"
	floor  = "floor"
	cache1 = "PostgreSQL CACHE 1"
)

// setting is one way to ask.
type setting struct {
	prepared bool
	conns    int
	depth    int // queries sent in one piece
}

func (s setting) String() string {
	name := "simple"
	if s.prepared {
		name = "prepared"
	}
	if s.depth > 1 {
		name += fmt.Sprintf(", %d at a time", s.depth)
	}
	if s.conns == 1 {
		return name + ", 1 connection"
	}
	return fmt.Sprintf("%s, %d connections", name, s.conns)
}

// group is one comparison: all contestants in all settings.
type group struct {
	title       string
	text        string
	contestants []contestant
	settings    []setting
	samples     map[setting][][]sample // by contestant
}

// sample is one measurement.
type sample struct{ perSecond, cpu, p50, p99 float64 }

// warm is how long servers run before each measurement.
func (c Config) warm() time.Duration { return min(c.Length, 200*time.Millisecond) }

// Run measures. When ctx ends it returns what it has, as interrupted.
func Run(ctx context.Context, c Config) (*report.Report, error) {
	r := &report.Report{
		Title: "nextid-bench sql: the server alone",
		Intro: "Numbers a second, and what they cost, from servers that do nothing else: one light client in a closed loop, " +
			"all servers on this machine, in turns.",
		Began: time.Now(), Machine: report.ThisMachine(),
		Settings: []string{fmt.Sprintf("%s × %d rounds a measurement, medians; [least–greatest] of the rounds' ratios", c.Length, c.Rounds)},
	}
	servers, err := rig.New()
	if err != nil {
		return nil, err
	}
	defer func() { _ = servers.Close() }()
	c.Progress.Part("start the servers")
	groups, err := c.start(ctx, servers, r)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		c.Progress.Expect(time.Duration(len(g.contestants)*len(g.settings)*c.Rounds) * (c.Length + c.warm()))
	}
	for _, g := range groups {
		c.measure(ctx, g, r)
		r.Sections = append(r.Sections, g.sections()...)
		g.floors(r)
	}
	if own := groups[0].withPgbench(); own != nil {
		c.Progress.Expect(time.Duration(len(own.contestants)*len(pgbenchConns)*c.Rounds) * c.pgbenchTime())
		c.pgbench(ctx, own, r)
	}
	r.Interrupted = ctx.Err() != nil
	r.Took = time.Since(r.Began).Seconds()
	return r, nil
}

// measure fills in the samples of a group. What a server cannot do is noted,
// and the others go on.
func (c Config) measure(ctx context.Context, g *group, r *report.Report) {
	g.samples = map[setting][][]sample{}
	c.Progress.Part(g.title)
	for _, s := range g.settings {
		g.samples[s] = make([][]sample, len(g.contestants))
		failed := make([]bool, len(g.contestants))
		for round := range c.Rounds {
			for i := range g.contestants {
				k := (round + i) % len(g.contestants)
				if failed[k] || ctx.Err() != nil {
					continue
				}
				c.Progress.Step(fmt.Sprintf("%s: %s", s, g.contestants[k].name))
				m, err := g.contestants[k].measure(ctx, s, c)
				c.Progress.Did(c.Length + c.warm())
				if ctx.Err() != nil {
					continue
				}
				if err != nil {
					failed[k] = true
					r.Notes = append(r.Notes, fmt.Sprintf("%s, %s, %s: %v", g.title, s, g.contestants[k].name, err))
					continue
				}
				g.samples[s][k] = append(g.samples[s][k], m)
			}
		}
	}
}

func (c *contestant) measure(ctx context.Context, s setting, how Config) (sample, error) {
	return asked{url: c.url, server: c.server, sql: []string{c.sql}, prepared: s.prepared, conns: s.conns, depth: s.depth}.measure(ctx, how)
}

// column picks one measure out of samples.
func column(samples []sample, of func(sample) float64) []float64 {
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = of(s)
	}
	return v
}

func perSecond(s sample) float64 { return s.perSecond }
func cpu(s sample) float64       { return s.cpu }
func p99(s sample) float64       { return s.p99 }

// sections are the two tables of a group: throughput, and its cost.
func (g *group) sections() []report.Section {
	throughput := report.Section{Title: g.title, Text: g.text, Table: report.Table{First: "setting"}}
	cost := report.Section{
		Title: g.title + ": CPU and latency", Table: report.Table{First: "setting"},
		Text: "CPU time of the server's processes per number, and the 99th percentile of the time to an answer of a client that always asks.",
	}
	self := slices.IndexFunc(g.contestants, func(c contestant) bool { return c.name == ours })
	for _, c := range g.contestants {
		throughput.Table.Columns = append(throughput.Table.Columns, report.Column{Name: c.name + " /s", Better: "more"})
		cost.Table.Columns = append(cost.Table.Columns, report.Column{Name: c.name + " CPU µs", Better: "less"})
	}
	for k, c := range g.contestants {
		if k != self {
			throughput.Table.Columns = append(throughput.Table.Columns, report.Column{Name: "nextid : " + c.name, Better: "more"})
		}
		cost.Table.Columns = append(cost.Table.Columns, report.Column{Name: c.name + " p99 µs", Better: "less"})
	}
	for k, c := range g.contestants {
		if k != self {
			cost.Table.Columns = append(cost.Table.Columns, report.Column{Name: "CPU " + c.name + " : nextid", Better: "more"})
		}
	}
	rates := report.Chart{Title: g.title, Unit: "numbers a second", Better: "more"}
	cpus := report.Chart{Title: g.title + ": server CPU", Unit: "µs per number", Better: "less"}
	for _, s := range g.settings {
		samples := g.samples[s]
		fast, cheap := report.Row{Name: s.String()}, report.Row{Name: s.String()}
		rate, burnt := report.Panel{Title: s.String()}, report.Panel{Title: s.String()}
		for k, c := range g.contestants {
			fast.Cells = append(fast.Cells, report.Number(column(samples[k], perSecond)...))
			cheap.Cells = append(cheap.Cells, report.Number(column(samples[k], cpu)...))
			rate.Bars = append(rate.Bars, report.Bar{Name: c.name, Ours: k == self}.Median(column(samples[k], perSecond)))
			burnt.Bars = append(burnt.Bars, report.Bar{Name: c.name, Ours: k == self}.Median(column(samples[k], cpu)))
		}
		for k := range g.contestants {
			if k != self {
				fast.Cells = append(fast.Cells, report.Ratio(column(samples[self], perSecond), column(samples[k], perSecond)))
			}
			cheap.Cells = append(cheap.Cells, report.Number(column(samples[k], p99)...))
		}
		for k := range g.contestants {
			if k != self {
				cheap.Cells = append(cheap.Cells, report.Ratio(column(samples[k], cpu), column(samples[self], cpu)))
			}
		}
		throughput.Table.Rows = append(throughput.Table.Rows, fast)
		cost.Table.Rows = append(cost.Table.Rows, cheap)
		rates.Panels, cpus.Panels = append(rates.Panels, rate), append(cpus.Panels, burnt)
	}
	throughput.Charts, cost.Charts = []report.Chart{rates}, []report.Chart{cpus}
	return []report.Section{throughput, cost}
}

// floors doubts what passes the group's floor, where it has one.
func (g *group) floors(r *report.Report) {
	bottom := slices.IndexFunc(g.contestants, func(c contestant) bool { return c.name == floor })
	for _, s := range g.settings {
		for k, c := range g.contestants {
			if bottom >= 0 && k != bottom {
				r.Floor(g.title+", "+s.String(), c.name, column(g.samples[s][k], perSecond), column(g.samples[s][bottom], perSecond))
			}
		}
	}
}

// start starts the servers that are installed.
func (c Config) start(ctx context.Context, r *rig.Rig, rep *report.Report) ([]*group, error) {
	s := &stage{ctx: ctx, rig: r, report: rep}
	nextid, err := r.Nextid(ctx, c.Binary)
	if err != nil {
		return nil, err
	}
	onSockets, err := r.NextidOnSockets(ctx, c.Binary)
	if err != nil {
		return nil, err
	}
	bottom, err := r.Floor(ctx, c.Floor)
	if err != nil {
		return nil, err
	}
	mysqlBottom, err := r.FloorMySQL(ctx, c.Floor)
	if err != nil {
		return nil, err
	}
	rep.Versions = append(rep.Versions, nextid.Name)
	tcp := &group{
		title: "PostgreSQL's protocol over TCP",
		text:  "The floor answers with the same bytes whatever it is asked: the ceiling that system calls and TCP set.",
		contestants: []contestant{
			{floor, bottom.URL, nextID, bottom}, {ours, nextid.URL, nextID, nextid.Server},
		},
		settings: []setting{
			{false, 1, 1},
			{false, 8, 1},
			{false, 32, 1},
			{false, 64, 1},
			{true, 1, 1},
			{true, 8, 1},
			{true, 32, 1},
			{true, 64, 1},
			{false, 8, 16},
		},
	}
	pgSocket := &group{
		title: "PostgreSQL's protocol over a Unix socket", contestants: []contestant{{ours, onSockets.URL, nextID, onSockets.Server}},
		settings: []setting{{false, 1, 1}, {false, 8, 1}, {false, 32, 1}, {true, 8, 1}},
	}
	mysqlTCP := &group{
		title: "MySQL's protocol over TCP",
		contestants: []contestant{
			{floor, mysqlBottom.URL, nextID, mysqlBottom}, {ours, nextid.MySQL, nextID, nextid.Server},
		},
		settings: []setting{{false, 1, 1}, {false, 8, 1}, {false, 32, 1}, {true, 8, 1}, {false, 8, 16}},
	}
	mysqlSocket := &group{
		title: "MySQL's protocol over a Unix socket", contestants: []contestant{{ours, onSockets.MySQL, nextID, onSockets.Server}},
		settings: []setting{{false, 1, 1}, {false, 8, 1}, {false, 32, 1}, {true, 8, 1}},
	}
	inRedis := &group{
		title: "Beside Redis", contestants: []contestant{{ours, nextid.URL, nextID, nextid.Server}},
		text:     "The same client speaks PostgreSQL's protocol to nextid and Redis's to Redis, which keeps its numbers in memory.",
		settings: []setting{{false, 1, 1}, {false, 8, 1}, {false, 32, 1}, {false, 8, 16}},
	}
	if pg := s.start(r.PostgreSQL); pg != nil {
		if err := prepare(ctx, pg, "CREATE SEQUENCE one CACHE 1", "CREATE SEQUENCE thousand CACHE 1000"); err != nil {
			return nil, err
		}
		for _, sequence := range []struct{ name, sql string }{
			{cache1, "SELECT nextval('one')"}, {"PostgreSQL CACHE 1000", "SELECT nextval('thousand')"},
		} {
			tcp.contestants = append(tcp.contestants, contestant{sequence.name, pg.URL, sequence.sql, pg})
			pgSocket.contestants = append(pgSocket.contestants, contestant{sequence.name, pg.Socket, sequence.sql, pg})
		}
	}
	if maria := s.start(func(ctx context.Context) (*rig.Server, error) { return r.MariaDB(ctx) }); maria != nil {
		if err := prepare(ctx, maria, "CREATE SEQUENCE s CACHE 1000"); err != nil {
			return nil, err
		}
		const name, next = "MariaDB CACHE 1000", "SELECT NEXT VALUE FOR s"
		mysqlTCP.contestants = append(mysqlTCP.contestants, contestant{name, maria.URL, next, maria})
		mysqlSocket.contestants = append(mysqlSocket.contestants, contestant{name, maria.Socket, next, maria})
	}
	if redis := s.start(r.Redis); redis != nil {
		inRedis.contestants = append(inRedis.contestants, contestant{"Redis INCR", redis.URL, "INCR s", redis})
	}
	groups := []*group{tcp, pgSocket, mysqlTCP, mysqlSocket, inRedis}
	return slices.DeleteFunc(groups, func(g *group) bool { return g == inRedis && len(g.contestants) == 1 }), ctx.Err()
}

const (
	makeOrders = "SELECT create_generator('orders', 'segment')"
	nextID     = "SELECT next_id('orders')"
)

// stage starts servers and notes those that are missing.
type stage struct {
	ctx    context.Context
	rig    *rig.Rig
	report *report.Report
}

func (s *stage) start(f func(context.Context) (*rig.Server, error)) *rig.Server {
	server, err := f(s.ctx)
	if err != nil {
		s.report.Notes = append(s.report.Notes, firstLine(err))
		return nil
	}
	s.report.Versions = append(s.report.Versions, server.Name)
	return server
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// prepare runs statements on a server.
func prepare(ctx context.Context, s *rig.Server, statements ...string) error {
	link, err := load.Dial(ctx, s.URL)
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
