package pgwire_test

import (
	"context"
	"net"
	"testing"
	"time"

	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// machine is a logged-in connection without a socket.
func machine(t testing.TB) (wire.Machine, *wire.Out) {
	t.Helper()
	server := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()})
	m := server.NewMachine(&wire.Conn{ID: 1})
	t.Cleanup(m.Close)
	out := wire.NewOut(1<<30, func([]byte) error { return nil })
	feed(t, m, out, startupPacket(3<<16, "user", "u"))
	return m, out
}

// rested is a machine that rests after each input. Otherwise all statements together
// would count as one long statement, which must wait for a CPU slot.
type rested struct{ wire.Machine }

func (r rested) Feed(ctx context.Context, in []byte, out *wire.Out) (int, error) {
	defer r.Rest()
	return r.Machine.Feed(ctx, in, out)
}

// feed gives a machine input that it must consume whole.
func feed(t testing.TB, m wire.Machine, out *wire.Out, in []byte) {
	n, err := m.Feed(t.Context(), in, out)
	if err != nil || n != len(in) {
		t.Fatalf("Feed consumed %d of %d bytes, error %v", n, len(in), err)
	}
}

// fastPath is a request for ids. answers is the number of its ReadyForQuery.
type fastPath struct {
	prepare, ask []byte
	answers      int
}

// fastPaths are the requests for an id that must not allocate.
func fastPaths() map[string]fastPath {
	prepared := parseMsg("s", "SELECT next_id('numbers')")
	param := parseMsg("p", "SELECT next_id($1)")
	differ := join(queryMsg("SELECT next_id('numbers')"), queryMsg("SELECT next_id('letters')"),
		queryMsg("SELECT next_id('numbers') AS id"), queryMsg("SELECT nextval('letters')"))
	cycle := func(bind []byte) []byte {
		return join(bind, describeMsg('P', ""), executeMsg("", 0), syncMsg())
	}
	return map[string]fastPath{
		"simple":             {nil, queryMsg("SELECT next_id('numbers')"), 1},
		"simple snowflake":   {nil, queryMsg("SELECT next_id('flakes')"), 1},
		"prepared text":      {prepared, cycle(bindMsg("", "s", 0)), 1},
		"prepared binary":    {prepared, cycle(bindMsg("", "s", 1)), 1},
		"prepared parameter": {param, cycle(bindMsg("", "p", 1, "numbers")), 1},
		"pipeline of 20":     {nil, repeat(queryMsg("SELECT next_id('numbers')"), 20), 20},
		"texts that differ":  {nil, repeat(differ, 5), 20},
	}
}

func repeat(b []byte, n int) []byte {
	var out []byte
	for range n {
		out = append(out, b...)
	}
	return out
}

func TestFastPathAllocatesNothing(t *testing.T) {
	for name, path := range fastPaths() {
		t.Run(name, func(t *testing.T) {
			m, out := machine(t)
			feed(t, m, out, path.prepare)
			ask := func() {
				out.B = out.B[:0]
				feed(t, m, out, path.ask)
			}
			for range 10 { // fill the statement cache, open the generator
				ask()
			}
			if allocs := testing.AllocsPerRun(2000, ask); allocs != 0 {
				t.Errorf("%v allocations for each request, want none", allocs)
			}
		})
	}
}

// TestStatementsAllocateLittle bounds the allocations of statements of the slow
// path.
func TestStatementsAllocateLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools")
	}
	for sql, most := range map[string]float64{
		"SELECT 1": 0,
		"SELECT * FROM next_range('numbers', 10)": 2,
		"SELECT * FROM next_ids('numbers', 10)":   1,
		"SELECT next_code('numbers')":             2,
		"SELECT parse_id(7123456789012345678)":    2,
		"SELECT id_time(7123456789012345678)":     1,
	} {
		m, out := machine(t)
		query := queryMsg(sql)
		ask := func() {
			out.B = out.B[:0]
			feed(t, m, out, query)
			m.Rest()
		}
		for range 10 {
			ask()
		}
		if allocs := testing.AllocsPerRun(1000, ask); allocs > most {
			t.Errorf("%s: %v allocations, at most %v are needed", sql, allocs, most)
		}
	}
}

func BenchmarkFastPath(b *testing.B) {
	for name, path := range fastPaths() {
		b.Run(name, func(b *testing.B) {
			m, out := machine(b)
			feed(b, m, out, path.prepare)
			b.ReportAllocs()
			for b.Loop() {
				out.B = out.B[:0]
				feed(b, m, out, path.ask)
			}
		})
	}
}

// BenchmarkStatements measures statements of the slow path, and a request for an id
// for comparison.
func BenchmarkStatements(b *testing.B) {
	for _, sql := range []string{
		"SELECT next_id('numbers')",
		"SELECT * FROM next_range('numbers', 10)",
		"SELECT * FROM next_ids('numbers', 10)",
		"SELECT next_code('numbers')",
		"SELECT parse_id(7123456789012345678)",
		"SELECT id_time(7123456789012345678)",
		"SELECT currval('numbers')",
		"SELECT nextval('numbers')",
		"SELECT next_id('numbers') AS id",
		"SELECT 1",
	} {
		b.Run(sql, func(b *testing.B) {
			bare, out := machine(b)
			m := rested{bare}
			feed(b, m, out, queryMsg("SELECT next_id('numbers')")) // for currval
			ask := queryMsg(sql)
			b.ReportAllocs()
			for b.Loop() {
				out.B = out.B[:0]
				feed(b, m, out, ask)
			}
		})
	}
}

func BenchmarkRowsOfIDs(b *testing.B) {
	m, out := machine(b)
	ask := queryMsg("SELECT * FROM next_ids('numbers', 10000)")
	for b.Loop() {
		out.B = out.B[:0]
		feed(b, m, out, ask)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10000, "ns/row")
}

// TestOneWriteForAPipelinedBatch counts the server's writes: a batch that
// arrives in one read is answered with one write.
func TestOneWriteForAPipelinedBatch(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counted, writes := wiretest.CountWrites(l)
	wiretest.Serve(t, pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}), counted, wire.ErrServerClosed)
	for name, path := range fastPaths() {
		t.Run(name, func(t *testing.T) {
			c := login(t, l.Addr().String())
			if path.prepare != nil {
				c.write(join(path.prepare, syncMsg()))
				c.until("ReadyForQuery")
			}
			for round := range 3 {
				before := writes.Load()
				const batch = 5
				c.write(repeat(path.ask, batch))
				for range batch * path.answers {
					c.until("ReadyForQuery")
				}
				if n := writes.Load() - before; n != 1 && round > 0 { // the first round may wait for the store
					t.Errorf("%d writes for one batch of %d requests, want 1", n, batch*path.answers)
				}
			}
		})
	}
}

// TestAnswersDoNotWaitForASlowStatement sends a quick query and a slow one
// together: the answer to the first must come at once.
func TestAnswersDoNotWaitForASlowStatement(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	c := login(t, address)
	c.write(join(queryMsg("SELECT next_id('numbers')"), queryMsg("SELECT pg_sleep(3)")))
	began := time.Now()
	c.until("ReadyForQuery")
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("the first answer came after %v", d)
	}
}
