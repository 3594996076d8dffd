//go:build linux

package sqlfuncs_test

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"golang.org/x/sys/unix"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// stopsWithin bounds how long a statement may run on after it was cancelled.
const stopsWithin = 100 * time.Millisecond

// largeValues holds expressions of the largest values of each type, and of the
// values that take the longest.
var largeValues = map[datum.OID][]string{
	datum.Text: {
		"repeat('a', 1048576)", "repeat('1,', 524288)", "concat('[', repeat('1,', 500000), '1]')",
		"concat('{', repeat('1,', 131000), '1}')", "concat('{', repeat('\"a\":1,', 150000), '\"b\":1}')", "repeat('ä', 524288)", "repeat('1', 131000)",
		"concat(repeat('[', 900), repeat('1,', 500000), '1', repeat(']', 900))", "'(a{1,40}){1,40}c'", "'%_a%_b%_c%_d%_e'", "'$[*][*]'", "'$**.a'", "'now'",
	},
	datum.Bytea:       {"repeat('a', 1048576)::bytea"},
	datum.JSON:        {"concat('[', repeat('1,', 500000), '1]')::json", "concat('{', repeat('\"a\":1,', 150000), '\"b\":1}')::json"},
	datum.JSONB:       {"concat('[', repeat('1,', 300000), '1]')::jsonb", "concat('{', repeat('\"a\":1.0,', 100000), '\"b\":1}')::jsonb"},
	datum.Numeric:     {"repeat('1', 131000)::numeric", "('0.' || repeat('1', 16000))::numeric"},
	datum.Int4:        {"1", "1000000", "-1000000"},
	datum.Int8:        {"1", "9223372036854775807"},
	datum.Bool:        {"true"},
	datum.Interval:    {"interval '1 day'"},
	datum.Timestamp:   {"timestamp '2000-01-01'"},
	datum.TimestampTZ: {"timestamptz '2000-01-01'"},
	datum.TextArray:   {"concat('{', repeat('1,', 131000), '1}')::text[]"},
	engine.AnyElement: {"repeat('a', 1048576)", "concat('[', repeat('1,', 500000), '1]')::jsonb"},
	engine.AnyType:    {"repeat('a', 1048576)", "concat('{', repeat('1,', 131000), '1}')::text[]"},
	datum.AnyArray:    {"concat('{', repeat('1,', 131000), '1}')::text[]", "concat('{', repeat('1,', 131000), '1}')::int[]"},
}

// largeCalls makes calls of a function: with a large value of the same kind for all
// arguments, and with a large value for the first argument alone.
func largeCalls(f *engine.Function, mysql bool) []string {
	n := len(f.Args)
	if f.Variadic {
		n += 3
	}
	value := func(i, variant int) string {
		t := f.ArgType(i)
		if mysql {
			t = datum.Text
		}
		all := largeValues[t]
		if all == nil {
			return "'1'"
		}
		return all[variant%len(all)]
	}
	var calls []string
	add := func(args []string) {
		if call := f.Name + "(" + strings.Join(args, ", ") + ")"; !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
	}
	for variant := range largeValues[datum.Text] {
		same, patterned := make([]string, n), make([]string, n)
		for i := range n {
			same[i] = value(i, variant)
			patterned[i] = value(i, variant+i*8)
		}
		add(same)
		add(patterned)
	}
	return calls
}

// TestEveryStatementCanBeStopped calls every function of both dialects, every cast
// and every operator with large values. It cancels the statement and measures how
// long the statement runs on.
func TestEveryStatementCanBeStopped(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("about time")
	}
	var postgres, mysql []string
	postgresFunctions, mysqlFunctions := sqlfuncs.AllFunctions()
	for _, name := range slices.Sorted(maps.Keys(postgresFunctions)) {
		for _, f := range postgresFunctions[name] {
			for _, call := range largeCalls(f, false) {
				_, window := f.Does.(engine.RowNumber)
				switch {
				case strings.HasPrefix(f.Name, "pg_terminate"), window:
				case f.ReturnsSet():
					postgres = append(postgres, "SELECT count(*) FROM "+call)
				default:
					postgres = append(postgres, "SELECT ("+call+") IS NULL FROM generate_series(1, 50)")
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mysqlFunctions)) {
		for _, f := range mysqlFunctions[name] {
			for _, call := range largeCalls(f, true) {
				mysql = append(mysql, "SELECT ("+call+") IS NULL FROM generate_series(1, 50) g")
			}
		}
	}
	var values []string
	for _, of := range largeValues {
		values = append(values, of...)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	for _, v := range values {
		for _, to := range []string{"json", "jsonb", "text[]", "int[]", "numeric[]", "timestamptz[]", "interval[]", "uuid[]", "numeric", "float8", "int", "bytea", "uuid", "date", "time", "timestamptz", "interval", "bool", "regclass", "varchar(10)"} {
			postgres = append(postgres, "SELECT (("+v+")::text::"+to+") IS NULL FROM generate_series(1, 50)")
		}
		for _, op := range []string{"=", "<", "||", "+", "-", "*", "/", "%", "~", "~*", "LIKE", "SIMILAR TO", "->", "->>", "@>", "<@", "&&", "IN", "= ANY"} {
			for _, w := range []string{v, "'(a{1,40}){1,40}c'", "'%_a%_b%_c%_d%_e%_f%_g'", "concat('{', repeat('1,', 131000), '1}')::text[]"} {
				postgres = append(postgres, "SELECT (("+v+") "+op+" ("+w+")) IS NULL FROM generate_series(1, 50)")
			}
		}
		if strings.Contains(v, "::") {
			continue
		}
		for _, op := range []string{"=", "<", "+", "*", "DIV", "LIKE", "<=>", "IN"} {
			for _, w := range []string{v, "'(a{1,40}){1,40}c'", "'%_a%_b%_c%_d%_e%_f%_g'"} {
				mysql = append(mysql, "SELECT (("+v+") "+op+" ("+w+")) IS NULL FROM generate_series(1, 50) g")
			}
		}
		for _, to := range []string{"decimal(65,30)", "datetime", "date", "time", "char", "binary", "signed", "double"} {
			mysql = append(mysql, "SELECT CAST(("+v+") AS "+to+") IS NULL FROM generate_series(1, 50) g")
		}
	}
	phases := []string{
		"SELECT count(*) FROM (SELECT g FROM generate_series(1, 1000000) g ORDER BY (g * 7919) % 1000003) a",
		"SELECT count(*) FROM (SELECT g FROM generate_series(1, 1000000) g ORDER BY -g) a",
		"SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY -g) FROM generate_series(1, 300000) g) a",
		"SELECT array_agg(g ORDER BY -g) IS NULL FROM generate_series(1, 100000) g",
		"SELECT count(*) FROM generate_series(1, 300000) a JOIN generate_series(1, 300000) b ON a = b",
		"SELECT count(*) FROM generate_series(1, 300000) a JOIN generate_series(1, 300000) b ON a < b",
		"SELECT count(DISTINCT g) FROM generate_series(1, 1000000) g",
		"SELECT count(*) FROM (SELECT DISTINCT g FROM generate_series(1, 1000000) g) a",
		"SELECT count(*) FROM (SELECT g FROM generate_series(1, 300000) g GROUP BY g) a",
		"SELECT 0 <> ALL (SELECT g FROM generate_series(1, 1000000) g)",
		"SELECT 0 IN (SELECT g FROM generate_series(1, 1000000) g)",
		"SELECT count(*) FROM generate_series(1, 1000000) g WHERE g = ANY(concat('{', repeat('1,', 131000), '1}')::int[])",
		"SELECT count(*) FROM pg_class WHERE oid = ANY(concat('{', repeat('1,', 131000), '1}')::oid[])",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
		"SELECT count(*) FROM generate_series(1, 100) g, LATERAL (SELECT x FROM generate_series(1, 100000) x ORDER BY -x) a",
		"SELECT (SELECT max(x) FROM generate_series(1, 1000000) x WHERE x < g) FROM generate_series(1, 100) g",
	}
	server := sqltest.NewServer(t)
	session := server.SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Database: "db", Admin: true})
	run(t, session, postgres, 2*time.Millisecond)
	for _, after := range []time.Duration{3e6, 50e6, 500e6} { // while they read, sort, join
		run(t, session, phases, after)
	}
	run(t, server.SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Database: "db", Admin: true, Dialect: syntax.MySQL}), mysql, 2*time.Millisecond)
}

// run cancels each statement after a while. It measures the processor time of the
// statement's thread from the end of the context, so that other processes do not
// affect the result.
func run(t *testing.T, s *sqltest.Session, statements []string, stopAfter time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := threadClock()
	stopped, codes := 0, map[string]int{}
	var worst time.Duration
	for _, sql := range statements {
		var late time.Duration
		for range 3 { // the garbage collector may have used the thread
			ctx, cancel := context.WithTimeout(t.Context(), stopAfter)
			var ended atomic.Int64
			context.AfterFunc(ctx, func() { ended.Store(int64(threadTime(clock))) })
			_, err := s.QueryAll(ctx, sql)
			if late = 0; ended.Load() > 0 {
				late = threadTime(clock) - time.Duration(ended.Load())
			}
			if ctx.Err() != nil && err != nil && strings.Contains(err.Error(), "57014") {
				stopped++
			} else if err != nil {
				codes[err.Error()[strings.LastIndex(err.Error(), "(")+1:]]++
			}
			cancel()
			if late <= stopsWithin {
				break
			}
		}
		worst = max(worst, late)
		if late > stopsWithin {
			t.Errorf("%.150s goes on for %v", sql, late)
		}
	}
	t.Logf("%d statements, %d of them stopped on their way, after %v at most; others: %v", len(statements), stopped, worst, codes)
}

// TestLongTextsTakeTimeByTheirLength has texts whose parsing or planning once took
// time quadratic in their length.
func TestLongTextsTakeTimeByTheirLength(t *testing.T) {
	server := sqltest.NewServer(t)
	postgres := server.Session(t)
	mysql := server.SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Dialect: syntax.MySQL})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := threadClock()
	for what, run := range map[string]func(){
		"signs": func() { postgres.Fails(t, "SELECT 1"+strings.Repeat("+-", 200_000)+"1", sqlstate.TooComplex) },
		"a list with an odd end": func() {
			postgres.Fails(t, "SELECT coalesce("+strings.Repeat("1, ", 200_000)+"true)", sqlstate.DatatypeMismatch)
		},
		"numbers of two lengths": func() { mysql.Must(t, "SELECT coalesce(10000000000"+strings.Repeat(", 1", 200_000)+")") },
	} {
		began := threadTime(clock)
		run()
		if took := threadTime(clock) - began; took > 4*time.Second {
			t.Errorf("%s took %v", what, took)
		}
	}
}

// threadClock returns the id of the clock of the calling thread's processor time.
// All threads can read it. See clock_getcpuclockid(3): the id is made of the
// thread's id.
func threadClock() int32 {
	const ofThread, scheduled = 4, 2
	return int32(^unix.Gettid())<<3 | ofThread | scheduled
}

func threadTime(clock int32) time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(clock, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Nano())
}
