package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
)

// TestWorkerIDSources: a server gets the worker id that its source plans. The
// second of two servers with the same plan gets another one.
func TestWorkerIDSources(t *testing.T) {
	t.Parallel()
	place := dbtest.Redis(t)
	url := place.URL
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	worker := func(id int64) int64 { return id >> 12 & 1023 }
	var log history.Log
	take := func(s *process) (int64, error) {
		id, err := drawOnce(t.Context(), s.connect(), "orders")
		if err == nil {
			log.Add(history.Event{Name: "orders", Range: generator.Range{First: id, Step: 1, Count: 1}})
		}
		return worker(id), err
	}
	env := []string{"POD=12"}
	for text, planned := range map[string]int64{
		"11": 11, "env:POD": 12, "13/14": 13<<5 | 14, "mac": -1, "disposable": -1, "leaf:zookeeper://127.0.0.1:1/snowflake/x": -1, url: -1,
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
	url := place.URL
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	first := startServer(t, nil, "--store", url, "--worker-id", "7", "--worker-slice", "8s")
	draw(t, first.connect(), "orders")
	second := startServer(t, nil, "--store", url, "--worker-id", "7", "--worker-slice", "8s")
	// All clients get their error after 15 s, not one after the other. Meanwhile the
	// slice of the first server ends and is renewed.
	began := time.Now()
	var clients sync.WaitGroup
	for range 4 {
		conn := second.connect()
		clients.Go(func() {
			_, err := drawOnce(t.Context(), conn, "orders")
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.Code != "57P03" || !strings.Contains(pg.Message, "worker id 7 is held by another server (process") {
				t.Errorf("the second server: %v", err)
			}
			if waited := time.Since(began); waited > 25*time.Second {
				t.Errorf("told after %v", waited)
			}
		})
	}
	clients.Wait()
	draw(t, first.connect(), "orders")
	if first.signal(15); first.wait() != exitOK {
		t.Errorf("exit code %d", first.cmd.ProcessState.ExitCode())
	}
	draw(t, second.connect(), "orders") // the first server has given its id back
}

// TestTwoServersWithOneDataDirectory: also on a shared store, the second server is
// refused until the first has stopped or crashed.
func TestTwoServersWithOneDataDirectory(t *testing.T) {
	t.Parallel()
	url := dbtest.Redis(t).URL
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	data := t.TempDir()
	first := startServer(t, nil, "--store", url, "--data", data)
	draw(t, first.connect(), "orders")
	r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--store", url, "--data", data)
	if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "is in use by process") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	draw(t, first.connect(), "orders")
	first.kill9()
	draw(t, startServer(t, nil, "--store", url, "--data", data).connect(), "orders")
}

// TestCrashesOfOneServer kills a server again and again. A crash blocks no worker
// id for longer than a slice, and no id is repeated.
func TestCrashesOfOneServer(t *testing.T) {
	t.Parallel()
	const crashes = 12
	const slice = 5 * time.Second
	place := dbtest.Redis(t)
	url := place.URL
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	var log history.Log
	for i := range crashes {
		s := startServer(t, nil, "--store", url, "--worker-slice", slice.String())
		conn := s.connect()
		for range 20 {
			log.Add(history.Event{Name: "orders", Client: i, Range: generator.Range{First: draw(t, conn, "orders"), Step: 1, Count: 1}})
		}
		var late int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM nextid.workers WHERE reserved_until > $1", time.Now().Add(slice)).Scan(&late)
		if err != nil || late > 0 {
			t.Errorf("start %d: %d worker ids are taken for longer than a slice, %v", i, late, err)
		}
		s.kill9()
	}
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	pause(t, slice)
	var used, held int
	s := startServer(t, nil, "--store", url)
	err := s.connect().QueryRow(t.Context(), "SELECT count(*), count(CASE WHEN reserved_until > now() THEN 1 END) FROM nextid.workers").Scan(&used, &held)
	if err != nil || used == 0 || used > crashes || held != 0 {
		t.Errorf("%d worker ids were used and %d are held, %v", used, held, err)
	}
}

// TestStrictGenerators draws from a strict snowflake and from another one, on two
// servers, while their store restarts.
func TestStrictGenerators(t *testing.T) {
	t.Parallel()
	place := prepared(t, "postgres")
	servers := []*process{startServer(t, nil, "--store", place.url), startServer(t, nil, "--store", place.url)}
	if _, err := servers[0].connect().Exec(t.Context(), "SELECT create_generator('careful', 'snowflake', strict => true)"); err != nil {
		t.Fatal(err)
	}
	// Every worker id is claimed before the restart: a claim whose answer is lost
	// costs a worker id.
	for _, server := range servers {
		conn := server.connect()
		draw(t, conn, "careful")
		draw(t, conn, "flakes")
	}
	var log history.Log
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var work sync.WaitGroup
	for client := range 8 {
		conn := servers[client%2].connect()
		work.Go(func() {
			for ctx.Err() == nil {
				for _, name := range []string{"careful", "flakes"} {
					if id, err := drawOnce(t.Context(), conn, name); err == nil {
						log.Add(history.Event{Name: name, Client: client, Range: generator.Range{First: id, Step: 1, Count: 1}})
					} else if conn.IsClosed() {
						return // 57P03
					}
				}
			}
		})
	}
	pause(t, time.Second)
	before := log.Len()
	place.restart()
	work.Wait()
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	if before == 0 || log.Len() == before {
		t.Errorf("%d ids before the restart, %d in all", before, log.Len())
	}
	var held int
	err := servers[0].connect().QueryRow(t.Context(), "SELECT count(*) FROM nextid.workers").Scan(&held)
	if err != nil || held != 4 {
		t.Errorf("%d worker ids of two servers with and without strict, want 4, %v", held, err)
	}
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
