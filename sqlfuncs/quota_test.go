package sqlfuncs_test

import (
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"nextid/generator/quota"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
)

// TestQuotas checks that each statement that draws is counted with its number of
// ids, and that a refused statement is not counted.
func TestQuotas(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "s")
	if err := server.Registry.Create(t.Context(), "u", "uuid", nil); err != nil {
		t.Fatal(err)
	}
	if err := server.Registry.Create(t.Context(), "f", "snowflake", []byte(`{"bits": "time 41, field 8, worker 6, sequence 8"}`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, sql string
		ids       int64
	}{
		{"s", "SELECT next_id('s')", 1},
		{"s", "SELECT nextval('s')", 1},
		{"s", "SELECT next_code('s')", 1},
		{"s", "SELECT * FROM next_codes('s', 3)", 3},
		{"s", "SELECT * FROM next_ids('s', 5)", 5},
		{"s", "SELECT next_ids('s', 5)", 5},
		{"s", "SELECT * FROM next_range('s', 7)", 7},
		{"s", "SELECT next_id('s') FROM generate_series(1, 4)", 4},
		{"s", "SELECT id FROM ids WHERE name = 's'", 1},
		{"s", "SELECT id FROM s_id", 1},
		{"s", "SELECT id FROM id_batch WHERE name = 's' AND n = 6", 6},
		{"s", "SELECT first FROM id_ranges WHERE name = 's' AND n = 6", 6},
		{"f", "SELECT next_id('f', 3)", 1},
		{"u", "SELECT next_uuid('u')", 1},
	} {
		server.SetQuotas(nil)
		server.SetQuotas([]quota.Rule{{User: "tester", Generator: c.name, IDs: c.ids, Per: 1000 * time.Hour}})
		s := server.Session(t)
		s.Must(t, c.sql)
		before := s.Must(t, "SELECT issued FROM nextid.generators WHERE name = '"+c.name+"'").Rows[0][0]
		if _, err := s.Query(t, c.sql); err == nil {
			t.Errorf("%s: a second time under a quota of %d ids", c.sql, c.ids)
		} else {
			sqltest.WantCode(t, c.sql, err, sqlstate.QuotaExceeded)
		}
		if after := s.Must(t, "SELECT issued FROM nextid.generators WHERE name = '"+c.name+"'").Rows[0][0]; after != before {
			t.Errorf("%s was refused, and %s ids are issued instead of %s", c.sql, after, before)
		}
		other := server.SessionWith(t, sqlfuncs.SessionOptions{User: "other", Database: "db"})
		if _, err := other.Query(t, c.sql); err != nil {
			t.Errorf("%s: another user: %v", c.sql, err)
		}
		if r := s.Must(t, "SELECT usename, name, ids, burst, refused FROM nextid.quotas"); strings.Join(r.Rows[0], " ") == "" || r.Rows[0][4] != "1" {
			t.Errorf("%s: nextid.quotas %v", c.sql, r.Rows)
		}
	}
	mysql := server.MySQLSession(t)
	server.SetQuotas([]quota.Rule{{Generator: "s", IDs: 1, Per: 1000 * time.Hour}})
	mysql.Must(t, "SELECT next_id('s')")
	if number, state := mysql.MySQLError(t, "SELECT next_id('s')"); number != 1226 || state != "42000" {
		t.Errorf("MySQL: %d %s", number, state)
	}
}

func TestQuotasOnTheFastPath(t *testing.T) {
	s, st := fastSession(t, "SELECT next_id('a')")
	try := func(when string, want bool) {
		t.Helper()
		ids, ok := s.Fast.Execute(st, nil, 1)
		if ok {
			s.NoteID("a", ids.First)
		}
		if ok != want {
			t.Errorf("%s: fast path %v", when, ok)
		}
	}
	try("without quotas", true)
	s.Server.SetQuotas([]quota.Rule{{User: "other", IDs: 1, Per: time.Second}})
	try("with those of another user", true)
	s.Server.SetQuotas([]quota.Rule{{Generator: "b", IDs: 1, Per: time.Second}})
	try("with those of another name", true)
	s.Server.SetQuotas([]quota.Rule{{Generator: "a", IDs: 3, Per: time.Hour}})
	ids, ok := s.Fast.Execute(st, nil, 2)
	for id := range ids.Count {
		s.NoteID("a", ids.First+id)
	}
	if !ok || ids.Count != 2 {
		t.Errorf("two of three ids: %v %v", ids, ok)
	}
	try("the third", true)
	try("the fourth", false)
	if n := s.Server.Quotas()[0].Refused; n != 0 {
		t.Errorf("%d refusals before the statement was refused", n)
	}
	s.Fails(t, "SELECT next_id('a')", sqlstate.QuotaExceeded)
	if n := s.Server.Quotas()[0].Refused; n != 1 {
		t.Errorf("one refused statement counts as %d", n)
	}
	s.Server.SetQuotas(nil)
	try("when they are gone", true)
}

// TestADrawThatFailsIsNotCounted draws from a generator that has run out.
func TestADrawThatFailsIsNotCounted(t *testing.T) {
	for _, sql := range []string{"SELECT next_id('s')", "SELECT next_code('s')", "SELECT * FROM next_codes('s', 1)", "SELECT get_id()"} {
		server := sqltest.NewServer(t)
		s := server.Session(t)
		s.Must(t, "SELECT create_generator('s', 'segment', max => 1), create_generator('twitter', 'segment', max => 1)")
		s.Must(t, sql)
		server.SetQuotas([]quota.Rule{{IDs: 1, Per: 1000 * time.Hour}})
		s.Fails(t, sql, sqlstate.SequenceExhausted)
		s.Must(t, "SELECT next_id('other')")
	}
}
