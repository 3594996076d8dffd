package main

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/history"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// goTrace is part of the trace of a Go program that crashes.
const goTrace = "goroutine "

func TestServerAnswersOnTheAddressOfItsReadyLine(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	if !strings.HasSuffix(s.ready, "(store sqlite:./nextid-data/nextid.db, worker id auto)") {
		t.Errorf("ready line %q", s.ready)
	}
	if strings.Contains(s.ready, "MySQL") || strings.Contains(s.ready, "HTTP") || strings.HasSuffix(s.address, ":0") {
		t.Errorf("the ready line claims what is not served: %q", s.ready)
	}
	var log history.Log
	conn := s.connect()
	for range 100 {
		log.Add(history.Event{Name: "orders", Range: generator.Range{First: draw(t, conn, "orders"), Step: 1, Count: 1}})
	}
	if err := log.Check(); err != nil {
		t.Error(err)
	}
}

// Both protocols draw from the same generators.
func TestBothProtocolsAreServed(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil, "--mysql", "127.0.0.1:0")
	db, err := sql.Open("mysql", "anybody:secret@tcp("+s.mysql+")/nextid")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn := s.connect()
	var last int64
	for range 20 {
		var id int64
		if err := db.QueryRowContext(t.Context(), "SELECT next_id(?)", "orders").Scan(&id); err != nil {
			t.Fatal(err)
		}
		next := draw(t, conn, "orders")
		if id <= last || next <= id {
			t.Fatalf("%d over MySQL and %d over PostgreSQL after %d", id, next, last)
		}
		last = next
	}
}

func TestIDsGrowOverKill9(t *testing.T) {
	t.Parallel()
	const clients, draws, restarts = 3, 50, 5
	data := t.TempDir()
	var log history.Log
	for range restarts {
		s := startServer(t, nil, "--data", data)
		highest := map[string]int64{}
		for _, name := range []string{"orders", "invoices"} {
			highest[name], _ = log.Max(name)
		}
		var done sync.WaitGroup
		for client := range clients {
			conn := s.connect()
			done.Go(func() {
				for range draws {
					for name, floor := range highest {
						id, err := drawOnce(t.Context(), conn, name)
						if err != nil {
							t.Error(err)
							return
						}
						if id <= floor {
							t.Errorf("%s: %d after a restart, but %d was issued before", name, id, floor)
						}
						log.Add(history.Event{Name: name, Client: client, Range: generator.Range{First: id, Step: 1, Count: 1}})
					}
				}
			})
		}
		done.Wait()
		s.kill9()
	}
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	if want := int64(clients * draws * restarts * 2); log.Len() != want {
		t.Errorf("%d ids were drawn, want %d", log.Len(), want)
	}
}

func drawOnce(ctx context.Context, conn *pgx.Conn, name string) (id int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = conn.QueryRow(ctx, "SELECT next_id($1)", name).Scan(&id)
	return id, err
}

func TestSecondServerOnTheSameDirectoryRefuses(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, nil, "--data", data)
	first := draw(t, s.connect(), "orders")
	r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--data", data)
	if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, data) {
		t.Errorf("exit code %d:\n%s", r.code, r.stderr)
	}
	if id := draw(t, s.connect(), "orders"); id <= first {
		t.Errorf("the first server answers %d after %d", id, first)
	}
	s.kill9()
	if id := draw(t, startServer(t, nil, "--data", data).connect(), "orders"); id <= first {
		t.Errorf("%d after %d", id, first)
	}
}

// isOneClearFailure reports whether standard error is one line with the error and
// one line with the hint.
func isOneClearFailure(stderr string) bool {
	lines := strings.Split(strings.TrimRight(stderr, "\n"), "\n")
	return len(lines) == 2 && strings.HasPrefix(lines[0], "nextid: ") &&
		strings.HasPrefix(lines[1], "hint: ") && !strings.Contains(stderr, goTrace)
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := runProgram(t, nil, "serve", "--mysql", "off", "--pg", l.Addr().String())
	if r.code != exitFailed || !isOneClearFailure(r.stderr) ||
		!strings.Contains(r.stderr, "listen on "+l.Addr().String()+": address already in use\nhint: Another server") {
		t.Errorf("exit code %d:\n%s", r.code, r.stderr)
	}
}

func TestStoresThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	foreign := filepath.Join(t.TempDir(), "nextid.db")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{ // the last says what the hint does
		"a foreign file":        {"--store", "sqlite:" + foreign, "Name the right data directory."},
		"a file for data":       {"--data", file, "Name a directory"},
		"a directory for store": {"--store", "sqlite:" + t.TempDir(), "Name the directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runProgram(t, nil, append([]string{"serve", "--pg", "127.0.0.1:0", "--mysql", "off"}, args[:2]...)...)
			if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "hint: "+args[2]) {
				t.Errorf("exit code %d:\n%s", r.code, r.stderr)
			}
		})
	}
}

func TestCopiedStoreIsRefusedUntilItIsAdopted(t *testing.T) {
	t.Parallel()
	data, copied := t.TempDir(), filepath.Join(t.TempDir(), "copied")
	s := startServer(t, nil, "--data", data)
	first := draw(t, s.connect(), "orders")
	s.signal(syscall.SIGTERM)
	s.wait()
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--data", copied)
	if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "--adopt") {
		t.Fatalf("exit code %d:\n%s", r.code, r.stderr)
	}
	if id := draw(t, startServer(t, nil, "--data", copied, "--adopt").connect(), "orders"); id <= first {
		t.Errorf("%d after %d", id, first)
	}
}

func TestSettingsReachTheServer(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "nextid.yaml", `
auto_create: segment
worker_id: 5
limits:
  ids_per_call: 7
generators:
  invoices: {kind: segment, start: 1000, open: start}
  later: {kind: segment}
`)
	s := startServer(t, []string{"NEXTID_CONFIG=" + file, "NEXTID_AUTO_CREATE=off", "NEXTID_STORE=memory:"}, "--worker-id", "6")
	if !strings.HasSuffix(s.ready, "(store memory:, worker id 6)") {
		t.Errorf("ready line %q", s.ready)
	}
	conn := s.connect()
	var ready string
	const running = "SELECT string_agg(name, ' ') FROM nextid.generators WHERE buffered > 0"
	if err := conn.QueryRow(t.Context(), running).Scan(&ready); err != nil || ready != "invoices" {
		t.Errorf("before a draw %q has numbers, %v; want what is opened at the start", ready, err)
	}
	if id := draw(t, conn, "invoices"); id != 1000 {
		t.Errorf("first id of a declared generator is %d, want its start, 1000", id)
	}
	for query, code := range map[string]string{
		"SELECT next_id('unknown')":            "42P01",
		"SELECT * FROM next_ids('invoices',8)": "22023",
	} {
		_, err := conn.Exec(t.Context(), query)
		var answer *pgconn.PgError
		if !errors.As(err, &answer) || answer.Code != code {
			t.Errorf("%s: %v, want SQLSTATE %s", query, err, code)
		}
	}
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	// A socket's path may have 108 bytes; t.TempDir can be longer.
	dir, err := os.MkdirTemp("", "nextid")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // best effort
	socket := filepath.Join(dir, ".s.PGSQL.5433")
	dsn := "host=" + dir + " port=5433 user=anybody sslmode=disable"

	s := startServer(t, nil, "--pg", dir)
	if s.address != socket {
		t.Errorf("a directory is served at %s, want %s", s.address, socket)
	}
	draw(t, connect(t, dsn), "orders")
	if r := runProgram(t, nil, "serve", "--mysql", "off", "--pg", socket); r.code != exitFailed || !strings.Contains(r.stderr, "address already in use") {
		t.Errorf("a second server on the socket: exit code %d:\n%s", r.code, r.stderr)
	}
	long := filepath.Join(dir, strings.Repeat("x", 108))
	if r := runProgram(t, nil, "serve", "--mysql", "off", "--pg", long); r.code != exitFailed || !strings.Contains(r.stderr, "at most 107 bytes") {
		t.Errorf("a path that is too long: exit code %d:\n%s", r.code, r.stderr)
	}
	s.kill9()
	if _, err := os.Stat(socket); err != nil {
		t.Fatalf("the socket file did not survive kill -9, so this test shows nothing: %v", err)
	}
	s = startServer(t, nil, "--pg", socket)
	draw(t, connect(t, dsn), "orders")
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket file is still there after a clean stop: %v", err)
	}
}

func TestSignalsDrainTheServer(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			s := startServer(t, nil, "--data", data, "--auto-create", "segment")
			conn := s.connect()
			id := draw(t, conn, "orders")
			s.signal(sig)
			if code := s.wait(); code != exitOK {
				t.Errorf("exit code %d:\n%s", code, strings.Join(s.lines, "\n"))
			}
			_, err := conn.Exec(t.Context(), "SELECT 1")
			var answer *pgconn.PgError
			if errors.As(err, &answer) && answer.Code != "57P01" || err == nil {
				t.Errorf("an idle client sees %v, want 57P01 or a closed connection", err)
			}
			// Unused reservations were given back.
			next := draw(t, startServer(t, nil, "--data", data, "--auto-create", "segment").connect(), "orders")
			if next != id+1 {
				t.Errorf("%d after %d and a clean stop: %d numbers were lost", next, id, next-id-1)
			}
		})
	}
}

// stuckClient makes the server send more than the client and the kernel take, so
// that the statement cannot end.
func stuckClient(t *testing.T, s *process) {
	t.Helper()
	conn := s.connect()
	raw := conn.PgConn().Conn()
	frontend := conn.PgConn().Frontend()
	frontend.SendQuery(&pgproto3.Query{String: "SELECT next_id('orders') FROM generate_series(1, 100000000)"})
	if err := frontend.Flush(); err != nil {
		t.Fatal(err)
	}
	// The first bytes show that the statement is running.
	if _, err := raw.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func TestSecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	s := startServer(t, []string{"NEXTID_DRAIN_TIMEOUT=1h"})
	stuckClient(t, s)
	s.signal(syscall.SIGTERM)
	s.waitLine("draining")
	time.Sleep(200 * time.Millisecond) //nolint:forbidigo // else the two count as one
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
}

// TestTwoSignalsAtOnceAreOne stops the server as timeout(1) does.
func TestTwoSignalsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	conn := s.connect()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	exec("BEGIN")
	s.signal(syscall.SIGTERM)
	s.waitLine("draining")
	s.signal(syscall.SIGTERM)
	exec("SELECT next_id('orders')")
	exec("COMMIT")
	if code := s.wait(); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, strings.Join(s.lines, "\n"))
	}
}

func TestDrainTimeoutCutsStatementsOff(t *testing.T) {
	t.Parallel()
	s := startServer(t, []string{"NEXTID_DRAIN_TIMEOUT=200ms"})
	stuckClient(t, s)
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if all := strings.Join(s.lines, "\n"); !strings.Contains(all, "drain_timeout") || strings.Contains(all, goTrace) {
		t.Errorf("standard error:\n%s", all)
	}
}
