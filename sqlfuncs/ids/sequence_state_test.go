package ids_test

import (
	"fmt"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/sqlstate"
)

func TestDropSequenceKeepsWhatCreateSequenceCannotSay(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Must(t, `SELECT create_generator('secret', 'segment', '{"scatter": true}'), create_generator('strict', 'segment', '{"strict": true}'),
		create_generator('gapless', 'counter', '{}'), create_generator('snow', 'snowflake', '{}')`)
	for _, name := range []string{"secret", "strict", "gapless", "snow"} {
		e := s.Fails(t, "DROP SEQUENCE IF EXISTS "+name, sqlstate.WrongObjectType)
		if want := fmt.Sprintf("drop_generator('%s') drops it.", name); e.Hint != want {
			t.Errorf("hint %q, want %q", e.Hint, want)
		}
		s.Must(t, "SELECT next_id('"+name+"')")
	}
}

// TestSequencesTellTheEndOfAllServers: what a dump says of a sequence is not
// below the ids of another server on the same store.
func TestSequencesTellTheEndOfAllServers(t *testing.T) {
	server := sqltest.NewServer(t)
	s, m := server.Session(t), server.MySQLSession(t)
	m.Must(t, "CREATE SEQUENCE tens START WITH 100 INCREMENT BY 10 CACHE 50 COMMENT = 'by tens' ENGINE = InnoDB")
	m.ID(t, "tens", "SELECT NEXTVAL(tens)")
	if got := m.Must(t, "SELECT * FROM tens").String(); !strings.Contains(got, "600") {
		t.Errorf("%s, want 600 next", got)
	}
	want := "CREATE SEQUENCE `tens` start with 100 minvalue 1 maxvalue 9223372036854775806 increment by 10 cache 50 nocycle ENGINE=InnoDB COMMENT='by tens'"
	if got := m.Must(t, "SHOW CREATE SEQUENCE tens").Rows[0][1]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m.Must(t, "CREATE OR REPLACE SEQUENCE tens")
	if number, _ := m.MySQLError(t, "CREATE OR REPLACE SEQUENCE IF NOT EXISTS tens"); number != 1064 {
		t.Errorf("error %d", number)
	}
	if got := m.Value(t, "SELECT PREVIOUS VALUE FOR tens IS NULL"); got != "0" {
		t.Errorf("PREVIOUS VALUE FOR: %s", got)
	}
	if number, state := m.MySQLError(t, "SELECT LASTVAL(nobody)"); number != 4091 || state != "42S02" {
		t.Errorf("error %d %s", number, state)
	}
	if got := m.Value(t, "SELECT SETVAL(tens, 9000, 0)"); got != "9000" {
		t.Errorf("SETVAL: %s", got)
	}
	if id := m.ID(t, "tens", "SELECT NEXTVAL(tens)"); id != 9000 {
		t.Errorf("id %d, want 9000", id)
	}
	s.Must(t, "SELECT last_value FROM tens")
}
