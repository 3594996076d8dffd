package main

import (
	"fmt"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
)

// TestAClockThatDiffersFromTheStores: a server does not start with such a clock,
// unless clock_limit allows it. A server whose clock goes wrong later reports it
// everywhere and goes on issuing ids. It does not follow a clock that is ahead.
func TestAClockThatDiffersFromTheStores(t *testing.T) {
	t.Parallel()
	tool := buildSkewclock(t)
	clock := skewedClock{filepath.Join(t.TempDir(), "clock")}
	place := dbtest.Redis(t)
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", place.URL); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	serve := func(args ...string) *exec.Cmd {
		c := serveCommand(append([]string{"--store", place.URL, "--http", "127.0.0.1:0"}, args...)...)
		return exec.Command(tool, append([]string{clock.file}, c.Args...)...)
	}
	for _, offset := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		clock.set(t, offset, 0)
		s := spawn(t, serve(), nil)
		s.waitLine("s " + map[bool]string{true: "ahead of", false: "behind"}[offset > 0] + " that of the store")
		if code := s.wait(); code != exitFailed {
			t.Errorf("%v: exit code %d", offset, code)
		}
	}
	launch(t, serve("--clock-limit", "0s"), nil).kill9()

	clock.set(t, 0, 0)
	s := launch(t, serve(), nil)
	conn := s.connect()
	draw(t, conn, "orders")
	if _, body := s.ask("/readyz"); body != "ready\n" {
		t.Errorf("/readyz: %q", body)
	}
	clock.set(t, 10*time.Minute, 0)
	s.waitLine("the clock of this server differs from that of the store")
	if code, body := s.ask("/readyz"); code != http.StatusOK || !strings.Contains(body, "\nthe clock of this server differs from that of the store by 1") && !strings.Contains(body, "by 9m5") {
		t.Errorf("/readyz: %d %q", code, body)
	}
	_, body := s.ask("/metrics")
	_, ahead, _ := strings.Cut(body, "\nnextid_clock_store_ahead_seconds ")
	ahead, _, _ = strings.Cut(ahead, "\n")
	if by, err := strconv.ParseFloat(ahead, 64); err != nil || math.Abs(by-600) > 2 || !strings.Contains(body, "\nnextid_clock_alarm 1\n") {
		t.Errorf("/metrics:\n%s", body)
	}
	var millis *int64
	for end := time.Now().Add(patience); ; pause(t, 200*time.Millisecond) {
		if err := conn.QueryRow(t.Context(), "SELECT store_ahead_ms FROM nextid.nodes WHERE this AND store LIKE '%://%'").Scan(&millis); err != nil {
			t.Fatal(err)
		}
		if millis != nil && math.Abs(float64(*millis-600_000)) < 2000 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("nextid.nodes has %v", millis)
		}
	}
	off := func() (seconds float64) { // of the time in an id
		t.Helper()
		var at time.Time
		id, now := draw(t, conn, "orders"), time.Now()
		if err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT id_time(%d)", id)).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at.Sub(now).Seconds()
	}
	before := off()
	pause(t, 3*time.Second)
	if after := off(); before > 30 || math.Abs(after-before) > 1 {
		t.Errorf("ids follow the wrong clock: they were %.1f s ahead, and are %.1f s", before, after)
	}
	clock.set(t, 0, 0)
	s.waitLine("agree again")
}
