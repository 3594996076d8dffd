// Package compare implements nextid-bench compare. It compares sources of the ids of
// a table: the table's own server, several servers with offsets, UUIDs, Redis, a
// ticket table, and nextid.
//
// All contestants fill the same table, with the same client (package load), and are
// measured in turns. Measured are ids and rows per second at several numbers of
// clients, latency at a fixed rate, CPU, bytes on the wire, the order of ids, and the
// effects of an outage of nextid and of a failover. If a contestant fails, the report
// notes that, and the others are still measured. An interrupted run returns an
// incomplete report.
//
// A run has one goroutine, which owns the contestants' figures. Only changes.go uses
// several clients in goroutines of their own.
package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config configures Run.
type Config struct {
	load.Setup
	Shards int // number of PostgreSQL and of MariaDB servers
	Plan   Plan
}

// Plan sets the lengths and sizes of the measurements.
type Plan struct {
	Rounds         int
	Clients        []int         // numbers of clients
	IDs, Rows      time.Duration // length of one measurement at one number of clients
	Rate           float64       // rows per second of the measurements of latency
	Latency        time.Duration // length of a measurement of latency
	LatencyClients int           // clients of a measurement of latency
	Outage         time.Duration // of nextid
	Limit          time.Duration // no measurement begins after it; 0: no limit
}

// Quick takes less than three minutes, and shows large differences. Full takes about
// twenty minutes.
var (
	Quick = Plan{
		Rounds: 1, Clients: []int{1, 8}, IDs: 250 * time.Millisecond, Rows: 500 * time.Millisecond,
		Rate: 300, Latency: 1200 * time.Millisecond, LatencyClients: 32,
		Outage: 4 * time.Second, Limit: 160 * time.Second,
	}
	Full = Plan{
		Rounds: 3, Clients: []int{1, 8}, IDs: 2 * time.Second, Rows: 2 * time.Second,
		Rate: 300, Latency: 5 * time.Second, LatencyClients: 32,
		Outage: time.Minute,
	}
)

// run is the state of one Run.
type run struct {
	*load.Stage
	plan    Plan
	servers map[engine][]*dbtest.Server // the shards; the first has the tables that are not sharded
	redis   *dbtest.Server              // nil: there is none
	nextid  *dbtest.Server
	bottom  *dbtest.Server   // the floor
	foreign map[engine]error // why the first server cannot ask nextid itself
	all     []*contestant
	fail    []*failover
	floor   map[int][]float64 // ids per second of the floor, by number of clients
}

// Run compares the contestants whose servers are installed. When ctx ends, it
// returns an incomplete report.
func Run(ctx context.Context, c Config) (*report.Report, error) {
	p := c.Plan
	return c.Measure(ctx, &report.Report{
		Title: "Where should ids come from?",
		Intro: "The same table, filled with ids from each source by the same client, everything on one machine, in turns. " +
			"Compare within this page: the numbers of two runs differ by more than most of these do.",
		Settings: []string{
			fmt.Sprintf("rounds: %d, each %s (ids) and %s (rows) at each number of clients; medians, [least–greatest] of the rounds' ratios", p.Rounds, p.IDs, p.Rows),
			fmt.Sprintf("latency: %s at %.0f rows/s", p.Latency, p.Rate),
			"servers with their default settings, so PostgreSQL and MariaDB wait for the disk at each commit",
			report.Congestion(),
		},
	}, func(s *load.Stage) {
		r := &run{Stage: s, plan: p, servers: map[engine][]*dbtest.Server{}, foreign: map[engine]error{}, floor: map[int][]float64{}}
		r.open(c.Shards)
		for _, contestant := range contestants(max(len(r.servers[postgres]), len(r.servers[mariadb]))) {
			if err := r.place(contestant); err != nil {
				r.Note("%s: %v", contestant.name, err)
				continue
			}
			r.all = append(r.all, contestant)
		}
		r.measure()
		r.write(c.Shards)
	})
}

// measure runs all measurements.
func (r *run) measure() {
	r.each("make the tables", r.all, r.prepare)
	for round := range r.plan.Rounds {
		for _, n := range r.plan.Clients {
			of := fmt.Sprintf(" with %d clients, round %d of %d", n, round+1, r.plan.Rounds)
			r.each("rows"+of, r.inTurns(round), func(c *contestant) { r.measureRows(c, n) })
			r.part("the floor", func() { r.measureFloor(n) })
			r.each("ids"+of, r.inTurns(round), func(c *contestant) { r.measureIDs(c, n) })
			r.part("the floor", func() { r.measureFloor(n) })
		}
	}
	r.each(fmt.Sprintf("latency at %.0f rows a second", r.plan.Rate), r.all, r.measureLatency)
	r.measureFailovers()
	r.part("an outage of nextid", r.measureOutage)
}

// over reports whether a part must not begin, because of the plan's limit or an
// interruption. It notes the former.
func (r *run) over(what string) bool {
	if limit := r.plan.Limit; r.Ctx.Err() == nil && limit > 0 && time.Since(r.Report.Began) > limit {
		r.Progress.Print("no time left for: " + what)
		r.Note("%s: the %s of this run were over", what, limit)
		return true
	}
	return r.Ctx.Err() != nil
}

// part runs a measurement that is not about single contestants. It notes errors.
func (r *run) part(what string, measure func()) {
	if !r.over(what) {
		r.Progress.Print(what)
		_ = r.Try(what, measure)
	}
}

// each runs a measurement for each contestant. It skips contestants that have
// failed.
func (r *run) each(what string, all []*contestant, measure func(c *contestant)) {
	if r.over(what) {
		return
	}
	r.Progress.Print(what)
	for i, c := range all {
		if c.missing != nil {
			continue
		}
		if i > 0 && r.over(what+", from "+c.name+" on") {
			return
		}
		if c.missing = r.Do(func(testing.TB) { measure(c) }); c.missing != nil {
			r.Note("%s, from %q on: %v", c.name, what, c.missing)
		}
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
