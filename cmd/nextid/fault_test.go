package main

import (
	"context"
	byteorder "encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/generator"
	"nextid/generator/history"
)

// These tests run real servers through real faults. The history checker checks
// every id that a client got.

// faultRounds is the number of kills in the crash test.
const faultRounds = 200

// crowd draws ids from a server on several connections until the server dies or the
// context ends. The log has the ids of each connection in the order in which they
// arrived.
type crowd struct {
	log     *history.Log
	clients int // of earlier rounds: every connection is a client of its own
}

// drawFrom starts n connections; the returned function waits for their end.
func (c *crowd) drawFrom(ctx context.Context, address string, n int) (wait func()) {
	var wg sync.WaitGroup
	for range n {
		c.clients++
		id := c.clients
		wg.Go(func() { c.client(ctx, address, id) })
	}
	return wg.Wait
}

// client draws snowflake and segment ids, one at a time and in rows. It ends with
// its connection.
func (c *crowd) client(ctx context.Context, address string, id int) {
	conn, err := pgx.Connect(ctx, "postgres://anybody@"+address+"/nextid?sslmode=disable&connect_timeout=10")
	if err != nil {
		return // killed before it could answer
	}
	defer func() { _ = conn.Close(context.Background()) }() // the server may be gone
	for i := 0; ctx.Err() == nil; i++ {
		name := []string{"flakes", "numbers"}[i%2]
		sql := "SELECT next_id($1)"
		if i%5 == 4 {
			sql = "SELECT next_ids($1, 50)"
		}
		rows, err := conn.Query(ctx, sql, name)
		if err != nil {
			return
		}
		for rows.Next() {
			var v int64
			if rows.Scan(&v) != nil {
				break
			}
			c.log.Add(history.Event{Name: name, Client: id, Range: generator.Range{First: v, Step: 1, Count: 1}})
		}
		if rows.Close(); rows.Err() != nil {
			return
		}
	}
}

// judge fails the test if an id was issued twice or out of order, or if no id was
// drawn.
func (c *crowd) judge(t *testing.T) {
	t.Helper()
	if c.log.Len() == 0 {
		t.Fatal("no id was drawn: the test proves nothing")
	}
	if err := c.log.Check(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ids, %d connections, no duplicate", c.log.Len(), c.clients)
}

func createNumbers(t *testing.T, s *process) {
	t.Helper()
	if _, err := s.connect().Exec(t.Context(), "SELECT create_generator('numbers', 'segment', step => 10, max_step => 10)"); err != nil {
		t.Fatal(err)
	}
}

// TestNoDuplicateOverCrashes kills the server 200 times under load: at random
// moments and, where strace is installed, inside each system call of the store.
// After each restart ids must be above all that were drawn before.
func TestNoDuplicateOverCrashes(t *testing.T) {
	t.Parallel()
	rounds := faultRounds
	if testing.Short() {
		rounds = 20
	}
	data := t.TempDir()
	c := &crowd{log: &history.Log{}}
	createServer := func(wrapper ...string) *process {
		args := append(wrapper, binary, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data)
		return launch(t, exec.Command(args[0], args[1:]...), nil)
	}
	first := createServer()
	createNumbers(t, first)
	first.kill9()
	_, err := exec.LookPath("strace")
	hasStrace := err == nil
	if !hasStrace {
		t.Log("strace is not installed (Debian package strace): kills at random moments only")
	}
	died := map[string]int{}
	for round := range rounds {
		if hasStrace && round%2 == 1 {
			call := storeCalls[round/2%len(storeCalls)]
			if c.crashInStoreCall(t, data, call, 1+round/2/len(storeCalls)) {
				died[call]++
			}
			continue
		}
		s := createServer()
		floor := map[string]int64{}
		for _, name := range []string{"flakes", "numbers"} {
			floor[name], _ = c.log.Max(name)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		conn := s.connect()
		for name, v := range floor {
			if id := draw(t, conn, name); id <= v {
				t.Fatalf("round %d: %s gave %d after a restart, %d was given before", round, name, id, v)
			}
		}
		wait := c.drawFrom(ctx, s.address, 4)
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond) // the moment of the crash
		s.kill9()
		wait()
		cancel()
	}
	c.judge(t)
	for _, call := range storeCalls {
		if t.Logf("%d servers died in %s while they served", died[call], call); hasStrace && !testing.Short() && died[call] == 0 {
			t.Errorf("no server died in %s: the store does not call it", call)
		}
	}
}

// storeCalls lists the system calls that make the embedded store durable.
var storeCalls = []string{"pwrite64", "fsync"}

// crashInStoreCall runs the server under strace, which kills it in the n-th such
// call of a thread. It reports whether the server was serving then.
func (c *crowd) crashInStoreCall(t *testing.T, data, call string, n int) bool {
	t.Helper()
	nth := strconv.Itoa(n)
	cmd := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace="+call,
		"-e", "inject="+call+":signal=SIGKILL:when="+nth,
		binary, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data)
	s, ready := tryLaunch(t, cmd)
	if !ready {
		return false // a death before it was ready counts as a crash, too
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the call may never come
	defer cancel()
	wait := c.drawFrom(ctx, s.address, 4)
	wait()
	died := ctx.Err() == nil
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // strace and the server
	s.wait()
	return died
}

// tryLaunch is launch for a server that may die before it is ready.
func tryLaunch(t *testing.T, cmd *exec.Cmd) (*process, bool) {
	t.Helper()
	s := spawn(t, cmd, nil)
	for line := range s.stderr {
		if strings.HasPrefix(line, "nextid ready:") {
			s.isReady(line)
			return s, true
		}
	}
	s.wait()
	return s, false
}

// skewedClock controls the wall clock of a program that runs under
// benchmarks/torture/clock/skewclock.c.
type skewedClock struct{ file string }

// set moves the clock away from the real one and freezes it at a time, in
// Unix nanoseconds, unless that is 0.
func (k skewedClock) set(t *testing.T, offset time.Duration, frozen int64) {
	t.Helper()
	var b [16]byte
	byteorder.NativeEndian.PutUint64(b[:8], uint64(offset))
	byteorder.NativeEndian.PutUint64(b[8:], uint64(frozen))
	f, err := os.OpenFile(k.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteAt(b[:], 0); err != nil {
		t.Fatal(err)
	}
}

// buildSkewclock compiles the tool or skips the test.
func buildSkewclock(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs the Debian package gcc")
	}
	tool := filepath.Join(t.TempDir(), "skewclock")
	if out, err := exec.Command("gcc", "-O2", "-w", "-o", tool, filepath.Join("..", "..", "benchmarks", "torture", "clock", "skewclock.c")).CombinedOutput(); err != nil {
		t.Fatalf("compile skewclock: %v\n%s", err, out)
	}
	return tool
}

// TestNoDuplicateWhenTheClockMoves steps the wall clock of a running server by an
// hour in both directions, strobes and freezes it. It also restarts the server with
// the clock set back. Ids stay unique and keep growing, and no client waits.
func TestNoDuplicateWhenTheClockMoves(t *testing.T) {
	t.Parallel()
	tool := buildSkewclock(t)
	clock := skewedClock{filepath.Join(t.TempDir(), "clock")}
	data := t.TempDir()
	start := func() *process {
		return launch(t, exec.Command(tool, clock.file, binary, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data), nil)
	}
	clock.set(t, 0, 0)
	c := &crowd{log: &history.Log{}}
	s := start()
	createNumbers(t, s)
	conn := s.connect()

	grows := func(what string) {
		t.Helper()
		for _, name := range []string{"flakes", "numbers"} {
			before, _ := c.log.Max(name)
			began := time.Now()
			id := draw(t, conn, name)
			c.log.Add(history.Event{Name: name, Client: -len(name), Range: generator.Range{First: id, Step: 1, Count: 1}})
			if id <= before {
				t.Errorf("%s: %s gave %d, after %d", what, name, id, before)
			}
			if waited := time.Since(began); waited > 5*time.Second {
				t.Errorf("%s: %s made its client wait for %v", what, name, waited)
			}
		}
	}
	load := func(what string, d time.Duration) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		c.drawFrom(ctx, s.address, 2)()
		grows(what)
	}
	load("before", 300*time.Millisecond)
	for _, step := range []time.Duration{time.Hour, 0, -time.Hour, 365 * 24 * time.Hour, 0} {
		clock.set(t, step, 0)
		load(fmt.Sprintf("clock moved to %v", step), 500*time.Millisecond)
	}
	for i := range 40 {
		clock.set(t, time.Duration(i%2*2-1)*200*time.Millisecond, 0)
		load("strobe", 5*time.Millisecond)
	}
	clock.set(t, 0, time.Now().UnixNano())
	for range 8 { // longer than a slice
		load("frozen", 50*time.Millisecond)
		pause(t, 450*time.Millisecond)
	}
	for _, step := range []time.Duration{-time.Hour, time.Hour, 0} {
		s.kill9() // the tracer dies and takes the server along
		clock.set(t, step, 0)
		s = start()
		conn = s.connect()
		load(fmt.Sprintf("restarted with the clock at %v", step), 300*time.Millisecond)
	}
	c.judge(t)
}

// TestStoppedServerRepeatsNoID stops the process for longer than its time slice.
// Ids that it issues afterwards are unique.
func TestStoppedServerRepeatsNoID(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil, "--data", t.TempDir())
	createNumbers(t, s)
	c := &crowd{log: &history.Log{}}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	wait := c.drawFrom(ctx, s.address, 4)
	time.Sleep(500 * time.Millisecond)
	s.signal(syscall.SIGSTOP)
	time.Sleep(4 * time.Second) // the embedded store's slice is 3 s
	s.signal(syscall.SIGCONT)
	wait()
	c.judge(t)
}
