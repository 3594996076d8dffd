package main

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
)

// sharedPlace is a database for a shared store, and what a test does to it.
type sharedPlace struct {
	url     string
	restart func() // kill -9 and start again; the leader of several
	kill    func()
	start   func()
}

// sharedPlaces starts the databases of all shared stores.
var sharedPlaces = map[string]func(t *testing.T) sharedPlace{
	"postgres": func(t *testing.T) sharedPlace {
		s := dbtest.Postgres(t)
		return placeOn(s.PostgresURL("postgres"), s)
	},
	"mysql": func(t *testing.T) sharedPlace {
		s := dbtest.MariaDB(t)
		return placeOn(s.MySQLURL("root", "test"), s)
	},
	"redis": func(t *testing.T) sharedPlace {
		s := dbtest.Redis(t)
		return placeOn(s.URL, s)
	},
	"etcd": func(t *testing.T) sharedPlace {
		members := dbtest.Etcd(t, 1)
		return placeOn(dbtest.ClusterURL("etcd", members), members[0])
	},
	"zookeeper": func(t *testing.T) sharedPlace {
		members := dbtest.ZooKeeper(t, 1)
		return placeOn(dbtest.ClusterURL("zookeeper", members), members[0])
	},
}

func placeOn(url string, s *dbtest.Server) sharedPlace {
	return sharedPlace{url: url, kill: s.Kill, start: s.Start, restart: func() { s.Kill(); s.Start() }}
}

// prepared starts a database and runs nextid migrate store up on it.
func prepared(t *testing.T, kind string) sharedPlace {
	t.Helper()
	place := sharedPlaces[kind](t)
	r := runProgram(t, nil, "migrate", "store", "status", "--dsn", place.url)
	if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "migrate store up") {
		t.Fatalf("status of an empty database: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for range 2 { // a second run does no harm
		if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", place.url); r.code != exitOK {
			t.Fatalf("exit code %d\n%s", r.code, r.stderr)
		}
	}
	return place
}

func TestMigrateStore(t *testing.T) {
	t.Parallel()
	for kind := range sharedPlaces {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			place := sharedPlaces[kind](t)
			r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--store", place.url)
			if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "nextid migrate store up") {
				t.Errorf("serve on an empty database: exit code %d\n%s", r.code, r.stderr)
			}
			r = runProgram(t, nil, "migrate", "store", "print", "--dsn", place.url)
			if r.code != exitOK || r.stdout == "" {
				t.Errorf("print: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", place.url); r.code != exitOK {
				t.Fatalf("up: exit code %d\n%s", r.code, r.stderr)
			}
			if r := runProgram(t, nil, "migrate", "store", "status", "--dsn", place.url); r.code != exitOK {
				t.Errorf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			s := startServer(t, nil, "--store", place.url)
			draw(t, s.connect(), "orders")
			if !strings.Contains(s.ready, "store "+strings.SplitN(place.url, "?", 2)[0]) {
				t.Errorf("ready line %q", s.ready)
			}
			s.kill9()
			if r := runProgram(t, nil, "migrate", "store", "down", "--dsn", place.url); r.code != exitOK {
				t.Errorf("down: exit code %d\n%s", r.code, r.stderr)
			}
			if r := runProgram(t, nil, "migrate", "store", "status", "--dsn", place.url); r.code != exitFailed {
				t.Errorf("status after down: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// TestServersShareAStore runs three servers and 64 clients on each store. Meanwhile
// it kills one of the servers and starts it again.
func TestServersShareAStore(t *testing.T) {
	t.Parallel()
	for kind := range sharedPlaces {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			place := prepared(t, kind)
			servers := make([]*process, 3)
			dirs := make([]string, len(servers))
			for i := range servers {
				dirs[i] = t.TempDir()
				servers[i] = startServer(t, nil, "--store", place.url, "--data", dirs[i])
			}
			if _, err := servers[0].connect().Exec(t.Context(), "SELECT create_generator('numbers', 'segment', step => 100)"); err != nil {
				t.Fatal(err)
			}
			var log history.Log
			c := &crowd{log: &log}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var waits []func()
			for i, s := range servers {
				waits = append(waits, c.drawFrom(ctx, s.address, []int{22, 21, 21}[i]))
			}
			awaitIDs(t, &log, 1000)
			servers[1].kill9()
			pause(t, 500*time.Millisecond)
			servers[1] = startServer(t, nil, "--store", place.url, "--data", dirs[1])
			waits = append(waits, c.drawFrom(ctx, servers[1].address, 21))
			awaitIDs(t, &log, log.Len()+1000)
			stop()
			for _, wait := range waits {
				wait()
			}
			if err := log.Check(); err != nil {
				t.Error(err)
			}
			t.Logf("%d ids", log.Len())
		})
	}
}

// TestThePastOverCrashes draws ids of past times, each beside one of the present,
// from two servers of which one is killed again and again. TEST_PAST sets the
// number of draws.
func TestThePastOverCrashes(t *testing.T) {
	t.Parallel()
	count := 100_000
	if text := os.Getenv("TEST_PAST"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	place := prepared(t, "postgres")
	dirs := []string{t.TempDir(), t.TempDir()}
	serve := func(i int) *process { return startServer(t, nil, "--store", place.url, "--data", dirs[i]) }
	servers := []*process{serve(0), serve(1)}
	if _, err := servers[0].connect().Exec(t.Context(), "SELECT create_generator('posts', 'snowflake')"); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	drawFrom := func(s *process, rows int) {
		at := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rand.IntN(15*365*24)) * time.Hour)
		set, err := s.connect().Query(t.Context(),
			"SELECT next_id('posts', at => $1::timestamptz + interval '1 hour'), next_id('posts') FROM generate_series(1, $2) i", at, rows)
		if err != nil {
			t.Fatal(err)
		}
		var past, present int64
		if _, err := pgx.ForEachRow(set, []any{&past, &present}, func() error {
			ids = append(ids, past, present)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for rounds := 20; len(ids) < 2*count; {
		drawFrom(servers[0], count/rounds/2)
		drawFrom(servers[1], count/rounds/2)
		servers[1].kill9()
		servers[1] = serve(1)
	}
	slices.Sort(ids)
	for i := range ids[1:] {
		if ids[i] == ids[i+1] {
			t.Fatalf("%d came twice", ids[i])
		}
	}
}

// TestServersKnowEachOther: every server shows the same nextid.nodes and
// nextid.workers, including a server that crashed and one that stopped.
func TestServersKnowEachOther(t *testing.T) {
	t.Parallel()
	place := prepared(t, "mysql") // its rows are the shortest
	servers := make([]*process, 3)
	for i := range servers {
		servers[i] = startServer(t, nil, "--store", place.url)
		draw(t, servers[i].connect(), "orders")
	}
	states := func(s *process) map[string]string {
		t.Helper()
		rows, err := s.connect().Query(t.Context(), "SELECT address, CASE WHEN this THEN 'this' ELSE state END FROM nextid.nodes")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		found := map[string]string{}
		for rows.Next() {
			var address, state string
			if err := rows.Scan(&address, &state); err != nil {
				t.Fatal(err)
			}
			found[address] = state
		}
		return found
	}
	await := func(s *process, want map[string]string) {
		t.Helper()
		for end := time.Now().Add(2 * patience); ; pause(t, 100*time.Millisecond) {
			found := states(s)
			if maps.Equal(found, want) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the servers are %v, want %v", found, want)
			}
		}
	}
	a, b, c := servers[0].address, servers[1].address, servers[2].address
	await(servers[0], map[string]string{a: "this", b: "up", c: "up"})
	if servers[1].signal(syscall.SIGTERM); servers[1].wait() != exitOK {
		t.Errorf("exit code %d", servers[1].cmd.ProcessState.ExitCode())
	}
	servers[2].kill9()
	await(servers[0], map[string]string{a: "this", b: "stopped", c: "up"})
	await(servers[0], map[string]string{a: "this", b: "stopped", c: "lost"})
	again := startServer(t, nil, "--store", place.url)
	await(again, map[string]string{a: "up", again.address: "this", c: "lost"}) // this server has taken the row of b
	var held int
	if err := again.connect().QueryRow(t.Context(), "SELECT count(*) FROM nextid.workers WHERE owner LIKE 'process %'").Scan(&held); err != nil || held != 3 {
		t.Errorf("%d worker ids, %v", held, err)
	}
}

// awaitIDs waits until n ids were drawn.
func awaitIDs(t *testing.T, log *history.Log, n int64) {
	t.Helper()
	for end := time.Now().Add(patience); log.Len() < n; pause(t, 20*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d ids, not %d", log.Len(), n)
		}
	}
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// TestServersOutliveTheirStore: while the store is down, ids are issued from
// reservations. When these are used up, clients get an error that sends them
// elsewhere. When the store is back, ids are issued again without a restart.
func TestServersOutliveTheirStore(t *testing.T) {
	t.Parallel()
	for kind := range sharedPlaces {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			place := prepared(t, kind)
			s := startServer(t, nil, "--store", place.url)
			conn := s.connect()
			if _, err := conn.Exec(t.Context(), "SELECT create_generator('numbers', 'segment', step => 100)"); err != nil {
				t.Fatal(err)
			}
			var log history.Log
			take := func(name string) error {
				id, err := drawOnce(t.Context(), conn, name)
				if err == nil {
					log.Add(history.Event{Name: name, Range: generator.Range{First: id, Step: 1, Count: 1}})
				}
				return err
			}
			for range 30 {
				if err := errors.Join(take("numbers"), take("flakes")); err != nil {
					t.Fatal(err)
				}
			}
			place.kill()
			for range 30 { // uses up the reservation
				if err := errors.Join(take("numbers"), take("flakes")); err != nil {
					t.Fatalf("while the store is down: %v", err)
				}
			}
			var err error
			// PostgreSQL's children live on for a moment after their parent.
			for end := time.Now().Add(patience); err == nil && time.Now().Before(end); {
				err = take("numbers")
			}
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.Code != "57P03" && pg.Code != "55P03" {
				t.Errorf("when nothing is left: %v", err)
			}
			if err := take("flakes"); err != nil { // its slice lasts for a minute
				t.Errorf("while the store is down: %v", err)
			}
			place.start()
			for end := time.Now().Add(patience); ; pause(t, 50*time.Millisecond) {
				if conn.IsClosed() { // 57P03 may end a connection
					conn = s.connect()
				}
				if err = take("numbers"); err == nil {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the store is back, but: %v", err)
				}
			}
			if err := log.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSlowStore: clients do not notice a store that takes more than a second for
// each answer, since reservations are renewed early. With a store that hangs they
// get 55P03 after the deadline, once nothing is left.
func TestSlowStore(t *testing.T) {
	t.Parallel()
	place := dbtest.Redis(t)
	proxy := dbtest.Cut(t, place.Addr)
	url := "redis://" + proxy.Addr
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	s := startServer(t, nil, "--store", url, "--worker-slice", "10s")
	conn := s.connect()
	if _, err := conn.Exec(t.Context(), "SELECT create_generator('numbers', 'segment', step => 500, deadline => '1s')"); err != nil {
		t.Fatal(err)
	}
	var log history.Log
	take := func(name string) (time.Duration, error) {
		began := time.Now()
		id, err := drawOnce(t.Context(), conn, name)
		if err == nil {
			log.Add(history.Event{Name: name, Range: generator.Range{First: id, Step: 1, Count: 1}})
		}
		return time.Since(began), err
	}
	for _, name := range []string{"numbers", "flakes"} {
		if _, err := take(name); err != nil {
			t.Fatal(err)
		}
	}
	var slow sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	slow.Go(func() {
		for ctx.Err() == nil {
			proxy.Set(dbtest.HoldAnswers)
			pause(t, 1200*time.Millisecond)
			proxy.Set(dbtest.Open)
			pause(t, 20*time.Millisecond)
		}
	})
	for end := time.Now().Add(12 * time.Second); time.Now().Before(end); pause(t, 10*time.Millisecond) {
		for _, name := range []string{"numbers", "flakes"} {
			if took, err := take(name); err != nil || took > time.Second {
				t.Fatalf("%s with a slow store: %v after %v", name, err, took)
			}
		}
	}
	stop()
	slow.Wait()
	proxy.Set(dbtest.HoldAnswers)
	var took time.Duration
	var err error
	for range 10_000 {
		if took, err = take("numbers"); err != nil {
			break
		}
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "55P03" || took < time.Second {
		t.Errorf("with a store that hangs: %v after %v", err, took)
	}
	proxy.Set(dbtest.Open)
	for end := time.Now().Add(patience); ; pause(t, 50*time.Millisecond) {
		if _, err := take("numbers"); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the store answers again, but %v", err)
		}
	}
	if err := log.Check(); err != nil {
		t.Error(err)
	}
}

// TestServersWaitForTheirStore: servers start before their store, as after a power
// failure.
func TestServersWaitForTheirStore(t *testing.T) {
	t.Parallel()
	place := prepared(t, "postgres")
	place.kill()
	url := strings.Replace(place.url, "postgres@", "postgres:secret@", 1)
	s := spawn(t, serveCommand("--store", url), nil)
	if line := s.waitLine("waiting for the store"); strings.Contains(line, "secret") {
		t.Errorf("the log holds the password: %s", line)
	}
	place.start()
	s.isReady(s.waitLine("nextid ready:"))
	draw(t, s.connect(), "orders")
	if strings.Contains(s.ready, "secret") {
		t.Errorf("the ready line holds the password: %s", s.ready)
	}
}

// TestRecoverGeneratorOverSQL: after a failover the name stops with 58000, and
// recover_generator starts it again.
func TestRecoverGeneratorOverSQL(t *testing.T) {
	t.Parallel()
	place := prepared(t, "postgres")
	s := startServer(t, nil, "--store", place.url)
	conn := s.connect()
	var id int64
	if _, err := conn.Exec(t.Context(), "SELECT create_generator('numbers', 'segment', step => 10, strict => true)"); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		id = draw(t, conn, "numbers")
	}
	db, err := pgx.Connect(t.Context(), place.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background())
	if _, err := db.Exec(t.Context(), "UPDATE nextid_reservations SET lo = 5, hi = 6 WHERE key = 'name/numbers'"); err != nil {
		t.Fatal(err)
	}
	_, err = drawOnce(t.Context(), conn, "numbers")
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "58000" || !strings.Contains(pg.Hint, "recover_generator('numbers', at_least)") {
		t.Fatalf("after a row was edited: %v", err)
	}
	draw(t, conn, "flakes") // other names go on
	if _, err := conn.Exec(t.Context(), "SELECT recover_generator('numbers', 1000)"); err != nil {
		t.Fatal(err)
	}
	if next := draw(t, conn, "numbers"); next < 1000 || next <= id {
		t.Errorf("%d after %d", next, id)
	}
}
