// Package wiretest has helpers for tests of the protocols:
//
//	Transcripts     conversations as text
//	SQL             an SQL layer on a memory store
//	CheckPipelines  pipelined requests against single ones
//	Main            a check that no goroutine is left when the tests end
package wiretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nextid/generator/segment"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqltest"
)

// WaitLimit bounds every wait of a test.
const WaitLimit = 20 * time.Second

// Server is a wire.Server.
type Server interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
}

// Serve serves on l until the test ends. It checks that s.Serve then returns closed.
func Serve(t testing.TB, s Server, l net.Listener, closed error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), WaitLimit)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-done; !errors.Is(err, closed) {
			t.Errorf("Serve ended with %v", err)
		}
	})
}

// lostWithin bounds the time from the client's Close to the end of its statement.
const lostWithin = time.Second

// CloseWhileRunning sends an endless statement over the server's only connection,
// closes the connection, and waits until the server has none. That must take
// lostWithin at most.
func CloseWhileRunning(t *testing.T, connections func() int, conn net.Conn, statement []byte) {
	t.Helper()
	if _, err := conn.Write(statement); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) //nolint:forbidigo // it is running, and nothing shows that
	if connections() != 1 {
		t.Fatalf("%d connections, want the one", connections())
	}
	closed := time.Now()
	_ = conn.Close() // closed once is enough
	for connections() > 0 && time.Since(closed) < WaitLimit {
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // as above
	}
	if took := time.Since(closed); took > lostWithin {
		t.Errorf("the statement went on for %v", took)
	}
}

// MemoryInUse returns the bytes of the heap and the stacks after a collection.
func MemoryInUse() int64 {
	for range 3 { // pools are emptied, stacks are shrunk
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// CountWrites returns a listener with connections that count the server's calls of
// Write.
func CountWrites(l net.Listener) (net.Listener, *atomic.Int64) {
	writes := new(atomic.Int64)
	return countingListener{l, writes}, writes
}

type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// leakPatience bounds the wait for goroutines after the last test.
const leakPatience = 5 * time.Second

// Main runs the tests of a package, for TestMain, and returns the exit code. It
// fails if a goroutine still runs code of this module afterwards.
func Main(m *testing.M) int {
	code := m.Run()
	if left := leaked(leakPatience); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", left)
		return 1
	}
	return code
}

// leaked waits until no goroutine but that of Main runs code of this module, for
// waitLimit at most. It returns the stacks of the goroutines that still do.
func leaked(waitLimit time.Duration) string {
	buf := make([]byte, 1<<20)
	for deadline := time.Now().Add(waitLimit); ; <-time.After(10 * time.Millisecond) {
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		left := slices.DeleteFunc(stacks, func(g string) bool {
			return !strings.Contains(g, "nextid/") || strings.Contains(g, "wiretest.Main(")
		})
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}

// SQL makes the SQL layer on a memory store, with the generators numbers and letters
// of kind segment.
func SQL(t testing.TB) *sqlfuncs.Server {
	t.Helper()
	s := sqltest.NewServer(t)
	for _, name := range []string{"numbers", "letters"} {
		if err := s.Registry.Create(t.Context(), name, segment.KindName, []byte(`{"step": 1000000}`)); err != nil {
			t.Fatal(err)
		}
	}
	return s.Server
}

// Ready returns s as the SQL of a server that does not wait for its store.
func Ready(s *sqlfuncs.Server) func() *sqlfuncs.Server {
	return func() *sqlfuncs.Server { return s }
}

// Case is one case of a transcript, a text of cases:
//
//	case NAME [FLAG ...]
//	> …        the client's message
//	< …        the expected answer
//
// The form of a line depends on the protocol. Empty lines, and lines that begin with
// #, are ignored.
type Case struct {
	Name  string
	Flags []string
	Lines []string
}

// Has reports whether the case has a flag.
func (c Case) Has(flag string) bool { return slices.Contains(c.Flags, flag) }

// Transcripts runs a test for each case in testdata/transcripts.
func Transcripts(t *testing.T, run func(t *testing.T, c Case)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		for _, c := range readTranscript(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+c.Name, func(t *testing.T) { run(t, c) })
		}
	}
}

// readTranscript reads the cases of a file. Every line behind a case line is of that
// case.
func readTranscript(t *testing.T, file string) []Case {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \n")
		words := strings.Fields(line)
		switch {
		case line == "" || line[0] == '#':
		case words[0] == "case":
			cases = append(cases, Case{Name: words[1], Flags: words[2:]})
		default:
			c := &cases[len(cases)-1]
			c.Lines = append(c.Lines, line)
		}
	}
	return cases
}

// SameLines fails the test if the lines got are not those that a case wants.
func SameLines(t *testing.T, want, got []string) {
	t.Helper()
	if w, g := strings.Join(want, "\n"), strings.Join(got, "\n"); w != g {
		t.Errorf("got\n%s\n\nwant\n%s", g, w)
	}
}

// pipelined has queries of both dialects. Their answers depend on earlier queries.
var pipelined = []string{
	"SELECT next_id('numbers')", "SELECT next_id('near') AS id", "SELECT next_id('down')", "SELECT next_id('far')",
	"SELECT next_id('few')", "SELECT nextval('numbers')", "SELECT lastval()", "SELECT next_id('numbers', 1)", "nonsense",
	"BEGIN", "COMMIT", "SELECT next_id('numbers') AS id, 1",
}

// pipelineNames makes generators whose ids change their length, descend and end.
var pipelineNames = []string{
	`SELECT create_generator('numbers', 'segment', '{"step": 1000000}')`,
	`SELECT create_generator('near', 'segment', '{"start": 9000}')`,
	`SELECT create_generator('down', 'segment', '{"start": 20300, "increment": -3, "min": 1}')`,
	`SELECT create_generator('far', 'segment', '{"start": 9223372036854700000, "increment": 7}')`,
	`SELECT create_generator('few', 'segment', '{"max": 5}')`,
}

// CheckPipelines sends queries one after another to one server, and all at once to
// another. The two servers issue the same ids, so the answers must be the same
// bytes. loginAlone and login start the servers, log in, and return a function that
// sends bytes and returns the answers. request encodes a query under test; query
// encodes the ones that create the generators. more are queries of one dialect.
func CheckPipelines(t *testing.T, loginAlone, login func() (ask func([]byte) []byte), query, request func(sql string) []byte, more ...string) {
	t.Helper()
	queries := append(more, pipelined...)
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		var asked [][]byte
		for range 12 {
			one := request(queries[random.IntN(len(queries))])
			for range []int{1, 2, 20, 300}[random.IntN(4)] {
				asked = append(asked, one)
			}
		}
		alone, together := loginAlone(), login()
		for _, name := range pipelineNames {
			if a, b := alone(query(name)), together(query(name)); !bytes.Equal(a, b) {
				t.Fatalf("%s: %q and %q", name, a, b)
			}
		}
		var want []byte
		for _, one := range asked {
			want = append(want, alone(one)...)
		}
		begun := asked[0][:3] // of another one
		if got := together(append(bytes.Join(asked, nil), begun...)); !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			from := max(at-100, 0)
			t.Fatalf("seed %d: %d bytes, want %d; from byte %d on\n%q, not\n%q", seed, len(got), len(want), from,
				got[from:min(at+100, len(got))], want[from:min(at+100, len(want))])
		}
	}
}
