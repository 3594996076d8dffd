package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
)

// /readyz and the metrics report a store that hangs within two seconds, even if the
// server asks the store for nothing. The server stays ready.
func TestReadyzReportsAnOutageInTwoSeconds(t *testing.T) {
	t.Parallel()
	place := dbtest.Redis(t)
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", place.URL); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	proxy := dbtest.Cut(t, place.Addr)
	s := startServer(t, nil, "--http", "127.0.0.1:0", "--store", "redis://"+proxy.Addr, "--worker-slice", "1h")
	draw(t, s.connect(), "orders")
	told := func() bool {
		code, body := s.ask("/readyz")
		if code != http.StatusOK {
			t.Fatalf("%d %s", code, body)
		}
		return strings.Contains(body, "the store has not worked since") && strings.Contains(body, "ids go on until what is reserved is used up")
	}
	pause(t, 1500*time.Millisecond)
	if told() {
		t.Error("an outage is told of before there is one")
	}
	for _, hang := range []bool{true, false} {
		proxy.Set(map[bool]dbtest.Flow{true: dbtest.HoldAnswers, false: dbtest.Open}[hang])
		start := time.Now()
		for told() != hang {
			if passed := time.Since(start); passed > 2500*time.Millisecond { // plus the delays of a busy machine
				t.Fatalf("after %v nothing has changed (hangs: %v)", passed, hang)
			}
			pause(t, 20*time.Millisecond)
		}
		t.Logf("hangs: %v: told after %v", hang, time.Since(start))
		_, body := s.ask("/metrics")
		if up := strings.Contains(body, "nextid_store_up 1\n") && strings.Contains(body, "nextid_store_down_seconds 0\n"); up == hang {
			t.Errorf("hangs: %v, and the metrics say %v", hang, up)
		}
	}
}
