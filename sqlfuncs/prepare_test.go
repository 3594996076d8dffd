package sqlfuncs_test

import (
	"slices"
	"strings"
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

func TestPrepareExecuteDeallocate(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.WantTag(t, "PREPARE p (int4, text) AS SELECT $1 + 1 AS n, $2 || '!' AS s", "PREPARE")
	r := s.Must(t, "EXECUTE p (1, 'hi')")
	if r.String() != "2|hi!" || r.Tag != "SELECT 1" || r.Columns[0].Name != "n" {
		t.Errorf("EXECUTE: %v", r)
	}
	s.Want(t, "EXECUTE p ('5', NULL)", "6|NULL")
	s.Fails(t, "EXECUTE p (1)", sqlstate.SyntaxError)
	s.Fails(t, "EXECUTE p (1, 'x', 3)", sqlstate.SyntaxError)
	s.Fails(t, "EXECUTE p ('x', 'y')", sqlstate.InvalidText)
	s.Fails(t, "EXECUTE nosuch", sqlstate.InvalidStatementName)
	s.Fails(t, "PREPARE p AS SELECT 1", sqlstate.DuplicateStatement)
	s.Fails(t, "PREPARE q AS SELECT nosuch", sqlstate.UndefinedColumn)
	s.WantTag(t, "DEALLOCATE p", "DEALLOCATE")
	s.Fails(t, "EXECUTE p (1, 'x')", sqlstate.InvalidStatementName)
	s.Fails(t, "DEALLOCATE p", sqlstate.InvalidStatementName)
	s.Must(t, "PREPARE a AS SELECT 1; PREPARE b AS SELECT 2")
	s.Want(t, "EXECUTE b", "2")
	s.WantTag(t, "DEALLOCATE PREPARE ALL", "DEALLOCATE ALL")
	s.Fails(t, "EXECUTE a", sqlstate.InvalidStatementName)
}

func TestPreparedNamesAreSharedWithTheProtocol(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "PREPARE p AS SELECT 7")
	st, err := s.Prepared([]byte("p"))
	if err != nil || len(st.Columns) != 1 || st.Columns[0].Type != datum.Int4 {
		t.Fatalf("%v, %v", st, err)
	}
	if _, err := s.Prepare("q", "SELECT 8", nil); err != nil {
		t.Fatal(err)
	}
	s.Want(t, "EXECUTE q", "8")
}

func TestExecuteOfAReplacedStatementIsPlannedAnew(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, c := range []struct{ inner, want string }{{"SELECT 1", "1"}, {"SELECT 'x'::text, 2", "x|2"}} {
		s.Must(t, "PREPARE p AS "+c.inner)
		for range 3 {
			s.Want(t, "EXECUTE p", c.want)
		}
		s.Must(t, "DEALLOCATE p")
	}
}

func TestExecuteWithABadArgumentLeavesTheSessionUsable(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "PREPARE p (bigint) AS SELECT $1")
	s.Fails(t, "EXECUTE p (next_id('1 bad'))", sqlstate.InvalidParameterValue)
	s.Want(t, "EXECUTE p (2)", "2")
}

func TestPreparedExecuteHoldsAndRunsOneStatement(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	used := func() int64 {
		s.Must(t, "SELECT 1") // the last plan counts, too
		return s.Memory().Used()
	}
	before := used()
	s.Must(t, "PREPARE p AS SELECT 1"+strings.Repeat("+1", 1000))
	plan := used() - before
	outer, err := s.Prepare("outer", "EXECUTE p", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Must(t, "DEALLOCATE p")
	if held := used() - before; held < plan/2 {
		t.Errorf("EXECUTE keeps a plan of %d bytes and counts %d", plan, held)
	}
	s.Must(t, "PREPARE p AS SELECT 1"+strings.Repeat("+1", 1000))
	run := func() (sqltest.Result, error) {
		p, err := s.Open(outer, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		return s.Pull(t.Context(), p, 0)
	}
	if r, err := run(); err != nil || r.String() != "1001" {
		t.Errorf("EXECUTE: %v, %v", r, err)
	}
	s.Must(t, "DEALLOCATE p; PREPARE p AS SELECT 'x'::text, 2")
	if r, err := run(); err == nil {
		t.Errorf("EXECUTE of a statement that was replaced: %v", r)
	}
}

func TestPrepareOfAnIdDrawsWhenExecuted(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Must(t, "PREPARE p AS SELECT next_id('a')")
	s.Must(t, "PREPARE q (text) AS SELECT next_id($1)")
	for want := int64(1); want <= 3; want++ {
		if id := s.ID(t, "a", "EXECUTE p"); id != 2*want-1 {
			t.Errorf("id %d, want %d", id, 2*want-1)
		}
		s.ID(t, "a", "EXECUTE q ('a')")
	}
}

func TestDiscardForgetsTheSession(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Must(t, "PREPARE p AS SELECT 1; SET application_name = 'x'")
	s.ID(t, "a", "SELECT next_id('a')")
	s.WantTag(t, "DISCARD SEQUENCES", "DISCARD SEQUENCES")
	s.Fails(t, "SELECT lastval()", sqlstate.NotPrerequisite)
	s.Fails(t, "SELECT currval('a')", sqlstate.NotPrerequisite)
	s.WantTag(t, "DISCARD PLANS", "DISCARD PLANS")
	s.WantTag(t, "DISCARD TEMP", "DISCARD TEMP")
	s.Want(t, "EXECUTE p", "1")
	s.WantTag(t, "DISCARD ALL", "DISCARD ALL")
	s.Want(t, "SHOW application_name", "")
	s.Fails(t, "EXECUTE p", sqlstate.InvalidStatementName)
	s.Must(t, "BEGIN")
	s.Fails(t, "DISCARD ALL", sqlstate.ActiveTransaction)
	s.Must(t, "ROLLBACK")
}

func TestExplainDrawsNothing(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Must(t, "PREPARE p AS SELECT next_id('a')")
	for _, sql := range []string{
		"EXPLAIN SELECT next_id('a')", "EXPLAIN SELECT * FROM next_ids('a', 100)",
		"EXPLAIN SELECT * FROM ids WHERE name = 'a'", "EXPLAIN VERBOSE SELECT id FROM a_id", "EXPLAIN (SELECT next_id('a'))",
	} {
		r := s.Must(t, sql)
		if r.Tag != "EXPLAIN" || len(r.Rows) == 0 || r.Columns[0].Name != "QUERY PLAN" {
			t.Errorf("%s: %v", sql, r)
		}
	}
	s.Want(t, "EXPLAIN SELECT * FROM ids", "Foreign Scan on ids  (cost=0.00..0.01 rows=1 width=8)")
	for sql, code := range map[string]sqlstate.Code{
		"EXPLAIN (FORMAT json) SELECT 1": sqlstate.FeatureNotSupported,
		"EXPLAIN EXECUTE p":              sqlstate.FeatureNotSupported,
		"EXPLAIN DROP SEQUENCE a":        sqlstate.SyntaxError,
	} {
		s.Fails(t, sql, code)
	}
	s.Fails(t, "EXPLAIN ANALYZE SELECT next_id('a')", sqlstate.FeatureNotSupported)
	s.Fails(t, "EXPLAIN SELECT nosuch", sqlstate.UndefinedColumn)
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("EXPLAIN drew: next id %d, want 1", id)
	}
}

func TestPoolersCleanUpStatementsAreAccepted(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.WantTag(t, "UNLISTEN *", "UNLISTEN")
	s.Fails(t, "LISTEN x", sqlstate.FeatureNotSupported)
	s.Fails(t, "NOTIFY x", sqlstate.FeatureNotSupported)
	s.Fails(t, "CREATE TABLE t (a int)", sqlstate.FeatureNotSupported)
	s.Fails(t, "INSERT INTO t VALUES (1)", sqlstate.FeatureNotSupported)
	s.Must(t, "CLOSE ALL; UNLISTEN *; RESET ALL; SET SESSION AUTHORIZATION DEFAULT")
}

// TestDeclaredTypesHitTheCache checks that a text is neither parsed nor planned when
// it is prepared again with the same parameter types. JDBC's drivers and HTTP do so.
func TestDeclaredTypesHitTheCache(t *testing.T) {
	server := sqltest.NewServer(t)
	const text = "SELECT $1"
	seen := map[*sqlfuncs.Statement]bool{}
	for _, c := range []struct{ declared, params []datum.OID }{
		{[]datum.OID{datum.Int8, datum.Int4}, []datum.OID{datum.Int8, datum.Int4}},
		{nil, []datum.OID{datum.Text}},
		{[]datum.OID{datum.Int8}, []datum.OID{datum.Int8}},
		{[]datum.OID{datum.Int4}, []datum.OID{datum.Int4}},
		{[]datum.OID{datum.Unknown, datum.Unknown}, []datum.OID{datum.Text, datum.Text}},
		{[]datum.OID{datum.Invalid}, []datum.OID{datum.Text}},
	} {
		var prepared [3]*sqlfuncs.Statement
		for i := range prepared {
			var err error
			if prepared[i], err = server.Session(t).Prepare("", text, c.declared); err != nil {
				t.Fatal(err)
			}
		}
		cached := prepared[1]
		if !slices.Equal(cached.Params, c.params) || seen[cached] {
			t.Errorf("%v: the parameters are %v, want %v", c.declared, cached.Params, c.params)
		}
		if prepared[2] != cached {
			t.Errorf("%v: planned anew", c.declared)
		}
		seen[cached] = true
	}
}

// TestTrimIsNamedAsWritten: errors name trim, not btrim, the function behind TRIM.
func TestTrimIsNamedAsWritten(t *testing.T) {
	server := sqltest.NewServer(t)
	if e := server.Session(t).Fails(t, "SELECT trim(5)", sqlstate.UndefinedFunction); e.Message != "function trim(integer) does not exist" {
		t.Error(e.Message)
	}
	if e := server.MySQLSession(t).Fails(t, "SELECT TRIM(' a ')", sqlstate.UndefinedFunction); !strings.HasSuffix(e.Message, "trim does not exist") {
		t.Error(e.Message)
	}
}

func TestACastWithoutAModifierDropsThatOfItsOperand(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	st, err := s.Prepare("", "SELECT a, a::varchar FROM (SELECT 'ab'::varchar(5) AS a) t", nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept, dropped := st.Columns[0].TypeMod, st.Columns[1].TypeMod; kept < 0 || dropped != -1 {
		t.Errorf("the modifiers are %d and %d", kept, dropped)
	}
}
