package foreign_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/generator/history"
)

// variants lists the expressions that draw an id in a DEFAULT.
var variants = []struct{ name, call string }{
	{"single", "nextid.next_id('%s')"},
	{"batch", "nextid.next_id('%s', 70)"},
	{"dblink", "nextid.dblink_next_id('%s')"},
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), sharedCluster(t)
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			var log history.Log
			dsn := cluster.install(t, server)
			s := connect(t, dsn, &log)
			name := v.name
			call := fmt.Sprintf(v.call, name)
			s.exec("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT " + call + ", note text)")

			s.draws(1, name, "INSERT INTO orders (note) VALUES ('one') RETURNING id")
			s.draws(3, name, "INSERT INTO orders (note) VALUES ('a'), ('b'), ('c') RETURNING id")
			s.draws(300, name, "INSERT INTO orders (note) SELECT n::text FROM generate_series(1, 300) n RETURNING id")
			s.draws(2, name, "INSERT INTO orders (note) VALUES ('d'), ('e') ON CONFLICT (id) DO NOTHING RETURNING id")
			s.draws(1, name, "INSERT INTO orders DEFAULT VALUES RETURNING id")
			s.draws(3, name, "UPDATE orders SET id = DEFAULT WHERE note IN ('a', 'b', 'c') RETURNING id")

			// COPY FROM evaluates the default for each line.
			before := s.numbers("SELECT count(*) FROM orders")[0]
			lines := strings.Repeat("copied\n", 200)
			if _, err := s.PgConn().CopyFrom(t.Context(), strings.NewReader(lines), "COPY orders (note) FROM STDIN"); err != nil {
				t.Fatal(err)
			}
			s.draws(200, name, "SELECT id FROM orders WHERE note = 'copied' ORDER BY id")
			if n := s.numbers("SELECT count(*) FROM orders")[0]; n != before+200 {
				t.Errorf("%d rows after COPY of 200 lines to %d", n, before)
			}

			// A trigger that fills the column.
			s.exec("CREATE TABLE lines (id bigint PRIMARY KEY, note text)")
			s.exec("CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := " + call + "; RETURN NEW; END $$")
			s.exec("CREATE TRIGGER fill BEFORE INSERT ON lines FOR EACH ROW EXECUTE FUNCTION fill()")
			s.draws(20, name, "INSERT INTO lines (note) SELECT 'x' FROM generate_series(1, 20) RETURNING id")

			// Prepared statements, before and after the plan becomes generic.
			for _, mode := range []string{"auto", "force_generic_plan", "force_custom_plan"} {
				s.exec("SET plan_cache_mode = " + mode)
				s.exec("PREPARE add (text) AS INSERT INTO orders (note) VALUES ($1), ($1) RETURNING id")
				for range 8 {
					s.draws(2, name, "EXECUTE add ('prepared')")
				}
				s.exec("DEALLOCATE add")
			}

			// A query that calls the function for each row of a table.
			s.draws(50, name, "SELECT "+call+" FROM generate_series(1, 50)")
			s.draws(10, name, "SELECT id FROM (SELECT "+call+" AS id, n FROM generate_series(1, 10) n OFFSET 0) x ORDER BY n")

			for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
				s.exec("BEGIN ISOLATION LEVEL " + level)
				s.draws(1, name, "SELECT "+call)
				s.draws(1, name, "SELECT "+call)
				s.exec("COMMIT")
			}

			// Ids of rows that were rolled back are not drawn again.
			s.exec("BEGIN")
			s.draws(5, name, "INSERT INTO orders (note) SELECT 'gone' FROM generate_series(1, 5) RETURNING id")
			s.exec("ROLLBACK")
			s.draws(5, name, "INSERT INTO orders (note) SELECT 'kept' FROM generate_series(1, 5) RETURNING id")
			s.exec("BEGIN; SAVEPOINT a")
			s.draws(100, name, "INSERT INTO orders (note) SELECT 'gone' FROM generate_series(1, 100) RETURNING id")
			s.exec("ROLLBACK TO a")
			s.draws(100, name, "INSERT INTO orders (note) SELECT 'kept' FROM generate_series(1, 100) RETURNING id")
			s.exec("COMMIT")

			s.fails("22004", "SELECT "+strings.Replace(call, "'"+name+"'", "NULL", 1))
			check(t, &log)
		})
	}
}

// TestCallersCollation: postgres_fdw does not send a condition with a collation of
// its own, and the read would draw from every generator.
func TestCallersCollation(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	var log history.Log
	direct := server.connect()
	direct.exec("SELECT create_generator('a', 'segment'), create_generator('b', 'segment')")
	s := connect(t, sharedCluster(t).install(t, server), &log)
	first := direct.numbers("SELECT next_id('b')")[0]
	for _, call := range []string{
		`nextid.next_id('a' COLLATE "C")`, `nextid.next_id('a' COLLATE "POSIX", 5)`, `nextid.dblink_next_id('a' COLLATE "C")`,
		`nextid.next_id('a'::name)`, `nextid.next_id('a'::varchar(3))`, `nextid.next_ids('a' COLLATE "C", 1)`,
	} {
		s.draws(1, "a", "SELECT "+call)
	}
	if next := direct.numbers("SELECT next_id('b')")[0]; next != first+1 {
		t.Errorf("ids of b were drawn: %d, then %d", first, next)
	}
	check(t, &log)
}

// genes makes a generator whose layout has a field for the caller's bits.
func (s *server) genes() {
	s.connect().exec(`SELECT create_generator('gene', 'snowflake', '{"bits": "time 41, field 10, worker 4, sequence 8"}')`)
}

// TestCallersBits: next_id_for sets the caller's bits. A batch, which the server
// would take for them, is refused.
func TestCallersBits(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.genes()
	var log history.Log
	s := connect(t, sharedCluster(t).install(t, server), &log)
	if pg := s.fails("0A000", "SELECT nextid.next_id('gene', 713)"); !strings.Contains(pg.Hint, "next_id_for('gene', field)") {
		t.Errorf("a batch of a generator with a field: %+v", pg)
	}
	s.exec("CREATE TABLE genes (shard bigint, id bigint PRIMARY KEY)")
	s.draws(100, "gene", "INSERT INTO genes SELECT n, nextid.next_id_for('gene', n) FROM generate_series(924, 1023) n RETURNING id")
	if n := s.numbers("SELECT count(*) FROM genes, nextid.parse_id(id, 'gene') p WHERE p.field = shard"); n[0] != 100 {
		t.Errorf("%d of 100 ids hold their shard", n[0])
	}
	s.fails("22023", "SELECT nextid.next_id_for('gene', 1024)")
	s.fails("22004", "SELECT nextid.next_id_for('gene', NULL)")
	s.fails("22004", "SELECT nextid.next_id_for(NULL, 1)")
	s.fails("0A000", "SELECT nextid.next_id_for('orders', 1) FROM nextid.next_id('orders')")
	check(t, &log)
}

func TestSetsOfIDs(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	var log history.Log
	s := connect(t, sharedCluster(t).install(t, server), &log)
	s.draws(25000, "orders", "SELECT * FROM nextid.next_ids('orders', 25000)")
	s.draws(0, "orders", "SELECT nextid.next_ids('orders', 0)")
	s.fails("22023", "SELECT nextid.next_ids('orders', -1)")
	s.fails("22004", "SELECT nextid.next_ids('orders', NULL)")
	s.fails("22004", "SELECT nextid.next_id('orders', NULL)")
	if pg := s.fails("22023", "SELECT nextid.next_id('orders', 0)"); !strings.Contains(pg.Message, "between 1 and") {
		t.Errorf("a batch of 0: %v", pg)
	}
	id := s.draws(1, "orders", "SELECT nextid.next_id('orders')")[0]
	if took := s.text(fmt.Sprintf("SELECT kind || ' ' || (now() - time < interval '1 minute') FROM nextid.parse_id(%d)", id)); took != "snowflake true" {
		t.Errorf("parse_id: %s", took)
	}
	if layout := s.text("SELECT layout FROM nextid.parse_id(1099511627776, 'discord')"); layout != "discord" {
		t.Errorf("parse_id with a layout: %s", layout)
	}
	check(t, &log)
}

// TestNoGenerator draws from names of which the server has no generator: the error is
// the server's.
func TestNoGenerator(t *testing.T) {
	t.Parallel()
	s := connect(t, sharedCluster(t).install(t, startServer(t, "NEXTID_AUTO_CREATE_TABLES=false")), nil)
	for name, want := range map[string][2]string{
		"Weird Name": {"22023", `invalid generator name "Weird Name"`},
		"":           {"22023", `invalid generator name ""`},
		"missing":    {"42P01", `generator "missing" does not exist`},
	} {
		for _, call := range []string{"next_id('%s')", "next_ids('%s', 20000)", "next_id_for('%s', 1)"} {
			pg := s.fails(want[0], "SELECT nextid."+fmt.Sprintf(call, name))
			if pg.Message != want[1] || pg.Hint == "" && want[0] == "22023" {
				t.Errorf("%s: %q, hint %q", fmt.Sprintf(call, name), pg.Message, pg.Hint)
			}
		}
	}
}

// TestOneHundredThousandRows is the bulk load that batches are for.
func TestOneHundredThousandRows(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	var log history.Log
	s := connect(t, sharedCluster(t).install(t, server), &log)
	s.exec("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders', 10000), note text)")
	s.exec("INSERT INTO orders (note) SELECT 'x' FROM generate_series(1, 100000)")
	s.draws(100000, "orders", "SELECT id FROM orders ORDER BY id")
	s.exec("ALTER TABLE orders ALTER id SET DEFAULT nextid.next_id('orders')")
	s.exec("INSERT INTO orders (note) SELECT 'y' FROM generate_series(1, 300)")
	s.draws(300, "orders", "SELECT id FROM orders WHERE note = 'y' ORDER BY id")
	check(t, &log)
}

// TestBatchesUseWhatTheyDrew: without rollbacks no id of a batch is lost, so the
// numbers of a segment have no gaps.
func TestBatchesUseWhatTheyDrew(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.connect().exec("SELECT create_generator('a', 'segment'), create_generator('b', 'segment')")
	var log history.Log
	s := connect(t, sharedCluster(t).install(t, server), &log)
	for i := range 250 { // two names in turn
		for _, name := range []string{"a", "b"} {
			if id := s.draws(1, name, "SELECT nextid.next_id('"+name+"', 100)")[0]; id != int64(i+1) {
				t.Fatalf("draw %d of %s is %d", i+1, name, id)
			}
		}
	}
	check(t, &log)
}

// TestRandomSessions draws in batches between random transactions, savepoints and
// resets, in two sessions at once.
func TestRandomSessions(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	dsn := sharedCluster(t).install(t, server)
	server.connect().exec("SELECT create_generator('numbers', 'segment')")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var log history.Log
	var wg sync.WaitGroup
	for i := range 2 {
		s := connect(t, dsn, &log)
		wg.Go(func() { randomSession(s, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	wg.Wait()
	check(t, &log)
	if log.Len() < 1000 {
		t.Errorf("only %d ids drawn", log.Len())
	}
}

func randomSession(s *session, random *rand.Rand) {
	// Twelve names share the eight sequences of places.
	name := func() string {
		if random.IntN(3) == 0 {
			return fmt.Sprintf("name%d", random.IntN(12))
		}
		return []string{"numbers", "orders", "a.name:with-All_1"}[random.IntN(3)]
	}
	quote := func(name string) string { return "'" + name + "'" }
	inside, savepoints := false, 0
	for range 600 {
		if s.t.Failed() {
			return
		}
		switch n := random.IntN(20); {
		case n < 9:
			name, count, batch := name(), 1+random.IntN(30), 1+random.IntN(20)
			// The client has seen the ids before the error.
			ids := s.someNumbers(fmt.Sprintf("SELECT nextid.next_id(%s, %d) FROM generate_series(1, %d)", quote(name), batch, count))
			s.unordered(name, ids) // other draws come in between
		case n < 10:
			name := name()
			s.unordered(name, s.someNumbers("SELECT nextid.next_id("+quote(name)+")"))
		case n < 11: // a block that fails after it drew
			_ = s.try(fmt.Sprintf(`DO $$ BEGIN PERFORM nextid.next_id(%s, 7) FROM generate_series(1, 20); RAISE EXCEPTION 'x';
				EXCEPTION WHEN raise_exception THEN NULL; END $$`, quote(name())))
		case n < 13 && !inside:
			inside, savepoints = s.try("BEGIN") == nil, 0
		case n < 15 && inside:
			if s.try(fmt.Sprintf("SAVEPOINT s%d", savepoints)) == nil {
				savepoints++
			}
		case n < 16 && savepoints > 0:
			savepoints = random.IntN(savepoints) + 1
			_ = s.try(fmt.Sprintf("ROLLBACK TO s%d", savepoints-1))
		case n < 17 && savepoints > 0:
			savepoints--
			_ = s.try(fmt.Sprintf("RELEASE s%d", savepoints))
		case n < 19 && inside:
			_ = s.try([]string{"ROLLBACK", "COMMIT"}[random.IntN(2)])
			inside, savepoints = false, 0
		case !inside:
			_ = s.try([]string{"DISCARD ALL", "RESET ALL", "DISCARD SEQUENCES", "DISCARD PLANS"}[random.IntN(4)])
		}
	}
}

// someNumbers returns the rows before an error, with which a transaction may end.
func (s *session) someNumbers(sql string) (all []int64) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	rows, err := s.Conn.Query(ctx, sql)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if rows.Scan(&id) == nil {
			all = append(all, id)
		}
	}
	return all
}

// TestCopiedSettings: runs are in settings of the session. If a pooler copies these
// to another session, no id is drawn twice.
func TestCopiedSettings(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.connect().exec("SELECT create_generator('numbers', 'segment')")
	dsn := sharedCluster(t).install(t, server)
	first, second := connect(t, dsn, nil), connect(t, dsn, nil)
	seen := make(map[int64]bool)
	draw := func(s *session) {
		for _, id := range s.numbers("SELECT nextid.next_id('numbers', 1000) FROM generate_series(1, 10)") {
			if seen[id] || id < 1 {
				t.Fatalf("id %d came twice, or never was drawn", id)
			}
			seen[id] = true
		}
	}
	copySettings := func(from, to *session) {
		for _, setting := range []string{"nextid.run_", "nextid.runs_"} {
			setting += fmt.Sprintf("%x", "numbers")
			to.exec(fmt.Sprintf("SET %s = '%s'", setting, from.text("SHOW "+setting)))
		}
	}
	draw(first)
	draw(second)
	copySettings(first, second) // the places of second come later
	draw(second)
	draw(first)
	copySettings(second, first) // the places of first are earlier
	draw(first)
	draw(second)
}

// TestSessionAcrossDownAndUp: a session does not use its runs from before a down and
// up.
func TestSessionAcrossDownAndUp(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	dsn := sharedCluster(t).install(t, server)
	var log history.Log
	s := connect(t, dsn, &log)
	const sql = "SELECT nextid.next_id('orders', 1000) FROM generate_series(1, 10)"
	s.draws(10, "orders", sql)
	if err := open(t, dsn).Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.fails("3F000", sql)
	up(t, dsn, config(t, server))
	s.draws(10, "orders", sql)
	check(t, &log)
}

// TestImportForeignSchema: PostgreSQL can import the tables from the server's
// catalogs, and run EXPLAIN and ANALYZE on them.
func TestImportForeignSchema(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	var log history.Log
	s := connect(t, sharedCluster(t).install(t, server), &log)
	s.exec("CREATE SCHEMA imported; IMPORT FOREIGN SCHEMA public FROM SERVER nextid INTO imported")
	s.draws(1, "orders", "SELECT id FROM imported.ids WHERE name = 'orders'")
	s.draws(50, "orders", "SELECT id FROM imported.id_batch WHERE name = 'orders' AND n = 50")
	s.exec("ALTER SERVER nextid OPTIONS (ADD use_remote_estimate 'true')")
	s.draws(3, "orders", "SELECT nextid.next_id('orders') FROM generate_series(1, 3)")
	s.draws(30, "orders", "SELECT nextid.next_id('orders', 20) FROM generate_series(1, 30)")
	s.exec("EXPLAIN VERBOSE SELECT id FROM nextid.ids WHERE name = 'orders'")
	check(t, &log)

	// The tables that up made have the columns of the server's tables.
	const columns = `SELECT string_agg(c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod), E'\n' ORDER BY c.relname, a.attnum)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.relkind = 'f' AND c.relnamespace = '%s'::regnamespace
		AND c.relname IN ('ids', 'id_batch', 'id_ranges', 'id_parts')`
	if made, imported := s.text(fmt.Sprintf(columns, "nextid")), s.text(fmt.Sprintf(columns, "imported")); made != imported {
		t.Errorf("up made\n%s\nthe server has\n%s", made, imported)
	}
}

// TestEncodings: postgres_fdw talks to the server in its database's encoding.
func TestEncodings(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), startCluster(t)
	admin := connect(t, cluster.dsn, nil)
	for _, encoding := range []string{"SQL_ASCII", "LATIN2", "WIN1258", "EUC_JP"} {
		name := "encoded_" + strings.ToLower(encoding)
		admin.exec(fmt.Sprintf("CREATE DATABASE %s TEMPLATE template0 ENCODING '%s' LC_COLLATE 'C' LC_CTYPE 'C'", name, encoding))
		dsn := strings.Replace(cluster.dsn, "/postgres?", "/"+name+"?", 1)
		up(t, dsn, config(t, server))
		s := connect(t, dsn+"&client_encoding=UTF8", nil)
		s.exec("SELECT nextid.next_id('orders'), nextid.next_id('orders', 5), nextid.dblink_next_id('orders')")
		if err := s.try("SELECT nextid.next_id('\u00e4')"); err == nil {
			t.Errorf("%s: a name that is not ASCII was accepted", encoding)
		}
	}
}
