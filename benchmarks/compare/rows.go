package compare

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// figures are what was measured of a contestant; one sample a round.
type figures struct {
	missing    error
	ids, rows  map[int][]float64 // a second, by number of clients
	cpu        []float64         // µs of all servers a row
	wire       float64           // bytes a row between the client and the servers
	behind     float64           // bytes a row between the table's server and nextid
	late       []float64         // share of rows, in percent
	duplicates int
	latency    atRate
	shared     []atRate           // latency at each of shares
	others     map[part][]float64 // processors that others used meanwhile, one sample a measurement
	growth     []growthPoint
}

// atRate is what was found at a fixed rate, in rows a second.
type atRate struct {
	rate, reached float64
	latency       load.Latency
}

// busy is how many processors others used while a part was measured.
func (f *figures) busy(of part) report.Cell {
	if len(f.others[of]) == 0 {
		return report.Cell{}
	}
	return report.Number(report.Median(f.others[of]))
}

// detailed is the number of clients at which a row's costs are looked at.
const detailed = 8

// with opens links for n clients, gives each its work, and calls f. One
// operation of each is done first, so that no statement is planned and no
// connection opened during the measurement.
func (s *stage) with(c *contestant, n int, work func(links []*load.Link) load.Work, f func(load.Clients)) {
	var clients load.Clients
	defer func() { clients.Close() }()
	for i := range n {
		links := s.links(c, i)
		clients = append(clients, load.Client{Links: links, Work: work(links)})
	}
	s.Must(load.Once(s.Ctx, clients))
	f(clients)
}

// run measures clients, for a while after a fifth of it.
func (s *stage) run(clients load.Clients, length time.Duration, rate float64, sample func()) load.Result {
	return s.Run(load.Config{Clients: clients, Warm: length / 5, Length: length, Rate: rate, Sample: sample})
}

// inserters calls f with n clients that write rows.
func (s *stage) inserters(c *contestant, n int, j *journal, f func(load.Clients)) {
	var first uint64
	s.with(c, n, func(links []*load.Link) load.Work {
		first += 1 << 40
		return &inserter{c: c, journal: j, table: c.table, links: links, n: first}
	}, func(clients load.Clients) {
		*j = journal{keep: j.keep, ids: j.ids[:0]}
		f(clients)
	})
}

// prefill is how many rows each table has before it is measured, and how long
// writing them may take. While a table is small, InnoDB extends its file page
// by page and waits for the disk each time; that is not what is to be compared.
const (
	prefill      = 5000
	prefillLimit = time.Second
)

// prepare makes a contestant's table and writes its first rows.
func (r *run) prepare(c *contestant, _ *figures) {
	r.stage.create(c, c.table)
	for i := range r.stage.tables(c) {
		g := r.stage.grower(c, c.table, i)
		for begin := time.Now(); g.rows < prefill && time.Since(begin) < prefillLimit; {
			g.insert()
		}
		g.close()
	}
}

// measureIDs measures ids without rows.
func (r *run) measureIDs(c *contestant, f *figures, n int) {
	if c.inApp != nil {
		f.ids[n] = append(f.ids[n], inProcess(c.inApp, r.Plan.IDs/10))
		return
	}
	if c.draw == "" && c.from == nil {
		return // ids come with rows only
	}
	r.stage.with(c, n, c.drawer, func(clients load.Clients) {
		result := r.stage.run(clients, r.Plan.IDs, 0, nil)
		f.ids[n] = append(f.ids[n], result.PerSecond()*float64(c.idsPerDraw()))
	})
}

// inProcess is how many ids a second one thread of the application makes.
func inProcess(draw func() load.ID, length time.Duration) float64 {
	n, begin := 0, time.Now()
	for time.Since(begin) < length {
		for range 100 {
			draw()
		}
		n += 100
	}
	return float64(n) / time.Since(begin).Seconds()
}

// repeat measures n clients of a server that send statements in one piece, over
// and over, in statements a second.
func (s *stage) repeat(n int, url string, statements []string, length time.Duration) (perSecond float64) {
	work := func(_ int, link *load.Link) load.Work {
		var request []byte
		for _, sql := range statements {
			request = link.Query(request, sql)
		}
		return &load.Repeat{Bytes: request, Answers: len(statements)}
	}
	s.With(n, func(int) string { return url }, work, func(clients load.Clients) {
		perSecond = s.run(clients, length, 0, nil).PerSecond() * float64(len(statements))
	})
	return perSecond
}

// measureFloor measures the server that answers everything with the same bytes.
func (r *run) measureFloor(n int) {
	if r.stage.floor != nil {
		r.floor[n] = append(r.floor[n], r.stage.repeat(n, r.stage.floor.URL, []string{snowflake(0).one}, r.Plan.IDs))
	}
}

// measureRows measures rows as fast as the clients can.
func (r *run) measureRows(c *contestant, f *figures, n int) {
	j := &journal{keep: true}
	r.stage.inserters(c, n, j, func(clients load.Clients) {
		var before, after machine.Usage
		result := r.stage.run(clients, r.Plan.Rows, 0, func() { before, after = after, machine.UsageOf(r.stage.processes(c)...) })
		rows := float64(result.Operations)
		f.rows[n] = append(f.rows[n], result.PerSecond())
		f.duplicates += duplicates(j.ids)
		if n != detailed {
			return
		}
		if r.stage.measurable(c) {
			f.cpu = append(f.cpu, float64(after.Sub(before).CPU)/1e3/rows)
		}
		f.wire = float64(result.Sent+result.Received) / rows
		f.late = append(f.late, 100*float64(j.late)/float64(max(j.rows, 1)))
	})
}

// duplicates counts the ids that came more than once.
func duplicates(ids []load.ID) int {
	slices.SortFunc(ids, load.ID.Compare)
	return len(ids) - len(slices.Compact(ids))
}

// atRate measures rows at a fixed rate.
func (s *stage) atRate(c *contestant, clients int, length time.Duration, rate float64) (a atRate) {
	s.inserters(c, clients, &journal{}, func(clients load.Clients) {
		result := s.run(clients, length, rate, nil)
		a = atRate{rate, result.PerSecond(), result.Latency}
	})
	return a
}

// measureLatency measures rows at a fixed rate that is the same for all.
func (r *run) measureLatency(c *contestant, f *figures) {
	f.latency = r.stage.atRate(c, r.Plan.LatencyClients, r.Plan.Latency, r.Plan.Rate)
}

// shares are parts of what a contestant can do at which its latency is
// measured: a server is rarely asked for all, and near that the queue is all
// that one sees.
var shares = []float64{0.5, 0.8}

// leastShareRows is how many rows a measurement at a share has, however slow the
// contestant was: fewer say nothing, and none may begin in a short time.
const leastShareRows = 10

// measureShare measures rows at a rate that is a share of what the contestant
// did with as many clients.
func (r *run) measureShare(c *contestant, f *figures, share float64) {
	clients := r.Plan.Clients[len(r.Plan.Clients)-1]
	rate := share * report.Median(f.rows[clients])
	length := max(r.Plan.Share, time.Duration(leastShareRows/rate*float64(time.Second)))
	f.shared = append(f.shared, r.stage.atRate(c, clients, length, rate))
}

// measureBehind counts the bytes between the table's server and nextid, by
// sending them through a relay.
func (r *run) measureBehind(c *contestant, f *figures) {
	s := *r.stage
	target := s.behind(c.foreign)
	relay, through := relayTo(&s, target)
	s.pointForeign(c.foreign, through)
	defer func() {
		s.Ctx = context.WithoutCancel(s.Ctx)
		if err := s.Do(func(testing.TB) { s.pointForeign(c.foreign, target) }); err != nil {
			r.once("%s: %v", c.name, err)
		}
	}()
	s.inserters(c, 1, &journal{}, func(clients load.Clients) {
		rows, before := 0, relay.Both()
		for ; rows < 2*batch/10; rows++ {
			s.Must(load.Once(s.Ctx, clients))
		}
		if f.behind = float64(relay.Both()-before) / float64(rows); f.behind > 0 {
			return
		}
		// A batch serves many rows: what one row costs is a share of a batch.
		for ; relay.Both() == before && rows < 3*batch; rows++ {
			s.Must(load.Once(s.Ctx, clients))
		}
		f.behind = float64(relay.Both()-before) / batch
	})
}

// A pipeline is statements that a client sends in one piece.
const (
	pipelineDepth   = 16
	pipelineClients = 8
)

// pipelined is what a server did with pipelines, a sample a round.
type pipelined struct {
	name          string
	ours          bool
	server        *dbtest.Server
	sql           string // one %d makes texts that differ
	equal, differ []float64
	others        []float64
}

// measurePipelines asks servers for ids alone, in turns.
func (r *run) measurePipelines() {
	s := r.stage
	all := []*pipelined{
		{name: "next_id snowflake", ours: true, server: s.nextid, sql: "SELECT next_id('orders') AS id%d"},
		{name: "next_id segment", ours: true, server: s.nextid, sql: "SELECT next_id('tickets') AS id%d"},
	}
	if pg := s.servers[postgres]; len(pg) > 0 {
		s.Exec(pg[0].URL, "CREATE SEQUENCE pipelines CACHE 1")
		all = append(all, &pipelined{name: "sequence CACHE 1, PostgreSQL", server: pg[0], sql: "SELECT nextval('pipelines') AS id%d"})
	}
	if s.redis != nil {
		all = append(all, &pipelined{name: "Redis INCR", server: s.redis, sql: "INCRBY " + Schema + " %d"})
	}
	if s.floor != nil {
		all = append(all, &pipelined{name: "floor", server: s.floor, sql: "SELECT next_id('orders') AS id%d"})
	}
	r.pipelined = all
	for range r.Plan.Rounds {
		for _, p := range all {
			r.Progress.Step(p.name)
			idle := machine.BusyNow()
			for samples, texts := range map[*[]float64]int{&p.equal: 1, &p.differ: pipelineDepth} {
				var statements []string
				for i := range pipelineDepth {
					statements = append(statements, fmt.Sprintf(p.sql, 1+i%texts))
				}
				*samples = append(*samples, s.repeat(pipelineClients, p.server.URL, statements, r.Plan.IDs))
			}
			if s.own {
				p.others = append(p.others, machine.BusyNow().Others(idle))
			}
		}
	}
}
