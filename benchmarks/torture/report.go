package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nextid/benchmarks/report"
)

// report completes the report of a run. verdict is the error of check. flat is false
// if the use of a resource has grown.
func (r *run) report(took, back time.Duration, ids int, verdict error) (flat bool) {
	l, out := r.ledger, r.Report
	out.Settings = []string{fmt.Sprintf("%d servers, %d clients that rest for %v between draws, faults for %v",
		len(slices.Collect(r.nodes())), r.cfg.Clients, r.cfg.Pause, r.cfg.Duration)}
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
	usage, grown := r.usage()
	judgement := "yes"
	switch {
	case grown:
		judgement = "NO"
	case len(usage.Table.Rows) == 0:
		judgement = "not judged: the run was too short"
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
			row("memory, goroutines and descriptors are flat", report.Text(judgement)),
		}},
	})
	for _, s := range []report.Section{
		r.survived(),
		usage,
		counted("Connections that drew ids", "protocol", l.protocols),
		counted("What bad clients did beside", "", r.bad),
		counted("What clients were told instead of an id", "SQLSTATE or error of MySQL", l.refusals),
	} {
		if len(s.Table.Rows) > 0 {
			out.Sections = append(out.Sections, s)
		}
	}
	return !grown
}

// survived returns the section of the faults. It adds notes about faults that were
// left out.
func (r *run) survived() report.Section {
	names := []string{"times", "seconds in all"}
	if len(r.places) > 1 {
		for _, p := range r.places {
			names = slices.Insert(names, len(names)-1, p.kind)
		}
	}
	s := report.Section{Title: "Faults survived", Table: report.Table{First: "fault", Columns: report.Columns(names...)}}
	for _, f := range faults {
		sum := 0
		var cells []report.Cell
		for _, p := range r.places {
			n := r.times[occasion{f, p}]
			sum += n
			if len(r.places) > 1 {
				cells = append(cells, report.Number(float64(n)))
			}
			if why := f.possible(p); n == 0 && why != "" {
				r.Report.Notes = append(r.Report.Notes, "left out: "+p.kind+": "+f.name+": "+why)
			}
		}
		if sum > 0 {
			cells = slices.Concat([]report.Cell{report.Number(float64(sum))}, cells, []report.Cell{report.Number(r.lasts[f].Seconds())})
			s.Table.Rows = append(s.Table.Rows, row(f.name, cells...))
		}
	}
	return s
}

// counted returns a section with counts by name.
func counted(title, first string, times map[string]int) report.Section {
	s := report.Section{Title: title, Table: report.Table{First: first, Columns: report.Columns("times")}}
	for _, what := range slices.Sorted(maps.Keys(times)) {
		s.Table.Rows = append(s.Table.Rows, row(what, report.Number(float64(times[what]))))
	}
	return s
}

func row(name string, cells ...report.Cell) report.Row { return report.Row{Name: name, Cells: cells} }
