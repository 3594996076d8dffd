package compare

import (
	"slices"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
)

// figures holds the measurements of a contestant. Slices have one sample per round.
type figures struct {
	missing    error             // why the contestant is not measured any more
	ids, rows  map[int][]float64 // per second, by number of clients
	cpu        []float64         // µs of all servers per row
	wire       float64           // bytes per row between the client and the servers
	late       []float64         // percentage of rows with an id out of order, see journal
	duplicates int
	latency    load.Latency
	reached    float64 // rows per second in the measurement of latency
	growth     growth
	moving     load.Latency              // while the blocks of a fed sequence move
	network    map[time.Duration]float64 // rows per second, by round-trip time
	outage     *outage                   // nil: not measured
}

// detailed is the number of clients at which CPU, bytes and order are measured.
const detailed = 8

// with opens links for n clients, calls f with the clients, and closes them. Before
// that each client runs one operation, so that the servers plan statements and open
// connections before the measurement.
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

// run measures clients for length, after a warm-up of a fifth of that.
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

// prefill is the number of rows in each table before it is measured, and
// prefillLimit bounds the time to write them. InnoDB extends the file of a small
// table page by page, and waits for the disk each time. These waits must not be
// measured.
const (
	prefill      = 5000
	prefillLimit = time.Second
)

// prepare makes a contestant's table and writes the rows of prefill.
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
		return // the source gives ids with rows only
	}
	r.stage.with(c, n, c.drawer, func(clients load.Clients) {
		result := r.stage.run(clients, r.Plan.IDs, 0, nil)
		f.ids[n] = append(f.ids[n], result.PerSecond()*float64(c.idsPerDraw()))
	})
}

// inProcess returns the ids per second that one thread of the application makes.
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

// measureFloor measures the servers that answer every query with the same bytes, one
// with one thread and one with a thread for each processor. It keeps the faster
// figure.
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

// measureRows measures rows in a closed loop.
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

// duplicates returns how many ids are repetitions of others. It sorts ids.
func duplicates(ids []load.ID) int {
	slices.SortFunc(ids, load.ID.Compare)
	return len(ids) - len(slices.Compact(ids))
}

// measureLatency measures the latency of rows at a fixed rate, equal for all
// contestants.
func (r *run) measureLatency(c *contestant, f *figures) {
	r.stage.inserters(c, c.table, r.Plan.LatencyClients, &journal{}, func(clients load.Clients) {
		result := r.stage.run(clients, r.Plan.Latency, r.Plan.Rate, nil)
		f.reached, f.latency = result.PerSecond(), result.Latency
	})
}

// roundTrips lists the simulated round-trip times between the client and all
// servers.
var roundTrips = []time.Duration{200 * time.Microsecond, time.Millisecond, 5 * time.Millisecond}

// overNetwork reports whether measureNetwork applies: all exchanges for a row are
// the client's. Exchanges between servers have no simulated network.
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
