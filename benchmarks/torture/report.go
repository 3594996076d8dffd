package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nextid/benchmarks/report"
)

// report makes the report of a run. verdict is the error of check.
func (r *run) report(began time.Time, took, back time.Duration, ids int64, verdict error) *report.Report {
	l := r.ledger
	out := &report.Report{
		Title: "Torture of nextid", Began: began, Took: took.Seconds(), Machine: report.ThisMachine(),
		Settings: []string{fmt.Sprintf("%d servers, %d clients that rest for %v between draws, faults for %v",
			len(slices.Collect(r.nodes())), r.cfg.Clients, r.cfg.Pause, r.cfg.Duration)},
	}
	for _, p := range r.places {
		out.Versions = append(out.Versions, p.name)
	}
	found := "none"
	if verdict != nil {
		found = "FOUND"
		out.Notes = append(out.Notes, strings.Split(verdict.Error(), "\n")...)
	}
	out.Notes = append(out.Notes, r.silent...)
	again := "not asked"
	switch {
	case back < 0:
		again = "no"
	case back > 0:
		again = "yes, after " + back.Round(10*time.Millisecond).String()
	}
	usage, judged := r.usage()
	flat := "not judged: the run was too short"
	switch {
	case r.grown():
		flat = "NO"
	case judged:
		flat = "yes"
	}
	out.Sections = append(out.Sections, report.Section{
		Title: "Verdict",
		Table: report.Table{First: "", Columns: report.Columns(""), Rows: []report.Row{
			row("ids given twice or out of order", report.Text(found)),
			row("ids in the log, all checked", report.Number(float64(ids))),
			row("ids a second", report.Number(float64(ids)/took.Seconds())),
			row("connections", report.Number(float64(l.clients))),
			row("longest time in which no server answered", report.Text(fmt.Sprintf("%v, %v after the beginning",
				l.gap.Round(time.Millisecond), l.gapAt.Sub(l.began).Round(100*time.Millisecond)))),
			row("all servers answer at the end", report.Text(again)),
			row("memory, goroutines and descriptors are flat", report.Text(flat)),
		}},
	})
	out.Sections = append(out.Sections, r.survived(out))
	if judged {
		out.Sections = append(out.Sections, usage)
	}
	for _, s := range []report.Section{
		counted("Connections that drew ids", "protocol", l.protocols),
		counted("What bad clients did beside", "", r.bad),
		counted("What clients were told instead of an id", "SQLSTATE or error of MySQL", l.refusals),
	} {
		if len(s.Table.Rows) > 0 {
			out.Sections = append(out.Sections, s)
		}
	}
	return out
}

// survived returns the section of the faults. It adds notes about faults that were
// left out.
func (r *run) survived(out *report.Report) report.Section {
	s := report.Section{Title: "Faults survived", Table: report.Table{First: "fault", Columns: report.Columns("times")}}
	if len(r.places) > 1 {
		for _, p := range r.places {
			s.Table.Columns = append(s.Table.Columns, report.Column{Name: p.kind})
		}
	}
	s.Table.Columns = append(s.Table.Columns, report.Column{Name: "seconds in all"})
	for _, f := range faults {
		sum := 0
		var cells []report.Cell
		for _, p := range r.places {
			n := r.times[occasion{f, p}]
			sum += n
			cells = append(cells, report.Number(float64(n)))
			if why := f.possible(p); n == 0 && why != "" {
				out.Notes = append(out.Notes, "left out: "+p.kind+": "+f.name+": "+why)
			}
		}
		if sum == 0 {
			continue
		}
		if len(r.places) == 1 {
			cells = nil
		}
		cells = slices.Concat([]report.Cell{report.Number(float64(sum))}, cells, []report.Cell{report.Number(r.lasts[f].Seconds())})
		s.Table.Rows = append(s.Table.Rows, row(f.name, cells...))
	}
	return s
}

// counted returns a section with counts by name.
func counted[K ~string, N int | int64](title, first string, times map[K]N) report.Section {
	s := report.Section{Title: title, Table: report.Table{First: first, Columns: report.Columns("times")}}
	for _, what := range slices.Sorted(maps.Keys(times)) {
		s.Table.Rows = append(s.Table.Rows, row(string(what), report.Number(float64(times[what]))))
	}
	return s
}

func row(name string, cells ...report.Cell) report.Row { return report.Row{Name: name, Cells: cells} }
