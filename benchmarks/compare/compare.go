package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"nextid/benchmarks/machine"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config is one comparison.
type Config struct {
	Binary   string   // of nextid
	Floor    string   // the program whose command floor answers every query with the same bytes: nextid-bench; "": none
	DSN      []string // servers to use; none: those that are installed are started
	Shards   int      // servers to start of each kind
	Plan     Plan
	Progress *report.Progress
}

// Plan is how much is measured.
type Plan struct {
	Rounds         int
	Clients        []int
	IDs, Rows      time.Duration // of one measurement at one number of clients
	Rate           float64       // rows a second at the fixed rate
	Latency        time.Duration
	LatencyClients int           // that share the fixed rate
	Share          time.Duration // of one measurement at a share of what a contestant can do; 0: none
	GrowthRows     int
	GrowthLimit    time.Duration
}

// Quick shows what stands out in less than three minutes, Full what is close
// in about twelve.
var (
	Quick = Plan{
		Rounds: 1, Clients: []int{1, 8, 32}, IDs: 250 * time.Millisecond, Rows: 500 * time.Millisecond,
		Rate: 300, Latency: 1200 * time.Millisecond, LatencyClients: 32,
		GrowthRows: 20_000, GrowthLimit: 1200 * time.Millisecond,
	}
	Full = Plan{
		Rounds: 4, Clients: []int{1, 8, 32}, IDs: 300 * time.Millisecond, Rows: 800 * time.Millisecond,
		Rate: 300, Latency: 5 * time.Second, LatencyClients: 32, Share: 2 * time.Second,
		GrowthRows: 200_000, GrowthLimit: 6 * time.Second,
	}
)

// run is one comparison under way.
type run struct {
	Config
	*report.Report
	ctx       context.Context
	stage     *stage
	all       []*contestant
	figures   map[*contestant]*figures
	pipelined []*pipelined
	fail      []failover
	added     []addedShard
	beyond    []beyondMemory
	floor     map[int][]float64 // ids a second, by number of clients
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
			machine.Network(),
		},
	}}
	rig := dbtest.NewRig()
	defer func() { _ = rig.Close() }()
	c.Progress.Part("start the servers")
	opened := rig.Do(func(testing.TB) { r.open(rig) })
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := r.stage.close(closing); err != nil {
			r.once("%s was not removed everywhere: %v", Schema, err)
		}
	}()
	if opened != nil {
		return nil, opened
	}
	r.choose()
	r.measure()
	r.write()
	r.Interrupted = ctx.Err() != nil
	r.Took = time.Since(r.Began).Seconds()
	return r.Report, nil
}

// perMeasurement is what opening connections and making tables takes.
const perMeasurement = 300 * time.Millisecond

// choose takes the contestants whose servers are there.
func (r *run) choose() {
	for _, c := range contestants(max(len(r.stage.servers[postgres]), len(r.stage.servers[mariadb]))) {
		if err := r.stage.missing(c); err != nil {
			r.once("%s: %v", c.name, err)
			continue
		}
		r.all = append(r.all, c)
		r.figures[c] = &figures{ids: map[int][]float64{}, rows: map[int][]float64{}, others: map[part][]float64{}}
	}
	p := r.Plan
	each := time.Duration(p.Rounds*len(p.Clients))*((p.IDs+p.Rows)*6/5+2*perMeasurement) + p.Latency + time.Duration(len(shares))*p.Share + p.GrowthLimit/2
	r.Progress.Expect(each * time.Duration(len(r.all)))
}

// measure measures everybody, in turns.
func (r *run) measure() {
	p := r.Plan
	r.each("make the tables", r.all, ofElse, "its table", perMeasurement, r.prepare)
	for round := range p.Rounds {
		r.Progress.Part(fmt.Sprintf("ids and rows, round %d of %d", round+1, p.Rounds))
		for _, n := range p.Clients {
			r.each("", r.inTurns(round), ofRows, fmt.Sprintf("rows with %d clients", n), p.Rows*6/5+perMeasurement, func(c *contestant, f *figures) { r.measureRows(c, f, n) })
			r.each("", r.inTurns(round), ofIDs, fmt.Sprintf("ids with %d clients", n), p.IDs*6/5+perMeasurement, func(c *contestant, f *figures) { r.measureIDs(c, f, n) })
			r.part("", "the floor", func() { r.measureFloor(n) })
		}
	}
	r.part("pipelines", "pipelines", r.measurePipelines)
	r.each(fmt.Sprintf("latency at %.0f rows a second", p.Rate), r.all, ofLatency, "", p.Latency, r.measureLatency)
	for _, share := range shares {
		if p.Share > 0 {
			r.each(fmt.Sprintf("latency at %.0f %% of what each can do", 100*share), r.all, ofShares, "", p.Share, func(c *contestant, f *figures) { r.measureShare(c, f, share) })
		}
	}
	foreign := slices.DeleteFunc(slices.Clone(r.all), func(c *contestant) bool { return c.foreign == notForeign })
	r.each("bytes between the databases and nextid", foreign, ofElse, "", 0, r.measureBehind)
	r.each("a large table", r.all, ofGrowth, "", p.GrowthLimit/2, r.measureGrowth)
	if !r.stage.own {
		r.once("a table larger than memory, failover and one more shard: they need servers that may be changed and killed; run without --dsn")
		return
	}
	r.part("a table larger than memory", "a table larger than memory", r.measureBeyondMemory)
	r.part("one more shard", "one more shard", r.measureAddingShards)
	r.part("failover", "failover", r.measureFailovers)
}

// part measures something. What keeps it from that is noted, unless the run was
// interrupted.
func (r *run) part(title, what string, measure func()) {
	if r.ctx.Err() != nil {
		return
	}
	if title != "" {
		r.Progress.Part(title)
	}
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

// part is what is measured.
type part int

const (
	ofElse part = iota
	ofRows
	ofIDs
	ofLatency
	ofShares
	ofGrowth
)

// each measures one thing of contestants. One that failed is not asked again.
func (r *run) each(title string, all []*contestant, of part, what string, expected time.Duration, measure func(c *contestant, f *figures)) {
	if title != "" && r.ctx.Err() == nil {
		r.Progress.Part(title)
	}
	for _, c := range all {
		f := r.figures[c]
		if r.ctx.Err() != nil || f.missing != nil {
			continue
		}
		r.Progress.Step(c.name + ": " + what)
		idle := machine.BusyNow()
		err := r.stage.Do(func(testing.TB) { measure(c, f) })
		if r.stage.own { // else the servers are others, too
			f.others[of] = append(f.others[of], machine.BusyNow().Others(idle))
		}
		r.Progress.Did(expected)
		if err != nil && r.ctx.Err() == nil {
			f.missing = err
			r.once("%s, from %q on: %v", c.name, what, err)
		}
	}
}
