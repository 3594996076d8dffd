package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
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

// notebook collects what the report says beside the figures.
type notebook struct{ *report.Report }

func (n *notebook) version(name string) { n.Versions = append(n.Versions, name) }

// once notes what was not measured, unless that was said before.
func (n *notebook) once(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(n.Notes, note) {
		n.Notes = append(n.Notes, note)
	}
}

// run is one comparison under way.
type run struct {
	Config
	stage     *stage
	notes     *notebook
	all       []*contestant
	figures   map[*contestant]*figures
	pipelined []*pipelined
	fail      []failover
	added     []addedShard
	beyond    []beyondMemory
	floor     map[int][]float64 // ids a second, by number of clients
}

// Run measures. When ctx ends it returns what it has, as interrupted.
func Run(ctx context.Context, c Config) (*report.Report, error) {
	r := &run{Config: c, notes: &notebook{newReport(c)}, figures: map[*contestant]*figures{}, floor: map[int][]float64{}}
	servers, err := rig.New()
	if err != nil {
		return nil, err
	}
	defer func() { _ = servers.Close() }()
	c.Progress.Part("start the servers")
	if r.stage, err = c.open(ctx, servers, r.notes); err != nil {
		return nil, err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := r.stage.close(closing); err != nil {
			r.notes.once("%s was not removed everywhere: %v", Schema, err)
		}
	}()
	r.choose()
	r.expect()
	r.measure(ctx)
	r.write()
	r.notes.Interrupted = ctx.Err() != nil
	r.notes.Took = time.Since(r.notes.Began).Seconds()
	return r.notes.Report, nil
}

// choose takes the contestants whose servers are there.
func (r *run) choose() {
	shards := max(len(r.stage.servers[postgres]), len(r.stage.servers[mariadb]))
	for _, c := range contestants(shards) {
		if err := r.stage.missing(c); err != nil {
			r.notes.once("%s: %v", c.name, err)
			continue
		}
		r.all = append(r.all, c)
		r.figures[c] = &figures{ids: map[int][]float64{}, rows: map[int][]float64{}, others: map[part][]float64{}}
	}
}

// perMeasurement is what opening connections and making tables takes.
const perMeasurement = 300 * time.Millisecond

// expect tells the progress bar how long it will take.
func (r *run) expect() {
	p := r.Plan
	each := time.Duration(p.Rounds*len(p.Clients))*((p.IDs+p.Rows)*6/5+2*perMeasurement) + p.Latency + time.Duration(len(shares))*p.Share + p.GrowthLimit/2
	r.Progress.Expect(each * time.Duration(len(r.all)))
}

// measure measures everybody, in turns.
func (r *run) measure(ctx context.Context) {
	p := r.Plan
	r.Progress.Part("make the tables")
	for _, c := range r.all {
		r.try(ctx, c, ofElse, "its table", perMeasurement, func() error { return r.stage.prepare(ctx, c) })
	}
	for round := range p.Rounds {
		r.Progress.Part(fmt.Sprintf("ids and rows, round %d of %d", round+1, p.Rounds))
		for _, n := range p.Clients {
			for _, c := range r.inTurns(round) {
				r.try(ctx, c, ofRows, fmt.Sprintf("rows with %d clients", n), p.Rows*6/5+perMeasurement, func() error {
					return r.stage.measureRows(ctx, c, n, p.Rows, r.figures[c])
				})
			}
			for _, c := range r.inTurns(round) {
				r.try(ctx, c, ofIDs, fmt.Sprintf("ids with %d clients", n), p.IDs*6/5+perMeasurement, func() error {
					return r.stage.measureIDs(ctx, c, n, p.IDs, r.figures[c])
				})
			}
			if err := r.measureFloor(ctx, n); err != nil && ctx.Err() == nil {
				r.notes.once("the floor: %v", err)
			}
		}
	}
	r.Progress.Part("pipelines")
	if err := r.measurePipelines(ctx); err != nil && ctx.Err() == nil {
		r.notes.once("pipelines: %v", err)
	}
	r.Progress.Part(fmt.Sprintf("latency at %.0f rows a second", p.Rate))
	for _, c := range r.all {
		r.try(ctx, c, ofLatency, "", p.Latency, func() error { return r.stage.measureLatency(ctx, c, p, r.figures[c]) })
	}
	for _, share := range shares {
		if p.Share == 0 {
			break
		}
		r.Progress.Part(fmt.Sprintf("latency at %.0f %% of what each can do", 100*share))
		for _, c := range r.all {
			r.try(ctx, c, ofShares, "", p.Share, func() error { return r.stage.measureShare(ctx, c, p, share, r.figures[c]) })
		}
	}
	r.Progress.Part("bytes between the databases and nextid")
	for _, c := range r.all {
		if c.foreign != notForeign {
			r.try(ctx, c, ofElse, "", 0, func() error { return r.stage.measureBehind(ctx, c, r.figures[c]) })
		}
	}
	r.Progress.Part("a large table")
	for _, c := range r.all {
		r.try(ctx, c, ofGrowth, "", p.GrowthLimit/2, func() error {
			return r.stage.measureGrowth(ctx, c, p.GrowthRows, p.GrowthLimit, r.figures[c])
		})
	}
	if !r.stage.own {
		r.notes.once("a table larger than memory, failover and one more shard: they need servers that may be changed and killed; run without --dsn")
		return
	}
	if ctx.Err() == nil {
		r.Progress.Part("a table larger than memory")
		r.beyond = r.stage.measureBeyondMemory(ctx, p.GrowthRows, p.GrowthLimit, r.notes)
	}
	if ctx.Err() == nil {
		r.Progress.Part("one more shard")
		r.added = r.stage.measureAddingShards(ctx, r.notes)
	}
	if ctx.Err() == nil {
		r.Progress.Part("failover")
		r.fail = r.stage.measureFailovers(ctx, r.notes)
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

// try measures one thing of one contestant. One that failed is not asked
// again.
func (r *run) try(ctx context.Context, c *contestant, of part, what string, expected time.Duration, measure func() error) {
	if ctx.Err() != nil || r.figures[c].missing != nil {
		return
	}
	r.Progress.Step(c.name + ": " + what)
	idle := rig.BusyNow()
	err := measure()
	if r.stage.own { // else the servers are others, too
		r.figures[c].others[of] = append(r.figures[c].others[of], rig.BusyNow().Others(idle))
	}
	r.Progress.Did(expected)
	if err != nil && ctx.Err() == nil {
		r.figures[c].missing = err
		r.notes.once("%s, from %q on: %v", c.name, what, err)
	}
}
