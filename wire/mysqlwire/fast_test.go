package mysqlwire_test

import (
	"net"
	"strconv"
	"testing"
	"time"

	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// fastPath is a way to ask for an id that must cost nothing but the id.
type fastPath struct {
	caps         uint64
	prepare, ask []byte
	kind         string
	asked        int
}

func fastPaths() map[string]fastPath {
	numbers := query("SELECT next_id('numbers')")
	literal, param := prepare("SELECT next_id('numbers')"), prepare("SELECT next_id(?)")
	differ := join(numbers, query("SELECT next_id('letters')"), query("SELECT next_id('numbers') AS id"), query("SELECT nextval('letters')"))
	return map[string]fastPath{
		"query":               {plain, nil, numbers, "text", 1},
		"query, modern":       {modern, nil, numbers, "text", 1},
		"query, not offered":  {modern | queryAttributes, nil, numbers, "text", 1},
		"query, snowflake":    {plain, nil, query("SELECT next_id('flakes')"), "text", 1},
		"query, alias":        {plain, nil, query("SELECT next_id('numbers') AS id"), "text", 1},
		"prepared":            {plain, literal, execute(1, 0), "binary", 1},
		"prepared, modern":    {modern, literal, execute(1, 0), "binary", 1},
		"parameter":           {plain, param, execute(1, 0, text("numbers")), "binary", 1},
		"parameter, MariaDB":  {maria, param, execute(1, 0, text("numbers")), "binary", 1},
		"pipeline of 20":      {plain, nil, repeat(numbers, 20), "text", 20},
		"texts that differ":   {plain, nil, repeat(differ, 5), "text", 20},
		"pipeline, parameter": {maria, param, repeat(execute(1, 0, text("numbers")), 20), "binary", 20},
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
			m, out := machine(t, path.caps)
			feed(t, m, out, path.prepare)
			ask := func() {
				out.B = out.B[:0]
				feed(t, m, out, path.ask)
			}
			for range 10 { // fill the statement cache, open the generator
				ask()
			}
			kinds := make([]string, path.asked)
			for i := range kinds {
				kinds[i] = path.kind
			}
			lines := decodeAll(t, path.caps, out.B, kinds...)
			if n := len(lines); n < 2*path.asked {
				t.Fatalf("%d lines: %q", n, lines)
			}
			if allocs := testing.AllocsPerRun(2000, ask); allocs != 0 && !raceEnabled {
				t.Errorf("%v allocations for each request, want none", allocs)
			}
		})
	}
}

func BenchmarkFastPath(b *testing.B) {
	for name, path := range fastPaths() {
		b.Run(name, func(b *testing.B) {
			m, out := machine(b, path.caps)
			feed(b, m, out, path.prepare)
			b.ReportAllocs()
			for b.Loop() {
				out.B = out.B[:0]
				feed(b, m, out, path.ask)
			}
		})
	}
}

func BenchmarkRowsOfIDs(b *testing.B) {
	m, out := machine(b, plain)
	ask := query("SELECT * FROM next_ids('numbers', 10000)")
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
	serve(t, counted, mysqlwire.Config{})
	for name, path := range fastPaths() {
		t.Run(name, func(t *testing.T) {
			c := login(t, l.Addr().String(), path.caps)
			if path.prepare != nil {
				c.ask("prepare", path.prepare)
			}
			for round := range 3 {
				before := writes.Load()
				const batch = 5
				c.write(repeat(path.ask, batch))
				for range batch * path.asked {
					if got := c.read(path.kind); len(got) < 2 {
						t.Fatal(got)
					}
				}
				if n := writes.Load() - before; n != 1 && round > 0 { // the first round may wait for the store
					t.Errorf("%d writes for one batch of %d requests, want 1", n, batch*path.asked)
				}
			}
		})
	}
}

// TestAnswersDoNotWaitForASlowStatement sends a quick query and a slow one
// together: the answer to the first must come at once.
func TestAnswersDoNotWaitForASlowStatement(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	c := login(t, address, plain)
	c.write(join(query("SELECT next_id('numbers')"), query("SELECT sleep(3)")))
	began := time.Now()
	c.read("text")
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("the first answer came after %v", d)
	}
}

// TestIDsGrow draws over every way and expects that the numbers rise.
func TestIDsGrow(t *testing.T) {
	last := int64(0)
	m, out := machine(t, modern)
	answers(t, m, out, modern, prepare("SELECT next_id(?)"), "prepare")
	for range 10 {
		got := answers(t, m, out, modern, join(query("SELECT next_id('numbers')"), execute(1, 0, text("numbers"))), "text", "binary")
		if len(got) != 6 {
			t.Fatal(got)
		}
		first, err1 := strconv.Unquote(got[1][len("Row "):])
		a, err2 := strconv.ParseInt(first, 10, 64)
		b, err3 := strconv.ParseInt(got[4][len("BinaryRow "):], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || a <= last || b <= a {
			t.Fatalf("%q after %d: %v %v %v", got, last, err1, err2, err3)
		}
		last = b
	}
}
