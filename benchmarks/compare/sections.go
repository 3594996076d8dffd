package compare

import (
	"fmt"
	"math"
	"strings"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
)

// write adds the answer and the sections to the report.
func (r *run) write(shards int) {
	r.Report.Answer = r.answer(shards)
	sections := []report.Section{
		r.rowsSection(), r.networkSection(), r.idsSection(), r.costSection(), r.latencySection(), r.growthSection(), r.orderSection(),
	}
	if len(r.added) > 0 {
		sections = append(sections, r.shardSection())
	}
	sections = append(sections, r.fedSection())
	if len(r.fail) > 0 {
		sections = append(sections, r.failoverSection())
	}
	r.Report.Sections = sections
}

// table returns a table with a row for each contestant.
func (r *run) table(names []string, cells func(c *contestant) []report.Cell) report.Table {
	t := report.Table{First: "ids from", Columns: report.Columns(names...)}
	for _, c := range r.all {
		t.Rows = append(t.Rows, report.Row{Name: c.name, Ours: c.ours, Cells: cells(c)})
	}
	return t
}

// clients returns the names of the columns with figures by number of clients.
func (r *run) clients() (names []string) {
	for _, n := range r.plan.Clients {
		names = append(names, strings.TrimSuffix(fmt.Sprintf("%d clients", n), map[bool]string{true: "s"}[n == 1]))
	}
	return names
}

// reference returns the contestant to which c's rows are compared: the first one
// with the same engine and as many shards that is not ours. It may be nil, or c.
func (r *run) reference(c *contestant) *contestant {
	for _, other := range r.all {
		if other.engine == c.engine && other.sharded == c.sharded && !other.ours {
			return other
		}
	}
	return nil
}

func (r *run) rowsSection() report.Section {
	s := report.Section{
		Title: "Rows a second",
		Text: fmt.Sprintf("INSERTs of one row, each its own transaction, in a closed loop, into a table that has %d rows or more. With ids from another server the client first asks that "+
			"server, unless it took several at once. All shards share this machine, so more of them are no faster here. "+
			"The ratio is to the first scheme of the same database with as many shards.", prefill),
		Table: r.table(append(r.clients(), fmt.Sprintf("ratio at %d clients", detailed), "to"), func(c *contestant) (cells []report.Cell) {
			for _, n := range r.plan.Clients {
				cells = append(cells, report.Number(c.rows[n]...))
			}
			reference := r.reference(c)
			if reference == nil || reference == c {
				return append(cells, report.Cell{}, report.Cell{})
			}
			return append(cells, report.Ratio(c.rows[detailed], reference.rows[detailed]), report.Text(reference.name))
		}),
		Charts: []report.Chart{{Title: "Rows a second", Unit: "INSERTs of one row a second", Better: "more"}},
	}
	for i, name := range r.clients() {
		s.Charts[0].Panels = append(s.Charts[0].Panels, s.Table.Panel(name, i))
	}
	return s
}

// answer returns a summary in three sentences. Figures that are missing are "not
// measured". It returns "" if the reference's rows were not measured.
func (r *run) answer(shards int) string {
	ratio := func(name, to string) string {
		if c := report.Ratio(r.find(name).rows[detailed], r.find(to).rows[detailed]); c.Number {
			return c.String()
		}
		return "not measured"
	}
	wait := func(name string) string {
		if c := r.find(name); c.latency.N() > 0 {
			return fmt.Sprintf("%.2g ms", float64(c.latency.Quantile(0.5))/1e6)
		}
		return "not measured"
	}
	const identity, auto = "identity CACHE 1", "auto_increment, one"
	if ratio(identity, identity) == "not measured" {
		return ""
	}
	twice := 0
	for _, c := range r.all {
		if c.ours {
			twice += c.duplicates
		}
	}
	fed := fmt.Sprintf("fed sequences, %d PostgreSQL", shards)
	return fmt.Sprintf("next_id or auto_increment, what does it cost me? "+
		"With %d clients, rows a second beside the database's own numbers: next_id by %d %s on PostgreSQL and %s on MariaDB; fed sequences %s. "+
		"next_id asked for each row: %s, and a row takes %s instead of %s, plus one round trip of your network. "+
		"In return %d of its ids came twice over all shards, and one more shard was, with fed sequences, %s; with a new step by hand, %s.",
		detailed, batch, ratio("next_id snowflake by 1000, then", identity), ratio("next_id snowflake by 1000, one MariaDB", auto),
		ratio(fed, "sequences INCREMENT"), ratio("next_id snowflake, then", identity), wait("next_id snowflake, then"), wait(identity),
		twice, r.oneMore(r.find(fed)), r.oneMore(r.find("sequences INCREMENT")))
}

// find returns the contestant whose name begins with name, an empty one if there is
// none.
func (r *run) find(name string) *contestant {
	for _, c := range r.all {
		if strings.HasPrefix(c.name, name) {
			return c
		}
	}
	return &contestant{}
}

func (r *run) networkSection() report.Section {
	var names []string
	for _, rtt := range roundTrips {
		names = append(names, fmt.Sprintf("%g ms", rtt.Seconds()*1e3))
	}
	s := report.Section{
		Title: "Rows a second over a network",
		Text: fmt.Sprintf("As above with %d clients, and each exchange of the client with any server takes so much longer: "+
			"the client holds each answer back (no netem, which many kernels lack). What servers ask each other has no such network, so those "+
			"schemes are left out. One round of %s.", detailed, r.plan.Rows),
		Table: report.Table{First: "ids from", Columns: report.Columns(names...)},
	}
	for _, c := range r.all {
		if !c.overNetwork() {
			continue
		}
		cells := make([]report.Cell, len(roundTrips))
		for i, rtt := range roundTrips {
			if v := c.network[rtt]; v > 0 {
				cells[i] = report.Number(v)
			}
		}
		s.Table.Rows = append(s.Table.Rows, report.Row{Name: c.name, Ours: c.ours, Cells: cells})
	}
	return s
}

func (r *run) idsSection() report.Section {
	s := report.Section{
		Title: "Ids a second",
		Text: "Ids without rows, where they can be had without: one statement an id, or a batch. An application that makes ids itself is " +
			"measured with one thread, whatever the number of clients. The floor answers every query with the same bytes, with one thread that polls or with as many as the " +
			"machine has processors, the faster of them in each round. A server that is asked for each id cannot pass the best of these rounds.",
		Table: r.table(r.clients(), func(c *contestant) (cells []report.Cell) {
			for _, n := range r.plan.Clients {
				if c.generated() && c.draw == "" {
					cells = append(cells, report.Text("with its row only"))
				} else {
					cells = append(cells, report.Number(c.ids[n]...))
				}
			}
			return cells
		}),
		Charts: []report.Chart{{
			Title: "Ids a second", Unit: "ids a second; batches and the application's own are left out, being far off the scale", Better: "more",
		}},
	}
	bottom := report.Row{Name: "floor"}
	for i, n := range r.plan.Clients {
		panel := s.Table.Panel(r.clients()[i], i)
		var bars []report.Bar
		for k, c := range r.all {
			if c.inApp == nil && c.idsPerDraw() == 1 && !r.Report.Doubt("Ids a second, "+panel.Title, c.name, c.ids[n], r.floor[n]) {
				bars = append(bars, panel.Bars[k])
			}
		}
		panel.Bars = append(bars, report.Bar{Name: "floor"}.Median(r.floor[n]))
		s.Charts[0].Panels = append(s.Charts[0].Panels, panel)
		bottom.Cells = append(bottom.Cells, report.Number(r.floor[n]...))
	}
	if len(r.floors) > 0 {
		s.Table.Rows = append(s.Table.Rows, bottom)
	}
	return s
}

func (r *run) costSection() report.Section {
	s := report.Section{
		Title: "What a row costs",
		Text: fmt.Sprintf("At %d clients: CPU time of all servers that work for the row, and bytes between the client and them, without TCP's "+
			"headers.", detailed),
		Table: r.table([]string{"CPU µs", "bytes on the wire"}, func(c *contestant) []report.Cell {
			wire := report.Cell{}
			if c.wire > 0 {
				wire = report.Number(math.Round(c.wire))
			}
			return []report.Cell{report.Number(c.cpu...), wire}
		}),
	}
	s.Charts = []report.Chart{{Title: "Server CPU", Unit: "µs a row, all servers", Better: "less", Panels: []report.Panel{s.Table.Panel("", 0)}}}
	return s
}

// quantile is a quantile of the latency, with its name.
type quantile struct {
	q    float64
	text string
}

// beyond is the least number of rows above a quantile. With fewer, single slow rows
// determine the quantile.
const beyond = 10

// quantiles returns the quantiles for which the plan has enough rows.
func (r *run) quantiles() (all []quantile) {
	for _, q := range []quantile{{0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}} {
		if r.plan.Rate*r.plan.Latency.Seconds()*(1-q.q) >= beyond {
			all = append(all, q)
		}
	}
	return all
}

// milliseconds returns a cell with a quantile of the latency.
func milliseconds(l load.Latency, q float64) report.Cell {
	if float64(l.N())*(1-q) < beyond {
		return report.Text("too few rows")
	}
	return report.Number(float64(l.Quantile(q)) / 1e6)
}

func (r *run) latencySection() report.Section {
	var names []string
	for _, q := range r.quantiles() {
		names = append(names, q.text+" ms")
	}
	s := report.Section{
		Title: fmt.Sprintf("Latency at %.0f rows a second", r.plan.Rate),
		Text: fmt.Sprintf("Rows begin at fixed instants, with up to %d clients. The time of a row counts from the instant at which it should have "+
			"begun, so that a server that stops for a moment pays for every row that had to wait (no coordinated omission). "+
			"Who did not reach the rate could not keep up.", r.plan.LatencyClients),
		Table: r.table(append(names, "rows/s"), func(c *contestant) (cells []report.Cell) {
			if c.latency.N() == 0 {
				return make([]report.Cell, len(names)+1)
			}
			for _, q := range r.quantiles() {
				cells = append(cells, milliseconds(c.latency, q.q))
			}
			return append(cells, report.Number(c.reached))
		}),
		Charts: []report.Chart{{Title: "Latency", Unit: "ms a row, that a share of the rows does not exceed", Better: "less"}},
	}
	for i, q := range r.quantiles() {
		s.Charts[0].Panels = append(s.Charts[0].Panels, s.Table.Panel(q.text, i))
	}
	return s
}

func (r *run) growthSection() report.Section {
	names := []string{"rows", "bytes a row", "of them primary key and rows", "of them other indexes", "written bytes a row"}
	s := report.Section{
		Title: "A large table",
		Text: fmt.Sprintf("A table with the id as primary key, an indexed number and a text of %d bytes, filled by INSERTs of %d rows. "+
			"Written: what the processes handed to the disk for it, logs and a checkpoint at the end included. "+
			"MariaDB keeps the rows in the primary key's tree; its other indexes repeat the id; and it takes disk by the megabyte, so that only "+
			"tables of many megabytes compare. Sizes of tables that did not reach %d rows in %s are left out.",
			len(note), statementRows, r.plan.GrowthRows, r.plan.GrowthLimit),
		Table: r.table(names, func(c *contestant) []report.Cell {
			g := &c.growth
			if g.rows == 0 {
				return make([]report.Cell, len(names))
			}
			cells := []report.Cell{report.Number(float64(g.rows))}
			for _, n := range []int64{g.data + g.indexes, g.data, g.indexes, g.written} {
				cells = append(cells, report.Number(g.perRow(n)...))
			}
			return cells
		}),
	}
	searched := r.table(nil, func(c *contestant) []report.Cell {
		return []report.Cell{report.Number(c.growth.perRow(c.growth.searched)...)}
	})
	s.Charts = []report.Chart{{
		Title: "A large table", Unit: "bytes a row", Better: "less",
		Panels: []report.Panel{searched.Panel("indexes (MariaDB: with the rows)", 0), s.Table.Panel("written to disk", len(names)-1)},
	}}
	return s
}

func (r *run) orderSection() report.Section {
	return report.Section{
		Title: "Order, and ids that came twice",
		Text: fmt.Sprintf("At %d clients: rows whose id is below that of a row which was acknowledged before theirs was begun. "+
			"Sorted by id, such rows are not where they were written. Twice: over all rows and shards of this run.", detailed),
		Table: r.table([]string{"out of order %", "twice"}, func(c *contestant) []report.Cell {
			if len(c.late) == 0 {
				return make([]report.Cell, 2)
			}
			return []report.Cell{report.Number(c.late...), report.Number(float64(c.duplicates))}
		}),
	}
}

func (r *run) shardSection() report.Section {
	t := report.Table{First: "ids from", Columns: report.Columns("servers to change", "the change took, s", "longest wait of a row meanwhile, ms",
		"errors of clients", "rows", "ids twice")}
	for _, a := range r.added {
		cells := make([]report.Cell, 0, len(t.Columns))
		for _, v := range []float64{float64(a.changed), a.took.Seconds(), float64(a.wait) / 1e6, float64(a.errors), float64(len(a.written)), float64(a.twice)} {
			cells = append(cells, report.Number(v))
		}
		t.Rows = append(t.Rows, report.Row{Name: a.name, Ours: a.ours, Cells: cells})
	}
	return report.Section{
		Title: "One more shard",
		Text: fmt.Sprintf("From one shard less to all of them, while %d clients on each write a row a millisecond, on connections that last %s. "+
			"By hand: the greatest number of all is looked for, and each shard goes on above it with the new step, one after the other, and no client is stopped; "+
			"MariaDB's connections keep the old step until they end, and rows that are written between the look and the change have numbers of others. "+
			"Whoever does it by hand must keep everybody from writing for that time. nextid migrate shards reshard lets one shard give half of its "+
			"numbers away, and waits for its older connections before the new shard begins. nextid migrate feed up gives the new shard a block, and moves "+
			"the others to new ones. Ids from next_id and UUIDs know of no shards.",
			perShard, sessionTime),
		Table: t,
	}
}

func (r *run) failoverSection() report.Section {
	t := report.Table{First: "ids from", Columns: report.Columns("killed, started again", "killed, a standby that lags takes over")}
	for _, f := range r.fail {
		t.Rows = append(t.Rows, report.Row{Name: f.name, Ours: f.ours, Cells: []report.Cell{report.Text(f.crash), report.Text(f.standby)}})
	}
	return report.Section{
		Title: "A simulated failover",
		Text: fmt.Sprintf("%d ids are drawn, then the server is killed (SIGKILL) and started again on its own disk; and the same with a copy of its data "+
			"that has not seen the last %d ids, which is what an asynchronous standby may be. Ids that were drawn before and after count as twice. "+
			"With a shared store in PostgreSQL it is that one which is killed, and whose lagging standby is promoted (--store-failover skip): the server of nextid that "+
			"ran on and one that was started afterwards both draw.",
			failoverDraws, failoverDraws),
		Table: t,
	}
}
