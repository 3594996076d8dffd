package sqlfuncs_test

import (
	"strings"
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
)

// TestNextvalOfANewName: a client that counts on from what nextval gives is
// told when that is no sequence.
func TestNextvalOfANewName(t *testing.T) {
	server := newServer(t)
	s, m := server.session(t), server.mysqlSession(t)
	s.must(t, "SELECT nextval('invoices')")
	n := s.TakeNotices()
	if len(n) != 1 || n[0].Severity != "NOTICE" || !strings.Contains(n[0].Message, `sequence "invoices" did not exist: a generator of kind snowflake was made`) {
		t.Errorf("notices %v", n)
	}
	s.must(t, "SELECT nextval('invoices'), next_id('other')")
	if n := s.TakeNotices(); len(n) != 0 {
		t.Errorf("a name that is there, and next_id: %v", n)
	}
	m.must(t, "SELECT NEXT VALUE FOR bills")
	if got := m.must(t, "SHOW WARNINGS").String(); !strings.Contains(got, "bills") || !strings.Contains(got, "Note") {
		t.Errorf("MySQL's warnings: %s", got)
	}

	sequences := newServer(t, serverConfig{sequenceKind: "segment"})
	s = sequences.sessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid"})
	for want := range int64(3) {
		if id := s.id(t, "invoices", "SELECT nextval('invoices')"); id != want+1 {
			t.Errorf("id %d, want %d", id, want+1)
		}
	}
	if n := s.TakeNotices(); len(n) != 0 {
		t.Errorf("notices %v", n)
	}
	s.want(t, "SELECT kind FROM nextid.generators", "segment")
	limited := sequences.sessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Generators: []string{"a*"}})
	limited.fails(t, "SELECT nextval('secret')", sqlstate.InsufficientPrivilege)
}
