package ids_test

import (
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/sqlstate"
)

func TestCurrvalAndLastval(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	server.Segment(t, "b")
	s, other := server.Session(t), server.Session(t)
	s.Fails(t, "SELECT lastval()", sqlstate.NotPrerequisite)
	s.Fails(t, "SELECT currval('a')", sqlstate.NotPrerequisite)
	s.Fails(t, "SELECT currval('nosuch')", sqlstate.UndefinedTable)
	s.Must(t, "SELECT * FROM next_ids('a', 3)")
	s.ID(t, "b", "SELECT nextval('b')")
	s.Want(t, "SELECT currval('a'), currval('b'), lastval()", "3|1|1")
	s.ID(t, "a", "SELECT next_id('a')")
	s.Want(t, "SELECT currval('a'), currval('b'), lastval()", "4|1|4")
	other.ID(t, "a", "SELECT next_id('a')")
	s.Want(t, "SELECT currval('a'), lastval()", "4|4")
}

func TestSetvalNeverLowers(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Want(t, "SELECT setval('a', 100)", "100")
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 101 {
		t.Errorf("after setval 100: %d, want 101", id)
	}
	s.Must(t, "SELECT setval('a', 5)")
	if id := s.ID(t, "a", "SELECT next_id('a')"); id <= 101 {
		t.Errorf("setval lowered the generator: %d", id)
	}
	s.Must(t, "SELECT setval('a', 200, false)")
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 200 {
		t.Errorf("after setval(200, false): %d, want 200", id)
	}
}

// A statement that cannot do what it says, since the ids between may have been
// used, says so.
func TestSetvalBelowThePositionWarns(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "CREATE SEQUENCE a; CREATE SEQUENCE down INCREMENT -2; SELECT create_generator('c', 'counter')")
	s.Must(t, "SELECT setval('a', 100), setval('c', 100), setval('down', -99)")
	s.TakeNotices()
	for _, c := range []struct{ sql, next string }{ // next of the warning; none if empty
		{"SELECT setval('a', 50)", "101"},
		{"SELECT setval('a', 99)", "101"},
		{"SELECT setval('a', 100, false)", "101"},
		{"ALTER SEQUENCE a RESTART WITH 1", "101"},
		{"SELECT setval('c', 3)", "101"},
		{"SELECT setval('down', -1)", "-101"},
		{"SELECT setval('down', -97)", "-101"},
		{"SELECT setval('a', 100)", ""}, // as it is
		{"SELECT setval('a', 101, false)", ""},
		{"SELECT setval('c', 100)", ""},
		{"SELECT setval('down', -99)", ""},
		{"SELECT setval('down', -101, false)", ""},
		{"ALTER SEQUENCE a RESTART WITH 200", ""},
		{"SELECT setval('a', 300)", ""},
		{"SELECT setval('c', 300)", ""},
		{"SELECT setval('down', -301)", ""},
	} {
		s.Must(t, c.sql)
		notices := s.TakeNotices()
		switch {
		case c.next == "" && len(notices) == 0:
		case c.next != "" && len(notices) == 1 && notices[0].Severity == "WARNING" && strings.Contains(notices[0].Message, "its next id is "+c.next+","):
		default:
			t.Errorf("%s: notices %v, want the next id %q", c.sql, notices, c.next)
		}
	}
	s.Want(t, "SELECT nextval('a'), nextval('c'), nextval('down')", "301|301|-303")
}

func TestSetvalOfADescendingSequence(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "CREATE SEQUENCE down INCREMENT -1 START 100 MINVALUE -1000 CACHE 50")
	for _, c := range []struct {
		sql  string
		next string
	}{
		{"SELECT setval('down', 90, false)", "90"},
		{"SELECT setval('down', 80)", "79"},
		{"ALTER SEQUENCE down RESTART WITH 70", "70"},
		{"SELECT setval('down', 75, false)", "69"}, // never back
		{"SELECT setval('down', -1000, false)", "-1000"},
	} {
		s.Must(t, c.sql)
		if got := s.Must(t, "SELECT nextval('down')").Rows[0][0]; got != c.next {
			t.Errorf("after %s: %s, want %s", c.sql, got, c.next)
		}
	}
	s.Fails(t, "SELECT setval('down', -1001, false)", sqlstate.InvalidParameterValue)
}
