package ids_test

import (
	"strings"
	"testing"

	"nextid/generator/store/memory"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

// TestNamesOfEachRow looks at which names a statement makes that
// draws from a new one in each row, and at what it answers.
func TestNamesOfEachRow(t *testing.T) {
	names := func(t *testing.T, s *sqltest.Session) string {
		return s.Value(t, "SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM nextid.generators")
	}
	for _, test := range []struct{ sql, want, names string }{
		{"SELECT count(next_id('n' || g)), sum(g) FROM generate_series(1, 700) g", "700|245350", ""},
		{"SELECT next_id('n' || g % 3) FROM generate_series(1, 7) g", "", "n0 n1 n2"},
		{"SELECT next_id(g.v || u) FROM unnest(ARRAY['a', 'b']) g (v), unnest(ARRAY['x', 'y', 'z']) u WHERE u <> 'y'", "", "ax az bx bz"},
		{"SELECT next_id('n' || g) FROM generate_series(1, 100) g LIMIT 10", "", "n1 n10 n2 n3 n4 n5 n6 n7 n8 n9"},
		{"SELECT * FROM (SELECT next_id('n' || g) FROM generate_series(1, 100) g) d LIMIT 10", "", "n1 n10 n2 n3 n4 n5 n6 n7 n8 n9"},
		{"SELECT CASE WHEN g < 6 THEN next_id('n' || g) END IS NULL FROM generate_series(1, 7) g", "f f f f f t t", "n1 n2 n3 n4 n5"},
	} {
		t.Run(test.sql, func(t *testing.T) {
			s := sqltest.NewServer(t, sqltest.Config{Store: memory.New(memory.Config{Exclusive: true})}).Session(t)
			if got := strings.ReplaceAll(s.Must(t, test.sql).String(), "\n", " "); test.want != "" && got != test.want {
				t.Errorf("answers %s, want %s", got, test.want)
			}
			if got := names(t, s); test.names != "" && got != test.names {
				t.Errorf("made the names %s, want %s", got, test.names)
			}
		})
	}

	t.Run("a row that fails", func(t *testing.T) {
		s := sqltest.NewServer(t).Session(t)
		s.Fails(t, "SELECT next_id('n' || g), 1 / (10 - g) FROM generate_series(1, 1000) g", sqlstate.DivisionByZero)
		if got := len(strings.Fields(names(t, s))); got != 10 {
			t.Errorf("the statement made %d names before its tenth row failed", got)
		}
	})
}
