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

// Config configures Run.
type Config struct {
	Binary   string // of nextid
	Floor    string // nextid-bench, whose command floor answers every query with the same bytes; "": no floor
	Shards   int    // number of PostgreSQL and of MariaDB servers
	Plan     Plan
	Progress *report.Progress
}

// Plan sets the lengths and sizes of the measurements.
type Plan struct {
	Rounds         int
	Clients        []int         // numbers of clients
	IDs, Rows      time.Duration // length of one measurement at one number of clients
	Rate           float64       // rows per second of the measurements of latency
	Latency        time.Duration // length of a measurement of latency
	LatencyClients int           // clients of a measurement of latency
	GrowthRows     int           // rows of the large table
	GrowthLimit    time.Duration // bounds the time to fill it
	Outage         time.Duration // of nextid
	Limit          time.Duration // no measurement begins after it; 0: no limit
}

// Quick takes less than three minutes, and shows large differences. Full takes about
// twenty minutes.
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

// run is the state of one Run.
type run struct {
	Config
	*report.Report
	ctx     context.Context
	stage   *stage
	all     []*contestant
	figures map[*contestant]*figures
	fail    []failover
	added   []addedShard
	floor   map[int][]float64 // ids per second of the floor, by number of clients
}

func (r *run) version(name string) { r.Versions = append(r.Versions, name) }

// once adds a note to the report, unless the report has the note already.
func (r *run) once(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, note) {
		r.Notes = append(r.Notes, note)
	}
}

// Run compares the contestants whose servers are installed. When ctx ends, it
// returns an incomplete report.
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

// choose selects the contestants whose servers have started.
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

// measure runs all measurements.
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

// over reports whether a part must not begin, because of the plan's limit or an
// interruption. It notes the former.
func (r *run) over(what string) bool {
	if limit := r.Plan.Limit; r.ctx.Err() == nil && limit > 0 && time.Since(r.Began) > limit {
		r.Progress.Part("no time left for: " + what)
		r.once("%s: the %s of this run were over", what, limit)
		return true
	}
	return r.ctx.Err() != nil
}

// part runs a measurement that is not about single contestants. It notes errors,
// unless the run was interrupted.
func (r *run) part(what string, measure func()) {
	if r.over(what) {
		return
	}
	r.Progress.Part(what)
	if err := r.stage.Do(func(testing.TB) { measure() }); err != nil && r.ctx.Err() == nil {
		r.once("%s: %v", what, err)
	}
}

// inTurns returns the order of contestants in a round. Contestants that are compared
// with each other are adjacent, so that other load of the machine affects them
// alike. Each round begins with another contestant.
func (r *run) inTurns(round int) []*contestant {
	order := slices.Clone(r.all)
	slices.SortStableFunc(order, func(a, b *contestant) int {
		return cmp.Or(cmp.Compare(a.engine, b.engine), cmp.Compare(strconv.FormatBool(a.sharded), strconv.FormatBool(b.sharded)))
	})
	begin := round * 5 % len(order)
	return slices.Concat(order[begin:], order[:begin])
}

// each runs a measurement for each contestant. It skips contestants that have
// failed.
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
