package main

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/history"
)

// TestClockOfTheFuture starts a server with a clock that is 60 years ahead, with
// --accept-clock, and repairs its store afterwards.
func TestClockOfTheFuture(t *testing.T) {
	t.Parallel()
	const years = 60 * 365 * 24 * time.Hour
	tool := buildSkewclock(t)
	clock := skewedClock{filepath.Join(t.TempDir(), "clock")}
	data := filepath.Join(t.TempDir(), "data")
	serve := func(args ...string) *exec.Cmd {
		c := serveCommand(append([]string{"--data", data, "--http", "127.0.0.1:0"}, args...)...)
		return exec.Command(tool, append([]string{clock.file}, c.Args...)...)
	}
	var log history.Log
	take := func(s *process, names ...string) {
		t.Helper()
		for _, name := range names {
			for range 10 {
				log.Add(history.Event{Name: name, Client: int(log.Len()), Range: generator.Range{First: draw(t, s.connect(), name), Step: 1, Count: 1}})
			}
		}
	}
	clock.set(t, 0, 0)
	s := spawn(t, serve(), nil)
	first := regexp.MustCompile(`worker_id="(\d+) of 1024`).FindStringSubmatch(s.waitLine("a new store."))
	s.isReady(s.waitLine("nextid ready:"))
	if id := draw(t, s.connect(), "both"); len(first) != 2 || first[1] != strconv.FormatInt(id>>12&1023, 10) {
		t.Errorf("the first worker id is %d, not %q", id>>12&1023, first)
	}
	take(s, "before", "both")
	s.kill9()

	clock.set(t, years, 0)
	s = spawn(t, serve(), nil)
	s.waitLine("the clock of this machine says")
	if code := s.wait(); code != exitFailed {
		t.Errorf("a clock of the future: exit code %d", code)
	}
	s = launch(t, serve("--accept-clock"), nil)
	if _, err := drawOnce(t.Context(), s.connect(), "both"); err == nil || !strings.Contains(err.Error(), "2200H") {
		t.Errorf("ids of the future: %v", err)
	}
	if code, body := s.ask("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "nextid repair") {
		t.Errorf("/readyz: %d %q", code, body)
	}
	s.kill9()

	clock.set(t, 0, 0)
	s = launch(t, serve(), nil)
	if _, err := drawOnce(t.Context(), s.connect(), "both"); err == nil || !strings.Contains(err.Error(), "2200H") {
		t.Errorf("the store was not led into the future: %v", err)
	}
	if code, body := s.ask("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "nextid repair") {
		t.Errorf("/readyz: %d %q", code, body)
	}
	if r := runProgram(t, nil, "repair", "--data", data); r.code != exitFailed || !strings.Contains(r.stderr, "in use") {
		t.Errorf("repair under a server: exit code %d\n%s", r.code, r.stderr)
	}
	s.kill9()

	for _, want := range []struct{ flag, says string }{
		{"--dry-run", "It would be given up"}, {"--dry-run=false", "no id is repeated"}, {"--dry-run=false", "nothing to repair"},
	} {
		if r := runProgram(t, nil, "repair", "--data", data, want.flag); r.code != exitOK || !strings.Contains(r.stdout, want.says) {
			t.Errorf("repair %s: exit code %d\n%s%s", want.flag, r.code, r.stdout, r.stderr)
		}
	}
	s = launch(t, serve(), nil)
	take(s, "both", "after")
	if code, body := s.ask("/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d %q", code, body)
	}
	s.kill9()
	if err := log.Check(); err != nil {
		t.Error(err)
	}
}

// TestServersWithStoresOfTheirOwn: new stores begin with different worker ids. Two
// may have the same by chance, six may not.
func TestServersWithStoresOfTheirOwn(t *testing.T) {
	t.Parallel()
	var workers []int64
	for _, args := range [][]string{nil, nil, nil, {"--store", "memory:"}, {"--store", "memory:"}, {"--store", "memory:"}} {
		s := startServer(t, nil, args...)
		workers = append(workers, draw(t, s.connect(), "orders")>>12&1023)
	}
	if slices.Max(workers[:3]) == slices.Min(workers[:3]) || slices.Max(workers[3:]) == slices.Min(workers[3:]) {
		t.Errorf("worker ids of servers with stores of their own: %v", workers)
	}
}
