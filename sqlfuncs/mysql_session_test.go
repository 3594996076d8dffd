package sqlfuncs_test

import (
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqltest"
)

func TestDrawAllocatesNothingInMySQL(t *testing.T) {
	for _, c := range []struct {
		sql  string
		args []sqlfuncs.Arg
	}{
		{"SELECT next_id('a')", nil},
		{`SELECT next_id("a") AS id`, nil},
		{"SELECT next_id(?)", []sqlfuncs.Arg{{Type: datum.Text, Data: []byte("a")}}},
		{"SELECT NEXT VALUE FOR a", nil},
		{"SELECT nextval(a)", nil},
		{"select corpus.next_id('a') from dual", nil},
	} {
		server := sqltest.NewServer(t)
		if err := server.Registry.Create(t.Context(), "a", "segment", []byte(`{"step": 10000000}`)); err != nil {
			t.Fatal(err)
		}
		s := server.MySQLSession(t)
		s.ID(t, "a", "SELECT next_id('a')")
		st, err := s.Prepare("", c.sql, nil)
		if err != nil {
			t.Fatal(err)
		}
		var drawn rising
		if allocs := testing.AllocsPerRun(1000, func() {
			ids, ok := s.Fast.Execute(st, c.args, 1)
			if !ok {
				t.Fatalf("%s: not on the fast path", c.sql)
			}
			drawn.add(ids.First)
		}); allocs != 0 {
			t.Errorf("%s: %v allocations", c.sql, allocs)
		}
		drawn.check(t, s)
	}
}

func TestResetForgetsTheSession(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	for _, sql := range []string{"SET @a = 1", "SET autocommit = 0", "SET sql_mode = 'ANSI_QUOTES'", "START TRANSACTION", "PREPARE p FROM 'SELECT 1'", "USE other"} {
		if _, err := s.Query(t, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if s.Autocommit() || s.Status() != 'T' {
		t.Fatalf("autocommit %v, status %c", s.Autocommit(), s.Status())
	}
	s.Reset()
	if !s.Autocommit() || s.Status() != 'I' || s.MySQL().Database != "other" {
		t.Errorf("autocommit %v, status %c, database %s", s.Autocommit(), s.Status(), s.MySQL().Database)
	}
	if got := s.Value(t, `SELECT CONCAT("x", @a IS NULL)`); got != "x1" {
		t.Errorf("after Reset: %s", got)
	}
	if number, _ := s.MySQLError(t, "EXECUTE p"); number != 1243 {
		t.Errorf("EXECUTE p: %d", number)
	}
}

func TestErrorsLeaveATransactionOfMySQLOpen(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	if _, err := s.QueryAll(t.Context(), "BEGIN; SET @a = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.QueryAll(t.Context(), "SELECT no_such_column"); err == nil || s.Status() != 'T' {
		t.Errorf("status %c, %v", s.Status(), err)
	}
	if got := s.Value(t, "SELECT @a"); got != "1" {
		t.Errorf("@a = %s", got)
	}
	if _, err := s.QueryAll(t.Context(), "SET wait_timeout = 77; SELECT no_such_column"); err == nil {
		t.Error("no error")
	}
	if got := s.Value(t, "SELECT @@wait_timeout"); got != "77" {
		t.Errorf("an error undid SET: %s", got)
	}
	if _, err := s.QueryAll(t.Context(), "ROLLBACK"); err != nil || s.Status() != 'I' {
		t.Errorf("status %c, %v", s.Status(), err)
	}
	if got := s.Value(t, "SELECT @@wait_timeout"); got != "77" {
		t.Errorf("ROLLBACK undid SET: %s", got)
	}
}

func TestMySQLLimitsOfRowsAndTime(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	for _, c := range []struct{ sql, want string }{
		{"SET sql_select_limit = 2", ""},
		{"SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", "1\n2"},
		{"SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 LIMIT 3", "1\n2\n3"},
		{"SHOW DATABASES", "information_schema\nnextid\ntest"},
		{"SET sql_select_limit = 0", ""},
		{"SELECT 1", ""},
		{"SELECT next_id('orders')", ""},
		{"SELECT 7 LIMIT 1", "7"},
		{"SET sql_select_limit = DEFAULT", ""},
		{"SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", "1\n2\n3"},
		{"SET max_statement_time = 0.02", ""},
	} {
		if r, err := s.Query(t, c.sql); err != nil || r.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.sql, r, err, c.want)
		}
	}
	if number, state := s.MySQLError(t, "SELECT SLEEP(100)"); number != 1969 || state != "70100" {
		t.Errorf("SLEEP beyond max_statement_time: %d %s", number, state)
	}
}

func TestSetStatementLimitsExecute(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	s.Must(t, "PREPARE sleeps FROM 'SELECT SLEEP(100)'; PREPARE ab FROM 'SELECT 1 UNION ALL SELECT 2'")
	if number, _ := s.MySQLError(t, "SET STATEMENT max_statement_time = 0.02 FOR EXECUTE sleeps"); number != 1969 {
		t.Errorf("EXECUTE beyond max_statement_time: %d", number)
	}
	s.Want(t, "SET STATEMENT sql_select_limit = 1 FOR EXECUTE ab", "1")
	s.Want(t, "EXECUTE ab", "1\n2")
}

func TestMaxExecutionTimeCountsMilliseconds(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	for sql, want := range map[string]time.Duration{
		"SET max_statement_time = 0, max_execution_time = 1500":     1500 * time.Millisecond,
		"SET max_statement_time = 0, max_execution_time = 86400000": 24 * time.Hour,
	} {
		s.Must(t, sql)
		if d, _ := s.StatementTimeout(nil); d != want {
			t.Errorf("%s: statements may take %v, want %v", sql, d, want)
		}
	}
}

func TestPlansAreNotSharedBetweenDatabases(t *testing.T) {
	server := sqltest.NewServer(t)
	a, b := server.MySQLSession(t), server.MySQLSession(t)
	if err := a.UseDatabase("information_schema"); err != nil {
		t.Fatal(err)
	}
	for range 3 { // a plan is kept at its second use
		if _, err := a.Query(t, "SELECT COUNT(*) FROM engines"); err != nil {
			t.Fatal(err)
		}
	}
	if number, _ := b.MySQLError(t, "SELECT COUNT(*) FROM engines"); number != 1146 {
		t.Errorf("engines of another database: %d", number)
	}
	for range 3 {
		if _, err := a.Query(t, "SET sql_mode = 'ANSI_QUOTES'"); err != nil {
			t.Fatal(err)
		}
		if number, _ := a.MySQLError(t, `SELECT "nosuch"`); number != 1054 {
			t.Errorf("with ANSI_QUOTES: %d", number)
		}
		if got := b.Value(t, `SELECT "nosuch"`); got != "nosuch" {
			t.Errorf("without ANSI_QUOTES: %s", got)
		}
	}
}

// A sequence has the generator of its whole name. PostgreSQL's identifiers end after 63
// bytes, MySQL's do not.
func TestLongSequenceNames(t *testing.T) {
	for _, length := range []int{64, 128} {
		name := strings.Repeat("x", length)
		for _, draw := range []string{"SELECT NEXT VALUE FOR " + name, "SELECT NEXTVAL(`" + name + "`)"} {
			s := sqltest.NewServer(t).MySQLSession(t)
			s.Must(t, draw)
			s.Want(t, "SELECT COUNT(*) FROM nextid.generators WHERE name = '"+name+"'", "1")
		}
		s := sqltest.NewServer(t).MySQLSession(t)
		s.Want(t, "SELECT a."+name+" FROM (SELECT 7 AS "+name+") a", "7")
	}
}
