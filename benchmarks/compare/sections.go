package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
)

// column is a column of a table with a row for each contestant.
type column = report.Of[*contestant]

func (c *contestant) row() report.Row { return report.Row{Name: c.name, Ours: c.ours} }
func (f *failover) row() report.Row   { return report.Row{Name: f.name, Ours: f.ours} }

// section returns a section with a table of sources of ids. The first bars columns
// are in the panels of its chart, too, if it has one.
func section[T interface{ row() report.Row }](title, text string, all []T, bars int, chart report.Chart, columns ...report.Of[T]) report.Section {
	s := report.Section{Title: title, Text: text, Table: report.TableOf("ids from", all, T.row, columns...)}
	for i := range bars {
		chart.Panels = append(chart.Panels, s.Table.Panel(strings.TrimSuffix(columns[i].Name, " ms"), i))
	}
	if chart.Title != "" {
		s.Charts = []report.Chart{chart}
	}
	return s
}

// byClients returns a column for each number of clients.
func (r *run) byClients(cell func(c *contestant, n int) report.Cell) (columns []column) {
	for _, n := range r.plan.Clients {
		name := fmt.Sprintf("%d clients", n)
		if n == 1 {
			name = "1 client"
		}
		columns = append(columns, column{Name: name, Cell: func(c *contestant) report.Cell { return cell(c, n) }})
	}
	return columns
}

// only returns the contestants for which keep returns true.
func (r *run) only(keep func(c *contestant) bool) []*contestant {
	return slices.DeleteFunc(slices.Clone(r.all), func(c *contestant) bool { return !keep(c) })
}

// positive returns a cell with a number, which is empty for 0.
func positive(v float64) report.Cell {
	if v == 0 {
		return report.Cell{}
	}
	return report.Number(v)
}

// write adds the answer and the sections to the report.
func (r *run) write(shards int) {
	r.Report.Answer = r.answer(shards)
	r.Report.Sections = []report.Section{
		r.rowsSection(), r.idsSection(), r.costSection(), r.latencySection(), r.orderSection(), r.outageSection(), r.failoverSection(),
	}
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
		if c := r.find(name); len(c.latency) > 0 {
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
			twice += duplicates(c.written)
		}
	}
	fed := fmt.Sprintf("fed sequences, %d PostgreSQL", shards)
	return fmt.Sprintf("next_id or auto_increment, what does it cost me? "+
		"With %d clients, rows a second beside the database's own numbers: next_id by %d %s on PostgreSQL and %s on MariaDB; fed sequences %s. "+
		"next_id asked for each row: %s, and a row takes %s instead of %s, plus one round trip of your network. "+
		"In return %d of its ids came twice over all shards.",
		detailed, batch, ratio("next_id snowflake by 1000, then", identity), ratio("next_id snowflake by 1000, one MariaDB", auto),
		ratio(fed, "sequences INCREMENT"), ratio("next_id snowflake, then", identity), wait("next_id snowflake, then"), wait(identity),
		twice)
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

// reference returns the contestant to which c's rows are compared: the first one
// with the same engine and as many shards that is not ours. It is empty if there is
// none or if that is c.
func (r *run) reference(c *contestant) *contestant {
	for _, other := range r.all {
		if other.engine == c.engine && other.sharded == c.sharded && !other.ours && other != c {
			return other
		} else if other == c && !c.ours {
			break
		}
	}
	return &contestant{}
}

func (r *run) rowsSection() report.Section {
	columns := append(r.byClients(func(c *contestant, n int) report.Cell { return report.Number(c.rows[n]...) }),
		column{Name: fmt.Sprintf("ratio at %d clients", detailed), Cell: func(c *contestant) report.Cell {
			return report.Ratio(c.rows[detailed], r.reference(c).rows[detailed])
		}},
		column{Name: "to", Cell: func(c *contestant) report.Cell { return report.Text(r.reference(c).name) }})
	return section("Rows a second",
		fmt.Sprintf("INSERTs of one row, each its own transaction, in a closed loop, into a table that has %d rows or more. With ids from another server the client first asks that "+
			"server, unless it took several at once. All shards share this machine, so more of them are no faster here. "+
			"The ratio is to the first scheme of the same database with as many shards.", prefill),
		r.all, len(r.plan.Clients), report.Chart{Title: "Rows a second", Unit: "INSERTs of one row a second", Better: "more"}, columns...)
}

func (r *run) idsSection() report.Section {
	s := section("Ids a second",
		"Ids without rows, where they can be had without: one statement an id, or a batch. An application that makes ids itself is "+
			"measured with one thread, whatever the number of clients. The floor answers every query with the same bytes, with one thread that polls. "+
			"A server that is asked for each id hardly passes the best of its rounds.",
		r.all, len(r.plan.Clients),
		report.Chart{Title: "Ids a second", Unit: "ids a second; batches and the application's own are left out, being far off the scale", Better: "more"},
		r.byClients(func(c *contestant, n int) report.Cell {
			if c.generated() && c.draw == "" {
				return report.Text("with its row only")
			}
			return report.Number(c.ids[n]...)
		})...)
	bottom := report.Row{Name: "floor"}
	for i, n := range r.plan.Clients {
		var bars []report.Bar
		panel := &s.Charts[0].Panels[i]
		for k, c := range r.all {
			if c.inApp == nil && c.idsPerDraw() == 1 && !r.Report.Doubt("Ids a second, "+panel.Title, c.name, c.ids[n], r.floor[n]) {
				bars = append(bars, panel.Bars[k])
			}
		}
		panel.Bars = append(bars, report.Bar{Name: "floor"}.Median(r.floor[n]))
		bottom.Cells = append(bottom.Cells, report.Number(r.floor[n]...))
	}
	s.Table.Rows = append(s.Table.Rows, bottom)
	return s
}

func (r *run) costSection() report.Section {
	s := section("What a row costs",
		fmt.Sprintf("At %d clients: CPU time of all servers that work for the row, and bytes between the client and them, without TCP's headers.", detailed),
		r.all, 1, report.Chart{Title: "Server CPU", Unit: "µs a row, all servers", Better: "less"},
		column{Name: "CPU µs", Cell: func(c *contestant) report.Cell { return report.Number(c.cpu...) }},
		column{Name: "bytes on the wire", Cell: func(c *contestant) report.Cell { return positive(math.Round(c.wire)) }})
	s.Charts[0].Panels[0].Title = ""
	return s
}

// beyond is the least number of rows above a quantile. With fewer, single slow rows
// determine the quantile.
const beyond = 10

// milliseconds returns a cell with a quantile of the latency.
func milliseconds(l load.Latency, q float64) report.Cell {
	switch {
	case len(l) == 0:
		return report.Cell{}
	case float64(len(l))*(1-q) < beyond:
		return report.Text("too few rows")
	}
	return report.Number(float64(l.Quantile(q)) / 1e6)
}

// latencySection has a column for each quantile for which the plan has enough rows.
func (r *run) latencySection() report.Section {
	var columns []column
	for _, percent := range []float64{50, 90, 99, 99.9} {
		if q := percent / 100; r.plan.Rate*r.plan.Latency.Seconds()*(1-q) >= beyond {
			columns = append(columns, column{Name: fmt.Sprintf("%g %% ms", percent), Cell: func(c *contestant) report.Cell { return milliseconds(c.latency, q) }})
		}
	}
	return section(fmt.Sprintf("Latency at %.0f rows a second", r.plan.Rate),
		fmt.Sprintf("Rows begin at fixed instants, with up to %d clients. The time of a row counts from the instant at which it should have "+
			"begun, so that a server that stops for a moment pays for every row that had to wait (no coordinated omission). "+
			"Who did not reach the rate could not keep up.", r.plan.LatencyClients),
		r.all, len(columns), report.Chart{Title: "Latency", Unit: "ms a row, that a share of the rows does not exceed", Better: "less"},
		append(columns, column{Name: "rows/s", Cell: func(c *contestant) report.Cell { return positive(c.reached) }})...)
}

func (r *run) orderSection() report.Section {
	return section("Order, and ids that came twice",
		fmt.Sprintf("At %d clients: rows whose id is below that of a row which was acknowledged before theirs was begun. "+
			"Sorted by id, such rows are not where they were written. Twice: over the rows of all rounds and shards.", detailed),
		r.all, 0, report.Chart{},
		column{Name: "out of order %", Cell: func(c *contestant) report.Cell { return report.Number(c.late...) }},
		column{Name: "twice", Cell: func(c *contestant) report.Cell {
			if len(c.late) == 0 {
				return report.Cell{}
			}
			return report.Number(float64(duplicates(c.written)))
		}})
}

func (r *run) outageSection() report.Section {
	away := func(name string, figure func(o *outage) float64) column {
		return column{Name: name, Cell: func(c *contestant) report.Cell {
			if c.outage == nil || c.outage.rows[before] == 0 {
				return report.Cell{}
			}
			return report.Number(figure(c.outage))
		}}
	}
	return section("An outage of nextid",
		fmt.Sprintf("%d clients of each scheme write a row every %s, all at once. nextid is killed for %s; the rows of that time are compared with those of as "+
			"long a time before. A fed sequence (nextid migrate feed) has its numbers in a block: an INSERT waits for no other server.",
			outageClients, outagePause, r.plan.Outage),
		r.only(func(c *contestant) bool { return c.beside }), 0, report.Chart{},
		away("rows while nextid is away, %", func(o *outage) float64 { return math.Round(100 * float64(o.rows[during]) / float64(o.rows[before])) }),
		away("errors", func(o *outage) float64 { return float64(o.errors) }),
		away("longest wait, ms", func(o *outage) float64 { return float64(o.gap.Milliseconds()) }))
}

func (r *run) failoverSection() report.Section {
	return section("A simulated failover",
		fmt.Sprintf("%d ids are drawn, then the server is killed (SIGKILL) and started again on its own disk; and the same with a copy of its data "+
			"that has not seen the last %d ids, which is what an asynchronous standby may be. Ids that were drawn before and after count as twice. "+
			"With a shared store in PostgreSQL it is that one which is killed, and whose lagging standby is promoted (--store-failover skip): the server of nextid that "+
			"ran on and one that was started afterwards both draw.",
			failoverDraws, failoverDraws),
		r.fail, 0, report.Chart{},
		report.Of[*failover]{Name: "killed, started again", Cell: func(f *failover) report.Cell { return report.Text(f.crash) }},
		report.Of[*failover]{Name: "killed, a standby that lags takes over", Cell: func(f *failover) report.Cell { return report.Text(f.standby) }})
}
