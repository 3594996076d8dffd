package compare

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
)

// outage holds the figures of one contestant about an outage of nextid.
type outage struct {
	mu             sync.Mutex
	before, during int // rows before and during the outage
	errors         int
	gap            time.Duration // longest time between two rows of a client
}

const (
	outageClients = 2                     // of each contestant
	outagePause   = 20 * time.Millisecond // between two rows of a client
)

// movingTable is the name of the table of measureMoves.
const movingTable = "moving"

// measureMoves measures the latency of rows while sequences move to new blocks. A
// block lasts for half of the measurement. Sequences move when half of a block is
// used, so four times.
func (r *run) measureMoves(c *contestant, f *figures) {
	s, length := r.stage, max(r.Plan.Latency, 4*time.Second)
	dsns := urls(s.tables(c))
	block := int(r.Plan.Rate*length.Seconds()) / len(dsns) / 2
	size := []string{"--ahead", (length / 2).String(), "--block", strconv.Itoa(block)}
	plain := *c
	plain.fed = false
	s.create(&plain, movingTable)
	s.feed("up", dsns, movingTable+".id", append(size, "--cron")...)
	var feeder sync.WaitGroup
	var moved error
	ctx, stop := context.WithCancel(s.Ctx)
	feeder.Go(func() {
		for moved == nil && ctx.Err() == nil {
			moved = s.Do(func(testing.TB) { s.feed("once", dsns, movingTable+".id", size...) })
			time.Sleep(100 * time.Millisecond)
		}
	})
	defer feeder.Wait()
	defer stop()
	j := &journal{}
	s.inserters(c, movingTable, r.Plan.LatencyClients, j, func(clients load.Clients) {
		f.moving = s.run(clients, length, r.Plan.Rate, nil).Latency
	})
	stop()
	feeder.Wait()
	s.Must(moved)
	if j.greatest.Lo <= uint64(2*block*len(dsns)) {
		s.Fatalf("no sequence moved twice: the greatest id is %d, a block %d", j.greatest.Lo, block)
	}
}

// measureOutage kills nextid and starts it again, while clients of the contestants
// in fedSection write rows.
func (r *run) measureOutage() {
	s := r.stage
	var clients sync.WaitGroup
	var away, done atomic.Bool
	defer clients.Wait()
	defer done.Store(true)
	for _, c := range r.all {
		f := r.figures[c]
		if !c.beside || f.missing != nil {
			continue
		}
		f.outage = &outage{}
		for i := range outageClients {
			clients.Go(func() { s.writeThrough(c, i, f.outage, &away, &done) })
		}
	}
	wait := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-s.Ctx.Done():
		}
	}
	wait(r.Plan.Outage / 2) // the clients open their connections
	for _, c := range r.all {
		if o := r.figures[c].outage; o != nil {
			o.mu.Lock()
			o.before, o.errors, o.gap = 0, 0, 0
			o.mu.Unlock()
		}
	}
	wait(r.Plan.Outage)
	s.nextid.Kill()
	away.Store(true)
	wait(r.Plan.Outage)
	away.Store(false)
	s.nextid.Start()
}

// writeThrough writes rows as one client, and connects again after an error.
func (s *stage) writeThrough(c *contestant, i int, o *outage, away, done *atomic.Bool) {
	var client load.Clients
	defer func() { client.Close() }()
	for last := time.Now(); !done.Load() && s.Ctx.Err() == nil; time.Sleep(outagePause) {
		var err error
		if client == nil {
			err = s.Do(func(testing.TB) {
				links := s.links(c, i)
				w := &inserter{c: c, journal: &journal{}, table: c.table, links: links, rows: 1, n: uint64(i+1) << 50}
				client = load.Clients{{Links: links, Work: w}}
			})
		}
		if err == nil {
			err = load.Once(s.Ctx, client)
		}
		o.mu.Lock()
		o.gap = max(o.gap, time.Since(last))
		switch {
		case err != nil:
			o.errors++
			client.Close()
			client = nil
		case away.Load():
			o.during++
		default:
			o.before++
		}
		o.mu.Unlock()
		if err == nil {
			last = time.Now()
		}
	}
}

// fedSection returns the section that compares fed sequences with other sources.
func (r *run) fedSection() report.Section {
	t := report.Table{First: "ids from", Columns: report.Columns("rows/s at 1 client", fmt.Sprintf("at %d", detailed), "99 % ms", "99 % ms while blocks move", "bytes a row in indexes",
		"one more shard", "rows while nextid is away, %", "errors", "longest wait, ms")}
	for _, c := range r.all {
		f := r.figures[c]
		if !c.beside {
			continue
		}
		cells := []report.Cell{
			report.Number(f.rows[1]...), report.Number(f.rows[detailed]...), {}, report.Text("no blocks"), report.Number(f.growth.perRow(f.growth.searched)...), report.Text(r.oneMore(c)), {}, {}, {},
		}
		if f.latency.N() > 0 {
			cells[2] = milliseconds(&f.latency, 0.99)
		}
		if c.fed {
			cells[3] = report.Cell{}
		}
		if f.moving.N() > 0 {
			cells[3] = milliseconds(&f.moving, 0.99)
		}
		if o := f.outage; o != nil && o.before > 0 {
			cells[6] = report.Number(math.Round(100 * float64(o.during) / float64(o.before)))
			cells[7], cells[8] = report.Number(float64(o.errors)), report.Number(float64(o.gap.Milliseconds()))
		}
		t.Rows = append(t.Rows, report.Row{Name: c.name, Ours: c.ours, Cells: cells})
	}
	return report.Section{
		Title: "Fed sequences",
		Text: fmt.Sprintf("nextid migrate feed leaves a column its own sequence, and moves it to blocks that no other database has: an INSERT waits for no other server. "+
			"Rows, latency and sizes are those of the sections above; MariaDB's indexes hold the rows, too. While blocks move: at the same rate, each sequence moves "+
			"every few seconds, by nextid migrate feed once. One more shard: servers to change, and how long that took. "+
			"For the outage %d clients of each scheme write a row every %s, all at once. nextid is killed for %s; the rows of that time are compared with those of as "+
			"long a time before.", outageClients, outagePause, r.Plan.Outage),
		Table: t,
	}
}

// oneMore returns the text about one more shard.
func (r *run) oneMore(c *contestant) string {
	if !c.sharded {
		if c.generated() && c.foreign == notForeign {
			return "a scheme with shards"
		}
		return "nothing to change"
	}
	for _, a := range r.added {
		if a.engine == c.engine && a.fed == c.fed && a.ours == c.ours {
			return fmt.Sprintf("%d to change in %.2g s", a.changed, a.took.Seconds())
		}
	}
	return "not measured"
}
