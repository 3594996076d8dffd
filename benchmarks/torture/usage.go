package torture

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
)

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
			return (&net.Dialer{}).DialContext(ctx, "unix", n.socket(web))
		}},
	}
	for load.Rest(ctx, every); ctx.Err() == nil; load.Rest(ctx, every) {
		answer, err := client.Get("http://nextid/metrics")
		if err != nil {
			continue // a fault has stopped the server
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			continue
		}
		if s, err := metrics(string(text)); err == nil {
			n.samples = append(n.samples, s)
		}
	}
}

// metrics parses the resources in the text of /metrics.
func metrics(text string) (s sample, err error) {
	found := 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		for i, r := range resources {
			if r.metric == name {
				if s[i], err = strconv.ParseFloat(value, 64); err != nil {
					return s, err
				}
				s[i] /= r.unit
				found++
			}
		}
	}
	if found < len(resources) {
		return s, fmt.Errorf("/metrics has %d of %d rows", found, len(resources))
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
	for n := range r.nodes() {
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
