package torture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/report"
)

// sample holds a server's use of resources, from its /metrics.
type sample struct {
	at   time.Duration // since the start of the run
	used [len(resources)]float64
}

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
func (n *node) watch(ctx context.Context, began time.Time) {
	every := min(max(n.place.run.cfg.Duration/360, time.Second), 10*time.Second)
	web := &http.Client{
		Timeout: patience,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", n.socket(web))
		}},
	}
	for {
		rest(ctx, every)
		if ctx.Err() != nil {
			return
		}
		used, err := use(ctx, web)
		if err != nil {
			continue // a fault has stopped the server
		}
		n.mu.Lock()
		n.samples = append(n.samples, sample{time.Since(began), used})
		n.mu.Unlock()
	}
}

// use reads /metrics.
func use(ctx context.Context, web *http.Client) (used [len(resources)]float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://nextid/metrics", http.NoBody)
	if err != nil {
		return used, err
	}
	answer, err := web.Do(request)
	if err != nil {
		return used, err
	}
	defer func() { _ = answer.Body.Close() }()
	return metrics(answer.Body)
}

// metrics parses the resources in the lines of /metrics.
func metrics(in io.Reader) (used [len(resources)]float64, err error) {
	found := 0
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		for i, r := range resources {
			if r.metric != name {
				continue
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return used, err
			}
			used[i] = v / r.unit
			found++
		}
	}
	if found < len(resources) {
		return used, errors.Join(lines.Err(), fmt.Errorf("/metrics has %d of %d rows", found, len(resources)))
	}
	return used, nil
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
	for _, s := range samples {
		t.most = max(t.most, s.used[resource])
	}
	warm := samples[len(samples)/5:]
	if len(samples) < least {
		return t, false
	}
	median := func(of []sample) float64 {
		var values []float64
		for _, s := range of {
			values = append(values, s.used[resource])
		}
		return report.Median(values)
	}
	t.first, t.last = median(warm[:len(warm)/4]), median(warm[len(warm)*3/4:])
	t.grown = t.last > 1.1*t.first+resources[resource].slack
	return t, true
}

// grown reports whether the use of a resource by a server has grown.
func (r *run) grown() bool {
	for n := range r.nodes() {
		for i := range resources {
			if t, ok := trendOf(n.samples, i); ok && t.grown {
				return true
			}
		}
	}
	return false
}

// usage returns the section about resources. ok is false if nothing was judged.
func (r *run) usage() (s report.Section, ok bool) {
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
				flat = "NO"
			}
			s.Table.Rows = append(s.Table.Rows, row(n.String()+", "+resource.name,
				report.Number(t.first), report.Number(t.last), report.Number(t.most), report.Number(float64(len(n.samples))), report.Text(flat)))
		}
	}
	return s, len(s.Table.Rows) > 0
}
