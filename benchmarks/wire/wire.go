package wire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config configures Run and Floors.
type Config struct {
	Binary   string        // of nextid
	Floor    string        // nextid-bench, whose command floor runs Floor
	Length   time.Duration // of one measurement
	Rounds   int           // measurements of each server in each setting
	Names    int           // Floors: names that one statement makes
	Many     int           // Floors: names from which it draws at random
	Idle     int           // Floors: idle connections
	Only     string        // Floors: part of the names of the lines to measure; "": all
	Progress *report.Progress
}

// warm returns the time of load before each measurement. In that time PostgreSQL's
// processes of the previous measurement end. If they ended later, their CPU time
// would be missing.
func (Config) warm() time.Duration { return 200 * time.Millisecond }

// contestant is a server and the statement that draws one number from it.
type contestant struct {
	name   string
	url    string
	sql    string
	server *dbtest.Server
	single *dbtest.Server // the floor with one thread; nil for other contestants
}

// Names of contestants. The others are compared with ours.
const (
	ours   = "nextid"
	floor  = "floor"
	cache1 = "PostgreSQL CACHE 1"
)

// The generator of the measurements.
const (
	makeOrders = "SELECT create_generator('orders', 'segment')"
	nextID     = "SELECT next_id('orders')"
)

// setting is one way to send queries.
type setting struct {
	prepared bool
	conns    int
	depth    int // pipelined queries of one request
}

// simple returns settings of simple queries, with numbers of connections.
func simple(conns ...int) (all []setting) {
	for _, n := range conns {
		all = append(all, setting{conns: n, depth: 1})
	}
	return all
}

// prepared returns settings of prepared queries, with numbers of connections.
func prepared(conns ...int) (all []setting) {
	for _, n := range conns {
		all = append(all, setting{prepared: true, conns: n, depth: 1})
	}
	return all
}

// deep pipelines 16 queries.
var deep = []setting{{conns: 8, depth: 16}}

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

// sample is one measurement; cpu, p50 and p99 are in µs.
type sample struct{ perSecond, cpu, p50, p99 float64 }

func perSecond(s sample) float64 { return s.perSecond }
func cpu(s sample) float64       { return s.cpu }
func p99(s sample) float64       { return s.p99 }

// run is the state of Run or Floors.
type run struct {
	load.Stage
	Config
	report *report.Report
}

// during calls f with a new rig, and completes the report. After an error in f, the
// report is returned only if it was interrupted and has sections.
func (c Config) during(ctx context.Context, r *report.Report, f func(*run)) (*report.Report, error) {
	rig := dbtest.NewRig()
	defer func() { _ = rig.Close() }()
	r.Began, r.Machine = time.Now(), report.ThisMachine()
	c.Progress.Part("start the servers")
	err := rig.Do(func(testing.TB) { f(&run{load.Stage{Rig: rig, Ctx: ctx, Nextid: c.Binary}, c, r}) })
	r.Interrupted = ctx.Err() != nil
	r.Took = time.Since(r.Began).Seconds()
	if err != nil && (!r.Interrupted || len(r.Sections) == 0) {
		return nil, err
	}
	return r, nil
}

// note adds an error to the report's notes, unless the run was interrupted.
func (r *run) note(err error) {
	if err != nil && r.Ctx.Err() == nil {
		r.report.Notes = append(r.report.Notes, err.Error())
	}
}

// try calls measure. It notes an error and returns false if that fails.
func (r *run) try(what string, measure func()) bool {
	err := r.Do(func(testing.TB) { measure() })
	if err != nil {
		r.note(fmt.Errorf("%s: %w", what, err))
	}
	return err == nil
}

// begin starts a server and runs statements on it. If its program is missing, begin
// notes that and returns nil.
func (r *run) begin(kind dbtest.Kind, statements ...string) *dbtest.Server {
	server, err := r.Start(kind)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		r.report.Notes = append(r.report.Notes, line)
		return nil
	}
	r.report.Versions = append(r.report.Versions, server.Name)
	r.Exec(server.URL, statements...)
	return server
}

// nextid returns the configuration of the measured server.
func (r *run) nextid(args ...string) dbtest.Nextid {
	return dbtest.Nextid{Binary: r.Binary, Args: args}
}

// Run compares the installed servers. When ctx ends, it returns an incomplete
// report.
func Run(ctx context.Context, c Config) (*report.Report, error) {
	return c.during(ctx, &report.Report{
		Title: "nextid-bench sql: the server alone",
		Intro: "Numbers a second, and what they cost, from servers that do nothing else: one light client in a closed loop, " +
			"all servers on this machine, in turns.",
		Settings: []string{fmt.Sprintf("%s × %d rounds a measurement, medians; [least–greatest] of the rounds' ratios", c.Length, c.Rounds)},
	}, func(r *run) {
		for _, g := range r.groups() {
			r.measure(g)
			r.report.Sections = append(r.report.Sections, g.sections()...)
			g.doubt(r.report)
		}
	})
}

// groups starts the installed servers, and returns the comparisons.
func (r *run) groups() []*group {
	nextid := r.begin(r.nextid().Start, makeOrders)
	sockets := dbtest.Nextid{Binary: r.Binary, Sockets: true}.Start(r)
	r.Exec(sockets.URL, makeOrders)
	bottom := func(mysql bool) contestant {
		most, single := dbtest.AsFloor(r.Floor, mysql, 0)(r), dbtest.AsFloor(r.Floor, mysql, 1)(r)
		return contestant{floor, most.URL, nextID, most, single}
	}
	tcp := &group{
		title: "PostgreSQL's protocol over TCP",
		text: "The floor answers with the same bytes whatever it is asked, with one thread that polls or with as many as there are processors, the faster of them in " +
			"each round: the ceiling that system calls and TCP set.",
		contestants: []contestant{bottom(false), {ours, nextid.URL, nextID, nextid, nil}},
		settings:    slices.Concat(simple(1, 8, 32, 64), prepared(1, 8, 32, 64), deep),
	}
	pgSocket := &group{
		title: "PostgreSQL's protocol over a Unix socket", contestants: []contestant{{ours, sockets.URL, nextID, sockets, nil}},
		settings: slices.Concat(simple(1, 8, 32), prepared(8)),
	}
	mysqlTCP := &group{
		title:       "MySQL's protocol over TCP",
		contestants: []contestant{bottom(true), {ours, nextid.MySQL, nextID, nextid, nil}},
		settings:    slices.Concat(simple(1, 8, 32), prepared(8), deep),
	}
	mysqlSocket := &group{
		title: "MySQL's protocol over a Unix socket", contestants: []contestant{{ours, sockets.MySQL, nextID, sockets, nil}},
		settings: slices.Concat(simple(1, 8, 32), prepared(8)),
	}
	groups := []*group{tcp, pgSocket, mysqlTCP, mysqlSocket}
	if pg := r.begin(dbtest.AsPostgres, "CREATE SEQUENCE one CACHE 1", "CREATE SEQUENCE thousand CACHE 1000"); pg != nil {
		for _, c := range []contestant{{name: cache1, sql: "SELECT nextval('one')", server: pg}, {name: "PostgreSQL CACHE 1000", sql: "SELECT nextval('thousand')", server: pg}} {
			c.url = pg.URL
			tcp.contestants = append(tcp.contestants, c)
			c.url = pg.SocketURL
			pgSocket.contestants = append(pgSocket.contestants, c)
		}
	}
	if maria := r.begin(dbtest.AsMariaDB, "CREATE SEQUENCE s CACHE 1000"); maria != nil {
		const name, next = "MariaDB CACHE 1000", "SELECT NEXT VALUE FOR s"
		mysqlTCP.contestants = append(mysqlTCP.contestants, contestant{name, maria.URL, next, maria, nil})
		mysqlSocket.contestants = append(mysqlSocket.contestants, contestant{name, maria.SocketURL, next, maria, nil})
	}
	if redis := r.begin(dbtest.AsRedis); redis != nil {
		groups = append(groups, &group{
			title: "Beside Redis", contestants: []contestant{{ours, nextid.URL, nextID, nextid, nil}, {"Redis INCR", redis.URL, "INCR s", redis, nil}},
			text:     "The same client speaks PostgreSQL's protocol to nextid and Redis's to Redis, which keeps its numbers in memory.",
			settings: slices.Concat(simple(1, 8, 32), deep),
		})
	}
	r.Must(r.Ctx.Err())
	return groups
}

// measure measures the samples of a group, in rounds A B C, B C A, … If a contestant
// fails, measure notes that and leaves the contestant out of later rounds.
func (r *run) measure(g *group) {
	g.samples = map[setting][][]sample{}
	r.Progress.Part(g.title)
	for _, s := range g.settings {
		samples, failed := make([][]sample, len(g.contestants)), make([]bool, len(g.contestants))
		for round := range r.Rounds {
			for i := range g.contestants {
				k := (round + i) % len(g.contestants)
				if failed[k] || r.Ctx.Err() != nil {
					continue
				}
				c := g.contestants[k]
				asks := asked{url: c.url, server: c.server, sql: []string{c.sql}, prepared: s.prepared, conns: s.conns, depth: s.depth}
				failed[k] = !r.try(g.title+", "+s.String()+", "+c.name, func() {
					figure := asks.measure(r)
					if c.single != nil {
						asks.url, asks.server = c.single.URL, c.single
						figure = slices.MaxFunc([]sample{figure, asks.measure(r)}, func(a, b sample) int { return cmp.Compare(a.perSecond, b.perSecond) })
					}
					samples[k] = append(samples[k], figure)
				})
			}
		}
		g.samples[s] = samples
	}
}

// column returns one value of each sample.
func column(samples []sample, of func(sample) float64) []float64 {
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = of(s)
	}
	return v
}

// sections returns the two sections of a group: throughput, and CPU with latency.
func (g *group) sections() []report.Section {
	self := slices.IndexFunc(g.contestants, func(c contestant) bool { return c.name == ours })
	// part describes columns of a table: either one for each contestant (unit), or
	// one for each contestant's ratio to ours (ratio).
	type part struct {
		unit, ratio string // column names, in which %s is the contestant; one is ""
		of          func(sample) float64
		ours        bool // the ratio is ours : other's, not other's : ours
	}
	section := func(title, text string, drawn report.Chart, parts ...part) report.Section {
		s := report.Section{Title: title, Text: text, Table: report.Table{First: "setting"}}
		for _, setting := range g.settings {
			s.Table.Rows = append(s.Table.Rows, report.Row{Name: setting.String()})
			drawn.Panels = append(drawn.Panels, report.Panel{Title: setting.String()})
		}
		for i, p := range parts {
			for k, c := range g.contestants {
				if p.unit != "" {
					s.Table.Columns = append(s.Table.Columns, report.Column{Name: fmt.Sprintf(p.unit, c.name)})
				} else if k != self {
					s.Table.Columns = append(s.Table.Columns, report.Column{Name: fmt.Sprintf(p.ratio, c.name)})
				}
				for n, setting := range g.settings {
					values, own := column(g.samples[setting][k], p.of), column(g.samples[setting][self], p.of)
					doubtful := g.passes(setting, k)
					row := &s.Table.Rows[n]
					switch {
					case p.unit != "":
						row.Cells = append(row.Cells, report.Number(values...))
					case k == self:
					case doubtful || g.passes(setting, self):
						row.Cells = append(row.Cells, report.Text("passes the floor"))
					case p.ours:
						row.Cells = append(row.Cells, report.Ratio(own, values))
					default:
						row.Cells = append(row.Cells, report.Ratio(values, own))
					}
					if i == 0 && !doubtful {
						drawn.Panels[n].Bars = append(drawn.Panels[n].Bars, report.Bar{Name: c.name, Ours: k == self}.Median(values))
					}
				}
			}
		}
		s.Charts = []report.Chart{drawn}
		return s
	}
	return []report.Section{
		section(g.title, g.text, report.Chart{Title: g.title, Unit: "numbers a second", Better: "more"},
			part{unit: "%s /s", of: perSecond}, part{ratio: "nextid : %s", of: perSecond, ours: true}),
		section(g.title+": CPU and latency",
			"CPU time of the server's processes per number, and the 99th percentile of the time to an answer of a client that always asks.",
			report.Chart{Title: g.title + ": server CPU", Unit: "µs per number", Better: "less"},
			part{unit: "%s CPU µs", of: cpu}, part{unit: "%s p99 µs", of: p99}, part{ratio: "CPU %s : nextid", of: cpu}),
	}
}

// floor returns the floor's samples of a setting, nil in a group without one.
func (g *group) floor(s setting) []float64 {
	bottom := slices.IndexFunc(g.contestants, func(c contestant) bool { return c.name == floor })
	if bottom < 0 {
		return nil
	}
	return column(g.samples[s][bottom], perSecond)
}

// passes reports whether a contestant's figure exceeds the floor's.
func (g *group) passes(s setting, k int) bool {
	return report.Passes(column(g.samples[s][k], perSecond), g.floor(s))
}

// doubt adds doubts to the report about figures that exceed the floor's.
func (g *group) doubt(r *report.Report) {
	for _, s := range g.settings {
		for k, c := range g.contestants {
			r.Doubt(g.title+", "+s.String(), c.name, column(g.samples[s][k], perSecond), g.floor(s))
		}
	}
}
