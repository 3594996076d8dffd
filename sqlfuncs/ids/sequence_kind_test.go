package ids_test

import (
	"encoding/json"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/generator/layout"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
)

// TestNextvalOfANewName: a client that counts on from what nextval gives is
// told when that is no sequence.
func TestNextvalOfANewName(t *testing.T) {
	server := sqltest.NewServer(t)
	s, m := server.Session(t), server.MySQLSession(t)
	s.Must(t, "SELECT nextval('invoices')")
	n := s.TakeNotices()
	if len(n) != 1 || n[0].Severity != "NOTICE" || !strings.Contains(n[0].Message, `sequence "invoices" did not exist: a generator of kind snowflake was made, whose ids are 1 apart`) ||
		!strings.Contains(n[0].Message, "too large for hi/lo") {
		t.Errorf("notices %v", n)
	}
	s.Must(t, "SELECT nextval('invoices'), next_id('other')")
	if n := s.TakeNotices(); len(n) != 0 {
		t.Errorf("a name that is there, and next_id: %v", n)
	}
	m.Must(t, "SELECT NEXT VALUE FOR bills")
	if got := m.Must(t, "SHOW WARNINGS").String(); !strings.Contains(got, "bills") || !strings.Contains(got, "Note") {
		t.Errorf("MySQL's warnings: %s", got)
	}

	sequences := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{Sequence: ids.Auto{Kind: "segment", Options: []byte(`{"increment": 50, "start": 51}`)}}})
	s = sequences.SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid"})
	for want := range int64(3) {
		if id := s.ID(t, "invoices", "SELECT nextval('invoices')"); id != 51+50*want {
			t.Errorf("id %d, want %d", id, 51+50*want)
		}
	}
	if n := s.TakeNotices(); len(n) != 1 || !strings.Contains(n[0].Message, "50 or more apart") || strings.Contains(n[0].Message, "hi/lo") {
		t.Errorf("notices %v", n)
	}
	s.Want(t, "SELECT kind FROM nextid.generators", "segment")
	limited := sequences.SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Generators: []string{"a*"}})
	limited.Fails(t, "SELECT nextval('secret')", sqlstate.InsufficientPrivilege)
}

// pooledOf returns what cmd/nextid gives to sequences where nothing is configured.
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
	server := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{Sequence: pooledOf(t)}})
	clients := []*sqltest.Session{server.Session(t), server.Session(t)}
	for name, first := range map[string]int64{"up": 0, "down": -49} {
		taken := map[int64]bool{}
		for i := range 200 {
			id := clients[i%2].ID(t, name, "SELECT nextval('"+name+"')")
			for n := range int64(50) {
				if taken[id+first+n] {
					t.Fatalf("%s: %d is taken twice", name, id+first+n)
				}
				taken[id+first+n] = true
			}
		}
		clients[0].Want(t, "SELECT increment FROM information_schema.sequences WHERE sequence_name = '"+name+"'", "50")
		clients[0].Want(t, "SELECT (parse_id(nextval('"+name+"'), '"+name+"')->>'time')::timestamptz <= now() + interval '1s'", "t")
	}
	if got := server.MySQLSession(t).Must(t, "SHOW CREATE SEQUENCE up").Rows[0][1]; !strings.Contains(got, "increment by 50") {
		t.Errorf("a dump: %s", got)
	}
}

// TestDropSequenceDropsWhatNextvalMade: ORMs drop a sequence and create it
// again; what follows goes on above.
func TestDropSequenceDropsWhatNextvalMade(t *testing.T) {
	server := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{Sequence: pooledOf(t)}})
	s := server.SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Admin: true})
	last := s.ID(t, "invoices", "SELECT nextval('invoices')")
	for _, create := range []string{"CREATE SEQUENCE invoices START WITH 1 INCREMENT BY 50", "SELECT 1"} {
		s.Must(t, "DROP SEQUENCE IF EXISTS invoices CASCADE")
		s.Must(t, create)
		id := s.ID(t, "invoices", "SELECT nextval('invoices')")
		if id < last+50 {
			t.Errorf("after %s: id %d, less than 50 above %d", create, id, last)
		}
		last = id
	}
	s.Must(t, "SELECT next_id('orders')")
	s.Fails(t, "DROP SEQUENCE orders", sqlstate.WrongObjectType)
}

// TestIncrementOfWhatNextvalMade: OpenJPA asks for its increment before it draws.
func TestIncrementOfWhatNextvalMade(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{Sequence: pooledOf(t)}}).Session(t)
	s.ID(t, "invoices", "SELECT nextval('invoices')")
	s.TakeNotices()
	s.Must(t, "ALTER SEQUENCE invoices INCREMENT BY 50")
	if n := s.TakeNotices(); len(n) != 0 {
		t.Errorf("notices %v", n)
	}
	s.Must(t, "ALTER SEQUENCE invoices INCREMENT BY 20")
	if n := s.TakeNotices(); len(n) != 1 || !strings.Contains(n[0].Message, "stay 50 or more apart") {
		t.Errorf("notices %v", n)
	}
	s.Want(t, "SELECT increment_by FROM pg_sequences WHERE sequencename = 'invoices'", "50")
	for _, sql := range []string{
		"ALTER SEQUENCE invoices INCREMENT BY 51", "ALTER SEQUENCE invoices INCREMENT BY -1", "ALTER SEQUENCE invoices INCREMENT BY 50 MINVALUE 5",
	} {
		if e := s.Fails(t, sql, sqlstate.FeatureNotSupported); !strings.Contains(e.Message, "are 50 or more apart") || !strings.Contains(e.Hint, "CREATE SEQUENCE invoices INCREMENT BY") {
			t.Errorf("%s: %s (%s)", sql, e.Message, e.Hint)
		}
	}
	s.Must(t, "SELECT create_generator('snow', 'snowflake')")
	s.Must(t, "ALTER SEQUENCE snow INCREMENT BY 1")
	s.Fails(t, "ALTER SEQUENCE snow INCREMENT BY 50", sqlstate.FeatureNotSupported)
	s.Want(t, "SELECT increment_by FROM pg_sequences WHERE sequencename = 'snow'", "1")
}
