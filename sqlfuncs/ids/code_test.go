package ids_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/sqlstate"
)

// A generator without a text form has decimal codes.
// Spanner's bit-reversed sequences: the positive numbers with their 63 bits the
// other way round, from 1 on.
func TestBitReversedSequences(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, `SELECT create_generator('spread', 'segment', '{"scatter": "bit_reverse"}')`)
	s.Want(t, "SELECT next_id('spread') FROM generate_series(1, 4)",
		"4611686018427387904\n2305843009213693952\n6917529027641081856\n1152921504606846976")
	s.Want(t, "SELECT parse_id(6917529027641081856, 'spread')->>'sequence'", "3")
	s.Want(t, "SELECT options->'scatter' FROM nextid.generators WHERE name = 'spread'", `{"bits": 63, "bit_reverse": true}`)
	s.Fails(t, `SELECT create_generator('both', 'segment', '{"scatter": {"bit_reverse": true, "key": "0123456789abcdef"}}')`, sqlstate.InvalidParameterValue)
}

func TestCodesOfAGeneratorWithoutATextForm(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	for _, s := range []*sqltest.Session{server.Session(t), server.MySQLSession(t)} {
		first := s.Value(t, "SELECT next_code('a')")
		for _, c := range []struct{ sql, want string }{
			{"SELECT parse_code('" + first + "', 'a')", first},
			{"SELECT to_code(" + first + ", 'a')", first},
			{"SELECT parse_code(NULL, 'a') IS NULL", s.Value(t, "SELECT 1 = 1")},
		} {
			if got := s.Value(t, c.sql); got != c.want {
				t.Errorf("%s: %s, want %s", c.sql, got, c.want)
			}
		}
		r, err := s.Query(t, "SELECT * FROM next_codes('a', 3)")
		if err != nil {
			t.Fatal(err)
		}
		if codes := r.Column(0); len(codes) != 3 || !slices.IsSorted(codes) || slices.Contains(codes, first) {
			t.Errorf("next_codes gave %v after %s", codes, first)
		}
		s.Fails(t, "SELECT parse_code('abc', 'a')", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT parse_code('1', 'nobody')", sqlstate.UndefinedTable)
		s.Fails(t, "SELECT to_code(1, 'nobody')", sqlstate.UndefinedTable)
		s.Fails(t, "SELECT * FROM next_codes('a', 0)", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT * FROM next_codes('a', 1000001)", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT next_uuid('a')", sqlstate.FeatureNotSupported)
	}
}

// Both protocols make, read and undo every text form.
func TestCodesOverBothDialects(t *testing.T) {
	server := sqltest.NewServer(t)
	admin := server.Session(t)
	for _, sql := range []string{
		`SELECT create_generator('ord', 'segment', '{"text":"base32","prefix":"ORD-","check":true,"pad":9,"group":5}')`,
		`SELECT create_generator('short', 'segment', text => 'base62', scatter => true)`,
		`SELECT create_generator('named', 'snowflake', text => 'base36', prefix => 'n', scatter => 'a key of this test')`,
		`SELECT create_generator('dec', 'segment', '{"text":{"base":"decimal","check":true,"pad":6}}')`,
	} {
		if _, err := admin.Query(t, sql); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range []*sqltest.Session{server.Session(t), server.MySQLSession(t)} {
		if got, want := s.Value(t, "SELECT next_code('ord')"), []string{"ORD-00000-00011", "ORD-00000-00033"}[i]; got != want {
			t.Errorf("code %s, want %s", got, want)
		}
		if got := s.Value(t, "SELECT parse_code('ord-l6jd', 'ord')"); got != "1234" {
			t.Errorf("as a person typed it: %s", got)
		}
		if got := s.Value(t, "SELECT to_code(1234, 'ord')"); got != "ORD-00000-016JD" {
			t.Errorf("to_code: %s", got)
		}
		if got := s.Value(t, "SELECT to_code(572, 'dec')"); got != "0005724" {
			t.Errorf("to_code: %s", got)
		}
		for _, name := range []string{"ord", "short", "named", "dec"} {
			code := s.Value(t, "SELECT next_code('"+name+"')")
			id := s.Value(t, "SELECT parse_code('"+code+"', '"+name+"')")
			if back := s.Value(t, "SELECT to_code("+id+", '"+name+"')"); back != code {
				t.Errorf("%s: %s is %s, whose code is %s", name, code, id, back)
			}
			parts := s.Value(t, "SELECT parse_id('"+code+"', '"+name+"')")
			if want := map[bool]string{true: `"kind": "snowflake"`, false: `"kind": "segment"`}[name == "named"]; !strings.Contains(parts, want) ||
				!strings.Contains(parts, `"sequence": `) {
				t.Errorf("%s: parse_id(%s) is %s", name, code, parts)
			}
		}
		s.Fails(t, "SELECT parse_code('ORD-00000-00012', 'ord')", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT parse_id('ORD-00000-00012', 'ord')", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT id_floor('short', '2026-01-01 00:00:00')", sqlstate.FeatureNotSupported)
		s.Fails(t, "SELECT setval('short', 100)", sqlstate.FeatureNotSupported)
		r, err := s.Query(t, "SELECT * FROM next_codes('short', 500)")
		if err != nil {
			t.Fatal(err)
		}
		codes := r.Column(0)
		if slices.IsSorted(codes) {
			t.Error("scattered codes follow one another")
		}
		slices.Sort(codes)
		if len(slices.Compact(codes)) != 500 {
			t.Error("a code appeared twice")
		}
	}
	// The number behind a scattered id is known to the server only.
	r, err := admin.Query(t, "SELECT kind, sequence FROM parse_id(next_id('short'), 'short')")
	if err != nil || r.Rows[0][0] != "segment" || len(r.Rows[0][1]) > 5 {
		t.Errorf("%v, %v", r.Rows, err)
	}
	r, err = admin.Query(t, "SELECT * FROM next_ids('short', 500)")
	if err != nil {
		t.Fatal(err)
	}
	ids := r.Column(0)
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 500 {
		t.Error("an id appeared twice")
	}
}

// What SQL shows of a generator holds no key, whoever asks.
func TestNoQueryShowsAKey(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	const key = "a very secret key of this test"
	if _, err := s.Query(t, "SELECT create_generator('a', 'segment', scatter => '"+key+"'), create_generator('b', 'segment', scatter => '"+key+"')"); err != nil {
		t.Fatal(err)
	}
	s.Must(t, "SELECT create_generator('salted', 'segment', text => 'hashids', salt => '"+key+"')")
	s.Want(t, "SELECT parse_code(next_code('salted'), 'salted')", "1")
	s.ID(t, "a", "SELECT next_id('a')")
	for _, sql := range []string{
		"SELECT * FROM nextid.generators", "SELECT * FROM pg_sequences", "SELECT * FROM pg_class", "SELECT * FROM pg_stat_activity",
		"SELECT * FROM nextid.sessions", "SELECT parse_id(5, 'a')",
	} {
		r, err := s.Query(t, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		if strings.Contains(fmt.Sprint(r.Rows), key) {
			t.Errorf("%s shows the key: %v", sql, r.Rows)
		}
	}
	if got := s.Value(t, "SELECT options->'scatter' FROM nextid.generators WHERE name = 'a'"); got != `{"bits": 63}` {
		t.Errorf("the options show %s", got)
	}
	for _, sql := range []string{
		"SELECT alter_generator('a', scatter => '" + key + "')", "SELECT create_generator('a', 'segment', scatter => '" + key + "')",
		"SELECT create_generator('c', 'segment', scatter => '{\"bits\":9,\"key\":\"" + key + "\"}'::jsonb)",
		"SELECT create_generator('c', 'segment', scatter => '{\"bots\":9,\"key\":\"" + key + "\"}'::jsonb)",
	} {
		_, err := s.Query(t, sql)
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), key) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Kinds whose ids are no numbers answer next_code, and next_uuid where they
// are UUIDs.
func TestCodesThatAreNoNumbers(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	admin := server.Session(t)
	for name, sql := range map[string]string{
		"u7": `create_generator('u7', 'uuid')`, "u4": `create_generator('u4', 'uuid', version => 4)`,
		"mine": `create_generator('mine', 'uuid', '{"version":1,"form":"swapped"}')`,
		"l":    `create_generator('l', 'ulid')`, "k": `create_generator('k', 'ksuid', '{}')`, "x": `create_generator('x', 'xid')`,
		"n": `create_generator('n', 'nanoid', size => 12)`, "t": `create_generator('t', 'typeid', prefix => 'user')`,
	} {
		if got := admin.Value(t, "SELECT "+sql); got != name {
			t.Errorf("%s: %s", sql, got)
		}
	}
	kinds := map[string]string{"u7": "uuid", "u4": "uuid", "mine": "uuid", "l": "ulid", "k": "ksuid", "x": "xid", "n": "nanoid", "t": "typeid"}
	for _, s := range []*sqltest.Session{server.Session(t), server.MySQLSession(t)} {
		yes := s.Value(t, "SELECT 1 = 1")
		for name, kind := range kinds {
			code := s.Value(t, "SELECT next_code('"+name+"')")
			if other := s.Value(t, "SELECT next_code('"+name+"')"); other == code {
				t.Errorf("%s: %s twice", name, code)
			}
			parts := s.Value(t, "SELECT parse_id('"+code+"', '"+name+"')")
			if !strings.Contains(parts, `"kind": "`+kind+`"`) || (name != "n" && name != "u4") != strings.Contains(parts, `"time": "20`) {
				t.Errorf("%s: parse_id(%s) is %s", name, code, parts)
			}
			if kind != "nanoid" && name != "mine" { // those tell by themselves what they are
				if got := s.Value(t, "SELECT parse_id('"+code+"')"); got != parts {
					t.Errorf("%s: parse_id(%s) without a name is %s, with it %s", name, code, got, parts)
				}
			}
			r, err := s.Query(t, "SELECT * FROM next_codes('"+name+"', 100)")
			if err != nil {
				t.Fatal(err)
			}
			codes := r.Column(0)
			slices.Sort(codes)
			if len(slices.Compact(codes)) != 100 {
				t.Errorf("%s: a code came twice", name)
			}
			s.Fails(t, "SELECT next_id('"+name+"')", sqlstate.FeatureNotSupported)
			s.Fails(t, "SELECT * FROM next_ids('"+name+"', 5)", sqlstate.FeatureNotSupported)
			s.Fails(t, "SELECT parse_code('"+code+"', '"+name+"')", sqlstate.FeatureNotSupported)
			s.Fails(t, "SELECT parse_id('-', '"+name+"')", sqlstate.InvalidParameterValue)
			if kind != "uuid" {
				s.Fails(t, "SELECT next_uuid('"+name+"')", sqlstate.FeatureNotSupported)
			} else if got := s.Value(t, "SELECT concat(next_uuid('"+name+"'), '') LIKE '________-____-____-____-____________'"); got == "0" || got == "f" {
				t.Errorf("%s: a UUID of another form", name)
			}
		}
		if got := s.Value(t, "SELECT id_time('01ARZ3NDEKTSV4RRFFQ69G5FAV')"); !strings.HasPrefix(got, "2016-07-30 23:54:10.259") {
			t.Errorf("id_time of a ULID: %s", got)
		}
		if got := s.Value(t, "SELECT id_time(next_code('u7'), 'u7') IS NOT NULL"); got != yes {
			t.Errorf("id_time of a UUID: %s", got)
		}
		if got := s.Value(t, "SELECT id_time(1541815603606036480) = id_time('1541815603606036480')"); got != yes {
			t.Errorf("id_time of a number and of its text: %s", got)
		}
		s.Fails(t, "SELECT parse_id('hello')", sqlstate.InvalidParameterValue)
	}
	// What lists all generators of numbers leaves them out.
	for _, sql := range []string{"SELECT name FROM ids", "SELECT sequencename FROM pg_sequences"} {
		r, err := admin.Query(t, sql)
		if err != nil || len(r.Rows) != 1 || r.Rows[0][0] != "a" {
			t.Errorf("%s: %v, %v", sql, r.Rows, err)
		}
	}
	r, err := admin.Query(t, "SELECT name FROM nextid.generators")
	if err != nil || len(r.Rows) != len(kinds)+1 {
		t.Errorf("nextid.generators: %v, %v", r.Rows, err)
	}
}
