package sqlfuncs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

func TestTransactionBlocksAnswerPostgreSQLsTags(t *testing.T) {
	s := newServer(t).session(t)
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
		s.wantTag(t, step.sql, step.tag)
		if s.Status() != step.status {
			t.Errorf("%s: status %c, want %c", step.sql, s.Status(), step.status)
		}
	}
	if w := s.warnings(); w != nil {
		t.Errorf("warnings %v", w)
	}
}

func TestFailedBlockRefusesStatementsUntilItEnds(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.must(t, "BEGIN")
	s.fails(t, "SELECT 1/0", sqlstate.DivisionByZero)
	s.wantStatus(t, 'E')
	s.fails(t, "SELECT 1", sqlstate.FailedTransaction)
	s.fails(t, "SELECT next_id('a')", sqlstate.FailedTransaction)
	s.fails(t, "SET work_mem = '1MB'", sqlstate.FailedTransaction)
	s.fails(t, "BEGIN", sqlstate.FailedTransaction)
	s.fails(t, "SAVEPOINT x", sqlstate.FailedTransaction)
	_, err := s.Prepare("", "SELECT 1", nil)
	wantCode(t, "Parse in a failed block", err, sqlstate.FailedTransaction)
	s.wantTag(t, "COMMIT", "ROLLBACK")
	s.wantStatus(t, 'I')
	if id := s.id(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("the refused statement drew: next id %d, want 1", id)
	}
}

func TestFailedBlockRefusesTheWarmPath(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.id(t, "a", "SELECT next_id('a')")
	st, err := s.Prepare("", "SELECT next_id('a')", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.must(t, "BEGIN")
	s.Fail()
	if _, ok := s.Draw(st, nil, 1); ok {
		t.Error("Draw drew an id in a failed block")
	}
	if _, err := s.bindTo(nil, st); err == nil {
		t.Error("Bind must fail in a failed block")
	}
}

func TestSyntaxErrorFailsTheBlock(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN")
	s.fails(t, "SELEC", sqlstate.SyntaxError)
	s.wantStatus(t, 'E')
	s.wantTag(t, "ROLLBACK", "ROLLBACK")
}

func TestErrorOutsideABlockLeavesTheSessionIdle(t *testing.T) {
	s := newServer(t).session(t)
	s.fails(t, "SELECT 1/0", sqlstate.DivisionByZero)
	s.wantStatus(t, 'I')
	s.want(t, "SELECT 1", "1")
}

func TestRollbackToSavepointRevivesAFailedBlock(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN; SET application_name = 'one'; SAVEPOINT a; SET application_name = 'two'; SAVEPOINT b")
	s.fails(t, "SELECT nosuch", sqlstate.UndefinedColumn)
	s.fails(t, "RELEASE a", sqlstate.FailedTransaction)
	s.wantTag(t, "ROLLBACK TO SAVEPOINT a", "ROLLBACK")
	s.wantStatus(t, 'T')
	s.want(t, "SHOW application_name", "one")
	s.fails(t, "ROLLBACK TO b", sqlstate.InvalidSavepoint)
	s.wantStatus(t, 'E')
	s.must(t, "ROLLBACK TO a")
	s.must(t, "RELEASE a")
	s.fails(t, "ROLLBACK TO a", sqlstate.InvalidSavepoint)
	s.must(t, "ROLLBACK")
	s.want(t, "SHOW application_name", "")
}

func TestNewestSavepointOfANameWins(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN; SAVEPOINT a; SET application_name = 'one'; SAVEPOINT a; SET application_name = 'two'; ROLLBACK TO a")
	s.want(t, "SHOW application_name", "one")
	s.must(t, "RELEASE a; ROLLBACK TO a")
	s.want(t, "SHOW application_name", "")
	s.must(t, "COMMIT")
}

func TestSavepointsNeedABlock(t *testing.T) {
	s := newServer(t).session(t)
	for _, sql := range []string{"SAVEPOINT a", "RELEASE a", "ROLLBACK TO a", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN"} {
		s.fails(t, sql, sqlstate.NoActiveTransaction)
	}
}

func TestSavepointsAreBounded(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN")
	for range 1024 {
		s.must(t, "SAVEPOINT a")
	}
	s.fails(t, "SAVEPOINT a", sqlstate.LimitExceeded)
	s.must(t, "ROLLBACK")
}

func TestTransactionWarnings(t *testing.T) {
	s := newServer(t).session(t)
	for _, c := range []struct{ sql, want string }{
		{"COMMIT", "WARNING 25P01"},
		{"ROLLBACK", "WARNING 25P01"},
		{"BEGIN; BEGIN; COMMIT", "WARNING 25001"},
		{"SET LOCAL application_name = 'x'", "WARNING 25P01"},
		{"SELECT 1", ""},
	} {
		s.must(t, c.sql)
		if got := strings.Join(s.warnings(), ","); got != c.want {
			t.Errorf("%s: notices %q, want %q", c.sql, got, c.want)
		}
	}
}

func TestNoticesAreBounded(t *testing.T) {
	s := newServer(t).session(t)
	for range 500 {
		s.must(t, "COMMIT")
	}
	if n := len(s.warnings()); n != 100 {
		t.Errorf("%d notices kept, want 100", n)
	}
	if s.TakeNotices() != nil {
		t.Error("TakeNotices returns notices twice")
	}
}

func TestSettingsFollowTheTransaction(t *testing.T) {
	s := newServer(t).session(t)
	show := func(want string) {
		t.Helper()
		s.want(t, "SHOW application_name", want)
	}
	s.must(t, "SET application_name = 'base'")
	s.must(t, "BEGIN; SET application_name = 'kept'; COMMIT")
	show("kept")
	s.must(t, "BEGIN; SET application_name = 'gone'")
	show("gone")
	s.must(t, "ROLLBACK")
	show("kept")
	s.must(t, "BEGIN; SET LOCAL application_name = 'local'")
	show("local")
	s.must(t, "COMMIT")
	show("kept")
	s.must(t, "BEGIN; SET application_name = 'set'; SET LOCAL application_name = 'local'; COMMIT")
	show("set")
	s.must(t, "BEGIN; SET LOCAL application_name = 'local'; SET application_name = 'set again'; COMMIT")
	show("set again")
	s.must(t, "BEGIN; RESET application_name; ROLLBACK")
	show("set again")
	s.must(t, "BEGIN; SET application_name = 'x'")
	s.fails(t, "SELECT 1/0", sqlstate.DivisionByZero)
	s.must(t, "COMMIT")
	show("set again")
}

func TestStatementTimeoutFollowsItsSetting(t *testing.T) {
	s := newServer(t).session(t)
	begins, _ := s.StatementTimeout()
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
		s.must(t, step.sql)
		if got, _ := s.StatementTimeout(); got != step.want {
			t.Errorf("after %s: %v, want %v", step.sql, got, step.want)
		}
	}
}

func TestTransactionModes(t *testing.T) {
	s := newServer(t).session(t)
	s.want(t, "SHOW transaction_isolation", "read committed")
	s.must(t, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
	s.want(t, "SHOW TRANSACTION ISOLATION LEVEL", "repeatable read")
	s.want(t, "SHOW transaction_read_only", "on")
	s.must(t, "COMMIT AND CHAIN")
	s.wantStatus(t, 'T')
	s.want(t, "SHOW transaction_isolation", "repeatable read")
	s.want(t, "SHOW transaction_read_only", "on")
	s.must(t, "ROLLBACK AND CHAIN")
	s.want(t, "SHOW transaction_isolation", "repeatable read")
	s.must(t, "COMMIT")
	s.want(t, "SHOW transaction_isolation", "read committed")
	s.must(t, "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE")
	s.want(t, "SHOW default_transaction_isolation", "serializable")
	s.want(t, "SHOW transaction_isolation", "serializable") // JDBC's getTransactionIsolation
	s.must(t, "BEGIN")
	s.must(t, "SET default_transaction_isolation = 'repeatable read'") // for the next transactions
	s.want(t, "SHOW transaction_isolation", "serializable")
	s.must(t, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
	s.want(t, "SHOW transaction_isolation", "read committed")
	s.must(t, "COMMIT")
}

func TestChainFromAFailedBlockRollsBack(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN; SET application_name = 'x'")
	s.Fail()
	s.wantTag(t, "COMMIT AND CHAIN", "ROLLBACK")
	s.wantStatus(t, 'T')
	s.want(t, "SHOW application_name", "")
	s.must(t, "ROLLBACK")
}

func TestIdsAreNotTakenBackByRollback(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.must(t, "BEGIN")
	first := s.id(t, "a", "SELECT next_id('a')")
	s.must(t, "ROLLBACK")
	if second := s.id(t, "a", "SELECT next_id('a')"); second <= first {
		t.Errorf("id %d after %d", second, first)
	}
}

func TestTwoPhaseCommitIsRefused(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN")
	s.fails(t, "PREPARE TRANSACTION 'x'", sqlstate.FeatureNotSupported)
	s.must(t, "ROLLBACK")
	s.fails(t, "COMMIT PREPARED 'x'", sqlstate.FeatureNotSupported)
}

func TestNowStandsStillInABlock(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN")
	a := s.must(t, "SELECT now()").String()
	if b := s.must(t, "SELECT now()").String(); a != b {
		t.Errorf("now() moved in a block: %s, %s", a, b)
	}
	s.must(t, "COMMIT")
}

func TestParametersAreReportedWhenTheyChange(t *testing.T) {
	s := newServer(t).session(t)
	first := s.Parameters()
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
		s.must(t, c.sql)
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
