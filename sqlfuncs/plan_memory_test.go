package sqlfuncs_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqltest"
	"nextid/sqlfuncs/syntax"
)

// planTexts are statements whose plans are large for their length.
var planTexts = map[string]struct {
	sql   string
	mysql bool
	work  int64 // counts for each byte while the text is read, and no longer
}{
	"constants":         {sql: "SELECT 1 IN (0" + strings.Repeat(", 1", 20_000) + ")"},
	"texts":             {sql: "SELECT 'a' IN (''" + strings.Repeat(", 'a'", 20_000) + ")"},
	"sums of constants": {sql: "SELECT 1 IN (0" + strings.Repeat(", 1+1", 20_000) + ")"},
	"sums of columns":   {sql: "SELECT count(*) FROM (SELECT 1 AS a) t WHERE a IN (0" + strings.Repeat(", a+a", 5_000) + ")"},
	"calls":             {sql: "SELECT 1 IN (0" + strings.Repeat(", length('a')", 10_000) + ")"},
	"casts":             {sql: "SELECT 1 IN (0" + strings.Repeat(", 1::int8", 10_000) + ")"},
	"columns":           {sql: "SELECT 1" + strings.Repeat(", 1", 1_500)},
	"equalities":        {sql: "SELECT 1=1" + strings.Repeat(" OR 1=1", 700)},
	"cases":             {sql: "SELECT CASE 1" + strings.Repeat(" WHEN 2 THEN 3", 5_000) + " END"},
	"negations":         {sql: "SELECT 1 IN (0" + strings.Repeat(", - - -a", 3_000) + ") FROM (SELECT 1 AS a) t"},
	"rows":              {sql: "VALUES (0)" + strings.Repeat(", (0)", 20_000)},
	"an array":          {sql: "SELECT '{0" + strings.Repeat(",1", 50_000) + "}'::int[]", work: engine.WorkFactor},
	"patterns":          {sql: "SELECT concat(1" + strings.Repeat(", 'x' LIKE 'y'", 3_000) + ")"},
	"tables":            {sql: "SELECT 1 WHERE false" + strings.Repeat(" OR EXISTS (SELECT * FROM pg_attribute)", 200)},
	"MySQL's queries":   {sql: "SELECT concat(1" + strings.Repeat(", a IN (SELECT 1)", 1_000) + ") FROM (SELECT 1 AS a) t", mysql: true},
	"MySQL's constants": {sql: "SELECT 1 IN (0" + strings.Repeat(", 1", 20_000) + ")", mysql: true},
	"MySQL's texts":     {sql: "SELECT 'a' IN (''" + strings.Repeat(", 'a'", 20_000) + ")", mysql: true},
	"MySQL's sums":      {sql: "SELECT 1 IN (0" + strings.Repeat(", 1+1", 20_000) + ")", mysql: true},
	"MySQL's calls":     {sql: "SELECT 1 IN (0" + strings.Repeat(", concat('a')", 10_000) + ")", mysql: true},
}

// TestPlansAreSmall checks that neither a plan nor the memory for making it exceeds
// the count of the session's account.
func TestPlansAreSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes values larger")
	}
	s := sqltest.NewServer(t)
	for name, text := range planTexts {
		t.Run(name, func(t *testing.T) {
			session := planSession(t, s, text.mysql)
			before, used := heap(), session.Memory().Used()
			var st *sqlfuncs.Statement
			peak := livePeak(func() {
				var err error
				if st, err = session.Prepare("", text.sql, nil); err != nil {
					t.Fatal(err)
				}
			}) - before
			held, counted := heap()-before, session.Memory().Used()-used
			runtime.KeepAlive(st)
			size := int64(len(text.sql))
			t.Logf("held %d, peak %d, counted %d for each byte of the text", held/size, peak/size, counted/size)
			if held > counted+noise || peak > counted+text.work*size+noise {
				t.Errorf("a text of %d bytes: the plan holds %d; making it took %d; the account says %d", size, held, peak, counted)
			}
		})
	}
}

// noise bounds what the runtime allocates besides.
const noise = 64 << 10

func planSession(t testing.TB, s *sqltest.Server, mysql bool) *sqltest.Session {
	o := sqlfuncs.SessionOptions{User: "tester", Database: "db"}
	if mysql {
		o.Dialect = syntax.MySQL
	}
	return s.SessionWith(t, o)
}

// heap returns the live bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// livePeak returns the largest number of live bytes that the garbage collector found
// while f ran.
func livePeak(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	done, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := uint64(0)
		for {
			metrics.Read(live)
			most = max(most, live[0].Value.Uint64())
			select {
			case <-done:
				peak <- int64(most)
				return
			case <-time.After(50 * time.Microsecond):
			}
		}
	}()
	f()
	close(done)
	return <-peak
}

func BenchmarkPlan(b *testing.B) {
	server := sqltest.NewServer(b)
	for name, text := range planTexts {
		b.Run(name, func(b *testing.B) {
			session := planSession(b, server, text.mysql)
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
