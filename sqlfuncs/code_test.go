package sqlfuncs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Both protocols make, read and undo every text form.
func TestCodesOverBothDialects(t *testing.T) {
	server := newServer(t)
	admin := server.session(t)
	for _, sql := range []string{
		`SELECT create_generator('ord', 'segment', '{"text":"base32","prefix":"ORD-","check":true,"pad":9,"group":5}')`,
		`SELECT create_generator('short', 'segment', text => 'base62', scatter => true)`,
		`SELECT create_generator('named', 'snowflake', text => 'base36', prefix => 'n', scatter => 'a key of this test')`,
		`SELECT create_generator('dec', 'segment', '{"text":{"base":"decimal","check":true,"pad":6}}')`,
	} {
		if _, err := admin.run(t, sql); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range []*testSession{server.session(t), server.mysqlSession(t)} {
		if got, want := s.value(t, "SELECT next_code('ord')"), []string{"ORD-00000-00011", "ORD-00000-00033"}[i]; got != want {
			t.Errorf("code %s, want %s", got, want)
		}
		if got := s.value(t, "SELECT parse_code('ord-l6jd', 'ord')"); got != "1234" {
			t.Errorf("as a person typed it: %s", got)
		}
		if got := s.value(t, "SELECT to_code(1234, 'ord')"); got != "ORD-00000-016JD" {
			t.Errorf("to_code: %s", got)
		}
		if got := s.value(t, "SELECT to_code(572, 'dec')"); got != "0005724" {
			t.Errorf("to_code: %s", got)
		}
		for _, name := range []string{"ord", "short", "named", "dec"} {
			code := s.value(t, "SELECT next_code('"+name+"')")
			id := s.value(t, "SELECT parse_code('"+code+"', '"+name+"')")
			if back := s.value(t, "SELECT to_code("+id+", '"+name+"')"); back != code {
				t.Errorf("%s: %s is %s, whose code is %s", name, code, id, back)
			}
			parts := s.value(t, "SELECT parse_id('"+code+"', '"+name+"')")
			if want := map[bool]string{true: `"kind": "snowflake"`, false: `"kind": "segment"`}[name == "named"]; !strings.Contains(parts, want) ||
				!strings.Contains(parts, `"sequence": `) {
				t.Errorf("%s: parse_id(%s) is %s", name, code, parts)
			}
		}
		refused(t, s, "SELECT parse_code('ORD-00000-00012', 'ord')", sqlstate.InvalidParameterValue)
		refused(t, s, "SELECT parse_id('ORD-00000-00012', 'ord')", sqlstate.InvalidParameterValue)
		refused(t, s, "SELECT id_floor('short', '2026-01-01 00:00:00')", sqlstate.FeatureNotSupported)
		refused(t, s, "SELECT setval('short', 100)", sqlstate.FeatureNotSupported)
		r, err := s.run(t, "SELECT * FROM next_codes('short', 500)")
		if err != nil {
			t.Fatal(err)
		}
		codes := r.column(0)
		if slices.IsSorted(codes) {
			t.Error("scattered codes follow one another")
		}
		slices.Sort(codes)
		if len(slices.Compact(codes)) != 500 {
			t.Error("a code appeared twice")
		}
	}
	// The number behind a scattered id is known to the server only.
	r, err := admin.run(t, "SELECT kind, sequence FROM parse_id(next_id('short'), 'short')")
	if err != nil || r.rows[0][0] != "segment" || len(r.rows[0][1]) > 5 {
		t.Errorf("%v, %v", r.rows, err)
	}
	r, err = admin.run(t, "SELECT * FROM next_ids('short', 500)")
	if err != nil {
		t.Fatal(err)
	}
	ids := r.column(0)
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 500 {
		t.Error("an id appeared twice")
	}
}

// What SQL shows of a generator holds no key, whoever asks.
func TestNoQueryShowsAKey(t *testing.T) {
	server := newServer(t)
	s := server.session(t)
	const key = "a very secret key of this test"
	if _, err := s.run(t, "SELECT create_generator('a', 'segment', scatter => '"+key+"'), create_generator('b', 'segment', scatter => '"+key+"')"); err != nil {
		t.Fatal(err)
	}
	s.id(t, "a", "SELECT next_id('a')")
	for _, sql := range []string{
		"SELECT * FROM nextid.generators", "SELECT * FROM pg_sequences", "SELECT * FROM pg_class", "SELECT * FROM pg_stat_activity",
		"SELECT * FROM nextid.sessions", "SELECT parse_id(5, 'a')",
	} {
		r, err := s.run(t, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		if strings.Contains(fmt.Sprint(r.rows), key) {
			t.Errorf("%s shows the key: %v", sql, r.rows)
		}
	}
	if got := s.value(t, "SELECT options->'scatter' FROM nextid.generators WHERE name = 'a'"); got != `{"bits": 63}` {
		t.Errorf("the options show %s", got)
	}
	for _, sql := range []string{
		"SELECT alter_generator('a', scatter => '" + key + "')", "SELECT create_generator('a', 'segment', scatter => '" + key + "')",
		"SELECT create_generator('c', 'segment', scatter => '{\"bits\":9,\"key\":\"" + key + "\"}'::jsonb)",
		"SELECT create_generator('c', 'segment', scatter => '{\"bots\":9,\"key\":\"" + key + "\"}'::jsonb)",
	} {
		_, err := s.run(t, sql)
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), key) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
