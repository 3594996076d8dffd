package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
)

// scraped is one metric of a scrape.
type scraped struct {
	kind, help string
	labels     []string // of its samples, in their order
	samples    int
}

// scrape reads Prometheus's text format.
func scrape(t *testing.T, text string) map[string]*scraped {
	t.Helper()
	all := map[string]*scraped{}
	var name string
	sample := regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)
	label := regexp.MustCompile(`([a-z]+)="(?:[^"\\]|\\.)*"`)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch words := strings.SplitN(line, " ", 4); {
		case words[1] == "HELP":
			name = words[2]
			if all[name] != nil {
				t.Errorf("%s begins twice", name)
			}
			all[name] = &scraped{help: words[3]}
		case words[1] == "TYPE":
			if words[2] != name {
				t.Errorf("TYPE of %s after HELP of %s", words[2], name)
			}
			all[name].kind = words[3]
		default:
			m := sample.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("not a sample: %s", line)
			}
			f := all[name]
			if m[1] != name && (f.kind != "histogram" && f.kind != "summary" || !slices.Contains([]string{name + "_bucket", name + "_sum", name + "_count"}, m[1])) {
				t.Errorf("a sample of %s below %s", m[1], name)
			}
			if _, err := strconv.ParseFloat(m[3], 64); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			f.samples++
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				if l[1] != "le" && l[1] != "quantile" && !slices.Contains(f.labels, l[1]) {
					f.labels = append(f.labels, l[1])
				}
			}
		}
	}
	return all
}

const metricsPage = "../../docs/metrics.md"

// part returns the text of the page between two lines.
func part(t *testing.T, page, begin, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, begin+"\n")
	inside, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has nothing between %q and %q", metricsPage, begin, end)
	}
	return inside
}

// TestEveryMetricIsDocumented starts a server that sends every metric, and compares
// them with the table in docs/metrics.md. -update writes the table. Metrics and
// labels in the alert rules must exist.
func TestEveryMetricIsDocumented(t *testing.T) {
	t.Parallel()
	place := dbtest.Redis(t)
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", place.URL); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	shop := dbtest.QuickPostgres(t)
	if _, err := connect(t, shop).Exec(t.Context(), "CREATE SEQUENCE fed"); err != nil {
		t.Fatal(err)
	}
	fed := strings.NewReplacer("postgres://postgres@", "", "?sslmode=disable", "").Replace(shop)
	cert, key := dbtest.NewAuthority(t).Server().Write(t, t.TempDir(), "server")
	s := startServer(t, []string{
		"NEXTID_TLS_CERT=" + cert, "NEXTID_TLS_KEY=" + key, "NEXTID_AUDIT_FILE=" + filepath.Join(t.TempDir(), "audit"), "NEXTID_LIMITS_CONNECTIONS_PER_IP=1",
	}, "--config", writeFile(t, "nextid.yaml", "quotas: [{user: anybody, generator: orders, ids: 1000}]"), "--http", "127.0.0.1:0", "--store", place.URL)
	conn := s.connect()
	for _, text := range []string{
		"SELECT next_id('orders')", "SELECT get_id('web')", "SELECT create_generator('bounded', 'segment', max => 1000)", "SELECT next_id('bounded')",
		"SELECT create_generator('cached', 'ring')", "SELECT next_id('cached')",
		fmt.Sprintf(`SELECT create_generator('photos', 'ticket', '{"databases": [%q, "mysql://tickets@127.0.0.1:1/flickr"]}')`, place.URL),
		"SELECT next_id('photos')",
		fmt.Sprintf(`SELECT create_generator('fed', 'segment', '{"feeds": {"%s fed": {"ahead": "24h"}}}')`, shop), "SELECT FROM nextid.feeds",
	} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "SELECT nothing"); err == nil {
		t.Fatal("there is a column")
	}
	if other, err := pgx.Connect(t.Context(), "postgres://anybody@"+s.address+"/nextid?sslmode=disable"); err == nil {
		other.Close(t.Context())
		t.Fatal("a second connection from this address")
	}
	var text string
	lines := []string{ // each appears at last
		`nextid_ticket_database_up{database="mysql://tickets@127.0.0.1:1/flickr",generator="photos"} 0`,
		`nextid_ticket_database_up{database="` + place.URL + `",generator="photos"} 1`,
		`nextid_ticket_database_draws_total{database="` + place.URL + `",generator="photos"} 1`,
		`nextid_feed_moves_total{column="fed",database="` + fed + `",generator="fed"} 1`, `nextid_feed_left_ids{column="fed",database="` + fed + `",generator="fed"} 1e+06`,
		`nextid_clock_alarm 0`, `nextid_generator_left_ids{generator="bounded",kind="segment"} 999`, `nextid_worker_ids{bits="10"} 1024`, `nextid_store_down_seconds 0`, `nextid_clock_store_ahead_seconds 0`, `nextid_audit_lines_total 1`, `nextid_agent_ids_total{agent="web"} 1`,
		`nextid_connections{protocol="pg"} 1`, `nextid_connections_accepted_total{protocol="pg"} 2`,
		`nextid_connections_refused_total{protocol="pg",reason="address"} 1`,
		`nextid_errors_total{protocol="pg",sqlstate="42703"} 1`, `nextid_errors_total{protocol="pg",sqlstate="53300"} 1`,
		`nextid_generator_refills_total{generator="cached",kind="ring"} 1`, `nextid_ring_capacity_ids{generator="cached"} 65536`,
		`nextid_generator_refills_total{generator="photos",kind="ticket"} 1`,
		`nextid_store_errors_total{call="reserve_time",reason="unavailable"} 0`,
	}
	for end := time.Now().Add(patience); ; pause(t, 50*time.Millisecond) {
		code, body := s.ask("/metrics")
		missing := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.Contains(body, l+"\n") })
		if text = body; code == http.StatusOK && len(missing) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("/metrics (%d) does not have %s:\n%s", code, strings.Join(missing, "\n"), body)
		}
	}
	if code, body := s.ask("/readyz"); code != http.StatusOK || body != "ready\n1 of the 2 databases of generator \"photos\" are down: see nextid.databases\n" {
		t.Errorf("/readyz: %d %q", code, body)
	}
	rows, err := conn.Query(t.Context(), "SELECT database, up, error IS NULL, answered_at IS NULL, draws > 0 FROM nextid.databases WHERE generator = 'photos' ORDER BY up")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSuffix(fmt.Sprintln(values...), "\n"))
	}
	if want := []string{"mysql://tickets@127.0.0.1:1/flickr false false true false", place.URL + " true true false true"}; !slices.Equal(got, want) {
		t.Errorf("nextid.databases has %q, want %q (%v)", got, want, rows.Err())
	}
	s.waitLine("a ticket database is down")

	families := scrape(t, text)
	var table strings.Builder
	table.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		if !strings.HasPrefix(name, "nextid_") {
			continue // those of every program in Go
		}
		if f.samples == 0 {
			t.Errorf("%s has no samples: the table could not say its labels", name)
		}
		labels := ""
		if len(f.labels) > 0 {
			labels = "`" + strings.Join(f.labels, "`, `") + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, f.kind, labels, f.help)
	}
	content, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	const begin, end = "<!-- The metrics of a server: \"make docs\" writes this table again. -->", "<!-- end of the metrics -->"
	if old := part(t, page, begin, end); old != table.String() {
		if !*updatePages {
			t.Errorf("%s is not what a server measures (make docs writes it again):\n%s", metricsPage, table.String())
		} else if err := os.WriteFile(metricsPage, []byte(strings.Replace(page, begin+"\n"+old, begin+"\n"+table.String(), 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := os.ReadFile("../../docs/deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checkAlerts(t, string(rules), families)
	checkDashboard(t, families)
}

// checkAlerts checks rules for Prometheus.
func checkAlerts(t *testing.T, text string, families map[string]*scraped) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(text), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Annotations["summary"] == "" || r.Labels["severity"] == "" {
				t.Errorf("a rule of %s has no name, summary or severity: %+v", g.Name, r)
			}
			if _, err := time.ParseDuration(cmp.Or(r.For, "0s")); err != nil {
				t.Errorf("%s: %v", r.Alert, err)
			}
			checked += checkExpr(t, r.Alert, r.Expr, families)
		}
	}
	if checked < 6 {
		t.Errorf("the rules name %d metrics", checked)
	}
}

var (
	metricInExpr = regexp.MustCompile(`\b((?:nextid|go|process)_[a-z_]+)\b(?:\{([^}]*)\})?`)
	labelInExpr  = regexp.MustCompile(`([a-z]+)\s*[=!]`)
	byInExpr     = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
)

// checkExpr checks that the metrics and labels of an expression exist. It returns
// the number of metrics.
func checkExpr(t *testing.T, what, expr string, families map[string]*scraped) (checked int) {
	t.Helper()
	if strings.Count(expr, "(") != strings.Count(expr, ")") {
		t.Errorf("%s: %s", what, expr)
	}
	known := []string{"instance", "job", "le"}
	for _, m := range metricInExpr.FindAllStringSubmatch(expr, -1) {
		name := m[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(name, suffix); families[base] != nil && families[base].kind == "histogram" {
				name = base
			}
		}
		f := families[name]
		if f == nil {
			t.Errorf("%s names %s, which does not exist", what, m[1])
			continue
		}
		checked++
		known = append(known, f.labels...)
		for _, l := range labelInExpr.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(f.labels, l[1]) && l[1] != "instance" {
				t.Errorf("%s: %s has no label %s", what, name, l[1])
			}
		}
	}
	for _, m := range byInExpr.FindAllStringSubmatch(expr, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if l = strings.TrimSpace(l); !slices.Contains(known, l) {
				t.Errorf("%s: no metric has the label %s", what, l)
			}
		}
	}
	return checked
}

// checkDashboard checks the queries of the dashboard for Grafana, and that its
// panels do not overlap.
func checkDashboard(t *testing.T, families map[string]*scraped) {
	content, err := os.ReadFile("../../docs/deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		UID, Title string
		Panels     []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(content, &board); err != nil {
		t.Fatal(err)
	}
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q has the number of another", p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x > 23 {
					t.Fatalf("panel %q lies over %q, or outside", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		n := 0
		for _, target := range p.Targets {
			n += checkExpr(t, p.Title, target.Expr, families)
		}
		if n == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
	}
	if board.UID == "" || board.Title == "" || len(ids) < 15 {
		t.Errorf("the dashboard has %d panels", len(ids))
	}
}
