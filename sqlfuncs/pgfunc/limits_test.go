package pgfunc_test

import (
	"context"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/sqlstate"
)

func TestFunctionsRefuseResultsThatAreTooLarge(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	mega := "repeat('a', 1048576)"
	for _, sql := range []string{
		"repeat('ab', 600000)",
		"repeat('a', 2147483647)",
		"concat(" + mega + ", 'a')",
		mega + " || 'a'",
		"replace(" + mega + ", 'a', 'ab')",
		"format('%s%s', " + mega + ", 'a')",
		"quote_literal(" + mega + ")",
		"array_to_string(ARRAY[" + mega + ", 'a'], ',')",
		"json_build_object('a', " + mega + ")",
		"(SELECT string_agg(" + mega + ", ',') FROM generate_series(1, 2))",
		"(SELECT array_agg(x) FROM generate_series(1, 200000) x)",
		"(SELECT array_agg(" + mega + ") FROM generate_series(1, 2))",
		"'a' ~ repeat('a', 2000)",
	} {
		s.Fails(t, "SELECT length(("+sql+")::text)", sqlstate.LimitExceeded)
	}
}

func TestFunctionsAllowResultsUpToTheLimit(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, sql := range []string{
		"length(repeat('a', 1048576))", "length(concat(repeat('a', 1048575), 'a'))",
		"length(replace(repeat('a', 524288), 'a', 'ab'))",
		"length((SELECT string_agg('a', NULL) FROM generate_series(1, 1048576)))",
	} {
		s.Want(t, "SELECT "+sql, "1048576")
	}
}

func TestPatternsThatNeedBacktrackingAreRefused(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, pattern := range []string{`(?=a)`, `(?!a)`, `(?<=a)b`, `(a)\1`, `(`, `[a`, `a{3000}`, `\`, `[[=ab=]]`, `\u12`} {
		s.Fails(t, "SELECT 'aab' ~ '"+pattern+"'", sqlstate.InvalidRegex)
	}
}

// canceled is a context that ends as soon as a statement waits for it.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	return ctx
}

func TestEndlessStatementsEndWithTheirContext(t *testing.T) {
	for _, sql := range []string{
		"SELECT pg_sleep(3600)",
		"SELECT pg_sleep(1e30)",
		"SELECT count(*) FROM generate_series(1, 9223372036854775807)",
	} {
		s := sqltest.NewServer(t).Session(t)
		_, err := s.QueryAll(canceled(t), sql)
		sqltest.WantCode(t, sql, err, sqlstate.QueryCanceled)
	}
}

func TestSeriesNeedConstantMemory(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, call := range []string{"generate_series(1, %)", "generate_series(1::bigint, %)", "unnest(concat('{', repeat('x,', 999), 'x}')::text[]), generate_series(1, % / 1000)"} {
		allocs := func(n string) float64 {
			sql := "SELECT count(*) FROM " + strings.ReplaceAll(call, "%", n)
			return testing.AllocsPerRun(5, func() { s.Must(t, sql) })
		}
		if few, many := allocs("2000"), allocs("20000"); many > few+100 {
			t.Errorf("%s: %v allocations for 2000 rows, %v for 20000", call, few, many)
		}
	}
}

func TestTimeStandsStillInATransaction(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	results, err := s.QueryAll(t.Context(), "BEGIN; SELECT now(), current_timestamp; SELECT pg_sleep(0.002); SELECT now(); COMMIT")
	if err != nil {
		t.Fatal(err)
	}
	before, after := results[1].Rows[0], results[3].Rows[0]
	if before[0] != before[1] || before[0] != after[0] {
		t.Errorf("now() was %v, then %v", before, after)
	}
}
