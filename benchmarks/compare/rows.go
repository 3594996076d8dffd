package compare

import (
	"slices"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
)

// figures hold the measurements of a contestant, one sample a round.
type figures struct {
	missing    error
	ids, rows  map[int][]float64 // a second, by number of clients
	cpu        []float64         // µs of all servers a row
	wire       float64           // bytes a row between the client and the servers
	late       []float64         // share of rows, in percent
	duplicates int
	latency    load.Latency
	reached    float64 // rows a second at the fixed rate
	growth     growth
	moving     load.Latency              // of a fed sequence whose blocks move
	network    map[time.Duration]float64 // rows a second, by the round trip
	outage     *outage                   // nil: not measured
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
func (s *stage) inserters(c *contestant, table string, n int, j *journal, f func(load.Clients)) {
	var first uint64
	s.with(c, n, func(links []*load.Link) load.Work {
		first += 1 << 40
		return &inserter{c: c, journal: j, table: table, links: links, rows: 1, n: first}
	}, func(clients load.Clients) {
		*j = journal{keep: j.keep, ids: j.ids[:0]}
		f(clients)
	})
}

// prefill sets how many rows each table has before it is measured, and how long
// writing them may take. While a table is small, InnoDB extends its file page
// by page and waits for the disk each time; that is not what is to be compared.
const (
	prefill      = 5000
	prefillLimit = time.Second
)

// prepare makes a contestant's table and writes its first rows.
func (r *run) prepare(c *contestant, _ *figures) {
	r.stage.create(c, c.table)
	growers := r.stage.growers(c, c.table)
	defer growers.Close()
	for i := range growers {
		begin := time.Now()
		for rows := 0; rows < prefill && time.Since(begin) < prefillLimit; rows += statementRows {
			r.stage.Must(load.Once(r.ctx, growers[i:][:1]))
		}
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

// inProcess returns the ids that one thread of the application makes a second.
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

// measureFloor measures the server that answers everything with the same bytes:
// the faster of the one with a thread and of the one with a thread a processor.
func (r *run) measureFloor(n int) {
	s, most := r.stage, 0.0
	work := func(_ int, link *load.Link) load.Work {
		return &load.Repeat{Bytes: link.Query(nil, snowflake(0).one), Answers: 1}
	}
	for _, floor := range s.floors {
		s.With(n, func(int) string { return floor.URL }, work, func(clients load.Clients) {
			most = max(most, s.run(clients, r.Plan.IDs, 0, nil).PerSecond())
		})
	}
	if most > 0 {
		r.floor[n] = append(r.floor[n], most)
	}
}

// measureRows measures rows as fast as the clients can.
func (r *run) measureRows(c *contestant, f *figures, n int) {
	j := &journal{keep: true}
	r.stage.inserters(c, c.table, n, j, func(clients load.Clients) {
		var before, after machine.Usage
		result := r.stage.run(clients, r.Plan.Rows, 0, func() { before, after = after, machine.UsageOf(r.stage.processes(c)...) })
		rows := float64(result.Operations)
		f.rows[n] = append(f.rows[n], result.PerSecond())
		f.duplicates += duplicates(j.ids)
		if n != detailed {
			return
		}
		f.cpu = append(f.cpu, float64(after.Sub(before).CPU)/1e3/rows)
		f.wire = float64(result.Sent+result.Received) / rows
		f.late = append(f.late, 100*float64(j.late)/float64(max(j.rows, 1)))
	})
}

// duplicates counts the ids that came more than once.
func duplicates(ids []load.ID) int {
	slices.SortFunc(ids, load.ID.Compare)
	return len(ids) - len(slices.Compact(ids))
}

// measureLatency measures rows at a fixed rate that is the same for all.
func (r *run) measureLatency(c *contestant, f *figures) {
	r.stage.inserters(c, c.table, r.Plan.LatencyClients, &journal{}, func(clients load.Clients) {
		result := r.stage.run(clients, r.Plan.Latency, r.Plan.Rate, nil)
		f.reached, f.latency = result.PerSecond(), result.Latency
	})
}

// roundTrips are those of a network between the client and all servers.
var roundTrips = []time.Duration{200 * time.Microsecond, time.Millisecond, 5 * time.Millisecond}

// overNetwork reports whether the client waits for all that a row needs: what a
// server asks another one does not pass the network that the client has.
func (c *contestant) overNetwork() bool { return c.foreign == notForeign && (!c.sharded || c.fed) }

// measureNetwork measures rows over a network.
func (r *run) measureNetwork(c *contestant, f *figures) {
	for _, rtt := range roundTrips {
		r.stage.inserters(c, c.table, detailed, &journal{}, func(clients load.Clients) {
			result := r.stage.Run(load.Config{Clients: clients, Warm: r.Plan.Rows / 5, Length: r.Plan.Rows, RTT: rtt})
			f.network[rtt] = result.PerSecond()
		})
	}
}
