package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

func newReport(c Config) *report.Report {
	p := c.Plan
	return &report.Report{
		Title: "Where should ids come from?",
		Intro: "The same table, filled with ids from each source by the same client, everything on one machine, in turns. " +
			"Compare within this page: the numbers of two runs differ by more than most of these do.",
		Began: time.Now(), Machine: report.ThisMachine(),
		Settings: []string{
			fmt.Sprintf("rounds: %d, each %s (ids) and %s (rows) at each number of clients; medians, [least–greatest] of the rounds' ratios", p.Rounds, p.IDs, p.Rows),
			fmt.Sprintf("latency: %s at %.0f rows/s", p.Latency, p.Rate),
			fmt.Sprintf("growth: %d rows or %s", p.GrowthRows, p.GrowthLimit),
			"servers with their default settings, so PostgreSQL and MariaDB wait for the disk at each commit",
			rig.Network(),
		},
	}
}

// write makes the sections of the report.
func (r *run) write() {
	r.notes.Sections = append(r.notes.Sections, r.rowsSection(), r.idsSection())
	if len(r.pipelined) > 0 {
		r.notes.Sections = append(r.notes.Sections, r.pipelineSection())
	}
	r.notes.Sections = append(r.notes.Sections, r.costSection(), r.latencySection())
	if r.Plan.Share > 0 {
		r.notes.Sections = append(r.notes.Sections, r.shareSection())
	}
	r.notes.Sections = append(r.notes.Sections, r.growthSection())
	if len(r.beyond) > 0 {
		r.notes.Sections = append(r.notes.Sections, r.beyondSection())
	}
	r.notes.Sections = append(r.notes.Sections, r.orderSection())
	if len(r.added) > 0 {
		r.notes.Sections = append(r.notes.Sections, r.shardSection())
	}
	if len(r.fail) > 0 {
		r.notes.Sections = append(r.notes.Sections, r.failoverSection())
	}
}

// table is a table with a row for each contestant.
func (r *run) table(columns []report.Column, cells func(c *contestant, f *figures) []report.Cell) report.Table {
	t := report.Table{First: "ids from", Columns: columns}
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
	s := report.Section{
		Title: "Rows a second",
		Text: fmt.Sprintf("INSERTs of one row, each its own transaction, in a closed loop, into a table that has %d rows or more. With ids from another server the client first asks that "+
			"server, unless it took several at once. All shards share this machine, so more of them are no faster here. "+
			"The ratio is to the first scheme of the same database with as many shards. Others' cores, here and below: what programs that take no part "+
			"used of the machine meanwhile.", prefill),
	}
	var columns []report.Column
	chart := report.Chart{Title: "Rows a second", Unit: "INSERTs of one row a second", Better: "more"}
	for _, n := range r.Plan.Clients {
		columns = append(columns, report.Column{Name: clientsText(n), Better: "more"})
		chart.Panels = append(chart.Panels, r.bars(clientsText(n), func(f *figures) []float64 { return f.rows[n] }))
	}
	columns = append(columns, report.Column{Name: fmt.Sprintf("ratio at %d clients", detailed), Better: "more"}, report.Column{Name: "to"},
		report.Column{Name: "others' cores"})
	s.Table = r.table(columns, func(c *contestant, f *figures) (cells []report.Cell) {
		for _, n := range r.Plan.Clients {
			cells = append(cells, report.Number(f.rows[n]...))
		}
		reference := r.reference(c)
		if reference == nil || reference == c {
			return append(cells, report.Cell{}, report.Cell{}, f.busy(ofRows))
		}
		return append(cells, report.Ratio(f.rows[detailed], r.figures[reference].rows[detailed]), report.Text(reference.name), f.busy(ofRows))
	})
	s.Charts = []report.Chart{chart}
	return s
}

func (r *run) idsSection() report.Section {
	s := report.Section{
		Title: "Ids a second",
		Text: "Ids without rows, where they can be had without: one statement an id, or a batch. An application that makes ids itself is " +
			"measured with one thread, whatever the number of clients. The floor answers every query with the same bytes, with as many threads as the " +
			"machine has processors and over the same network: no server that is asked for each id can pass it.",
	}
	var columns []report.Column
	chart := report.Chart{Title: "Ids a second", Unit: "ids a second; batches and the application's own are left out, being far off the scale", Better: "more"}
	for _, n := range r.Plan.Clients {
		columns = append(columns, report.Column{Name: clientsText(n), Better: "more"})
		panel := report.Panel{Title: clientsText(n)}
		for _, c := range r.all {
			if c.inApp == nil && c.idsPerDraw() == 1 {
				panel.Bars = append(panel.Bars, report.Bar{Name: c.name, Ours: c.ours}.Median(r.figures[c].ids[n]))
			}
		}
		for _, c := range r.all {
			if c.inApp == nil && c.idsPerDraw() == 1 {
				r.notes.Floor("Ids a second, "+clientsText(n), c.name, r.figures[c].ids[n], r.floor[n])
			}
		}
		panel.Bars = append(panel.Bars, report.Bar{Name: "floor"}.Median(r.floor[n]))
		chart.Panels = append(chart.Panels, panel)
	}
	columns = append(columns, report.Column{Name: "others' cores"})
	s.Table = r.table(columns, func(c *contestant, f *figures) (cells []report.Cell) {
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
		bottom := report.Row{Name: "floor"}
		for _, n := range r.Plan.Clients {
			bottom.Cells = append(bottom.Cells, report.Number(r.floor[n]...))
		}
		s.Table.Rows = append(s.Table.Rows, report.Row{Name: bottom.Name, Cells: append(bottom.Cells, report.Text(" "))})
	}
	s.Charts = []report.Chart{chart}
	return s
}

func (r *run) costSection() report.Section {
	return report.Section{
		Title: "What a row costs",
		Text: fmt.Sprintf("At %d clients: CPU time of all servers that work for the row, and bytes between the client and them, without TCP's "+
			"headers. Behind: bytes between the table's server and nextid, for the ways in which it asks nextid itself.", detailed),
		Table: r.table([]report.Column{{Name: "CPU µs", Better: "less"}, {Name: "bytes on the wire", Better: "less"}, {Name: "behind", Better: "less"}, {Name: "others' cores"}},
			func(c *contestant, f *figures) []report.Cell {
				cells := []report.Cell{report.Number(f.cpu...), {}, {}, f.busy(ofRows)}
				if f.wire > 0 {
					cells[1] = report.Number(math.Round(f.wire))
				}
				if f.behind > 0 {
					cells[2] = report.Number(math.Round(f.behind))
				}
				return cells
			}),
		Charts: []report.Chart{{
			Title: "Server CPU", Unit: "µs a row, all servers", Better: "less",
			Panels: []report.Panel{r.bars("", func(f *figures) []float64 { return f.cpu })},
		}},
	}
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

func (r *run) latencySection() report.Section {
	charts := newLineCharts("Latency", "ms a row", report.Lines{X: "share of the rows that were done by then", Log: true, Ticks: r.ticks()})
	s := report.Section{
		Title: fmt.Sprintf("Latency at %.0f rows a second", r.Plan.Rate),
		Text: fmt.Sprintf("Rows begin at fixed instants, with up to %d clients. The time of a row counts from the instant at which it should have "+
			"begun, so that a server that stops for a moment pays for every row that had to wait (no coordinated omission). "+
			"Who did not reach the rate could not keep up.", r.Plan.LatencyClients),
	}
	var columns []report.Column
	for _, q := range r.quantiles() {
		columns = append(columns, report.Column{Name: q.text + " ms", Better: "less"})
	}
	s.Table = r.table(append(columns, report.Column{Name: "rows/s"}, report.Column{Name: "others' cores"}), func(c *contestant, f *figures) (cells []report.Cell) {
		if f.latency.N() == 0 {
			return make([]report.Cell, len(columns)+2)
		}
		series := report.Series{Name: c.name, Ours: c.ours}
		for _, q := range r.quantiles() {
			if float64(f.latency.N())*(1-q.q) < beyond {
				cells = append(cells, report.Text("too few rows"))
				continue
			}
			ms := float64(f.latency.Quantile(q.q)) / 1e6
			cells = append(cells, report.Number(ms))
			series.Points = append(series.Points, [2]float64{nines(q.q), ms})
		}
		charts.add(c, series)
		return append(cells, report.Number(f.reached), f.busy(ofLatency))
	})
	s.Charts = charts.all
	return s
}

// shareSection is latency at parts of what each contestant can do.
func (r *run) shareSection() report.Section {
	s := report.Section{
		Title: "Latency at a share of what each can do",
		Text: fmt.Sprintf("As above, but the rate is a share of the rows a second that the same scheme wrote with %d clients in a closed loop: "+
			"everybody is equally busy, and the rates differ.", r.Plan.Clients[len(r.Plan.Clients)-1]),
	}
	var columns []report.Column
	for _, share := range shares {
		at := fmt.Sprintf("at %.0f %%", 100*share)
		columns = append(columns, report.Column{Name: at + ", rows/s"}, report.Column{Name: "reached"},
			report.Column{Name: at + ", 50 % ms", Better: "less"}, report.Column{Name: at + ", 99 % ms", Better: "less"})
	}
	s.Table = r.table(append(columns, report.Column{Name: "others' cores"}), func(_ *contestant, f *figures) (cells []report.Cell) {
		for i := range shares {
			if i >= len(f.shared) || f.shared[i].latency.N() == 0 {
				cells = append(cells, make([]report.Cell, 4)...)
				continue
			}
			m := &f.shared[i]
			cells = append(cells, report.Number(math.Round(m.rate)), report.Number(math.Round(m.reached)))
			for _, q := range []float64{0.5, 0.99} {
				if float64(m.latency.N())*(1-q) < beyond {
					cells = append(cells, report.Text("too few rows"))
				} else {
					cells = append(cells, report.Number(float64(m.latency.Quantile(q))/1e6))
				}
			}
		}
		return append(cells, f.busy(ofShares))
	})
	return s
}

func (r *run) ticks() (t []report.Tick) {
	for _, q := range r.quantiles() {
		t = append(t, report.Tick{At: nines(q.q), Text: q.text})
	}
	return t
}

// lineCharts are charts with lines: one for the tables of each database.
type lineCharts struct {
	all     []report.Chart
	engines []engine
}

func newLineCharts(title, unit string, lines report.Lines) *lineCharts {
	l := &lineCharts{}
	for _, e := range []engine{postgres, mariadb} {
		own := lines
		l.engines = append(l.engines, e)
		l.all = append(l.all, report.Chart{Title: title + ", tables in " + string(e), Unit: unit, Better: "less", Lines: &own})
	}
	return l
}

func (l *lineCharts) add(c *contestant, s report.Series) {
	lines := l.all[slices.Index(l.engines, c.engine)].Lines
	lines.Series = append(lines.Series, s)
}

func nines(q float64) float64 { return -math.Log10(1 - q) }

func (r *run) growthSection() report.Section {
	charts := newLineCharts("Growth of indexes", "MB of all indexes (MariaDB: with the rows)", report.Lines{X: "rows"})
	s := report.Section{
		Title: "A large table",
		Text: fmt.Sprintf("A table with the id as primary key, an indexed number and a text of %d bytes, filled by INSERTs of %d rows. "+
			"Written: what the processes handed to the disk for it, logs included, with a checkpoint at every tenth. "+
			"MariaDB keeps the rows in the primary key's tree; its other indexes repeat the id; and it takes disk by the megabyte, so that only "+
			"tables of many megabytes compare. Sizes of tables that did not reach %d rows in %s are left out.",
			len(note), statementRows, r.Plan.GrowthRows, r.Plan.GrowthLimit),
	}
	written := report.Chart{Title: "Written to disk", Unit: "bytes a row", Better: "less"}
	columns := []report.Column{
		{Name: "rows"},
		{Name: "bytes a row", Better: "less"},
		{Name: "of them primary key and rows", Better: "less"},
		{Name: "of them other indexes", Better: "less"},
		{Name: "written bytes a row", Better: "less"},
		{Name: "others' cores"},
	}
	panel := report.Panel{}
	s.Table = r.table(columns, func(c *contestant, f *figures) []report.Cell {
		if len(f.growth) == 0 {
			return make([]report.Cell, len(columns))
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
		a := func(n int64) float64 { return math.Round(float64(n) / float64(max(last.rows, 1))) }
		if last.rows < r.Plan.GrowthRows {
			cells := append([]report.Cell{report.Number(float64(last.rows))}, make([]report.Cell, len(columns)-2)...)
			return append(cells, f.busy(ofGrowth))
		}
		cells := []report.Cell{report.Number(float64(last.rows)), report.Number(a(last.data + last.indexes)), report.Number(a(last.data)), report.Number(a(last.indexes)), {}, f.busy(ofGrowth)}
		if r.stage.measurable(c) {
			cells[4] = report.Number(a(last.written))
			panel.Bars = append(panel.Bars, report.Bar{Name: c.name, Value: a(last.written), Ours: c.ours})
		}
		return cells
	})
	written.Panels = []report.Panel{panel}
	s.Charts = append(charts.all, written)
	return s
}

func (r *run) orderSection() report.Section {
	return report.Section{
		Title: "Order, and ids that came twice",
		Text: fmt.Sprintf("At %d clients: rows whose id is below that of a row which was acknowledged before theirs was begun. "+
			"Sorted by id, such rows are not where they were written. Twice: over all rows and shards of this run.", detailed),
		Table: r.table([]report.Column{{Name: "out of order %", Better: "less"}, {Name: "twice"}}, func(_ *contestant, f *figures) []report.Cell {
			if len(f.late) == 0 {
				return make([]report.Cell, 2)
			}
			return []report.Cell{report.Number(f.late...), report.Number(float64(f.duplicates))}
		}),
	}
}

func (r *run) shardSection() report.Section {
	t := report.Table{First: "ids from", Columns: []report.Column{
		{Name: "servers to change"},
		{Name: "the change took, s", Better: "less"},
		{Name: "longest wait of a row meanwhile, ms", Better: "less"},
		{Name: "errors of clients", Better: "less"},
		{Name: "rows"},
		{Name: "ids twice", Better: "less"},
	}}
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
	t := report.Table{First: "ids from", Columns: []report.Column{{Name: "killed, started again"}, {Name: "killed, a standby that lags takes over"}}}
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
