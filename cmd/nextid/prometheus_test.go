package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
)

// TestPrometheus runs a real Prometheus on a server while a generator is altered,
// dropped and created again, also with another kind. Its counters count all draws,
// and never fall.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("needs the Debian package prometheus")
	}
	s := startServer(t, nil, "--http", "127.0.0.1:0")
	query := startPrometheus(t, s.http)
	conn := s.connect()
	drawn := 0
	do := func(statements ...string) {
		for _, text := range statements {
			if _, err := conn.Exec(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if strings.HasPrefix(text, "SELECT next_id(") {
				drawn++
			}
		}
	}
	const draw, scraped = "SELECT next_id('orders')", `nextid_generator_ids_total{generator="orders"}`
	await := func() {
		t.Helper()
		for end := time.Now().Add(patience); ; pause(t, 100*time.Millisecond) {
			got := query("sum(" + scraped + ")")
			if got == float64(drawn) && query("nextid_ids_total") == got {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("Prometheus has %v ids of orders and %v of all, want %d", got, query("nextid_ids_total"), drawn)
			}
		}
	}
	do("SELECT create_generator('orders', 'segment')", draw, draw, draw)
	await()
	do(`SELECT alter_generator('orders', '{"step": 500}')`, draw, draw)
	await()
	do("SELECT drop_generator('orders')")
	await()
	do("SELECT create_generator('orders', 'segment')", draw, "SELECT drop_generator('orders')", "SELECT create_generator('orders', 'snowflake')", draw)
	await()
	for _, counter := range []string{scraped, "nextid_ids_total", "nextid_store_call_duration_seconds_count", "nextid_commands_total"} {
		if n := query("sum(resets(" + counter + "[1h]))"); n != 0 {
			t.Errorf("%s fell %v times", counter, n)
		}
	}
	if n := query("count(process_start_time_seconds) + count(process_open_fds) + count(go_goroutines) + count(go_gc_duration_seconds_count)"); n != 4 {
		t.Errorf("%v of the 4 standard metrics are there", n)
	}

	_, text := s.ask("/metrics")
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// TestAlerts has promtool check the rules, and run their tests.
func TestAlerts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("needs the Debian package prometheus")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.Command("promtool", args...)
		cmd.Dir = "../../docs/deploy"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
	// The queries of the dashboard as rules: promtool reports those that it cannot
	// parse.
	board, err := os.ReadFile("../../docs/deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var queries strings.Builder
	queries.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, m := range regexp.MustCompile(`"expr": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(board), -1) {
		fmt.Fprintf(&queries, "  - {record: 'query%d', expr: %s}\n", i, strings.ReplaceAll(m[1], "$__rate_interval", "5m"))
	}
	if out, err := exec.Command("promtool", "check", "rules", writeFile(t, "queries.yaml", queries.String())).CombinedOutput(); err != nil {
		t.Errorf("the dashboard: %v\n%s", err, out)
	}
}

// startPrometheus scrapes a server until the end of the test. query returns the
// value of an expression, or 0 without one.
func startPrometheus(t *testing.T, target string) (query func(string) float64) {
	t.Helper()
	config := writeFile(t, "prometheus.yaml", fmt.Sprintf(
		"global: {scrape_interval: 100ms}\nscrape_configs:\n  - job_name: nextid\n    static_configs: [{targets: [%q]}]\n", target))
	address, dir := dbtest.FreeAddr(t), t.TempDir()
	cmd := exec.Command("prometheus", "--config.file", config, "--web.listen-address", address, "--storage.tsdb.path", filepath.Join(dir, "data"))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
	})
	return func(text string) float64 {
		t.Helper()
		var answer struct {
			Status string
			Data   struct{ Result []struct{ Value [2]any } }
		}
		r, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(text))
		if err != nil {
			return 0 // Prometheus is starting
		}
		defer r.Body.Close()
		if r.StatusCode == http.StatusServiceUnavailable {
			return 0
		}
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || answer.Status != "success" {
			t.Fatalf("%s: %s, %v", text, r.Status, err)
		}
		if len(answer.Data.Result) == 0 {
			return 0
		}
		v, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
