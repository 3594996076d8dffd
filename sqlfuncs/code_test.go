package sqlfuncs_test

import (
	"errors"
	"slices"
	"testing"

	"nextid/sqlfuncs/sqlstate"
)

// refused runs a statement that must fail with a code.
func refused(t *testing.T, s *testSession, sql string, code sqlstate.Code) {
	t.Helper()
	_, err := s.run(t, sql)
	var e *sqlstate.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%s: %v, want %s", sql, err, code)
	}
}

// A generator without a text form has decimal codes.
func TestCodesOfAGeneratorWithoutATextForm(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	for _, s := range []*testSession{server.session(t), server.mysqlSession(t)} {
		first := s.value(t, "SELECT next_code('a')")
		for _, c := range []struct{ sql, want string }{
			{"SELECT parse_code('" + first + "', 'a')", first},
			{"SELECT to_code(" + first + ", 'a')", first},
			{"SELECT parse_code(NULL, 'a') IS NULL", s.value(t, "SELECT 1 = 1")},
		} {
			if got := s.value(t, c.sql); got != c.want {
				t.Errorf("%s: %s, want %s", c.sql, got, c.want)
			}
		}
		r, err := s.run(t, "SELECT * FROM next_codes('a', 3)")
		if err != nil {
			t.Fatal(err)
		}
		if codes := r.column(0); len(codes) != 3 || !slices.IsSorted(codes) || slices.Contains(codes, first) {
			t.Errorf("next_codes gave %v after %s", codes, first)
		}
		refused(t, s, "SELECT parse_code('abc', 'a')", sqlstate.InvalidParameterValue)
		refused(t, s, "SELECT parse_code('1', 'nobody')", sqlstate.UndefinedTable)
		refused(t, s, "SELECT to_code(1, 'nobody')", sqlstate.UndefinedTable)
		refused(t, s, "SELECT * FROM next_codes('a', 0)", sqlstate.InvalidParameterValue)
		refused(t, s, "SELECT * FROM next_codes('a', 1000000)", sqlstate.InvalidParameterValue)
		refused(t, s, "SELECT next_uuid('a')", sqlstate.FeatureNotSupported)
	}
}
