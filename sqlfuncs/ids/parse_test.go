package ids_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/sqlstate"
)

func TestParseIdTakesIdsApart(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	before := time.Now().Add(-time.Second)
	id := s.ID(t, "snow", "SELECT next_id('snow')")
	text := strconv.FormatInt(id, 10)
	r := s.Must(t, "SELECT id_time("+text+", 'snow')")
	at, err := time.Parse("2006-01-02 15:04:05.999999-07", r.String())
	if err != nil || at.Before(before) || at.After(time.Now().Add(time.Second)) {
		t.Errorf("id_time %s, error %v", r, err)
	}
	s.Want(t, "SELECT parse_id("+text+", 'snow')->>'layout'", "twitter")
	s.Want(t, "SELECT layout, worker IS NOT NULL, sequence IS NOT NULL FROM parse_id("+text+")", "twitter|t|t")
	s.Want(t, "SELECT layout, time = id_time("+text+") FROM id_parts WHERE id = "+text+" AND layout = 'snow'", "snow|t")
	s.Want(t, "SELECT parse_id('"+text+"')->>'worker' IS NOT NULL", "t")
	s.Want(t, "SELECT parse_id('0190163d-8694-739b-aea5-966c26f8ad91')->>'layout'", "uuidv7")
	s.Want(t, "SELECT id_time("+text+") BETWEEN now() - interval '1 minute' AND now() + interval '1 minute'", "t")
	s.Want(t, "SELECT id_floor('snow', id_time("+text+")) <= "+text+", id_ceil('snow', id_time("+text+")) >= "+text, "t|t")
	s.Want(t, "SELECT id_floor('twitter', '2024-01-01 00:00+00') < id_ceil('twitter', '2024-01-01 00:00+00')", "t")
	s.Fails(t, "SELECT parse_id("+text+", 'nosuch')", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT parse_id('abc')", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT parse_id('9223372036854775808')", sqlstate.NumericOutOfRange)
	s.Fails(t, "SELECT id_floor('nosuch', now())", sqlstate.UndefinedTable)
	s.Want(t, "SELECT id_floor(to_regclass('nosuch')::text, now())", "NULL") // planning reads the catalogs
	s.Want(t, "SELECT count(*) FROM (SELECT parse_id(12345678, name) AS p FROM nextid.layouts) l WHERE p::text <> p::text::jsonb::text", "0")
	s.Want(t, "SELECT parse_id(NULL::bigint) IS NULL, id_time(NULL) IS NULL", "t|t")
	s.Want(t, "SELECT name FROM nextid.generators", "snow")
}

// Texts of digits that are no number, ids with the sign bit, and UUIDs of
// versions that we do not make.
func TestParseIDOfWhatLooksLikeANumber(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT parse_id('000000000000000000000000000')", `{"kind": "ksuid", "time": "2014-05-13T16:53:20.000Z"}`},
		{"SELECT id_time('000000000000000000000000000') = '2014-05-13 16:53:20+00'", "t"},
		{"SELECT parse_id('00000000000000000000000000')", `{"kind": "ulid", "time": "1970-01-01T00:00:00.000Z"}`},
		{"SELECT parse_id('00000000000000000000')->>'kind'", "xid"},
		{"SELECT parse_id('00000000000000000001')->>'kind'", "snowflake"},
		// BitsAllocator and parseUID of uid-generator, at 2026-11-22 08:00:00 UTC.
		{"SELECT parse_id(-7050965758787919863, 'baidu')", `{"UID": "-7050965758787919863", "kind": "snowflake", "time": "2026-11-22T08:00:00.000Z", "layout": "baidu", "worker": 7, "sequence": 9, "workerId": "7", "timestamp": "2026-11-22 08:00:00"}`},
		{"SELECT id_time(-7050965758787919863, 'baidu') = '2026-11-22 08:00:00+00'", "t"},
		// Java's UUID.nameUUIDFromBytes.
		{"SELECT uuid_generate_v3('hello')", "5d41402a-bc4b-3a76-b971-9d911017c592"},
		{"SELECT uuid_generate_v3('\\x0102ff'::bytea)", "4f989b1a-c8e4-3ab1-9569-6571104cfb67"},
		// DCE 1.1: user 1000 of a machine.
		{
			"SELECT parse_id('000003e8-8cd2-21d1-a300-08002b2dd0de')",
			`{"kind": "uuid", "time": "1998-01-14T11:22:54.147Z", "field": 1000, "layout": "uuidv2", "worker": 8796817445086, "sequence": 35, "datacenter": 0}`,
		},
	} {
		s.Want(t, c.sql, c.want)
	}
	s.Fails(t, "SELECT parse_id(-1, 'twitter')", sqlstate.InvalidParameterValue)
	if r, err := s.Execute(t, "SELECT parse_id($1)->>'kind'", "000000000000000000000000000"); err != nil || r.String() != "ksuid" {
		t.Errorf("KSUID's Nil as a parameter: %v, %v", r, err)
	}
}

// An id of every kind tells what is known of it: a number its series, its place there,
// and the block that it was reserved in.
func TestParseIDTellsThePlaceInASeries(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, c := range []struct{ create, name, want string }{
		{
			`'orders', 'segment', '{"start": 100, "increment": 5, "offset": 3, "step": 10, "prefix": "ORD-", "pad": 6}'`, "orders",
			`{"kind": "segment", "name": "orders", "text": "ORD-000103", "block": [103, 148], "start": 103, "number": 1, "offset": 3, "sequence": 103, "increment": 5}`,
		},
		{
			`'down', 'segment', '{"increment": -1, "start": -1, "step": 20}'`, "down",
			`{"kind": "segment", "name": "down", "block": [-1, -20], "start": -1, "number": 1, "offset": 0, "sequence": -1, "increment": -1}`,
		},
		{
			`'bills', 'counter', '{"start": 7, "increment": 10}'`, "bills",
			`{"kind": "counter", "name": "bills", "start": 7, "number": 1, "offset": 7, "sequence": 7, "increment": 10}`,
		},
	} {
		s.Must(t, "SELECT create_generator("+c.create+")")
		s.Want(t, "SELECT parse_id(next_id('"+c.name+"'), '"+c.name+"')", c.want)
	}
	s.Want(t, "SELECT parse_id(next_code('orders'), 'orders')->>'number', parse_id(10103, 'orders')->>'number', parse_id(10103, 'orders')->'block' IS NULL", "2|2001|t")
	s.Want(t, "SELECT parse_id(104, 'orders')->'number' IS NULL, kind, sequence, time IS NULL, id_time(104, 'orders') IS NULL FROM parse_id(104, 'orders')", "t|segment|104|t|t")
	s.Must(t, `SELECT create_generator('days', 'dated'), create_generator('uid', 'ring'),
		create_generator('mixed', 'segment', '{"scatter": "bit_reverse"}'), create_generator('codes', 'uuid')`)
	s.Want(t, "SELECT p->>'kind', p->>'name', p->>'number', p->'time' IS NULL, p->'text' IS NULL FROM (SELECT parse_id(next_id('days'), 'days') AS p) q", "dated|days|1|f|f")
	s.Want(t, "SELECT p->>'kind', p->>'name', p->>'layout', p->'worker' IS NULL, p->'number' IS NULL FROM (SELECT parse_id(next_id('uid'), 'uid') AS p) q", "ring|uid|ring|f|t")
	s.Want(t, "SELECT p->>'kind', p->>'number', p->>'sequence' FROM (SELECT parse_id(next_id('mixed'), 'mixed') AS p) q", "segment|1|1")
	s.Fails(t, "SELECT parse_id(1, 'codes')", sqlstate.FeatureNotSupported)

	// Alone, a number names the generators that have reserved it, at most ten.
	s.Want(t, "SELECT parse_id(108)->'generators', parse_id(104)->'generators' IS NULL", `["orders"]|t`)
	for i := range 12 {
		name := fmt.Sprintf("many%02d", i)
		s.Must(t, "SELECT create_generator('"+name+"', 'segment', '{\"start\": 5000}'), next_id('"+name+"')")
	}
	s.Want(t, "SELECT parse_id(5001)::text = parse_id(5001)::text::jsonb::text", "t")
	if owners := s.Value(t, "SELECT parse_id(5001)->'generators'"); strings.Count(owners, "many") != 10 {
		t.Errorf("the generators of 5001 are %s, want ten", owners)
	}
}

// next_id(name, field): the caller's bits, where the layout has a field.
func TestIDsWithTheCallersBits(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Must(t, `SELECT create_generator('users', 'snowflake', '{"bits": "time 41, field 10, worker 4, sequence 8"}')`)
	s.Must(t, `SELECT create_generator('posts', 'ring', '{"bits": "time 31, worker 10, sequence 12, field 10", "unit": "1s", "epoch": "2025-01-01"}')`)
	s.Must(t, `SELECT create_generator('rows', 'snowflake', '{"bits": "time 40, field 13, sequence 10", "text": "base62"}')`) // Instagram's
	for _, name := range []string{"users", "posts", "rows"} {
		seen := map[int64]bool{}
		for i := range 3000 {
			shard := i * 7 % 1024
			id, err := strconv.ParseInt(s.Must(t, fmt.Sprintf("SELECT next_id('%s', %d)", name, shard)).String(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r := s.Must(t, fmt.Sprintf("SELECT field FROM parse_id(%d, '%s')", id, name))
			if seen[id] || r.String() != strconv.Itoa(shard) {
				t.Fatalf("%s: id %d of shard %d: twice %v, field %s", name, id, shard, seen[id], r)
			}
			seen[id] = true
		}
		s.Want(t, fmt.Sprintf("SELECT parse_id(next_id('%s', 1023), '%s')->>'field', parse_id(next_id('%s'), '%s')->'field'", name, name, name, name), "1023|0")
		s.Want(t, fmt.Sprintf("SELECT x = currval('%s'), x = lastval() FROM (SELECT next_id('%s', 5) AS x) q", name, name), "t|t")
		s.Want(t, fmt.Sprintf("SELECT count(DISTINCT next_id('%s', 9)) FROM generate_series(1, 500)", name), "500")
		s.Want(t, fmt.Sprintf("SELECT next_id('%s', NULL) IS NULL", name), "t")
		s.Fails(t, fmt.Sprintf("SELECT next_id('%s', -1)", name), sqlstate.InvalidParameterValue)
	}
	s.Fails(t, "SELECT next_id('users', 1024)", sqlstate.InvalidParameterValue)
	s.Want(t, "SELECT id_floor('users', now()) < next_id('users', 1023), id_ceil('users', now() + interval '1 minute') >= next_id('users', 1023)", "t|t")
	if r, err := s.Execute(t, "SELECT parse_id(next_id($1, $2), 'users')->>'field'", "users", "77"); err != nil || r.String() != "77" {
		t.Errorf("with parameters: %v, %v", r, err)
	}
	// As in databases of applications, where next_id(name, n) draws from a batch.
	s.Want(t, "SELECT parse_id(next_id_for('users', 77), 'users')->>'field'", "77")
	s.Want(t, "SELECT name, field, parse_id(id, 'users')->>'field' FROM id_fields WHERE name = 'users' AND field IN (5, 1023)", "users|5|5\nusers|1023|1023")
	s.Fails(t, "SELECT id FROM id_fields WHERE name = 'users' AND field = 1024", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT id FROM id_fields WHERE name = 'users'", sqlstate.InvalidParameterValue)
	if err := s.Fails(t, "SELECT first FROM id_ranges WHERE name = 'users' AND n = 713", sqlstate.FeatureNotSupported); !strings.Contains(err.Hint, "next_id_for('users', field)") {
		t.Errorf("a batch of a generator with a field: %+v", err)
	}
	s.Want(t, "SELECT sum(last - first + 1) FROM next_range('users', 10)", "10")

	// No field, no generator, and one whose bits mean nothing any more.
	s.Must(t, "SELECT create_generator('plain', 'snowflake'); SELECT create_generator('numbers', 'segment')")
	s.Must(t, `SELECT create_generator('hidden', 'snowflake', '{"bits": "time 41, field 10, worker 4, sequence 8", "scatter": true}')`)
	for _, name := range []string{"plain", "numbers", "hidden"} {
		s.Fails(t, "SELECT next_id('"+name+"', 1)", sqlstate.FeatureNotSupported)
	}
	s.Fails(t, "SELECT next_id('nosuch', 1)", sqlstate.UndefinedTable)
	s.Want(t, "SELECT count(*) FROM nextid.generators WHERE name = 'nosuch'", "0")
}

// next_id(name, at => time): the time of the row, and the caller's bits.
func TestIDsCarryAPastTime(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Must(t, `SELECT create_generator('posts', 'snowflake'), create_generator('users', 'snowflake', '{"bits": "time 41, field 10, worker 4, sequence 8"}'),
		create_generator('strict', 'snowflake', strict => true), create_generator('numbers', 'segment'), create_generator('hidden', 'snowflake', scatter => true)`)
	s.Want(t, "SELECT id_time(x, 'posts') = '2019-05-01 12:00:00.123+00', x = currval('posts') FROM (SELECT next_id('posts', at => '2019-05-01 12:00:00.123+00') AS x) q", "t|t")
	s.Want(t, "SELECT parse_id(x, 'posts')->>'worker', parse_id(x, 'posts')->>'datacenter' FROM (SELECT next_id_at('posts', '2019-05-01') AS x) q", "31|31")
	s.Want(t, "SELECT parse_id(next_id('users', 77, '2019-05-01'), 'users')->>'field', parse_id(next_id('users', at => '2019-05-01'), 'users')->>'field'", "77|0")
	s.Want(t, "SELECT count(DISTINCT next_id('posts', at => '2019-05-01')) FROM generate_series(1, 5000)", "5000")
	s.Want(t, "SELECT next_id('posts', at => NULL) IS NULL", "t")
	for sql, state := range map[string]sqlstate.Code{
		"SELECT next_id('posts', at => now())":               sqlstate.InvalidParameterValue,
		"SELECT next_id('posts', at => '2009-01-01')":        sqlstate.InvalidParameterValue,
		"SELECT next_id('users', 1024, '2019-05-01')":        sqlstate.InvalidParameterValue,
		"SELECT next_id('posts', 77, '2019-05-01')":          sqlstate.FeatureNotSupported,
		"SELECT next_id('strict', at => '2019-05-01')":       sqlstate.FeatureNotSupported,
		"SELECT next_id('numbers', at => '2019-05-01')":      sqlstate.FeatureNotSupported,
		"SELECT next_id('hidden', at => '2019-05-01')":       sqlstate.FeatureNotSupported,
		"SELECT next_id('no_such_name', at => '2019-05-01')": sqlstate.UndefinedTable,
		"SELECT next_id('posts', at => 'the day before')":    sqlstate.InvalidDatetime,
	} {
		s.Fails(t, sql, state)
	}
	server.MySQLSession(t).Want(t, "SELECT id_time(next_id_at('posts', '2019-05-01 12:00:00'), 'posts') = '2019-05-01 12:00:00'", "1")
}

// id_floor and id_ceil enclose the ids of an instant in the order of the column
// that holds them, whatever its type is.
func TestBoundsOfIDsThatAreNoNumbers(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, kind := range []string{
		"'uuid'", "'uuid', version => '6'", "'uuid', version => '8'", "'uuid', form => 'hex'", "'ulid'", "'ksuid'", "'xid'", "'typeid', prefix => 'user'",
	} {
		s.Must(t, "SELECT create_generator('c', "+kind+")")
		typ, draw := "text", "next_code('c')"
		if strings.HasPrefix(kind, "'uuid'") {
			typ, draw = "uuid", "next_uuid('c')"
		}
		s.Want(t, "SELECT pg_typeof(id_floor('c', now())), pg_typeof(id_ceil('c', now()))", typ+"|"+typ)
		s.Want(t, "SELECT count(*) FROM (SELECT "+draw+" AS id, now() AS t FROM generate_series(1, 500)) q "+
			"WHERE id BETWEEN id_floor('c', id_time(id::text, 'c')) AND id_ceil('c', id_time(id::text, 'c'))", "500")
		s.Want(t, "SELECT id_floor('c', '2026-11-22 08:00:00+00') < id_ceil('c', '2026-11-22 08:00:00+00'), "+
			"id_ceil('c', '2026-11-22 08:00:00+00') < id_floor('c', '2026-11-22 08:00:01+00')", "t|t")
		s.Want(t, "SELECT id_time(id_floor('c', '2026-11-22 08:00:00+00')::text, 'c') = '2026-11-22 08:00:00+00'", "t")
		s.Must(t, "SELECT drop_generator('c')")
	}
	s.Want(t, "SELECT id_floor('uuidv7', '2026-11-22 08:00:00.123+00'), id_ceil('uuidv7', '2026-11-22 08:00:00.123+00')",
		"01a20244-e87b-7000-8000-000000000000|01a20244-e87b-7fff-bfff-ffffffffffff")
	s.Want(t, "SELECT id_floor('ulid', '1970-01-01 00:00:00+00'), id_ceil('ksuid', '2014-05-13 16:53:20+00')",
		"00000000000000000000000000|000007n42DGM5Tflk9n8mt7Fhc7")
	for _, sql := range []string{"SELECT id_floor('ksuid', '1999-01-01')", "SELECT id_floor('uuidv7', '1969-01-01')", "SELECT id_ceil('ulid', '1969-01-01')"} {
		s.Fails(t, sql, sqlstate.InvalidParameterValue)
	}
	for _, kind := range []string{"'nanoid'", "'uuid', version => '4'", "'uuid', form => 'guid'"} {
		s.Must(t, "SELECT create_generator('n', "+kind+")")
		s.Fails(t, "SELECT id_floor('n', now())", sqlstate.FeatureNotSupported)
		s.Must(t, "SELECT drop_generator('n')")
	}
	// A name that is no literal, and one that changed its kind.
	s.Must(t, "SELECT create_generator('c', 'ulid')")
	_, err := s.Execute(t, "SELECT id_floor($1, now())", "c")
	sqltest.WantCode(t, "a ulid by a parameter", err, sqlstate.FeatureNotSupported)
	if _, err := s.Prepare("p", "SELECT id_floor('c', now())", nil); err != nil {
		t.Fatal(err)
	}
	s.Must(t, "SELECT drop_generator('c'); SELECT create_generator('c', 'snowflake')")
	s.Want(t, "SELECT id_floor('c', now()) <= next_id('c')", "t")
}
