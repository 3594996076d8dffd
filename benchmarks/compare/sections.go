package compare

import (
	"fmt"
	"math"
	"strings"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
)

// write makes the sections of the report.
func (r *run) write() {
	for _, s := range []struct {
		measured bool
		section  func() report.Section
	}{
		{true, r.rowsSection},
		{true, r.idsSection},
		{len(r.pipelined) > 0, r.pipelineSection},
		{true, r.costSection},
		{true, r.latencySection},
		{r.Plan.Share > 0, r.shareSection},
		{true, r.growthSection},
		{len(r.beyond) > 0, r.beyondSection},
		{true, r.orderSection},
		{len(r.added) > 0, r.shardSection},
		{len(r.fail) > 0, r.failoverSection},
	} {
		if s.measured {
			r.Sections = append(r.Sections, s.section())
		}
	}
}

// columns makes the columns of a table. A name ends in "+" where more is
// better, in "-" where less is.
func columns(names ...string) (all []report.Column) {
	for _, name := range names {
		c := report.Column{Name: strings.TrimRight(name, "+-")}
		switch name[len(name)-1] {
		case '+':
			c.Better = "more"
		case '-':
			c.Better = "less"
		}
		all = append(all, c)
	}
	return all
}

// table is a table with a row for each contestant.
func (r *run) table(names []string, cells func(c *contestant, f *figures) []report.Cell) report.Table {
	t := report.Table{First: "ids from", Columns: columns(names...)}
	for _, c := range r.all {
		t.Rows = append(t.Rows, report.Row{Name: c.name, Ours: c.ours, Cells: cells(c, r.figures[c])})
	}
	return t
}

// bars is a panel with a bar for each contestant that has a value.
func (r *run) bars(title string, samples func(f *figures) []float64) report.Panel {
	p := report.Panel{Title: title}
	for _, c := range r.all {
		p.Bars = append(p.Bars, report.Bar{Name: c.name, Ours: c.ours}.Median(samples(r.figures[c])))
	}
	return p
}

func clientsText(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

// reference is whom the others' rows are divided by: the first of the same
// engine that is sharded alike, and not ours.
func (r *run) reference(c *contestant) *contestant {
	for _, other := range r.all {
		if other.engine == c.engine && other.sharded == c.sharded && !other.ours {
			return other
		}
	}
	return nil
}

func (r *run) rowsSection() report.Section {
	var names []string
	chart := report.Chart{Title: "Rows a second", Unit: "INSERTs of one row a second", Better: "more"}
	for _, n := range r.Plan.Clients {
		names = append(names, clientsText(n)+"+")
		chart.Panels = append(chart.Panels, r.bars(clientsText(n), func(f *figures) []float64 { return f.rows[n] }))
	}
	names = append(names, fmt.Sprintf("ratio at %d clients+", detailed), "to", "others' cores")
	return report.Section{
		Title: "Rows a second",
		Text: fmt.Sprintf("INSERTs of one row, each its own transaction, in a closed loop, into a table that has %d rows or more. With ids from another server the client first asks that "+
			"server, unless it took several at once. All shards share this machine, so more of them are no faster here. "+
			"The ratio is to the first scheme of the same database with as many shards. Others' cores, here and below: what programs that take no part "+
			"used of the machine meanwhile.", prefill),
		Table: r.table(names, func(c *contestant, f *figures) (cells []report.Cell) {
			for _, n := range r.Plan.Clients {
				cells = append(cells, report.Number(f.rows[n]...))
			}
			reference := r.reference(c)
			if reference == nil || reference == c {
				return append(cells, report.Cell{}, report.Cell{}, f.busy(ofRows))
			}
			return append(cells, report.Ratio(f.rows[detailed], r.figures[reference].rows[detailed]), report.Text(reference.name), f.busy(ofRows))
		}),
		Charts: []report.Chart{chart},
	}
}

func (r *run) idsSection() report.Section {
	s := report.Section{
		Title: "Ids a second",
		Text: "Ids without rows, where they can be had without: one statement an id, or a batch. An application that makes ids itself is " +
			"measured with one thread, whatever the number of clients. The floor answers every query with the same bytes, with as many threads as the " +
			"machine has processors and over the same network: no server that is asked for each id can pass it.",
	}
	var names []string
	var bottom []report.Cell
	chart := report.Chart{Title: "Ids a second", Unit: "ids a second; batches and the application's own are left out, being far off the scale", Better: "more"}
	for _, n := range r.Plan.Clients {
		names = append(names, clientsText(n)+"+")
		panel := report.Panel{Title: clientsText(n)}
		for _, c := range r.all {
			if c.inApp == nil && c.idsPerDraw() == 1 {
				panel.Bars = append(panel.Bars, report.Bar{Name: c.name, Ours: c.ours}.Median(r.figures[c].ids[n]))
				r.Doubt("Ids a second, "+clientsText(n), c.name, r.figures[c].ids[n], r.floor[n])
			}
		}
		panel.Bars = append(panel.Bars, report.Bar{Name: "floor"}.Median(r.floor[n]))
		chart.Panels = append(chart.Panels, panel)
		bottom = append(bottom, report.Number(r.floor[n]...))
	}
	s.Table = r.table(append(names, "others' cores"), func(c *contestant, f *figures) (cells []report.Cell) {
		for _, n := range r.Plan.Clients {
			if c.generated() && c.draw == "" {
				cells = append(cells, report.Text("with its row only"))
			} else {
				cells = append(cells, report.Number(f.ids[n]...))
			}
		}
		return append(cells, f.busy(ofIDs))
	})
	if r.stage.floor != nil {
		s.Table.Rows = append(s.Table.Rows, report.Row{Name: "floor", Cells: append(bottom, report.Text(" "))})
	}
	s.Charts = []report.Chart{chart}
	return s
}

func (r *run) costSection() report.Section {
	return report.Section{
		Title: "What a row costs",
		Text: fmt.Sprintf("At %d clients: CPU time of all servers that work for the row, and bytes between the client and them, without TCP's "+
			"headers. Behind: bytes between the table's server and nextid, for the ways in which it asks nextid itself.", detailed),
		Table: r.table([]string{"CPU µs-", "bytes on the wire-", "behind-", "others' cores"}, func(_ *contestant, f *figures) []report.Cell {
			return []report.Cell{report.Number(f.cpu...), measured(f.wire), measured(f.behind), f.busy(ofRows)}
		}),
		Charts: []report.Chart{{
			Title: "Server CPU", Unit: "µs a row, all servers", Better: "less",
			Panels: []report.Panel{r.bars("", func(f *figures) []float64 { return f.cpu })},
		}},
	}
}

// measured is a whole number, or nothing where nothing was measured.
func measured(v float64) report.Cell {
	if v == 0 {
		return report.Cell{}
	}
	return report.Number(math.Round(v))
}

// quantile is a share of the rows.
type quantile struct {
	q    float64
	text string
}

// quantiles of the latency's table and curve. The curve's axis is the number
// of nines, which gives each the same room.
var quantiles = []quantile{{0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}}

// beyond is how many rows must lie beyond a quantile for it to be told: of
// fewer it says what the worst few rows met, and no more.
const beyond = 10

// quantiles are those that a run of the plan's length can tell.
func (r *run) quantiles() (told []quantile) {
	for _, q := range quantiles {
		if r.Plan.Rate*r.Plan.Latency.Seconds()*(1-q.q) >= beyond {
			told = append(told, q)
		}
	}
	return told
}

// milliseconds is the latency that a share of the rows does not exceed.
func milliseconds(l *load.Latency, q float64) report.Cell {
	if float64(l.N())*(1-q) < beyond {
		return report.Text("too few rows")
	}
	return report.Number(float64(l.Quantile(q)) / 1e6)
}

func (r *run) latencySection() report.Section {
	var names []string
	var ticks []report.Tick
	for _, q := range r.quantiles() {
		names = append(names, q.text+" ms-")
		ticks = append(ticks, report.Tick{At: -math.Log10(1 - q.q), Text: q.text})
	}
	charts := newLineCharts("Latency", "ms a row", report.Lines{X: "share of the rows that were done by then", Log: true, Ticks: ticks})
	return report.Section{
		Title: fmt.Sprintf("Latency at %.0f rows a second", r.Plan.Rate),
		Text: fmt.Sprintf("Rows begin at fixed instants, with up to %d clients. The time of a row counts from the instant at which it should have "+
			"begun, so that a server that stops for a moment pays for every row that had to wait (no coordinated omission). "+
			"Who did not reach the rate could not keep up.", r.Plan.LatencyClients),
		Table: r.table(append(names, "rows/s", "others' cores"), func(c *contestant, f *figures) (cells []report.Cell) {
			l := &f.latency.latency
			if l.N() == 0 {
				return make([]report.Cell, len(names)+2)
			}
			series := report.Series{Name: c.name, Ours: c.ours}
			for i, q := range r.quantiles() {
				cell := milliseconds(l, q.q)
				if cells = append(cells, cell); cell.Number {
					series.Points = append(series.Points, [2]float64{ticks[i].At, cell.Value})
				}
			}
			charts.add(c, series)
			return append(cells, report.Number(f.latency.reached), f.busy(ofLatency))
		}),
		Charts: charts,
	}
}

// shareSection is latency at parts of what each contestant can do.
func (r *run) shareSection() report.Section {
	var names []string
	for _, share := range shares {
		at := fmt.Sprintf("at %.0f %%", 100*share)
		names = append(names, at+", rows/s", "reached", at+", 50 % ms-", at+", 99 % ms-")
	}
	return report.Section{
		Title: "Latency at a share of what each can do",
		Text: fmt.Sprintf("As above, but the rate is a share of the rows a second that the same scheme wrote with %d clients in a closed loop: "+
			"everybody is equally busy, and the rates differ.", r.Plan.Clients[len(r.Plan.Clients)-1]),
		Table: r.table(append(names, "others' cores"), func(_ *contestant, f *figures) (cells []report.Cell) {
			for i := range shares {
				if i >= len(f.shared) || f.shared[i].latency.N() == 0 {
					cells = append(cells, make([]report.Cell, 4)...)
					continue
				}
				m := &f.shared[i]
				cells = append(cells, report.Number(math.Round(m.rate)), report.Number(math.Round(m.reached)), milliseconds(&m.latency, 0.5), milliseconds(&m.latency, 0.99))
			}
			return append(cells, f.busy(ofShares))
		}),
	}
}

// lineCharts are charts with lines: one for the tables of each database.
type lineCharts []report.Chart

func newLineCharts(title, unit string, lines report.Lines) (l lineCharts) {
	for _, e := range []engine{postgres, mariadb} {
		own := lines
		l = append(l, report.Chart{Title: title + ", tables in " + string(e), Unit: unit, Better: "less", Lines: &own})
	}
	return l
}

func (l lineCharts) add(c *contestant, s report.Series) {
	i := 0
	if c.engine == mariadb {
		i = 1
	}
	l[i].Lines.Series = append(l[i].Lines.Series, s)
}

func (r *run) growthSection() report.Section {
	charts := newLineCharts("Growth of indexes", "MB of all indexes (MariaDB: with the rows)", report.Lines{X: "rows"})
	panel := report.Panel{}
	s := report.Section{
		Title: "A large table",
		Text: fmt.Sprintf("A table with the id as primary key, an indexed number and a text of %d bytes, filled by INSERTs of %d rows. "+
			"Written: what the processes handed to the disk for it, logs included, with a checkpoint at every tenth. "+
			"MariaDB keeps the rows in the primary key's tree; its other indexes repeat the id; and it takes disk by the megabyte, so that only "+
			"tables of many megabytes compare. Sizes of tables that did not reach %d rows in %s are left out.",
			len(note), statementRows, r.Plan.GrowthRows, r.Plan.GrowthLimit),
	}
	names := []string{"rows", "bytes a row-", "of them primary key and rows-", "of them other indexes-", "written bytes a row-", "others' cores"}
	s.Table = r.table(names, func(c *contestant, f *figures) []report.Cell {
		cells := make([]report.Cell, len(names))
		if len(f.growth) == 0 {
			return cells
		}
		series := report.Series{Name: c.name, Ours: c.ours}
		for _, p := range f.growth {
			size := p.indexes
			if c.engine == mariadb {
				size += p.data
			}
			series.Points = append(series.Points, [2]float64{float64(p.rows), float64(size) / 1e6})
		}
		charts.add(c, series)
		last := f.growth[len(f.growth)-1]
		cells[0], cells[5] = report.Number(float64(last.rows)), f.busy(ofGrowth)
		if last.rows < r.Plan.GrowthRows {
			return cells
		}
		for i, n := range []int64{last.data + last.indexes, last.data, last.indexes, last.written} {
			cells[1+i] = report.Number(math.Round(float64(n) / float64(last.rows)))
		}
		if !r.stage.measurable(c) {
			cells[4] = report.Cell{}
			return cells
		}
		panel.Bars = append(panel.Bars, report.Bar{Name: c.name, Value: cells[4].Value, Ours: c.ours})
		return cells
	})
	s.Charts = append(charts, report.Chart{Title: "Written to disk", Unit: "bytes a row", Better: "less", Panels: []report.Panel{panel}})
	return s
}

func (r *run) orderSection() report.Section {
	return report.Section{
		Title: "Order, and ids that came twice",
		Text: fmt.Sprintf("At %d clients: rows whose id is below that of a row which was acknowledged before theirs was begun. "+
			"Sorted by id, such rows are not where they were written. Twice: over all rows and shards of this run.", detailed),
		Table: r.table([]string{"out of order %-", "twice"}, func(_ *contestant, f *figures) []report.Cell {
			if len(f.late) == 0 {
				return make([]report.Cell, 2)
			}
			return []report.Cell{report.Number(f.late...), report.Number(float64(f.duplicates))}
		}),
	}
}

func (r *run) shardSection() report.Section {
	t := report.Table{First: "ids from", Columns: columns("servers to change", "the change took, s-", "longest wait of a row meanwhile, ms-",
		"errors of clients-", "rows", "ids twice-")}
	for _, a := range r.added {
		cells := make([]report.Cell, 0, len(t.Columns))
		for _, v := range []float64{float64(a.changed), a.took.Seconds(), float64(a.wait) / 1e6, float64(a.errors), float64(a.rows), float64(a.duplicates)} {
			cells = append(cells, report.Number(v))
		}
		t.Rows = append(t.Rows, report.Row{Name: a.name, Ours: a.ours, Cells: cells})
	}
	return report.Section{
		Title: "One more shard",
		Text: fmt.Sprintf("From one shard less to all of them, while %d clients on each write a row a millisecond, on connections that last %s. "+
			"By hand: the greatest number of all is looked for, and each shard goes on above it with the new step, one after the other, and nobody is stopped; "+
			"MariaDB's connections keep the old step until they end, and rows that are written between the look and the change have numbers of others. "+
			"Whoever does it by hand must keep everybody from writing for that time. nextid migrate shards reshard lets one shard give half of its "+
			"numbers away, and waits for its older connections before the new shard begins. Ids from next_id and UUIDs know of no shards.",
			perShard, sessionTime),
		Table: t,
	}
}

func (r *run) failoverSection() report.Section {
	t := report.Table{First: "ids from", Columns: columns("killed, started again", "killed, a standby that lags takes over")}
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
func (r *run) beyondSection() report.Section {
	t := report.Table{First: "ids from", Columns: columns("rows", "rows/s at the end+", "read bytes a row-", "written bytes a row-")}
	panel := report.Panel{}
	for _, b := range r.beyond {
		few := report.Text("too few rows")
		row := report.Row{Name: b.name, Ours: b.ours, Cells: []report.Cell{report.Number(float64(b.rows)), few, few, few}}
		if b.rows*rowSize >= poolSize {
			for i, v := range []float64{b.perSecond, b.read, b.written} {
				row.Cells[1+i] = report.Number(math.Round(v))
			}
			panel.Bars = append(panel.Bars, report.Bar{Name: b.name, Value: math.Round(b.perSecond), Ours: b.ours})
		}
		t.Rows = append(t.Rows, row)
	}
	return report.Section{
		Title: "A table larger than memory",
		Text: fmt.Sprintf("One MariaDB with a buffer pool of %d MB and O_DIRECT, so that neither it nor the kernel keeps more of a table in memory; %d rows take about %d MB, "+
			"and more where keys are random, since pages are then part empty. The last tenth of the rows, by INSERTs of %d: random keys lie on pages that must be read first, "+
			"and each is written with few new rows on it. What a page costs is up to the disk; a virtual one may keep pages in its host's memory.",
			poolSize>>20, beyondFactor*r.Plan.GrowthRows, beyondFactor*r.Plan.GrowthRows*rowSize>>20, statementRows),
		Table:  t,
		Charts: []report.Chart{{Title: "A table larger than memory", Unit: "rows a second", Better: "more", Panels: []report.Panel{panel}}},
	}
}
func (r *run) pipelineSection() report.Section {
	t := report.Table{First: "ids from", Columns: columns("equal texts, ids/s+", "texts that differ, ids/s+", "ratio+", "others' cores")}
	chart := report.Chart{Title: "Pipelines", Unit: "ids a second", Better: "more", Panels: []report.Panel{{Title: "equal texts"}, {Title: "texts that differ"}}}
	floor := r.pipelined[len(r.pipelined)-1]
	for _, p := range r.pipelined {
		busy := report.Cell{}
		if len(p.others) > 0 {
			busy = report.Number(report.Median(p.others))
		}
		t.Rows = append(t.Rows, report.Row{Name: p.name, Ours: p.ours, Cells: []report.Cell{
			report.Number(p.equal...), report.Number(p.differ...), report.Ratio(p.differ, p.equal), busy,
		}})
		for i, samples := range [][]float64{p.equal, p.differ} {
			chart.Panels[i].Bars = append(chart.Panels[i].Bars, report.Bar{Name: p.name, Ours: p.ours}.Median(samples))
		}
		if r.stage.floor != nil && p != floor {
			r.Doubt("Pipelines", p.name, p.equal, floor.equal)
		}
	}
	return report.Section{
		Title: "Pipelines",
		Text: fmt.Sprintf("%d clients send %d statements for one id each in one piece, and read all answers before they send the next. Of equal texts a server "+
			"may keep what it made of the last one; texts that differ (in the name of their column, of Redis in the step) it has to tell apart. The floor reads "+
			"nothing of them.", pipelineClients, pipelineDepth),
		Table: t, Charts: []report.Chart{chart},
	}
}
