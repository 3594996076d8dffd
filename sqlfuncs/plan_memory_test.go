package sqlfuncs_test

import (
	"runtime"
	"strings"
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqltest"
)

// planTexts are statements whose plans are large for their length: how many
// bytes a plan may hold for each byte of its text.
var planTexts = map[string]struct {
	sql  string
	most int64
}{
	"constants":         {"SELECT 1 IN (0" + strings.Repeat(", 1", 20_000) + ")", 50},
	"texts":             {"SELECT 'a' IN (''" + strings.Repeat(", 'a'", 20_000) + ")", 32},
	"sums of constants": {"SELECT 1 IN (0" + strings.Repeat(", 1+1", 20_000) + ")", 95},
	"sums of columns":   {"SELECT count(*) FROM (SELECT 1 AS a) t WHERE a IN (0" + strings.Repeat(", a+a", 5_000) + ")", 125},
	"calls":             {"SELECT 1 IN (0" + strings.Repeat(", length('a')", 10_000) + ")", 40},
	"casts":             {"SELECT 1 IN (0" + strings.Repeat(", 1::int8", 10_000) + ")", 33},
	"columns":           {"SELECT 1" + strings.Repeat(", 1", 1_500), 85},
	"equalities":        {"SELECT 1=1" + strings.Repeat(" OR 1=1", 700), 110},
}

// TestPlansAreSmall: a text makes a plan of so many times its size at most, and
// never one that is larger than the account says.
func TestPlansAreSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes values larger")
	}
	s := sqltest.NewServer(t)
	for name, text := range planTexts {
		t.Run(name, func(t *testing.T) {
			session := s.Session(t)
			before, used := heap(), session.Memory().Used()
			st, err := session.Prepare("p", text.sql, nil)
			if err != nil {
				t.Fatal(err)
			}
			held, counted := heap()-before, session.Memory().Used()-used
			runtime.KeepAlive(st)
			if most := text.most * int64(len(text.sql)); held > most || held > counted {
				t.Errorf("a text of %d bytes: the plan holds %d, want at most %d; the account says %d", len(text.sql), held, most, counted)
			}
		})
	}
}

// heap is how much is held.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkPlan(b *testing.B) {
	session := sqltest.NewServer(b).Session(b)
	for name, text := range planTexts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text.sql)))
			var st *sqlfuncs.Statement
			for b.Loop() {
				var err error
				if st, err = session.Prepare("", text.sql, nil); err != nil {
					b.Fatal(err)
				}
			}
			runtime.KeepAlive(st)
		})
	}
}
