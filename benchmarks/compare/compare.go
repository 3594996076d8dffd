package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config is one comparison.
type Config struct {
	Binary   string // of nextid
	Floor    string // the program whose command floor answers every query with the same bytes: nextid-bench; "": none
	Shards   int    // servers to start of each kind
	Plan     Plan
	Progress *report.Progress
}

// Plan describes how much is measured.
type Plan struct {
	Rounds         int
	Clients        []int
	IDs, Rows      time.Duration // of one measurement at one number of clients
	Rate           float64       // rows a second at the fixed rate
	Latency        time.Duration
	LatencyClients int // that share the fixed rate
	GrowthRows     int
	GrowthLimit    time.Duration
	Outage         time.Duration // of nextid
	Limit          time.Duration // what has not begun by then is left out; 0: nothing
}

// Quick shows what stands out in less than three minutes, Full what is close
// in about twenty.
var (
	Quick = Plan{
		Rounds: 1, Clients: []int{1, 8}, IDs: 250 * time.Millisecond, Rows: 500 * time.Millisecond,
		Rate: 300, Latency: 1200 * time.Millisecond, LatencyClients: 32,
		GrowthRows: 20_000, GrowthLimit: 1200 * time.Millisecond, Outage: 4 * time.Second, Limit: 160 * time.Second,
	}
	Full = Plan{
		Rounds: 3, Clients: []int{1, 8}, IDs: 2 * time.Second, Rows: 2 * time.Second,
		Rate: 300, Latency: 5 * time.Second, LatencyClients: 32,
		GrowthRows: 200_000, GrowthLimit: 6 * time.Second, Outage: time.Minute,
	}
)

// run is one comparison under way.
type run struct {
	Config
	*report.Report
	ctx     context.Context
	stage   *stage
	all     []*contestant
	figures map[*contestant]*figures
	fail    []failover
	added   []addedShard
	floor   map[int][]float64 // ids a second, by number of clients
}

func (r *run) version(name string) { r.Versions = append(r.Versions, name) }

// once notes what was not measured, unless that was said before.
func (r *run) once(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, note) {
		r.Notes = append(r.Notes, note)
	}
}

// Run measures. When ctx ends it returns what it has, as interrupted.
func Run(ctx context.Context, c Config) (*report.Report, error) {
	p := c.Plan
	r := &run{Config: c, ctx: ctx, figures: map[*contestant]*figures{}, floor: map[int][]float64{}, Report: &report.Report{
		Title: "Where should ids come from?",
		Intro: "The same table, filled with ids from each source by the same client, everything on one machine, in turns. " +
			"Compare within this page: the numbers of two runs differ by more than most of these do.",
		Began: time.Now(), Machine: report.ThisMachine(),
		Settings: []string{
			fmt.Sprintf("rounds: %d, each %s (ids) and %s (rows) at each number of clients; medians, [least–greatest] of the rounds' ratios", p.Rounds, p.IDs, p.Rows),
			fmt.Sprintf("latency: %s at %.0f rows/s", p.Latency, p.Rate),
			fmt.Sprintf("growth: %d rows or %s", p.GrowthRows, p.GrowthLimit),
			"servers with their default settings, so PostgreSQL and MariaDB wait for the disk at each commit",
			"congestion control: " + report.Content("/proc/sys/net/ipv4/tcp_congestion_control") + "; the client, the floor and nextid use reno on loopback",
		},
	}}
	rig := dbtest.NewRig()
	defer func() { _ = rig.Close() }()
	c.Progress.Part("start the servers")
	if err := rig.Do(func(testing.TB) { r.open(rig) }); err != nil {
		return nil, err
	}
	r.choose()
	r.measure()
	r.write()
	r.Interrupted = ctx.Err() != nil
	r.Took = time.Since(r.Began).Seconds()
	return r.Report, nil
}

// choose takes the contestants whose servers are there.
func (r *run) choose() {
	for _, c := range contestants(max(len(r.stage.servers[postgres]), len(r.stage.servers[mariadb]))) {
		if err := r.stage.missing(c); err != nil {
			r.once("%s: %v", c.name, err)
			continue
		}
		r.all = append(r.all, c)
		r.figures[c] = &figures{ids: map[int][]float64{}, rows: map[int][]float64{}, network: map[time.Duration]float64{}}
	}
}

// measure measures everybody, in turns.
func (r *run) measure() {
	r.each("make the tables", r.all, r.prepare)
	for round := range r.Plan.Rounds {
		for _, n := range r.Plan.Clients {
			of := fmt.Sprintf(" with %d clients, round %d of %d", n, round+1, r.Plan.Rounds)
			r.each("rows"+of, r.inTurns(round), func(c *contestant, f *figures) { r.measureRows(c, f, n) })
			r.part("the floor", func() { r.measureFloor(n) })
			r.each("ids"+of, r.inTurns(round), func(c *contestant, f *figures) { r.measureIDs(c, f, n) })
			r.part("the floor", func() { r.measureFloor(n) })
		}
	}
	r.each(fmt.Sprintf("latency at %.0f rows a second", r.Plan.Rate), r.all, r.measureLatency)
	r.each("rows over a network", slices.DeleteFunc(slices.Clone(r.all), func(c *contestant) bool { return !c.overNetwork() }), r.measureNetwork)
	r.each("a large table", r.all, r.measureGrowth)
	r.each("latency while blocks move", slices.DeleteFunc(slices.Clone(r.all), func(c *contestant) bool { return !c.fed }), r.measureMoves)
	r.measureAddingShards()
	r.measureFailovers()
	r.part("an outage of nextid", r.measureOutage)
}

// over reports whether a part may not begin any more, and notes what is missing.
func (r *run) over(what string) bool {
	if limit := r.Plan.Limit; r.ctx.Err() == nil && limit > 0 && time.Since(r.Began) > limit {
		r.Progress.Part("no time left for: " + what)
		r.once("%s: the %s of this run were over", what, limit)
		return true
	}
	return r.ctx.Err() != nil
}

// part measures something. What keeps it from that is noted, unless the run was
// interrupted.
func (r *run) part(what string, measure func()) {
	if r.over(what) {
		return
	}
	r.Progress.Part(what)
	if err := r.stage.Do(func(testing.TB) { measure() }); err != nil && r.ctx.Err() == nil {
		r.once("%s: %v", what, err)
	}
}

// inTurns is the order of a round. Those who are compared with each other
// stand together, so that what else the machine does meets them alike; and
// each round begins with another one.
func (r *run) inTurns(round int) []*contestant {
	order := slices.Clone(r.all)
	slices.SortStableFunc(order, func(a, b *contestant) int {
		return cmp.Or(cmp.Compare(a.engine, b.engine), cmp.Compare(strconv.FormatBool(a.sharded), strconv.FormatBool(b.sharded)))
	})
	begin := round * 5 % len(order)
	return slices.Concat(order[begin:], order[:begin])
}

// each measures one thing of contestants. One that failed is not asked again.
func (r *run) each(what string, all []*contestant, measure func(c *contestant, f *figures)) {
	if r.over(what) {
		return
	}
	r.Progress.Part(what)
	for i, c := range all {
		f := r.figures[c]
		if f.missing != nil || r.ctx.Err() != nil {
			continue
		}
		if i > 0 && r.over(what+", from "+c.name+" on") {
			return
		}
		err := r.stage.Do(func(testing.TB) { measure(c, f) })
		if err != nil && r.ctx.Err() == nil {
			f.missing = err
			r.once("%s, from %q on: %v", c.name, what, err)
		}
	}
}
