package ids_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// TestEveryWayToDrawCountsUp runs each form on a generator that counts 1, 2,
// 3, …: it must give exactly the ids that it shows.
func TestEveryWayToDrawCountsUp(t *testing.T) {
	for _, c := range []struct {
		sql  string
		ids  int // drawn
		last string
	}{
		{"SELECT next_id('a')", 1, "1"},
		{"SELECT nextid.next_id('a')", 1, "1"},
		{"SELECT pg_catalog.nextval('a')", 1, "1"},
		{"SELECT nextval('a'::regclass)", 1, "1"},
		{"SELECT nextval('public.a')", 1, "1"},
		{"SELECT nextval('\"a\"')", 1, "1"},
		{"SELECT next_id(name => 'a')", 1, "1"},
		{"SELECT next_id('a') AS id, 5 AS other, 1 AS last", 1, "1"},
		{"SELECT next_id('a'), next_id('a')", 2, "2"},
		{"SELECT next_id('a') + 0", 1, "1"},
		{"SELECT CASE WHEN false THEN next_id('a') ELSE 0 END, next_id('a')", 1, "1"},
		{"SELECT CASE next_id('a') WHEN 5 THEN 50 WHEN 1 THEN 10 END, 1", 1, "1"},
		{"SELECT next_id('a') BETWEEN 0 AND 10, 1", 1, "1"},
		{"SELECT next_id('a') IN (7, 8, 9), 1", 1, "1"},
		{"SELECT next_id('a') = ANY (ARRAY[5, 1]), 1", 1, "1"},
		{"SELECT coalesce(next_id('a'), next_id('a'))", 1, "1"},
		{"SELECT nullif(next_id('a'), 5)", 1, "1"},
		{"SELECT next_id('a') WHERE true", 1, "1"},
		{"SELECT next_id('a') FROM generate_series(1, 3)", 3, "3"},
		{"SELECT next_id('a') AS id FROM generate_series(5, 7) g WHERE g < 7", 2, "2"},
		{"SELECT next_id('a') FROM generate_series(1, 3) LIMIT 2", 2, "2"},
		{"SELECT g, next_id('a') FROM generate_series(1, 3) g ORDER BY g DESC LIMIT 3", 3, ""},
		{"SELECT array_agg(DISTINCT next_id('a')) FROM generate_series(1, 3)", 3, "{1,2,3}"},
		{"SELECT array_agg(next_id('a') ORDER BY next_id('a') DESC) FROM generate_series(1, 3)", 3, "{3,2,1}"},
		{"SELECT * FROM next_id('a')", 1, "1"},
		{"SELECT * FROM next_ids('a', 3)", 3, "3"},
		{"SELECT next_ids('a', 3)", 3, "3"},
		{"SELECT next_ids(n => 2, name => 'a')", 2, "2"},
		{"SELECT id FROM next_ids('a', 3) AS t (id) WHERE id > 1", 3, "3"},
		{"SELECT * FROM next_ids('a', 5) LIMIT 2", 2, "2"},
		{"SELECT ordinality, next_ids AS id FROM next_ids('a', 2) WITH ORDINALITY", 2, "2"},
		{"SELECT first, last FROM next_range('a', 10)", 10, "10"},
		{"SELECT id FROM ids WHERE name = 'a'", 1, "1"},
		{"SELECT name, id FROM public.ids WHERE 'a' = name", 1, "1"},
		{"SELECT id FROM ids WHERE ((name = 'a'::text))", 1, "1"},
		{"SELECT id FROM ids WHERE name IN ('a')", 1, "1"},
		{"SELECT id FROM ids WHERE name = ANY ('{a}'::text[])", 1, "1"},
		{"SELECT id FROM ids WHERE name = ANY (ARRAY['a', 'a', NULL])", 1, "1"},
		{"SELECT id FROM ids WHERE name = 'a' AND id IS NOT NULL", 1, "1"},
		{"SELECT id FROM ids WHERE name = 'a' LIMIT 1", 1, "1"},
		{"SELECT id FROM ids WHERE name = 'a' LIMIT 1::bigint", 1, "1"},
		{"SELECT r.id FROM ids r WHERE r.name = 'a' AND r.name IN ('a', 'b')", 1, "1"},
		{"SELECT i.id FROM (VALUES ('a')) v (name) JOIN ids i ON i.name = v.name", 1, "1"},
		{"SELECT i.id FROM (VALUES ('a')) v (name) JOIN ids i USING (name)", 1, "1"},
		{"SELECT i.id FROM ids i JOIN (VALUES ('a')) v (name) USING (name) WHERE name = 'a'", 1, "1"},
		{"SELECT id FROM ids WHERE name = (SELECT 'a')", 1, "1"},
		{"SELECT id FROM id_batch WHERE name = 'a' AND n = 3", 3, "3"},
		{"SELECT id FROM id_batch WHERE n = 3 AND name = 'a' LIMIT 2", 2, "2"},
		{"SELECT name, n, id FROM id_batch b WHERE b.name = ANY ('{a}') AND b.n IN (2)", 2, "2"},
		{"SELECT first, last FROM id_ranges WHERE name = 'a' AND n = 10", 10, "10"},
		{"SELECT id FROM a_id", 1, "1"},
		{"SELECT id FROM public.a_id", 1, "1"},
		{"SELECT * FROM a_id, generate_series(1, 2)", 1, "2"},
		{"SELECT (SELECT id FROM a_id)", 1, "1"},
		{"WITH x AS (SELECT next_id('a') AS id) SELECT id FROM x", 1, "1"},
		{"WITH x AS (SELECT next_id('a') AS id) SELECT a.id, b.id FROM x a, x b", 1, "1"},
		{"SELECT next_id('a') UNION ALL SELECT next_id('a')", 2, "2"},
		{"SELECT NEXT VALUE FOR a", 1, "1"},
		{"SELECT id FROM ids WHERE name = NULL", 0, ""},
		{"SELECT id FROM ids WHERE false", 0, ""},
		{"SELECT id FROM ids WHERE name = 'a' AND name = 'b'", 0, ""},
		{"SELECT id FROM ids WHERE name = 'a' LIMIT 0", 0, ""},
		{"SELECT next_id('a') LIMIT 0", 0, ""},
		{"SELECT next_id('a') WHERE false", 0, ""},
		{"SELECT next_id(NULL)", 0, "NULL"},
		{"SELECT * FROM next_ids('a', NULL)", 0, ""},
		{"SELECT 1 WHERE EXISTS (SELECT 1 FROM a_id WHERE false)", 0, ""},
	} {
		server := sqltest.NewServer(t)
		server.Segment(t, "a")
		s := server.Session(t)
		r, err := s.Query(t, c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		last := ""
		if n := len(r.Rows); n > 0 {
			last = r.Rows[n-1][len(r.Rows[n-1])-1]
		}
		if c.last != "" && last != c.last || c.last == "" && c.ids == 0 && last != "" {
			t.Errorf("%s: last value %q, want %q", c.sql, last, c.last)
		}
		if id := s.ID(t, "a", "SELECT next_id('a')"); id != int64(c.ids)+1 {
			t.Errorf("%s: drew %d ids, want %d", c.sql, id-1, c.ids)
		}
	}
}

func TestAnalysisDrawsNothing(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	for i, sql := range sqltest.Drawing {
		st, err := s.Prepare("", sql, nil)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if st.Columns == nil {
			t.Errorf("%s: no columns", sql)
		}
		p, err := s.BindTextsTo(nil, st)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		p.Columns()
		p.IDs()
		s.EndBatch()
		s.Must(t, fmt.Sprintf("PREPARE p%d AS %s", i, sql))
		s.Must(t, "EXPLAIN "+sql)
		s.Must(t, "BEGIN; DECLARE c CURSOR FOR "+sql+"; COMMIT")
	}
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("analysis drew ids: next is %d, want 1", id)
	}
}

func TestIdsThatCrossStatementsAreUnique(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "seg")
	for client := range 3 {
		s := server.Session(t)
		for _, name := range []string{"seg", "snow"} {
			for range 50 {
				s.ID(t, name, "SELECT next_id('"+name+"')")
				s.NoteIDs(t, name, s.Must(t, "SELECT * FROM next_ids('"+name+"', 7)").Column(0)...)
				s.NoteIDs(t, name, s.Must(t, "SELECT id FROM id_batch WHERE name = '"+name+"' AND n = 3").Column(0)...)
				r, err := s.Execute(t, "SELECT next_id($1) FROM generate_series(1, $2)", name, 5)
				if err != nil {
					t.Fatal(err)
				}
				s.NoteIDs(t, name, r.Column(0)...)
			}
		}
		if want := int64(client+1) * 50 * 2 * 16; server.Drawn.Len() != want {
			t.Fatalf("%d ids noted, want %d", server.Drawn.Len(), want)
		}
	}
}

func TestRunsOfIdsCoverTheirCount(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	for _, sql := range []string{"SELECT first, last FROM next_range('snow', 5000)", "SELECT first, last FROM id_ranges WHERE name = 'snow' AND n = 5000"} {
		n := int64(0)
		for _, row := range s.Must(t, sql).Rows {
			first, _ := strconv.ParseInt(row[0], 10, 64)
			last, _ := strconv.ParseInt(row[1], 10, 64)
			n += last - first + 1
			for id := first; id <= last; id++ {
				s.NoteID("snow", id)
			}
		}
		if n != 5000 {
			t.Errorf("%s: the ranges hold %d ids, want 5000", sql, n)
		}
	}
}

// next_range tells the step of a run. In id_ranges, which has no such column, a hole
// between two ids ends a run.
func TestRunsOfIdsWithAnIncrement(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "CREATE SEQUENCE fives INCREMENT 5 START 100")
	s.Want(t, "SELECT * FROM next_range('fives', 3)", "100|110|5")
	s.Want(t, "SELECT first, last FROM id_ranges WHERE name = 'fives' AND n = 2", "115|115\n120|120")
	s.Want(t, "SELECT nextval('fives')", "125")
	s.Must(t, "CREATE SEQUENCE downwards INCREMENT -1 START 10 MINVALUE 1")
	s.Want(t, "SELECT * FROM next_range('downwards', 2)", "10|9|-1")
	s.Want(t, "SELECT nextval('downwards')", "8")
}

func TestPortalGivesIdsAsRuns(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	for _, sql := range []string{"SELECT * FROM next_ids('a', 100)", "SELECT next_ids('a', 100)", "SELECT next_id('a') FROM generate_series(1, 100)"} {
		p, err := s.BindTexts(sql)
		if err != nil {
			t.Fatal(err)
		}
		if !p.IDs() {
			t.Errorf("%s is not recognised as a run of ids", sql)
			continue
		}
		n := int64(0)
		for {
			r, err := p.NextIDs(t.Context(), 30)
			if err != nil {
				break
			}
			if r.Count > 30 {
				t.Errorf("%d ids, want at most 30", r.Count)
			}
			for i := range r.Count {
				s.NoteID("a", r.First+i*r.Step)
			}
			n += r.Count
		}
		if n != 100 {
			t.Errorf("%s: %d ids, want 100", sql, n)
		}
	}
	for _, sql := range []string{
		"SELECT ordinality FROM next_ids('a', 5) WITH ORDINALITY", "SELECT next_ids('a', 5) + 1", "SELECT next_id('a') FROM generate_series(1, 5) g WHERE g > 2",
		"SELECT * FROM next_ids('a', 5) LIMIT 2", "SELECT x + 1 FROM next_ids('a', 5) x", "SELECT DISTINCT next_ids('a', 5)",
	} {
		if p, err := s.BindTexts(sql); err != nil || p.IDs() {
			t.Errorf("%s: IDs() true, or error %v", sql, err)
		}
	}
}

// A name that is mistyped makes a generator of its own, and its client is told.
func TestANameLikeAnotherIsNoticed(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	for _, c := range []struct{ sql, like string }{
		{"SELECT next_id('orders')", ""},
		{"SELECT next_id('Orders')", "orders"},
		{"SELECT next_id('order')", "orders"},
		{"SELECT next_id('oreders')", "orders"},
		{"SELECT next_id('orbers')", "orders"},
		{"SELECT id FROM ids WHERE name = 'ORDERS'", "Orders"},
		{"SELECT nextval('ordersx')", "orders"},
		{"SELECT next_id('orders_1')", ""},
		{"SELECT next_id('orders_2')", ""},
		{"SELECT next_id('odrers')", ""},
		{"SELECT next_id('Orders')", ""}, // exists
		{"SELECT next_id('a')", ""},
		{"SELECT next_id('b')", ""},
	} {
		s.Must(t, c.sql)
		said := ""
		for _, n := range s.TakeNotices() {
			if strings.Contains(n.Message, "differs only in case or by one letter") {
				_, said, _ = strings.Cut(n.Message, "there is \"")
				said, _, _ = strings.Cut(said, "\"")
			}
		}
		if said != c.like {
			t.Errorf("%s: like %q, want %q", c.sql, said, c.like)
		}
	}
}

func TestBadNamesAndCountsAreRefused(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	long := strings.Repeat("x", 129)
	for _, name := range []string{"", "1a", "a b", "ä", "a;b", "a/b", "-a", long} {
		s.Fails(t, "SELECT next_id('"+name+"')", sqlstate.InvalidParameterValue)
		_, err := s.Execute(t, "SELECT next_id($1)", name)
		sqltest.WantCode(t, name, err, sqlstate.InvalidParameterValue)
	}
	for _, n := range []string{"0", "-1", "1000001", "9223372036854775807", "-9223372036854775808"} {
		s.Fails(t, "SELECT * FROM next_ids('a', "+n+")", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT * FROM next_range('a', "+n+")", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT * FROM id_batch WHERE name = 'a' AND n = "+n, sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT * FROM id_ranges WHERE name = 'a' AND n = "+n, sqlstate.InvalidParameterValue)
	}
	s.Fails(t, "SELECT * FROM id_batch", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT * FROM id_batch WHERE name = 'a'", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT * FROM id_parts", sqlstate.InvalidParameterValue)
	if r := s.Must(t, "SELECT name FROM nextid.generators"); len(r.Rows) != 0 {
		t.Errorf("refused statements created generators: %s", r)
	}
}

func TestWithoutAutoCreateUnknownNamesAreRefused(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true}).Session(t)
	for _, sql := range []string{"SELECT next_id('new')", "SELECT nextval('new')", "SELECT id FROM new_id", "SELECT id FROM ids WHERE name = 'new'", "SELECT * FROM next_ids('new', 2)"} {
		s.Fails(t, sql, sqlstate.UndefinedTable)
	}
	s.Must(t, "SELECT create_generator('new', 'segment')")
	s.ID(t, "new", "SELECT next_id('new')")
}

// waiting counts what its session says.
type waiting struct{ waits *int }

func (w waiting) Waits() { *w.waits++ }
func (waiting) End(bool) {}

// What may ask the store lets the protocol send earlier answers first.
func TestTheStoreIsAskedAfterWaits(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true}).Session(t)
	waits := 0
	s.Serve(waiting{&waits})
	for _, sql := range []string{
		"SELECT next_id('nosuch')", "SELECT currval('nosuch')", "SELECT * FROM nextid.generators", "SELECT name FROM ids",
		"CREATE SEQUENCE made", "SELECT setval('made', 5)", "SELECT id_floor('nosuch', now())", "DROP SEQUENCE made",
	} {
		waits = 0
		if _, err := s.Query(t, sql); waits == 0 {
			t.Errorf("%s: asked the store at once (%v)", sql, err)
		}
	}
}

// A call that ends without waiting says nothing: the poller would hand its other
// connections over to another goroutine, three times the work of the call.
func TestNobodyWaitsForAGeneratorThatRuns(t *testing.T) {
	server := sqltest.NewServer(t)
	admin := server.Session(t)
	admin.Must(t, "SELECT create_generator('a', 'segment'), create_generator('u', 'uuid'), create_generator('w', 'snowflake', bits => 'time 41, field 10, worker 2, sequence 10')")
	for _, c := range []struct {
		session *sqltest.Session
		texts   []string
	}{
		{server.Session(t), []string{
			"SELECT next_id('a')", "SELECT currval('a')", "SELECT next_range('a', 10)", "SELECT next_code('a')", "SELECT next_uuid('u')",
			"SELECT parse_id(7, 'w')", "SELECT parse_code('7', 'a')", "SELECT next_id('w', 3)",
		}},
		{server.MySQLSession(t), []string{"SELECT next_id('a')", "SELECT NEXTVAL(a)", "SELECT LASTVAL(a)", "SELECT next_uuid('u')"}},
	} {
		waits := 0
		c.session.Serve(waiting{&waits})
		for _, sql := range c.texts {
			c.session.Must(t, sql)
			waits = 0
			if c.session.Must(t, sql); waits > 0 {
				t.Errorf("%s: said %d times that it waits", sql, waits)
			}
		}
	}
}

func TestAdminFunctionsManageGenerators(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Want(t, "SELECT create_generator('a', 'segment')", "a")
	s.Want(t, `SELECT create_generator('b', 'segment', '{"start": 1000}')`, "b")
	s.Want(t, "SELECT create_generator('c', 'segment', start => 2000, increment => 10)", "c")
	s.Want(t, "SELECT create_generator('d', 'snowflake')", "d")
	s.Fails(t, "SELECT create_generator('a', 'segment')", sqlstate.DuplicateObject)
	s.Fails(t, "SELECT create_generator('x', 'nosuch')", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT create_generator('x', 'segment', nosuch => 1)", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT create_generator('x', 'segment', '[1]')", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT create_generator('x y', 'segment')", sqlstate.InvalidParameterValue)
	for name, want := range map[string]int64{"b": 1000, "c": 2000} {
		if id := s.ID(t, name, "SELECT next_id('"+name+"')"); id != want {
			t.Errorf("%s begins with %d, want %d", name, id, want)
		}
	}
	if id := s.ID(t, "c", "SELECT next_id('c')"); id != 2010 {
		t.Errorf("c goes on with %d, want 2010", id)
	}
	s.Want(t, "SELECT alter_generator('a', step => 5000)", "a")
	s.Want(t, "SELECT options->>'step' FROM nextid.generators WHERE name = 'a'", "5000")
	s.Want(t, "SELECT drop_generator('b')", "b")
	s.Want(t, "SELECT count(*) FROM nextid.generators WHERE name = 'b'", "0")
	s.Fails(t, "SELECT drop_generator('b')", sqlstate.UndefinedTable)
	s.Must(t, "SELECT create_generator('b', 'segment')")
	if id := s.ID(t, "b", "SELECT next_id('b')"); id <= 1000 {
		t.Errorf("a generator that was dropped begins again at %d", id)
	}
}

func TestSequencesAreGenerators(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.WantTag(t, "CREATE SEQUENCE q START 10 INCREMENT 5", "CREATE SEQUENCE")
	s.Fails(t, "CREATE SEQUENCE q", sqlstate.DuplicateTable)
	s.Must(t, "CREATE SEQUENCE IF NOT EXISTS q")
	if n := s.NoticeCodes(); len(n) != 1 || n[0] != "NOTICE 00000" {
		t.Errorf("notices %v", n)
	}
	s.Fails(t, "CREATE SEQUENCE w CYCLE", sqlstate.FeatureNotSupported)
	for _, want := range []int64{10, 15, 20} {
		if id := s.ID(t, "q", "SELECT nextval('q')"); id != want {
			t.Errorf("nextval %d, want %d", id, want)
		}
	}
	s.WantTag(t, "ALTER SEQUENCE q RESTART WITH 100", "ALTER SEQUENCE")
	if id := s.ID(t, "q", "SELECT nextval('q')"); id != 100 {
		t.Errorf("after RESTART WITH 100: %d", id)
	}
	s.Fails(t, "ALTER SEQUENCE nosuch INCREMENT 2", sqlstate.UndefinedTable)
	s.Must(t, "ALTER SEQUENCE IF EXISTS nosuch INCREMENT 2")
	s.WantTag(t, "DROP SEQUENCE q", "DROP SEQUENCE")
	s.Fails(t, "DROP SEQUENCE q", sqlstate.UndefinedTable)
	s.Must(t, "DROP SEQUENCE IF EXISTS q")
}

func TestAdminRightsAreNeeded(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	admin := server.Session(t)
	user := server.SessionWith(t, sqlfuncs.SessionOptions{User: "user"})
	for _, sql := range []string{
		"SELECT create_generator('x', 'segment')", "SELECT alter_generator('a', step => 5000)", "SELECT drop_generator('nosuch')",
		"SELECT setval('a', 100)", "CREATE SEQUENCE x", "ALTER SEQUENCE a CACHE 5000", "DROP SEQUENCE a", "DROP SEQUENCE IF EXISTS nosuch",
		"SELECT recover_generator('a', 5)", "PREPARE p AS SELECT drop_generator('a'); EXECUTE p",
	} {
		user.Fails(t, sql, sqlstate.InsufficientPrivilege)
		if strings.HasPrefix(sql, "SELECT setval") || strings.Contains(sql, "alter_") {
			for range 3 { // the plan of an administrator serves the user from the cache
				admin.Must(t, sql)
			}
			user.Fails(t, sql, sqlstate.InsufficientPrivilege)
		}
	}
	user.ID(t, "a", "SELECT next_id('a')")
}

// Names that the DEFAULTs of existing tables call.
func TestNamesOfExistingDDL(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Want(t, "SELECT uuid_extract_version(UUID_v4()), uuid_extract_version(uuid_v7()), uuid_extract_version(uuid_generate_v7())", "4|7|7")
	s.Want(t, "SELECT parse_id(gen_ulid())->>'kind', parse_id(generate_ulid())->>'kind', gen_ulid() < gen_ulid()", "ulid|ulid|t")
	s.Want(t, "SELECT unique_rowid() < unique_rowid(), parse_id(unique_rowid(), 'unique_rowid')->>'layout'", "t|cockroach")
}

func TestNextBlock(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Want(t, "SELECT next_id('a')", "1")
	s.Want(t, "SELECT next_block('a', 1000000000000)", "1001") // more than ids_per_call, behind the buffer
	s.Want(t, "SELECT next_block('a', 10)", "1000000001001")
	s.Want(t, "SELECT next_id('a')", "2")
	s.Fails(t, "SELECT next_block('a', 0)", sqlstate.InvalidParameterValue)
	s.Must(t, "SELECT create_generator('b', 'segment', '{\"increment\": 2}')")
	s.Fails(t, "SELECT next_block('b', 10)", sqlstate.FeatureNotSupported)
	s.Must(t, "SELECT create_generator('c', 'segment', '{\"scatter\": true}')")
	s.Fails(t, "SELECT next_block('c', 10)", sqlstate.FeatureNotSupported)
	s.Fails(t, "SELECT next_block('d', 10)", sqlstate.UndefinedTable) // and does not create it
	s.Must(t, "SELECT create_generator('d', 'segment')")
}

func TestOperatorTables(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Want(t, "SELECT name, kind, running FROM nextid.generators", "a|segment|f")
	s.ID(t, "a", "SELECT next_id('a')")
	s.Want(t, "SELECT name, running, step FROM nextid.generators", "a|t|1000")
	s.ID(t, "snow", "SELECT next_id('snow')")
	s.Want(t, "SELECT count(*) FROM nextid.workers", "1")
	s.Want(t, "SELECT count(*) FROM nextid.nodes", "0") // nobody keeps a list in this test
	s.Must(t, "SET application_name = 'mine'")
	s.Want(t, "SELECT usename, application_name, protocol FROM nextid.sessions", "tester|mine|postgresql")
	app := sqlfuncs.SessionOptions{User: "app", RemoteAddr: "192.0.2.7:4711"}
	reader, other := s.Server.SessionWith(t, app), sqlfuncs.SessionOptions{User: "other", RemoteAddr: "192.0.2.8:4711"}
	s.Server.SessionWith(t, app)
	s.Server.SessionWith(t, other)
	const who = "SELECT usename, client_addr FROM nextid.sessions ORDER BY 1, 2"
	s.Want(t, who, "app|192.0.2.7:4711\napp|192.0.2.7:4711\nother|192.0.2.8:4711\ntester|")
	reader.Want(t, who, "app|192.0.2.7:4711\napp|192.0.2.7:4711\nNULL|NULL\nNULL|NULL")
	s.Want(t, "SELECT ends, workers, ids_per_second, capacity FROM nextid.layouts WHERE name = 'twitter'",
		"2080-07-10 17:30:30.208+00|1024|4096000|9223372036854775808")
	s.Want(t, "SELECT name FROM nextid.layouts WHERE days_left < 0", "baidu")
	s.Want(t, "SELECT days_left > 365 * 4000 FROM nextid.layouts WHERE name = 'mastodon'", "t")
	s.Want(t, "SELECT fields, ends IS NULL, days_left IS NULL, workers FROM nextid.layouts WHERE name = 'tidb'", "shard 5, counter 58|t|t|32")
	s.Want(t, "SELECT capacity, length(note) > 0 FROM nextid.layouts WHERE name = 'js'", "9007199254740992|t")
	s.Fails(t, "SELECT * FROM nextid.nosuch", sqlstate.UndefinedTable)
	if r := s.Must(t, "SELECT name FROM nextid.generators LIMIT 0"); r.Columns[0].Type != datum.Text || r.Columns[0].Table == 0 {
		t.Errorf("column %+v must name its table", r.Columns[0])
	}
}

func TestForeignTableQueriesWithParameters(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	server.Segment(t, "b")
	s := server.Session(t)
	for _, c := range []struct {
		sql  string
		args []any
		want string
	}{
		{"SELECT id FROM public.ids WHERE ((name = $1::text))", []any{"a"}, "1"},
		{"SELECT id FROM ids WHERE name = $1", []any{"b"}, "1"},
		{"SELECT name, id FROM ids WHERE name = ANY ($1::text[]) ORDER BY name", []any{"{a,b}"}, "a|2\nb|2"},
		{"SELECT id FROM id_batch WHERE name = $1 AND n = $2", []any{"a", 2}, "3\n4"},
		{"SELECT id FROM ids WHERE name = $1 LIMIT $2", []any{"a", 1}, "5"},
		{"SELECT id FROM ids WHERE name = $1", []any{nil}, ""},
		{"SELECT v.n, i.id FROM unnest($1::text[]) AS v (n) JOIN ids i ON i.name = v.n ORDER BY 1", []any{"{b,a}"}, "a|6\nb|3"},
	} {
		r, err := s.Execute(t, c.sql, c.args...)
		if err != nil || r.String() != c.want {
			t.Errorf("%s %v: %q, %v; want %q", c.sql, c.args, r, err, c.want)
		}
	}
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 7 {
		t.Errorf("next id %d, want 7", id)
	}
}

func TestRecoverGeneratorGoesOnAbove(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Must(t, "SELECT create_generator('orders', 'segment')")
	s.ID(t, "orders", "SELECT next_id('orders')")
	s.Want(t, "SELECT recover_generator('orders', 5000)", "orders")
	if id := s.ID(t, "orders", "SELECT next_id('orders')"); id != 5000 {
		t.Errorf("after recover_generator(5000): %d", id)
	}
	s.Want(t, "SELECT recover_generator('orders', 1)", "orders")
	if id := s.ID(t, "orders", "SELECT next_id('orders')"); id <= 5000 {
		t.Errorf("recover_generator lowered the generator: %d", id)
	}
	s.Must(t, "SELECT create_generator('down', 'segment', increment => -1)")
	s.Must(t, "SELECT next_id('down')")
	s.Want(t, "SELECT recover_generator('down', -700)", "down")
	s.Want(t, "SELECT next_id('down')", "-700")
	s.Fails(t, "SELECT recover_generator('nosuch', 1)", sqlstate.UndefinedTable)
	s.Must(t, "SELECT create_generator('clock', 'snowflake')")
	s.Fails(t, "SELECT recover_generator('clock', 1)", sqlstate.FeatureNotSupported)
}

func TestSequencesCanBeReadAsTables(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "orders")
	s := server.Session(t)
	read := func(sql string) int64 {
		t.Helper()
		n, err := strconv.ParseInt(s.Must(t, sql).Rows[0][0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	s.Want(t, "SELECT last_value FROM pg_sequences", sqltest.Null) // asking draws nothing
	for _, name := range []string{"orders", "events"} {
		id := s.ID(t, name, "SELECT next_id('"+name+"')")
		if last := read("SELECT last_value FROM " + name); last < id {
			t.Errorf("last_value of %s is %d, below the id %d", name, last, id)
		}
		if last := read("SELECT last_value FROM pg_sequences WHERE sequencename = '" + name + "'"); last < id {
			t.Errorf("pg_sequences says %d of %s, below the id %d", last, name, id)
		}
	}
	server.Segment(t, "invoices")
	last := read("SELECT last_value FROM public.invoices") // draws one to learn
	if id := s.ID(t, "invoices", "SELECT next_id('invoices')"); id > last {
		t.Errorf("last_value was %d, then %d was issued", last, id)
	}
	s.Fails(t, "SELECT last_value FROM nosuch", sqlstate.UndefinedTable)
}

func TestSubqueryDrawsForEveryRow(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, sql := range []string{
		"SELECT (SELECT next_id('orders')) FROM generate_series(1, 20)",
		"SELECT (SELECT id FROM orders_id) FROM generate_series(1, 20)",
		"SELECT (ARRAY(SELECT next_id('orders')))[1] FROM generate_series(1, 20)",
	} {
		s.NoteIDs(t, "orders", s.Must(t, sql).Column(0)...) // the history refuses an id that comes twice
	}
}

func TestRingsShowWhatTheyBorrow(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "SELECT create_generator('uid', 'ring')")
	s.Want(t, "SELECT count(*) FROM nextid.rings", "0") // not opened yet
	s.ID(t, "uid", "SELECT next_id('uid')")
	s.Want(t, "SELECT capacity, buffered, threshold, max_borrow_seconds FROM nextid.rings",
		"65536|65535|32768|60")
	s.Want(t, "SELECT borrowed_seconds BETWEEN 0 AND 1 FROM nextid.rings WHERE name = 'uid'", "t")
	s.Want(t, "SELECT parse_id(next_id('uid'), 'uid')->>'layout'", "ring")
	s.Fails(t, "SELECT create_generator('bad', 'ring', '{\"boost_power\": 20}')", sqlstate.InvalidParameterValue)
}

// TestHintsAreAboutTheMistake.
func TestHintsAreAboutTheMistake(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for sql, want := range map[string]string{
		"SELECT next_id(orders)":                        "A text has single quotes around it: next_id('orders')",
		"SELECT * FROM next_ids(orders, 5)":             "A text has single quotes around it: next_ids('orders')",
		"SELECT * FROM next_ids('a', -1)":               "n is how many ids are wanted.",
		"SELECT * FROM next_ids('a', 1000001)":          "Call again for more ids, or raise ids_per_call in the configuration.",
		"SELECT next_id(nosuch) FROM nextid.generators": "",
		"SELECT exp(1)":                                 "nextid has functions for ids and what drivers and tools ask for; compute the rest in your own database.",
		"SELECT nexd_id('orders')":                      "Did you mean next_id?",
		"SELECT * FROM next_rnage('orders', 5)":         "Did you mean next_range?",
		"SELECT next_id('a', 1, 2)":                     "Call next_id(name text[, field bigint][, at timestamp with time zone]), with arguments cast to these types.",
		"SELECT next_ids('orders')":                     "Call next_ids(name text, n bigint), with arguments cast to these types.",
		"SELECT orders":                                 "",
	} {
		_, err := s.Query(t, sql)
		e, ok := errors.AsType[*sqlstate.Error](err)
		if !ok || e.Hint != want {
			t.Errorf("%s: %v, want the hint %q", sql, err, want)
		}
	}
}
