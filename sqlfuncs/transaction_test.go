package sqlfuncs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/sqlstate"
)

func TestTransactionBlocksAnswerPostgreSQLsTags(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, step := range []struct {
		sql, tag string
		status   byte
	}{
		{"BEGIN", "BEGIN", 'T'},
		{"SELECT 1", "SELECT 1", 'T'},
		{"COMMIT", "COMMIT", 'I'},
		{"START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", "START TRANSACTION", 'T'},
		{"ROLLBACK", "ROLLBACK", 'I'},
		{"BEGIN WORK", "BEGIN", 'T'},
		{"SAVEPOINT a", "SAVEPOINT", 'T'},
		{"RELEASE SAVEPOINT a", "RELEASE", 'T'},
		{"END", "COMMIT", 'I'},
		{"BEGIN TRANSACTION", "BEGIN", 'T'},
		{"SAVEPOINT a", "SAVEPOINT", 'T'},
		{"ROLLBACK TO a", "ROLLBACK", 'T'},
		{"ABORT", "ROLLBACK", 'I'},
	} {
		s.WantTag(t, step.sql, step.tag)
		if s.Status() != step.status {
			t.Errorf("%s: status %c, want %c", step.sql, s.Status(), step.status)
		}
	}
	if w := s.NoticeCodes(); w != nil {
		t.Errorf("warnings %v", w)
	}
}

func TestFailedBlockRefusesStatementsUntilItEnds(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Must(t, "BEGIN")
	s.Fails(t, "SELECT 1/0", sqlstate.DivisionByZero)
	wantStatus(t, s, 'E')
	s.Fails(t, "SELECT 1", sqlstate.FailedTransaction)
	s.Fails(t, "SELECT next_id('a')", sqlstate.FailedTransaction)
	s.Fails(t, "SET work_mem = '1MB'", sqlstate.FailedTransaction)
	s.Fails(t, "BEGIN", sqlstate.FailedTransaction)
	s.Fails(t, "SAVEPOINT x", sqlstate.FailedTransaction)
	_, err := s.Prepare("", "SELECT 1", nil)
	sqltest.WantCode(t, "Parse in a failed block", err, sqlstate.FailedTransaction)
	s.WantTag(t, "COMMIT", "ROLLBACK")
	wantStatus(t, s, 'I')
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("the refused statement drew: next id %d, want 1", id)
	}
}

func TestFailedBlockRefusesTheFastPath(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.ID(t, "a", "SELECT next_id('a')")
	st, err := s.Prepare("", "SELECT next_id('a')", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Must(t, "BEGIN")
	s.Fail()
	if _, ok := s.Fast.Execute(st, nil, 1); ok {
		t.Error("Draw drew an id in a failed block")
	}
	if _, err := s.BindTextsTo(nil, st); err == nil {
		t.Error("Bind must fail in a failed block")
	}
}

func TestSyntaxErrorFailsTheBlock(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN")
	s.Fails(t, "SELEC", sqlstate.SyntaxError)
	wantStatus(t, s, 'E')
	s.WantTag(t, "ROLLBACK", "ROLLBACK")
}

func TestErrorOutsideABlockLeavesTheSessionIdle(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Fails(t, "SELECT 1/0", sqlstate.DivisionByZero)
	wantStatus(t, s, 'I')
	s.Want(t, "SELECT 1", "1")
}

func TestRollbackToSavepointRevivesAFailedBlock(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN; SET application_name = 'one'; SAVEPOINT a; SET application_name = 'two'; SAVEPOINT b")
	s.Fails(t, "SELECT nosuch", sqlstate.UndefinedColumn)
	s.Fails(t, "RELEASE a", sqlstate.FailedTransaction)
	s.WantTag(t, "ROLLBACK TO SAVEPOINT a", "ROLLBACK")
	wantStatus(t, s, 'T')
	s.Want(t, "SHOW application_name", "one")
	s.Fails(t, "ROLLBACK TO b", sqlstate.InvalidSavepoint)
	wantStatus(t, s, 'E')
	s.Must(t, "ROLLBACK TO a")
	s.Must(t, "RELEASE a")
	s.Fails(t, "ROLLBACK TO a", sqlstate.InvalidSavepoint)
	s.Must(t, "ROLLBACK")
	s.Want(t, "SHOW application_name", "")
}

func TestNewestSavepointOfANameWins(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN; SAVEPOINT a; SET application_name = 'one'; SAVEPOINT a; SET application_name = 'two'; ROLLBACK TO a")
	s.Want(t, "SHOW application_name", "one")
	s.Must(t, "RELEASE a; ROLLBACK TO a")
	s.Want(t, "SHOW application_name", "")
	s.Must(t, "COMMIT")
}

func TestSavepointsNeedABlock(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, sql := range []string{"SAVEPOINT a", "RELEASE a", "ROLLBACK TO a"} {
		s.Fails(t, sql, sqlstate.NoActiveTransaction)
	}
}

func TestSavepointsAreBounded(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN")
	for range 1024 {
		s.Must(t, "SAVEPOINT a")
	}
	s.Fails(t, "SAVEPOINT a", sqlstate.LimitExceeded)
	s.Must(t, "ROLLBACK")
}

func TestTransactionWarnings(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, c := range []struct{ sql, want string }{
		{"COMMIT", "WARNING 25P01"},
		{"ROLLBACK", "WARNING 25P01"},
		{"BEGIN; BEGIN; COMMIT", "WARNING 25001"},
		{"SET LOCAL application_name = 'x'", "WARNING 25P01"},
		{"SELECT 1", ""},
	} {
		s.Must(t, c.sql)
		if got := strings.Join(s.NoticeCodes(), ","); got != c.want {
			t.Errorf("%s: notices %q, want %q", c.sql, got, c.want)
		}
	}
}

func TestNoticesAreBounded(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for range 500 {
		s.Must(t, "COMMIT")
	}
	if n := len(s.NoticeCodes()); n != 64 {
		t.Errorf("%d notices kept, want 64", n)
	}
	if s.TakeNotices() != nil {
		t.Error("TakeNotices returns notices twice")
	}
}

func TestSettingsFollowTheTransaction(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	show := func(want string) {
		t.Helper()
		s.Want(t, "SHOW application_name", want)
	}
	s.Must(t, "SET application_name = 'base'")
	s.Must(t, "BEGIN; SET application_name = 'kept'; COMMIT")
	show("kept")
	s.Must(t, "BEGIN; SET application_name = 'gone'")
	show("gone")
	s.Must(t, "ROLLBACK")
	show("kept")
	s.Must(t, "BEGIN; SET LOCAL application_name = 'local'")
	show("local")
	s.Must(t, "COMMIT")
	show("kept")
	s.Must(t, "BEGIN; SET application_name = 'set'; SET LOCAL application_name = 'local'; COMMIT")
	show("set")
	s.Must(t, "BEGIN; SET LOCAL application_name = 'local'; SET application_name = 'set again'; COMMIT")
	show("set again")
	s.Must(t, "BEGIN; RESET application_name; ROLLBACK")
	show("set again")
	s.Must(t, "BEGIN; SET application_name = 'x'")
	s.Fails(t, "SELECT 1/0", sqlstate.DivisionByZero)
	s.Must(t, "COMMIT")
	show("set again")
}

func TestStatementTimeoutFollowsItsSetting(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	begins, _ := s.StatementTimeout(nil)
	for _, step := range []struct {
		sql  string
		want time.Duration
	}{
		{"SET statement_timeout = '2s'", 2 * time.Second},
		{"BEGIN; SET LOCAL statement_timeout = 100", 100 * time.Millisecond},
		{"SAVEPOINT a; SET statement_timeout = 0", 0},
		{"ROLLBACK TO a", 100 * time.Millisecond},
		{"COMMIT", 2 * time.Second},
		{"BEGIN; SET statement_timeout = 7", 7 * time.Millisecond},
		{"ROLLBACK", 2 * time.Second},
		{"SELECT set_config('statement_timeout', '3s', false)", 3 * time.Second},
		{"RESET statement_timeout", begins},
		{"SET statement_timeout = 1; DISCARD ALL", begins},
	} {
		s.Must(t, step.sql)
		if got, _ := s.StatementTimeout(nil); got != step.want {
			t.Errorf("after %s: %v, want %v", step.sql, got, step.want)
		}
	}
}

func TestTransactionModes(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Want(t, "SHOW transaction_isolation", "read committed")
	s.Must(t, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
	s.Want(t, "SHOW TRANSACTION ISOLATION LEVEL", "repeatable read")
	s.Want(t, "SHOW transaction_read_only", "on")
	s.Must(t, "COMMIT")
	s.Want(t, "SHOW transaction_isolation", "read committed")
	s.Must(t, "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE")
	s.Want(t, "SHOW default_transaction_isolation", "serializable")
	s.Want(t, "SHOW transaction_isolation", "serializable") // JDBC's getTransactionIsolation
	s.Must(t, "BEGIN")
	s.Must(t, "SET default_transaction_isolation = 'repeatable read'") // for the next transactions
	s.Want(t, "SHOW transaction_isolation", "serializable")
	s.Must(t, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
	s.Want(t, "SHOW transaction_isolation", "read committed")
	s.Must(t, "COMMIT")
}

func TestIdsAreNotTakenBackByRollback(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Must(t, "BEGIN")
	first := s.ID(t, "a", "SELECT next_id('a')")
	s.Must(t, "ROLLBACK")
	if second := s.ID(t, "a", "SELECT next_id('a')"); second <= first {
		t.Errorf("id %d after %d", second, first)
	}
}

func TestTwoPhaseCommitIsRefused(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN")
	s.Fails(t, "PREPARE TRANSACTION 'x'", sqlstate.FeatureNotSupported)
	s.Must(t, "ROLLBACK")
	s.Fails(t, "COMMIT PREPARED 'x'", sqlstate.FeatureNotSupported)
}

func TestNowIsConstantInABlock(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN")
	a := s.Must(t, "SELECT now()").String()
	if b := s.Must(t, "SELECT now()").String(); a != b {
		t.Errorf("now() moved in a block: %s, %s", a, b)
	}
	s.Must(t, "COMMIT")
}

func TestParametersAreReportedWhenTheyChange(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	first := slices.Collect(s.Parameters())
	names := make([]string, len(first))
	for i, p := range first {
		names[i] = p.Name
	}
	for _, want := range []string{"server_version", "client_encoding", "DateStyle", "TimeZone", "standard_conforming_strings", "is_superuser"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not reported", want)
		}
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT 1", ""},
		{"SET work_mem = '8MB'", ""},
		{"SET application_name = 'x'", "application_name=x"},
		{"SET application_name = 'x'", ""},
		{"SET TimeZone = 'Europe/Berlin'", "TimeZone=Europe/Berlin"},
		{"BEGIN; SET application_name = 'y'", "application_name=y"},
		{"ROLLBACK", "application_name=x"},
		{"BEGIN; SET LOCAL application_name = 'z'", "application_name=z"},
		{"COMMIT", "application_name=x"},
		{"RESET ALL", "application_name=,TimeZone=UTC"},
		{"SELECT set_config('application_name', 'w', false)", "application_name=w"},
		{"DISCARD ALL", "application_name="},
	} {
		s.Must(t, c.sql)
		var got []string
		for _, p := range s.TakeParameters() {
			got = append(got, p.Name+"="+p.Value)
		}
		slices.Sort(got)
		want := strings.Split(c.want, ",")
		slices.Sort(want)
		if c.want == "" {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: reported %v, want %v", c.sql, got, want)
		}
	}
}

// wantStatus checks the transaction status.
func wantStatus(t *testing.T, s *sqltest.Session, want byte) {
	t.Helper()
	if got := s.Status(); got != want {
		t.Errorf("status %c, want %c", got, want)
	}
}
