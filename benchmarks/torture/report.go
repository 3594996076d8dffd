package torture

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
)

// report completes the report of a run. verdict tells which
// ids are wrong, nil if none are. flat is false if the use of a resource has grown.
func (r *run) report(took, back time.Duration, verdict error) (flat bool) {
	l, out := r.ledger, r.Report
	out.Settings = []string{fmt.Sprintf("%d servers, %d clients that rest for %v between draws, faults for %v",
		len(r.nodes), r.cfg.Clients, r.cfg.Pause, r.cfg.Duration)}
	for _, p := range r.places {
		out.Versions = append(out.Versions, p.name)
	}
	found, again, judgement := "none", "not asked", "yes"
	wrong := slices.Clone(r.silent)
	if verdict != nil {
		found = "FOUND"
		wrong = append(wrong, verdict.Error())
	}
	out.Answer = strings.Join(wrong, "\n") // the notes are about what is missing
	switch {
	case back < 0:
		again = "no"
	case back > 0:
		again = "yes, after " + back.Round(10*time.Millisecond).String()
	}
	usage, grown := r.usage()
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
			row("ids in the log, all checked", report.Number(float64(l.ids))),
			row("ids a second", report.Number(float64(l.ids)/took.Seconds())),
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
		sum, lasts := 0, time.Duration(0)
		var cells []report.Cell
		for _, p := range r.places {
			n := p.times[f]
			sum, lasts = sum+n, lasts+p.lasts[f]
			if len(r.places) > 1 {
				cells = append(cells, report.Number(float64(n)))
			}
			if why := f.possible(p); n == 0 && why != "" {
				r.Report.Notes = append(r.Report.Notes, "left out: "+p.kind+": "+f.name+": "+why)
			}
		}
		if sum > 0 {
			cells = slices.Concat([]report.Cell{report.Number(float64(sum))}, cells, []report.Cell{report.Number(lasts.Seconds())})
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

// sample holds a server's use of resources, from its /metrics.
type sample [len(resources)]float64

// resource is a resource whose use must not grow.
type resource struct {
	name   string
	metric string
	unit   float64 // divisor of the metric
	slack  float64 // increase that does not count as growth
}

// The garbage collector runs when the heap has grown by a multiple of the few MiB in
// use. So the heap of a short run may vary by some MiB.
var resources = [...]resource{
	{"memory, MiB", "process_resident_memory_bytes", 1 << 20, 24},
	{"heap, MiB", "go_memstats_heap_inuse_bytes", 1 << 20, 24},
	{"goroutines", "go_goroutines", 1, 10},
	{"descriptors", "process_open_fds", 1, 10},
}

// least is the number of samples from which on growth is judged.
const least = 60

// watch samples a server's use of resources, until ctx ends.
func (n *node) watch(ctx context.Context) {
	every := min(max(n.place.run.cfg.Duration/360, time.Second), 10*time.Second)
	client := &http.Client{
		Timeout: patience,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", n.HTTP)
		}},
	}
	for load.Rest(ctx, every); ctx.Err() == nil; load.Rest(ctx, every) {
		answer, err := client.Get("http://nextid/metrics")
		if err != nil {
			continue // a fault has stopped the server
		}
		text, _ := io.ReadAll(answer.Body) // an incomplete page has not all metrics
		_ = answer.Body.Close()
		if s, err := metrics(string(text)); err == nil {
			n.samples = append(n.samples, s)
		}
	}
}

// metrics parses the resources in the text of /metrics.
func metrics(text string) (s sample, err error) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[name] = value
	}
	for i, r := range resources {
		if s[i], err = strconv.ParseFloat(values[r.metric], 64); err != nil {
			return s, fmt.Errorf("/metrics: %s: %w", r.metric, err)
		}
		s[i] /= r.unit
	}
	return s, nil
}

// trend is the use of one resource over a run. The first fifth of the samples is the
// warm-up. The medians of the first and of the last quarter after that are compared:
// single samples vary with running statements.
type trend struct {
	first, last, most float64
	grown             bool
}

// trendOf computes the trend of one resource. ok is false if there are too few
// samples.
func trendOf(samples []sample, resource int) (t trend, ok bool) {
	if len(samples) < least {
		return t, false
	}
	var values []float64
	for _, s := range samples {
		values = append(values, s[resource])
		t.most = max(t.most, s[resource])
	}
	warm := values[len(values)/5:]
	t.first, t.last = report.Median(warm[:len(warm)/4]), report.Median(warm[len(warm)*3/4:])
	t.grown = t.last > 1.1*t.first+resources[resource].slack
	return t, true
}

// usage returns the section about resources, without rows if nothing was judged, and
// whether the use of a resource by a server has grown.
func (r *run) usage() (s report.Section, grown bool) {
	s = report.Section{
		Title: "What servers used that were never killed",
		Text: "Medians of the first and of the last quarter after warming up (a fifth of the run), the most that was seen, " +
			"and whether it grew: by more than a tenth and a little.",
		Table: report.Table{First: "server", Columns: report.Columns("first quarter", "last quarter", "most", "looks", "flat")},
	}
	for _, n := range r.nodes {
		for i, resource := range resources {
			t, judged := trendOf(n.samples, i)
			if !judged {
				continue
			}
			flat := "yes"
			if t.grown {
				flat, grown = "NO", true
			}
			s.Table.Rows = append(s.Table.Rows, row(n.String()+", "+resource.name,
				report.Number(t.first), report.Number(t.last), report.Number(t.most), report.Number(float64(len(n.samples))), report.Text(flat)))
		}
	}
	return s, grown
}
