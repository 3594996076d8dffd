package sqlfuncs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"nextid/generator/layout"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
)

// TestNextvalOfANewName: a client that counts on from what nextval gives is
// told when that is no sequence.
func TestNextvalOfANewName(t *testing.T) {
	server := newServer(t)
	s, m := server.session(t), server.mysqlSession(t)
	s.must(t, "SELECT nextval('invoices')")
	n := s.TakeNotices()
	if len(n) != 1 || n[0].Severity != "NOTICE" || !strings.Contains(n[0].Message, `sequence "invoices" did not exist: a generator of kind snowflake was made, whose ids are 1 apart`) {
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

	sequences := newServer(t, serverConfig{sequence: ids.Auto{Kind: "segment", Options: []byte(`{"increment": 50, "start": 51}`)}})
	s = sequences.sessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid"})
	for want := range int64(3) {
		if id := s.id(t, "invoices", "SELECT nextval('invoices')"); id != 51+50*want {
			t.Errorf("id %d, want %d", id, 51+50*want)
		}
	}
	if n := s.TakeNotices(); len(n) != 1 || !strings.Contains(n[0].Message, "50 or more apart") {
		t.Errorf("notices %v", n)
	}
	s.want(t, "SELECT kind FROM nextid.generators", "segment")
	limited := sequences.sessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Generators: []string{"a*"}})
	limited.fails(t, "SELECT nextval('secret')", sqlstate.InsufficientPrivilege)
}

// pooledOf is what cmd/nextid gives to sequences where nothing is configured.
func pooledOf(t *testing.T) ids.Auto {
	t.Helper()
	l, err := layout.Preset(layout.Default)
	if err != nil {
		t.Fatal(err)
	}
	pooled, _ := l.Pooled()
	options, err := json.Marshal(pooled)
	if err != nil {
		t.Fatal(err)
	}
	return ids.Auto{Kind: "snowflake", Options: options}
}

// TestPoolsOfNewNames: two clients that take 50 numbers from each call, up or
// down from what they get, take no number twice.
func TestPoolsOfNewNames(t *testing.T) {
	server := newServer(t, serverConfig{sequence: pooledOf(t)})
	clients := []*testSession{server.session(t), server.session(t)}
	for name, first := range map[string]int64{"up": 0, "down": -49} {
		taken := map[int64]bool{}
		for i := range 200 {
			id := clients[i%2].id(t, name, "SELECT nextval('"+name+"')")
			for n := range int64(50) {
				if taken[id+first+n] {
					t.Fatalf("%s: %d is taken twice", name, id+first+n)
				}
				taken[id+first+n] = true
			}
		}
		clients[0].want(t, "SELECT increment FROM information_schema.sequences WHERE sequence_name = '"+name+"'", "50")
		clients[0].want(t, "SELECT (parse_id(nextval('"+name+"'), '"+name+"')->>'time')::timestamptz <= now() + interval '1s'", "t")
	}
	if got := server.mysqlSession(t).must(t, "SHOW CREATE SEQUENCE up").rows[0][1]; !strings.Contains(got, "increment by 50") {
		t.Errorf("a dump: %s", got)
	}
}

// TestDropSequenceDropsWhatNextvalMade: ORMs drop a sequence and create it
// again; what follows goes on above.
func TestDropSequenceDropsWhatNextvalMade(t *testing.T) {
	server := newServer(t, serverConfig{sequence: pooledOf(t)})
	s := server.sessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Admin: true})
	last := s.id(t, "invoices", "SELECT nextval('invoices')")
	for _, create := range []string{"CREATE SEQUENCE invoices START WITH 1 INCREMENT BY 50", "SELECT 1"} {
		s.must(t, "DROP SEQUENCE IF EXISTS invoices CASCADE")
		s.must(t, create)
		id := s.id(t, "invoices", "SELECT nextval('invoices')")
		if id < last+50 {
			t.Errorf("after %s: id %d, less than 50 above %d", create, id, last)
		}
		last = id
	}
	s.must(t, "SELECT next_id('orders')")
	s.fails(t, "DROP SEQUENCE orders", sqlstate.WrongObjectType)
}
