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

// moving is the name of the table of measureMoves.
const moving = "moving"

// measureMoves measures the latency of rows while sequences move to new blocks. A
// block lasts for half of the measurement. Sequences move when half of a block is
// used, so four times.
func (r *run) measureMoves(c *contestant) {
	if !c.fed {
		return
	}
	length, servers := max(r.plan.Latency, 4*time.Second), r.tables(c)
	block := int(r.plan.Rate*length.Seconds()) / len(servers) / 2
	size := []string{"--ahead", (length / 2).String(), "--block", strconv.Itoa(block)}
	r.create(c, moving)
	r.feed("up", servers, moving, append(size, "--cron")...)
	var feeder sync.WaitGroup
	var moved error
	ctx, stop := context.WithCancel(r.Ctx)
	feeder.Go(func() {
		for moved == nil && ctx.Err() == nil {
			moved = r.Do(func(testing.TB) { r.feed("once", servers, moving, size...) })
			time.Sleep(100 * time.Millisecond)
		}
	})
	defer feeder.Wait()
	defer stop()
	j := &journal{}
	c.moving = r.loop(r.plan.LatencyClients, r.inserting(c, moving, 1, j), load.Config{Length: length, Rate: r.plan.Rate}).Latency
	stop()
	feeder.Wait()
	r.Must(moved)
	if j.greatest.Lo <= uint64(2*block*len(servers)) {
		r.Fatalf("no sequence moved twice: the greatest id is %d, a block %d", j.greatest.Lo, block)
	}
}

// outage holds the figures of one contestant about an outage of nextid.
type outage struct {
	rows   [after + 1]int
	errors int
	gap    time.Duration // longest time between two rows of a client
}

// The phases of an outage. Clients open their connections while it is awaited.
const (
	awaited = iota
	before
	during
	after
)

const (
	outageClients = 2                     // of each contestant
	outagePause   = 20 * time.Millisecond // between two rows of a client
)

// measureOutage kills nextid and starts it again, while clients of the contestants
// in fedSection write rows.
func (r *run) measureOutage() {
	ctx, stop := context.WithCancel(r.Ctx)
	var clients sync.WaitGroup
	var phase atomic.Int32
	var mu sync.Mutex
	defer clients.Wait()
	defer stop()
	for _, c := range r.all {
		if !c.beside || c.missing != nil {
			continue
		}
		c.outage = &outage{}
		for i := range outageClients {
			last := time.Now()
			clients.Go(func() {
				r.writeRows(ctx, c, i, c.table, outagePause, time.Hour, func(ids []load.ID, _ time.Duration, err error) {
					mu.Lock()
					defer mu.Unlock()
					now, wait := phase.Load(), time.Since(last)
					if err == nil {
						last = time.Now()
						c.outage.rows[now]++
					}
					if now != awaited {
						c.outage.gap = max(c.outage.gap, wait)
						if err != nil {
							c.outage.errors++
						}
					}
				})
			})
		}
	}
	load.Rest(ctx, r.plan.Outage/2)
	phase.Store(before)
	load.Rest(ctx, r.plan.Outage)
	r.nextid.Kill()
	phase.Store(during)
	load.Rest(ctx, r.plan.Outage)
	phase.Store(after)
	r.nextid.Start()
}

// fedSection returns the section that compares fed sequences with other sources.
func (r *run) fedSection() report.Section {
	t := report.Table{First: "ids from", Columns: report.Columns("rows/s at 1 client", fmt.Sprintf("at %d", detailed), "99 % ms", "99 % ms while blocks move", "bytes a row in indexes",
		"one more shard", "rows while nextid is away, %", "errors", "longest wait, ms")}
	for _, c := range r.all {
		if !c.beside {
			continue
		}
		cells := []report.Cell{
			report.Number(c.rows[1]...), report.Number(c.rows[detailed]...), {}, report.Text("no blocks"),
			report.Number(c.growth.perRow(c.growth.searched)...), report.Text(r.oneMore(c)), {}, {}, {},
		}
		if c.latency.N() > 0 {
			cells[2] = milliseconds(c.latency, 0.99)
		}
		if c.fed {
			cells[3] = report.Cell{}
		}
		if c.moving.N() > 0 {
			cells[3] = milliseconds(c.moving, 0.99)
		}
		if o := c.outage; o != nil && o.rows[before] > 0 {
			cells[6] = report.Number(math.Round(100 * float64(o.rows[during]) / float64(o.rows[before])))
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
			"long a time before.", outageClients, outagePause, r.plan.Outage),
		Table: t,
	}
}

// oneMore returns the text about one more shard.
func (r *run) oneMore(c *contestant) string {
	switch {
	case c.name == "":
		return "not measured"
	case c.sharded:
	case c.generated() && c.foreign == notForeign:
		return "a scheme with shards"
	default:
		return "nothing to change"
	}
	for _, a := range r.added {
		if a.engine == c.engine && a.fed == c.fed && a.ours == c.ours {
			return fmt.Sprintf("%d to change in %.2g s", a.changed, a.took.Seconds())
		}
	}
	return "not measured"
}
