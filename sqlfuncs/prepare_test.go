package sqlfuncs_test

import (
	"testing"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

func TestPrepareExecuteDeallocate(t *testing.T) {
	s := newServer(t).session(t)
	s.wantTag(t, "PREPARE p (int4, text) AS SELECT $1 + 1 AS n, $2 || '!' AS s", "PREPARE")
	r := s.must(t, "EXECUTE p (1, 'hi')")
	if r.String() != "2|hi!" || r.tag != "SELECT 1" || r.columns[0].Name != "n" {
		t.Errorf("EXECUTE: %v", r)
	}
	s.want(t, "EXECUTE p ('5', NULL)", "6|NULL")
	s.fails(t, "EXECUTE p (1)", sqlstate.SyntaxError)
	s.fails(t, "EXECUTE p (1, 'x', 3)", sqlstate.SyntaxError)
	s.fails(t, "EXECUTE p ('x', 'y')", sqlstate.InvalidText)
	s.fails(t, "EXECUTE nosuch", sqlstate.InvalidStatementName)
	s.fails(t, "PREPARE p AS SELECT 1", sqlstate.DuplicateStatement)
	s.fails(t, "PREPARE q AS SELECT nosuch", sqlstate.UndefinedColumn)
	s.wantTag(t, "DEALLOCATE p", "DEALLOCATE")
	s.fails(t, "EXECUTE p (1, 'x')", sqlstate.InvalidStatementName)
	s.fails(t, "DEALLOCATE p", sqlstate.InvalidStatementName)
	s.must(t, "PREPARE a AS SELECT 1; PREPARE b AS SELECT 2")
	s.want(t, "EXECUTE b", "2")
	s.wantTag(t, "DEALLOCATE PREPARE ALL", "DEALLOCATE ALL")
	s.fails(t, "EXECUTE a", sqlstate.InvalidStatementName)
}

func TestPreparedNamesAreSharedWithTheProtocol(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "PREPARE p AS SELECT 7")
	st, err := s.Prepared([]byte("p"))
	if err != nil || len(st.Columns) != 1 || st.Columns[0].Type != datum.Int4 {
		t.Fatalf("%v, %v", st, err)
	}
	if _, err := s.Prepare("q", "SELECT 8", nil); err != nil {
		t.Fatal(err)
	}
	s.want(t, "EXECUTE q", "8")
}

func TestExecuteOfAReplacedStatementIsPlannedAnew(t *testing.T) {
	s := newServer(t).session(t)
	for _, c := range []struct{ inner, want string }{{"SELECT 1", "1"}, {"SELECT 'x'::text, 2", "x|2"}} {
		s.must(t, "PREPARE p AS "+c.inner)
		for range 3 {
			s.want(t, "EXECUTE p", c.want)
		}
		s.must(t, "DEALLOCATE p")
	}
}

func TestPrepareOfAnIdDrawsWhenExecuted(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.must(t, "PREPARE p AS SELECT next_id('a')")
	s.must(t, "PREPARE q (text) AS SELECT next_id($1)")
	for want := int64(1); want <= 3; want++ {
		if id := s.id(t, "a", "EXECUTE p"); id != 2*want-1 {
			t.Errorf("id %d, want %d", id, 2*want-1)
		}
		s.id(t, "a", "EXECUTE q ('a')")
	}
}

func TestDiscardForgetsTheSession(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.must(t, "PREPARE p AS SELECT 1; SET application_name = 'x'")
	s.id(t, "a", "SELECT next_id('a')")
	s.wantTag(t, "DISCARD SEQUENCES", "DISCARD SEQUENCES")
	s.fails(t, "SELECT lastval()", sqlstate.NotPrerequisite)
	s.fails(t, "SELECT currval('a')", sqlstate.NotPrerequisite)
	s.wantTag(t, "DISCARD PLANS", "DISCARD PLANS")
	s.wantTag(t, "DISCARD TEMP", "DISCARD TEMP")
	s.want(t, "EXECUTE p", "1")
	s.wantTag(t, "DISCARD ALL", "DISCARD ALL")
	s.want(t, "SHOW application_name", "")
	s.fails(t, "EXECUTE p", sqlstate.InvalidStatementName)
	s.must(t, "BEGIN")
	s.fails(t, "DISCARD ALL", sqlstate.ActiveTransaction)
	s.must(t, "ROLLBACK")
}

func TestExplainDrawsNothing(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.must(t, "PREPARE p AS SELECT next_id('a')")
	for _, sql := range []string{
		"EXPLAIN SELECT next_id('a')", "EXPLAIN SELECT * FROM next_ids('a', 100)",
		"EXPLAIN (FORMAT text) SELECT * FROM ids WHERE name = 'a'", "EXPLAIN (VERBOSE, COSTS) SELECT id FROM a_id",
	} {
		r := s.must(t, sql)
		if r.tag != "EXPLAIN" || len(r.rows) == 0 || r.columns[0].Name != "QUERY PLAN" {
			t.Errorf("%s: %v", sql, r)
		}
	}
	s.want(t, "EXPLAIN (COSTS off) SELECT next_id('a')", "Result")
	s.want(t, "EXPLAIN SELECT * FROM ids", "Foreign Scan on ids  (cost=0.00..0.01 rows=1 width=8)")
	for sql, code := range map[string]sqlstate.Code{
		"EXPLAIN (NONSENSE) SELECT 1":    sqlstate.SyntaxError,
		"EXPLAIN (COSTS maybe) SELECT 1": sqlstate.SyntaxError,
		"EXPLAIN (FORMAT json) SELECT 1": sqlstate.FeatureNotSupported,
		"EXPLAIN EXECUTE p":              sqlstate.FeatureNotSupported,
		"EXPLAIN DROP SEQUENCE a":        sqlstate.SyntaxError,
	} {
		s.fails(t, sql, code)
	}
	s.fails(t, "EXPLAIN ANALYZE SELECT next_id('a')", sqlstate.FeatureNotSupported)
	s.fails(t, "EXPLAIN SELECT nosuch", sqlstate.UndefinedColumn)
	if id := s.id(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("EXPLAIN drew: next id %d, want 1", id)
	}
}

func TestPoolersCleanUpStatementsAreAccepted(t *testing.T) {
	s := newServer(t).session(t)
	s.wantTag(t, "UNLISTEN *", "UNLISTEN")
	s.fails(t, "LISTEN x", sqlstate.FeatureNotSupported)
	s.fails(t, "NOTIFY x", sqlstate.FeatureNotSupported)
	s.fails(t, "CREATE TABLE t (a int)", sqlstate.FeatureNotSupported)
	s.fails(t, "INSERT INTO t VALUES (1)", sqlstate.FeatureNotSupported)
	s.must(t, "CLOSE ALL; UNLISTEN *; RESET ALL; SET SESSION AUTHORIZATION DEFAULT")
}
