package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/generator"
	"nextid/generator/history"
	"nextid/generator/store/dbtest"
)

// TestWorkerIDSources: planned ids are those that the server gets, and of two
// servers with the same wish the second gets another.
func TestWorkerIDSources(t *testing.T) {
	t.Parallel()
	place := dbtest.Redis(t)
	url := place.RedisURL()
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	worker := func(id int64) int64 { return id >> 12 & 1023 }
	var log history.Log
	take := func(s *server) (int64, error) {
		id, err := drawOnce(t.Context(), s.connect(), "orders")
		if err == nil {
			log.Add(history.Event{Name: "orders", Range: generator.Range{First: id, Step: 1, Count: 1}})
		}
		return worker(id), err
	}
	env := []string{"POD=12"}
	for text, planned := range map[string]int64{
		"11": 11, "env:POD": 12, "13/14": 13<<5 | 14, "mac": -1, "ip": -1, "disposable": -1, "leaf:zookeeper://127.0.0.1:1/snowflake/x": -1, url: -1,
	} {
		t.Run(text, func(t *testing.T) {
			first := startServer(t, env, "--store", url, "--worker-id", text, "--worker-slice", "8s")
			a, err := take(first)
			if err != nil {
				t.Fatal(err)
			}
			if planned < 0 {
				second := startServer(t, env, "--store", url, "--worker-id", text, "--worker-slice", "8s")
				b, err := take(second)
				if err != nil || a == b {
					t.Errorf("the servers are %d and %d, %v", a, b, err)
				}
				return
			}
			if a != planned {
				t.Errorf("worker id %d, want %d", a, planned)
			}
			var owner string
			err = first.connect().QueryRow(t.Context(), "SELECT owner FROM nextid.workers WHERE worker = $1", planned).Scan(&owner)
			if err != nil || owner == "" {
				t.Errorf("nextid.workers: %q, %v", owner, err)
			}
		})
	}
	if err := log.Check(); err != nil {
		t.Error(err)
	}
}

func TestTwoServersWithOneWorkerID(t *testing.T) {
	t.Parallel()
	place := dbtest.Redis(t)
	url := place.RedisURL()
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	first := startServer(t, nil, "--store", url, "--worker-id", "7")
	draw(t, first.connect(), "orders")
	second := startServer(t, nil, "--store", url, "--worker-id", "7")
	_, err := drawOnce(t.Context(), second.connect(), "orders")
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "57P03" || !strings.Contains(pg.Message, "worker id 7 is held by another server (process") {
		t.Errorf("the second server: %v", err)
	}
	draw(t, first.connect(), "orders")
	if first.signal(15); first.wait() != exitOK {
		t.Errorf("exit code %d", first.cmd.ProcessState.ExitCode())
	}
	draw(t, second.connect(), "orders") // at once: the first has given its id back
}

func TestWorkerIDsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"env:NONE_SUCH": "no variable NONE_SUCH", "ordinal/x": "is none of auto, a number", "leaf:x": "leaf is written", "1/2/3": "is none of",
	} {
		r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--worker-id", text)
		if r.code != exitFailed || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d\n%s", text, r.code, r.stderr)
		}
	}
}
