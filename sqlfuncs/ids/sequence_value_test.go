package ids_test

import (
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/store/memory"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

// shared is a store that the last server to end does not close.
type shared struct{ generator.Store }

func (shared) Close() error { return nil }

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

// A statement that cannot do what it says, since ids may come twice, is refused and
// changes nothing. In the MySQL dialect SETVAL answers NULL, as MariaDB does.
func TestAPositionThatWasPassedIsRefused(t *testing.T) {
	server := sqltest.NewServer(t)
	s, m := server.Session(t), server.MySQLSession(t)
	s.Must(t, "CREATE SEQUENCE a; CREATE SEQUENCE down INCREMENT -2; SELECT create_generator('c', 'counter'), create_generator('shard', 'segment', '{\"increment\": 3, \"offset\": 2}')")
	s.Must(t, "SELECT setval('a', 100), setval('c', 100), setval('down', -99), setval('shard', 100)")
	for _, c := range []struct{ sql, next string }{ // the next id, after which a refusal names it
		{"SELECT setval('a', 50)", "101"},
		{"SELECT setval('a', 99)", "101"},
		{"SELECT setval('a', 100, false)", "101"},
		{"ALTER SEQUENCE a RESTART WITH 1", "101"},
		{"ALTER SEQUENCE a RESTART WITH 1 INCREMENT BY 7", "101"},
		{"SELECT setval('c', 3)", "101"},
		{"SELECT setval('shard', 97)", "101"},
		{"SELECT setval('down', -1)", "-100"},
		{"SELECT setval('down', -97)", "-100"},
	} {
		e := s.Fails(t, c.sql, sqlstate.NotPrerequisite)
		if !strings.Contains(e.Message, "its next one, "+c.next+",") || !strings.Contains(e.Hint, "RESTART WITH "+c.next+",") {
			t.Errorf("%s: %s (%s), want the next id %s", c.sql, e.Message, e.Hint, c.next)
		}
	}
	if got := m.Value(t, "SELECT SETVAL(a, 50)"); got != "NULL" {
		t.Errorf("SETVAL of a position that was passed: %s, want NULL", got)
	}
	s.Want(t, "SELECT nextval('a'), nextval('a'), nextval('c'), nextval('down'), nextval('shard')", "101|102|101|-101|101")
	for _, sql := range []string{
		"SELECT setval('a', 102)", "SELECT setval('a', 103, false)", "SELECT setval('c', 101)", "SELECT setval('down', -101)", "SELECT setval('shard', 101)", // as they are
		"ALTER SEQUENCE a RESTART WITH 200", "SELECT setval('a', 300)", "SELECT setval('c', 300)", "SELECT setval('down', -301)", "SELECT setval('shard', 300)",
	} {
		s.Must(t, sql)
	}
	s.Want(t, "SELECT nextval('a'), nextval('c'), nextval('down'), nextval('shard')", "301|301|-303|302")
	if n := s.TakeNotices(); len(n) != 0 {
		t.Errorf("notices %v", n)
	}
}

func TestNullIsNoSequence(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.ID(t, "orders", "SELECT next_id('orders')")
	s.Want(t, "SELECT pg_get_serial_sequence('orders', 'id'), pg_get_serial_sequence('ids', 'id'), currval(pg_get_serial_sequence('orders_id', 'id')), nextval(NULL), setval(NULL, 5)",
		"NULL|NULL|NULL|NULL|NULL")
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
		{"SELECT setval('down', -1000, false)", "-1000"},
	} {
		s.Must(t, c.sql)
		if got := s.Must(t, "SELECT nextval('down')").Rows[0][0]; got != c.next {
			t.Errorf("after %s: %s, want %s", c.sql, got, c.next)
		}
	}
	s.Fails(t, "SELECT setval('down', 75, false)", sqlstate.NotPrerequisite)
	s.Fails(t, "SELECT setval('down', -1001, false)", sqlstate.InvalidParameterValue)
}

// TestSetvalBelowAnotherServers: a server that does not know yet where another one has
// moved a sequence answers as that one would.
func TestSetvalBelowAnotherServers(t *testing.T) {
	store := shared{memory.New(memory.Config{})}
	stale, other := sqltest.NewServer(t, sqltest.Config{Store: store}), sqltest.NewServer(t, sqltest.Config{Store: store})
	stale.Session(t).ID(t, "a", "SELECT next_id('a') FROM create_generator('a', 'segment')")
	other.Session(t).Must(t, "SELECT setval('a', 100000)")
	stale.Session(t).Fails(t, "SELECT setval('a', 50000)", sqlstate.NotPrerequisite)
	if got := stale.MySQLSession(t).Value(t, "SELECT SETVAL(a, 50000)"); got != "NULL" {
		t.Errorf("SETVAL: %s", got)
	}
}
