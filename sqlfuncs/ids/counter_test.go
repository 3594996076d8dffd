package ids_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/sqlstate"
)

func TestCountersThroughSQL(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Value(t, `SELECT create_generator('bills', 'counter', start => 1, increment => 5, max => 100)`)
	for _, c := range []struct{ sql, want string }{
		{"SELECT next_id('bills')", "1"},
		{"SELECT next_code('bills')", "6"},
		{"SELECT count(*) || ' to ' || max(n) FROM next_ids('bills', 4) n", "4 to 26"},
		{"SELECT nextval('bills')", "31"},
		{"SELECT setval('bills', 50)", "50"},
		{"SELECT id FROM ids WHERE name = 'bills'", "51"},
		{"SELECT first FROM next_range('bills', 1)", "56"},
	} {
		if got := s.Value(t, c.sql); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
	if got := server.MySQLSession(t).Value(t, "SELECT NEXT VALUE FOR bills"); got != "61" {
		t.Errorf("NEXT VALUE FOR: %s", got)
	}
	s.Value(t, "SELECT setval('bills', 100)") // which is beyond 96, the last of the series
	s.Fails(t, "SELECT next_id('bills')", sqlstate.SequenceExhausted)
	s.Fails(t, `SELECT create_generator('x', 'counter', increment => 0)`, sqlstate.InvalidParameterValue)
}

func TestDatedNumbersThroughSQL(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Value(t, `SELECT create_generator('bills', 'dated', prefix => 'INV-', width => 4, time_zone => 'Asia/Tokyo')`)
	day := func() string {
		zone, err := time.LoadLocation("Asia/Tokyo")
		if err != nil {
			t.Fatal(err)
		}
		return time.Now().In(zone).Format("20060102")
	}
	today := day()
	code, id := s.Value(t, "SELECT next_code('bills')"), s.Value(t, "SELECT next_id('bills')")
	if day() != today {
		t.Skip("midnight came in between")
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT '" + code + "'", "INV-" + today + "-0001"},
		{"SELECT " + id, today + "0002"},
		{"SELECT parse_code('" + code + "', 'bills')", today + "0001"},
		{"SELECT to_code(" + id + ", 'bills')", "INV-" + today + "-0002"},
		{"SELECT parse_id('" + code + "', 'bills') ->> 'sequence'", "1"},
		{"SELECT id_ceil('bills', now()) - id_floor('bills', now())", "9999"},
	} {
		if got := s.Value(t, c.sql); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
	if got := server.MySQLSession(t).Value(t, "SELECT next_code('bills')"); !regexp.MustCompile(`^INV-\d{8}-0003$`).MatchString(got) {
		t.Errorf("over MySQL: %s", got)
	}
	if got := s.Value(t, "SELECT id_time("+id+", 'bills')"); !strings.Contains(got, "15:00:00") {
		t.Errorf("the day in Tokyo begins at %s", got)
	}
	s.Fails(t, `SELECT create_generator('x', 'dated', pattern => 'yyMM', width => 40)`, sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT parse_code('INV-1', 'bills')", sqlstate.InvalidParameterValue)
}
