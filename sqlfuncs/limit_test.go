package sqlfuncs_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

func TestPreparedStatementsAreBounded(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{Limits: sqlfuncs.Limits{Statements: 3, PreparedBytes: 200}}).Session(t)
	for _, name := range []string{"a", "b", "c"} {
		if _, err := s.Prepare(name, "SELECT 1", nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Prepare("d", "SELECT 1", nil)
	sqltest.WantCode(t, "a fourth statement", err, sqlstate.LimitExceeded)
	s.Fails(t, "PREPARE d AS SELECT 1", sqlstate.LimitExceeded)
	if _, err := s.Prepare("", "SELECT 1", nil); err != nil {
		t.Errorf("the unnamed statement must still work: %v", err)
	}
	s.Unprepare([]byte("a"))
	large := "SELECT '" + strings.Repeat("x", 300) + "'"
	_, err = s.Prepare("d", large, nil)
	sqltest.WantCode(t, "a large statement", err, sqlstate.LimitExceeded)
	for range 100 { // closing gives the bytes back
		if _, err := s.Prepare("d", "SELECT '"+strings.Repeat("x", 100)+"'", nil); err != nil {
			t.Fatal(err)
		}
		s.Unprepare([]byte("d"))
	}
}

func TestStatementsPerQueryAreBounded(t *testing.T) {
	server := sqltest.NewServer(t, sqltest.Config{Limits: sqlfuncs.Limits{StatementsPerQuery: 3}})
	server.Segment(t, "a")
	s := server.Session(t)
	s.Fails(t, "SELECT next_id('a'); SELECT 1; SELECT 1; SELECT 1", sqlstate.LimitExceeded)
	s.Must(t, "SELECT 1; SELECT 1; SELECT 1;")
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("the refused query ran: next id %d", id)
	}
}

// TestNamesOfASessionAreCounted: currval keeps an id for each name that the session
// draws from.
func TestNamesOfASessionAreCounted(t *testing.T) {
	server := sqltest.NewServer(t, sqltest.Config{Memory: account.Limits{Session: 130_000}})
	s := server.Session(t)
	s.Must(t, "SELECT count(next_id('n' || g)) FROM generate_series(1, 64) g")
	if used := s.Memory().Used(); used > 20_000 {
		t.Errorf("%d bytes for few names", used)
	}
	few := s.Memory().Used()
	s.Must(t, "SELECT count(next_id('n' || g)) FROM generate_series(1, 1000) g")
	if used := s.Memory().Used() - few; used < 1000*24 {
		t.Errorf("%d bytes for 1,000 names", used)
	}
	s.Must(t, "SELECT currval('n1')")
	s.Must(t, "SELECT count(next_id('n' || g)) FROM generate_series(1, 5000) g") // more than the session may hold
	s.Fails(t, "SELECT currval('n1')", sqlstate.NotPrerequisite)
	s.Must(t, "SELECT currval('n5000'), lastval()")
	s.Must(t, "DISCARD SEQUENCES")
	if used := s.Memory().Used(); used > 20_000 {
		t.Errorf("%d bytes after DISCARD", used)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	server := sqltest.NewServer(t, sqltest.Config{Memory: account.Limits{Session: 1_000_000}})
	s := server.Session(t)
	for _, sql := range []string{
		"SELECT g FROM generate_series(1, 20000) g ORDER BY g",
		"SELECT DISTINCT g FROM generate_series(1, 20000) g",
		"SELECT g FROM generate_series(1, 20000) g GROUP BY g",
		"SELECT count(DISTINCT g) FROM generate_series(1, 20000) g",
		"SELECT array_agg(g ORDER BY g) FROM generate_series(1, 20000) g",
		"SELECT * FROM generate_series(1, 2) a JOIN generate_series(1, 20000) b ON true",
		"SELECT 5 IN (SELECT generate_series(1, 20000))",
		"SELECT ARRAY(SELECT generate_series(1, 20000))",
		"WITH a AS (SELECT generate_series(1, 20000)) SELECT count(*) FROM a",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION SELECT n + 1 FROM t) SELECT count(*) FROM t",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION SELECT n FROM t, generate_series(1, 20000)) SELECT n FROM t",
		"WITH RECURSIVE t (n) AS (SELECT repeat('x', 1000) UNION SELECT repeat('x', 1000) || k FROM t, generate_series(1, 1000) k) SELECT count(*) FROM t",
		"DECLARE c CURSOR WITH HOLD FOR SELECT generate_series(1, 20000)",
		"SELECT count(DISTINCT repeat('x', 10000) || g) FROM generate_series(1, 200) g",
		"SELECT repeat('x', 10000) || g AS t FROM generate_series(1, 200) g ORDER BY t",
		"SELECT DISTINCT repeat('x', 10000) || g FROM generate_series(1, 200) g",
		"SELECT 1 FROM generate_series(1, 200) g GROUP BY repeat('x', 10000) || g",
		"SELECT count(*) FROM generate_series(1, 2) a JOIN (SELECT repeat('x', 10000) || g AS t FROM generate_series(1, 200) g) b ON true",
		"SELECT g, max(repeat('x', 10000) || g) FROM generate_series(1, 200) g GROUP BY g",
		"SELECT row_number() OVER (ORDER BY t) FROM (SELECT repeat('x', 10000) || g AS t FROM generate_series(1, 200) g) a",
		"SELECT g, string_agg(repeat('x', 10000), ',') FROM generate_series(1, 200) g GROUP BY g",
		"SELECT " + strings.Repeat("repeat('x', 10000), ", 150) + "1",
		"SELECT ARRAY[" + strings.Repeat("repeat('x', 10000), ", 150) + "'x']",
		"SELECT length(concat(" + strings.Repeat("repeat('x', 10000), ", 150) + "'x'))",
		"SELECT " + strings.Repeat("1+", 5000) + "1",
		"SELECT json_agg(1) -> 'a' FROM generate_series(1, 30000)",
	} {
		s.Fails(t, sql, sqlstate.OutOfMemory)
	}
	for _, sql := range []string{
		"SELECT g FROM generate_series(1, 5000) g",
		"SELECT (SELECT count(*) FROM (SELECT x FROM generate_series(1, 1000) x ORDER BY -x) a WHERE x < g) FROM generate_series(1, 100) g",
		"SELECT (SELECT count(*) FROM generate_series(1, 1000) x JOIN generate_series(1, 1000) y ON x = y AND x < g) FROM generate_series(1, 100) g",
		"SELECT g FROM generate_series(1, 100) g WHERE g <> ALL (SELECT x FROM generate_series(1, 1000) x WHERE x > g)",
		"SELECT count(*) FROM generate_series(1, 100) g, LATERAL (SELECT x FROM generate_series(1, 1000) x ORDER BY -x - g) a",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t LIMIT 100",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t JOIN generate_series(1, 1000) k ON n = k) SELECT count(*) FROM t",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL (WITH w AS (SELECT n, k FROM t, generate_series(1, 100) k) SELECT DISTINCT n + 1 FROM w)) SELECT n FROM t LIMIT 100",
		"SELECT (WITH w AS (SELECT x FROM generate_series(1, 1000) x) SELECT count(*) FROM w WHERE x < g) FROM generate_series(1, 100) g",
		"SELECT (WITH RECURSIVE w (x) AS (SELECT 1 UNION SELECT x + 1 FROM w) SELECT x FROM w WHERE x > g LIMIT 1) FROM generate_series(1, 100) g",
		"WITH w AS (SELECT x FROM generate_series(1, 100) x) SELECT (SELECT count(*) FROM w WHERE x < g) FROM generate_series(1, 1000) g",
		"SELECT count(*) FROM generate_series(1, 5000) g",
		"SELECT g FROM generate_series(1, 5000) g WHERE g IN (SELECT generate_series(1, 5))",
		"SELECT g FROM generate_series(1, 5000) g WHERE EXISTS (SELECT 1 WHERE g > 10)",
		"SELECT g, (SELECT max(x) FROM (VALUES (1), (2)) v (x) WHERE x < g) FROM generate_series(1, 2000) g",
		"SELECT * FROM generate_series(1, 2000) a, LATERAL (SELECT a + 1) b",
		"SELECT length(repeat('x', 10000) || g) FROM generate_series(1, 1000) g",
		"SELECT g FROM generate_series(1, 1000) g WHERE repeat('x', 10000) || g = ''",
		"SELECT max(length(repeat('x', 10000))) FROM generate_series(1, 1000) g",
		"SELECT (SELECT length(repeat('x', 10000) || g)) FROM generate_series(1, 1000) g",
		"SELECT count(*) FROM (SELECT repeat('x', 10000) FROM generate_series(1, 1000)) a",
		"SELECT count(*) FROM generate_series(1, 1000) g GROUP BY length(repeat('x', 10000) || g)",
	} {
		if _, err := s.Query(t, sql); err != nil {
			t.Errorf("%s holds little: %v", sql, err)
		}
	}
	s.Must(t, "SELECT 1") // instead of a large text before it
	if used := s.Memory().Used(); used > 20_000 {
		t.Errorf("%d bytes are still counted", used)
	}
}

func TestDeepStatementsAreRefused(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, sql := range []string{
		"SELECT " + strings.Repeat("(SELECT ", 500) + "1" + strings.Repeat(")", 500),
		"SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000),
		"SELECT " + strings.Repeat("- ", 20000) + "1",
		"SELECT " + strings.Repeat("NOT ", 20000) + "true",
	} {
		_, err := s.Query(t, sql)
		var e *sqlstate.Error
		if !errors.As(err, &e) || (e.Code != sqlstate.TooComplex && e.Code != sqlstate.SyntaxError) {
			t.Errorf("%.20s…: %v", sql, err)
		}
	}
}

// TestNestingDoesNotMultiplyPlanning plans nested expressions. If a level planned an
// operand twice, the test would not end.
func TestNestingDoesNotMultiplyPlanning(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	nest := func(open, inner, end string, n int) string {
		return "SELECT " + strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	s.Want(t, nest("((", "true", ") BETWEEN false AND true)", 20), "t")
	s.Want(t, nest("CASE (", "true", ") WHEN false THEN false WHEN true THEN true ELSE NULL END", 20), "t")
}

func TestCanceledContextEndsAStatement(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.QueryAll(ctx, "SELECT count(*) FROM generate_series(1, 100000)")
	sqltest.WantCode(t, "a canceled context", err, sqlstate.QueryCanceled)
}

func TestStatementCacheTakesTheSecondAppearance(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	statement := func(sql string) *sqlfuncs.Statement {
		t.Helper()
		st, err := s.Prepare("", sql, nil)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	a, b, c := statement("SELECT 1"), statement("SELECT 1"), statement("SELECT 1")
	if a == b {
		t.Error("the first appearance of a text must not be kept")
	}
	if b != c {
		t.Error("the second appearance of a text must be kept")
	}
	if statement("SELECT 1 ") == c {
		t.Error("another text gave the same statement")
	}
	for _, private := range []string{"SELECT 1; SELECT 2"} {
		if _, err := s.Prepare("", private, nil); err == nil {
			t.Error("two statements in one text")
		}
	}
	long := "SELECT '" + strings.Repeat("x", 3000) + "'"
	statement(long)
	if first, second := statement(long), statement(long); first == second {
		t.Error("a very long text was kept")
	}
}

func TestStatementCacheIsBoundedAndSurvivesOneOffTexts(t *testing.T) {
	server := sqltest.NewServer(t, sqltest.Config{Limits: sqlfuncs.Limits{PlanCache: 8}})
	s := server.Session(t)
	plan := func(sql string) *sqlfuncs.Statement {
		t.Helper()
		st, err := s.Prepare("", sql, nil)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	plan("SELECT 'hot'")
	hot := plan("SELECT 'hot'")
	for i := range 1000 { // texts that come once
		plan(fmt.Sprintf("SELECT %d", i))
	}
	if plan("SELECT 'hot'") != hot {
		t.Error("texts that came once pushed out a text in use")
	}
	kept := 0
	for i := range 100 {
		sql := fmt.Sprintf("SELECT 'twice', %d", i)
		plan(sql)
		plan(sql)
	}
	for i := range 100 {
		sql := fmt.Sprintf("SELECT 'twice', %d", i)
		if first, second := plan(sql), plan(sql); first == second {
			kept++ // a text that was pushed out needs two more appearances
		}
	}
	if kept == 0 || kept > 100 {
		t.Errorf("%d texts kept", kept)
	}
}

// TestBoundValuesOfAllPortalsAreBounded checks the limit of all open portals and
// cursors together.
func TestBoundValuesOfAllPortalsAreBounded(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{Limits: sqlfuncs.Limits{PreparedBytes: 10_000}}).Session(t)
	s.Must(t, "BEGIN")
	st, err := s.Prepare("", "SELECT $1::text", nil)
	if err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("x", 4000)
	bind := func(name string) error {
		_, err := s.BindTextsTo([]byte(name), st, value)
		return err
	}
	for _, name := range []string{"a", "b", ""} { // the unnamed one is replaced each time
		err := bind(name)
		if name == "" {
			sqltest.WantCode(t, "a third portal", err, sqlstate.LimitExceeded)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	s.ClosePortal([]byte("a"))
	for range 5 {
		if err := bind(""); err != nil {
			t.Fatalf("after a portal was closed: %v", err)
		}
	}
	s.ClosePortal(nil)
	if st, err = s.Prepare("", "DECLARE c CURSOR FOR SELECT $1::text", nil); err != nil {
		t.Fatal(err)
	}
	if err := bind(""); err != nil {
		t.Fatal(err)
	}
	p, err := s.Portal(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Next(t.Context())
	sqltest.WantCode(t, "a cursor that keeps its values", err, sqlstate.LimitExceeded)
	s.Fail()
	s.Must(t, "ROLLBACK")
	s.Must(t, "BEGIN")
	for _, name := range []string{"a", "b"} {
		if err := bind(name); err != nil {
			t.Fatalf("after ROLLBACK: %v", err)
		}
	}
}

// TestLongListsNeedNoDeepStack has long lists of IN, which must not recurse for each
// element.
func TestLongListsNeedNoDeepStack(t *testing.T) {
	mysql := sqltest.NewServer(t).SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Dialect: syntax.MySQL})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	mysql.Want(t, "SELECT 1 IN (0"+strings.Repeat(", 0", 200_000)+")", "0")
	runtime.ReadMemStats(&after)
	if stack := int64(after.StackInuse) - int64(before.StackInuse); stack > 8<<20 {
		t.Errorf("the stack of a long list took %d bytes", stack)
	}
}

// TestLiteralsAreCounted checks that the values of literals count as memory of the
// plan.
func TestLiteralsAreCounted(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	const elements = 100_000
	sql := "SELECT '{1" + strings.Repeat(",1", elements-1) + "}'::int[]"
	used := s.Memory().Used()
	if _, err := s.Prepare("p", sql, nil); err != nil {
		t.Fatal(err)
	}
	if counted := s.Memory().Used() - used; counted < elements*64 {
		t.Errorf("an array of %d elements counts for %d bytes", elements, counted)
	}
	few := sqltest.NewServer(t, sqltest.Config{Memory: account.Limits{Session: 4 << 20}}).Session(t)
	few.Fails(t, sql, sqlstate.OutOfMemory)
}

// TestReadingCanBeStopped checks that the parsing and planning of a long text end
// with the text's context. The context does not affect the next text.
func TestReadingCanBeStopped(t *testing.T) {
	server := sqltest.NewServer(t)
	long := "SELECT true OR 1 IN (0" + strings.Repeat(", 0", 10_000) + ")"
	for name, dialect := range map[string]syntax.Dialect{"PostgreSQL": syntax.PostgreSQL, "MySQL": syntax.MySQL} {
		s := server.SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Dialect: dialect})
		for what, read := range map[string]func(cancel func()) error{
			"parsed": func(cancel func()) error {
				cancel()
				batch, err := s.Simple([]byte(long))
				if err == nil {
					_, err = batch.Next()
				}
				return err
			},
			"planned": func(cancel func()) error {
				batch, err := s.Simple([]byte(long))
				if err != nil {
					t.Fatal(err)
				}
				cancel()
				_, err = batch.Next()
				return err
			},
			"prepared": func(cancel func()) error {
				cancel()
				_, err := s.Prepare("", long, nil)
				return err
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			if err := s.ReadLong(ctx); err != nil {
				t.Fatal(err)
			}
			sqltest.WantCode(t, name+": a text that is "+what, read(cancel), sqlstate.QueryCanceled)
			s.Must(t, long)
			s.Rest()
		}
	}
}
