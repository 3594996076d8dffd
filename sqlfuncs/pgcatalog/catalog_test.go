package pgcatalog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
)

// catalogSession starts a session of the owner in nextid's own database, with a few
// generators.
func catalogSession(t testing.TB) *sqltest.Session {
	t.Helper()
	server := sqltest.NewServer(t)
	server.Segment(t, "orders")
	s := server.SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Admin: true})
	s.Must(t, `CREATE SEQUENCE "Invoices" START 100 INCREMENT 5 MAXVALUE 1000000 CACHE 20`)
	s.Must(t, "SELECT next_id('events')") // a snowflake generator
	return s
}

func TestEveryCatalogCanBeRead(t *testing.T) {
	s := catalogSession(t)
	const all = `SELECT n.nspname || '.' || c.relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = relnamespace
		WHERE nspname IN ('pg_catalog', 'information_schema') ORDER BY 1`
	names := s.Must(t, all).Column(0)
	if len(names) < 200 {
		t.Fatalf("pg_class has %d system catalogs", len(names))
	}
	for _, name := range names {
		if _, err := s.Query(t, "SELECT * FROM "+name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The files testdata/*.sql hold queries on the catalogs, with a blank line between
// queries. A comment before each names the client. psql.sql, recorded.sql and
// tools.sql were recorded from programs of Debian and npm that read a PostgreSQL;
// shapes.sql has our own queries. {ids} means the OID of the table ids.
// TestCatalogsAnswerAsPostgreSQL sends the queries to nextid and to a PostgreSQL
// with the same functions, views and sequences. It compares columns, types and rows.
// A comment
//
//	-- differs: REASON
//
// marks a query whose rows differ for a reason. Its columns and types are still
// compared. If its rows are equal, the test fails.

type catalogQuery struct {
	line     int
	comment  string
	differs  string
	sql      string
	unsorted bool // no ORDER BY, or one with ties: the order of rows means nothing
}

func readCatalogQueries(t *testing.T, path string) []catalogQuery {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []catalogQuery
	line := 1
	for block := range strings.SplitSeq(string(text), "\n\n") {
		q := catalogQuery{line: line}
		line += strings.Count(block, "\n") + 2
		block = strings.TrimSpace(block)
		for strings.HasPrefix(block, "-- ") {
			comment, rest, _ := strings.Cut(block, "\n")
			if reason, ok := strings.CutPrefix(comment, "-- differs: "); ok {
				q.differs = reason
			} else {
				q.comment = comment
			}
			block = rest
		}
		if q.sql = strings.TrimSuffix(block, ";"); q.sql == "" {
			continue
		}
		q.unsorted = !strings.Contains(strings.ToUpper(q.sql), "ORDER BY") || strings.Contains(q.comment, "ties in any order")
		out = append(out, q)
	}
	return out
}

// twin is a PostgreSQL with the same functions, views and sequences as nextid.
type twin struct {
	*pgconn.PgConn
}

// newTwin starts a PostgreSQL and creates nextid's functions (without bodies), views
// and sequences there, as nextid's catalogs describe them.
func newTwin(t *testing.T, s *sqltest.Session) *twin {
	t.Helper()
	ctx := t.Context()
	dsn := dbtest.QuickPostgres(t)
	connect := func(user, database string) *pgconn.PgConn {
		to := strings.Replace(strings.Replace(dsn, "postgres@", user+"@", 1), "/postgres?", "/"+database+"?", 1)
		conn, err := pgconn.Connect(ctx, to)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.WithoutCancel(ctx)) })
		return conn
	}
	run := func(conn *pgconn.PgConn, sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	first := connect("postgres", "postgres")
	run(first, "CREATE ROLE helper SUPERUSER LOGIN")
	run(first, "CREATE DATABASE nextid")
	helper := connect("helper", "nextid")
	first.Close(ctx)
	for _, sql := range []string{
		"ALTER ROLE postgres RENAME TO nextid",
		"UPDATE pg_database SET datistemplate = false WHERE datname <> 'nextid'",
		"DROP DATABASE postgres", "DROP DATABASE template0", "DROP DATABASE template1",
		"UPDATE pg_database SET datcollate = 'C.UTF-8', datctype = 'C.UTF-8', datacl = NULL",
		"DELETE FROM pg_shdescription",
		"DROP EXTENSION plpgsql",
		"ALTER SCHEMA public OWNER TO nextid", "UPDATE pg_namespace SET nspacl = NULL",
		"DELETE FROM pg_init_privs", "UPDATE pg_class SET relacl = NULL",
		`ALTER DATABASE nextid SET search_path = "$user", public, nextid`,
	} {
		run(helper, sql)
	}
	run(helper, "CREATE ROLE app SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS LOGIN")
	db := connect("app", "nextid")
	helper.Close(ctx)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) { //nolint:forbidigo // until PostgreSQL's session has gone
		_, err := db.Exec(ctx, "DROP ROLE helper").ReadAll()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	run(db, "SET ROLE nextid; CREATE SCHEMA nextid")
	for _, f := range s.Must(t, "SELECT objoid::regnamespace, description FROM pg_description WHERE classoid = 'pg_namespace'::regclass").Rows {
		run(db, fmt.Sprintf("COMMENT ON SCHEMA %s IS %s", f[0], quoted(f[1])))
	}
	for _, f := range s.Must(t, "SELECT oid, pg_get_functiondef(oid), oid::regprocedure, obj_description(oid, 'pg_proc') FROM pg_proc WHERE pronamespace = 'public'::regnamespace").Rows {
		head, _, _ := strings.Cut(f[1], "AS $function$")
		run(db, head+"AS 'int8inc'")
		run(db, fmt.Sprintf("COMMENT ON FUNCTION %s IS %s", f[2], quoted(f[3])))
	}
	run(db, "UPDATE pg_proc SET prosrc = proname WHERE oid >= 16384")
	for _, v := range s.Must(t, "SELECT n.nspname || '.' || quote_ident(relname), pg_get_viewdef(c.oid), obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid >= 16384 AND relkind = 'v' ORDER BY n.nspname").Rows {
		run(db, fmt.Sprintf("CREATE VIEW %s AS %s", v[0], v[1]))
		run(db, fmt.Sprintf("COMMENT ON VIEW %s IS %s", v[0], quoted(v[2])))
	}
	for _, q := range s.Must(t, "SELECT quote_ident(sequencename), start_value, increment_by, min_value, max_value, cache_size FROM pg_sequences").Rows {
		run(db, fmt.Sprintf("CREATE SEQUENCE public.%s START %s INCREMENT %s MINVALUE %s MAXVALUE %s CACHE %s", q[0], q[1], q[2], q[3], q[4], q[5]))
	}
	run(db, "RESET ROLE")
	return &twin{PgConn: db}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// placeholder matches {ids} and {next_id(text)}.
var placeholder = regexp.MustCompile(`\{[a-z_]+(\([a-z, ]*\))?\}`)

// fill replaces the placeholders of a query by the OIDs that run finds.
func fill(sql string, run func(string) string) string {
	return placeholder.ReplaceAllStringFunc(sql, func(p string) string {
		name := p[1 : len(p)-1]
		kind := "regclass"
		if strings.Contains(name, "(") {
			kind = "regprocedure"
		}
		return run(fmt.Sprintf("SELECT '%s'::%s::oid", name, kind))
	})
}

func TestCatalogsAnswerAsPostgreSQL(t *testing.T) {
	s := catalogSession(t)
	twin := newTwin(t, s)
	ours := func(sql string) string { return sqltest.Ours(t, s, sql) }
	theirs := func(sql string) string { return sqltest.PostgreSQL(t, twin.PgConn, sql) }
	scalar := func(answer string) string { _, v, _ := strings.Cut(answer, "\n"); return v }
	for _, file := range sqltest.Files(t, "testdata/*.sql") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, q := range readCatalogQueries(t, file) {
				want := theirs(fill(q.sql, func(sql string) string { return scalar(theirs(sql)) }))
				start := time.Now()
				got := ours(fill(q.sql, func(sql string) string { return scalar(ours(sql)) }))
				took := time.Since(start)
				if took > 250*time.Millisecond {
					t.Logf("%s:%d: %v", file, q.line, took)
				}
				got, want = q.normal(got), q.normal(want)
				gotHead, _, _ := strings.Cut(got, "\n")
				wantHead, _, _ := strings.Cut(want, "\n")
				switch {
				case q.differs != "" && gotHead == wantHead && got == want && !strings.HasPrefix(got, sqltest.ErrorPrefix):
					t.Errorf("%s:%d: the answer does not differ any more, though marked: %s", file, q.line, q.differs)
				case q.differs != "" && gotHead == wantHead, got == want:
				default:
					_, err := s.Query(t, fill(q.sql, func(sql string) string { return scalar(ours(sql)) }))
					t.Errorf("%s:%d: %s\n%s\n%s\n%v", file, q.line, q.comment, q.sql, difference(got, want), err)
				}
			}
		})
	}
}

// ownOID matches the OIDs that differ between databases.
var ownOID = regexp.MustCompile(`^1[3-9]\d{3}$|^[2-9]\d{4,}$|^\d{6,10}$`)

// normal makes an answer comparable. OIDs of own objects become #, and rows without
// an order are sorted.
func (q *catalogQuery) normal(answer string) string {
	lines := strings.Split(answer, "\n")
	columns := strings.Split(lines[0], "|")
	for i, line := range lines[1:] {
		fields := strings.Split(line, "|")
		for j := range fields {
			if len(fields) != len(columns) {
				break // a value with a line break in it
			}
			_, typ, _ := strings.Cut(columns[j], ":")
			switch {
			case (typ == "oid" || typ == "regproc") && ownOID.MatchString(fields[j]), typ == "xid", typ == "pg_node_tree" && fields[j] != sqltest.Null:
				fields[j] = "#"
			}
		}
		lines[i+1] = strings.Join(fields, "|")
	}
	if q.unsorted {
		slices.Sort(lines[1:])
	}
	return strings.Join(lines, "\n")
}

// difference lists the lines that only one answer has, up to a limit.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var out []string
	for _, l := range w {
		if !slices.Contains(g, l) {
			out = append(out, "PostgreSQL: "+l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			out = append(out, "nextid:     "+l)
		}
	}
	if len(out) == 0 {
		return "the same rows in another order:\n" + got + "\nPostgreSQL:\n" + want
	}
	const limit = 12
	if len(out) > limit {
		out = append(out[:limit/2], append([]string{"… " + strconv.Itoa(len(out)-limit) + " more"}, out[len(out)-limit/2:]...)...)
	}
	return strings.Join(out, "\n")
}

func TestCatalogsFollowTheGenerators(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	looks := []string{
		"SELECT relname FROM pg_class WHERE relname LIKE 'orders%' ORDER BY 1",
		"SELECT relname FROM pg_class WHERE relname IN ('orders', 'orders_id') ORDER BY 1",
		"SELECT relname FROM pg_class WHERE oid IN ('orders'::regclass, 'orders_id'::regclass) ORDER BY 1",
		"SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attname IN ('last_value', 'id') AND a.attrelid IN ('orders'::regclass, 'orders_id'::regclass) ORDER BY 1",
		"SELECT table_name FROM information_schema.tables WHERE table_name = 'orders_id' UNION ALL SELECT sequence_name FROM information_schema.sequences ORDER BY 1",
		"SELECT sequencename FROM pg_sequences UNION ALL SELECT viewname FROM pg_views WHERE schemaname = 'public' AND viewname LIKE 'o%' ORDER BY 1",
	}
	for _, sql := range looks {
		s.Want(t, sql, "")
	}
	server.Segment(t, "orders")
	for _, sql := range looks {
		s.Want(t, sql, "orders\norders_id")
	}
	s.Want(t, "SELECT typname FROM pg_type WHERE typname IN ('orders_id', '_orders_id') ORDER BY 1", "_orders_id\norders_id")
	s.Want(t, "SELECT format_type(t.oid, NULL), format_type(t.typarray, NULL) FROM pg_type t JOIN pg_class c ON c.reltype = t.oid WHERE relname = 'orders_id'", "orders_id|orders_id[]")
	s.Want(t, "SELECT relname::regclass::oid = oid, oid::regclass FROM pg_class WHERE relname LIKE 'orders%' ORDER BY relname", "t|orders\nt|orders_id")
	s.Want(t, "SELECT obj_description('orders_id'::regclass), to_regclass('orders'), to_regclass('invoices')", "one row: a new id of orders|orders|"+sqltest.Null)
	s.Must(t, "SELECT drop_generator('orders')")
	for _, sql := range looks {
		s.Want(t, sql, "")
	}
}

// TestSequencesBeginWithinTheirBounds checks that a PostgreSQL would take the sequences
// as the catalogs show them, whatever options the generators have.
func TestSequencesBeginWithinTheirBounds(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, `SELECT create_generator('a_zero', 'segment', '{"start": 0}')`)
	s.Must(t, `SELECT create_generator('b_down', 'segment', '{"start": 5, "increment": -1}')`)
	s.Must(t, `SELECT create_generator('c_plain', 'segment', '{}')`)
	s.Want(t, "SELECT relname, seqmin, seqstart, seqmax FROM pg_sequence JOIN pg_class ON oid = seqrelid ORDER BY 1",
		"a_zero|0|0|9223372036854775807\nb_down|-9223372036854775808|5|5\nc_plain|1|1|9223372036854775807")
}

func TestCatalogsSayWhatASessionMayDo(t *testing.T) {
	server := sqltest.NewServer(t)
	admin := server.SessionWith(t, sqlfuncs.SessionOptions{User: "root", Database: "nextid", Admin: true})
	reader := server.SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "shop"})
	const may = "SELECT has_table_privilege('ids', 'SELECT'), has_table_privilege('ids', 'INSERT'), has_schema_privilege('public', 'CREATE'), pg_has_role('nextid', 'MEMBER'), has_function_privilege('next_id(text,bigint)', 'EXECUTE')"
	admin.Want(t, may, "t|t|t|t|t")
	reader.Want(t, may, "t|f|f|f|t")
	reader.Want(t, "SELECT rolname, rolsuper FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1", "app|f\nnextid|t\nroot|t")
	reader.Want(t, "SELECT datname FROM pg_database ORDER BY 1", "nextid\nshop")
	reader.Want(t, "SELECT current_database(), has_table_privilege('root', 'ids', 'DELETE')", "shop|t")
	reader.Fails(t, "SELECT has_table_privilege('nobody', 'ids', 'SELECT')", sqlstate.UndefinedObject)
	reader.Want(t, "SELECT usename, datname, state FROM pg_stat_activity ORDER BY 1", "app|shop|active\nroot|nextid|"+sqltest.Null)
	server.SessionWith(t, sqlfuncs.SessionOptions{User: "tcp", Database: "shop", RemoteAddr: "[::ffff:127.0.0.1]:4711"})
	server.SessionWith(t, sqlfuncs.SessionOptions{User: "v6", Database: "shop", RemoteAddr: "[fe80::1%eth0]:4712"})
	const clients = "SELECT usename, client_addr, client_port FROM pg_stat_activity ORDER BY 1"
	admin.Want(t, clients, "app|"+sqltest.Null+"|-1\nroot|"+sqltest.Null+"|-1\ntcp|127.0.0.1|4711\nv6|fe80::1|4712")
	reader.Want(t, clients, "app|"+sqltest.Null+"|-1\nroot|"+sqltest.Null+"|"+sqltest.Null+"\ntcp|"+sqltest.Null+"|"+sqltest.Null+"\nv6|"+sqltest.Null+"|"+sqltest.Null)
	const queries = "SELECT usename, backend_start IS NULL, query LIKE 'SELECT usename%', query = '<insufficient privilege>' FROM pg_stat_activity WHERE usename IN ('app', 'root') ORDER BY 1"
	reader.Want(t, queries, "app|f|t|f\nroot|t|f|t")
	server.Segment(t, "orders")
	server.Segment(t, "invoices")
	limited := server.SessionWith(t, sqlfuncs.SessionOptions{User: "clerk", Database: "shop", Generators: []string{"inv*"}})
	limited.Want(t, "SELECT relname, has_table_privilege(oid, 'SELECT') FROM pg_class WHERE relname ~ '^(orders|invoices)' ORDER BY 1",
		"invoices|t\ninvoices_id|t\norders|f\norders_id|f")
	limited.Must(t, "SELECT last_value FROM invoices")
	limited.Fails(t, "SELECT last_value FROM orders", sqlstate.InsufficientPrivilege)
}

func TestTypesThatOnlyTheCatalogsHaveAreNamed(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Want(t, "SELECT format_type(600, NULL), format_type(3904, -1), format_type(3905, -1), format_type(869, NULL), format_type(424242, NULL)",
		"point|int4range|int4range[]|inet|???")
	s.Want(t, "SELECT format_type(1560, 3), format_type(1562, NULL), format_type(1562, 8), format_type(1563, -1), format_type(1266, 2)",
		"bit(3)|bit varying|bit varying(8)|bit varying[]|time(2) with time zone")
	s.Want(t, "SELECT typname, typtype FROM pg_type WHERE typnamespace = 'information_schema'::regnamespace AND typtype = 'd' ORDER BY 1",
		"cardinal_number|d\ncharacter_data|d\nsql_identifier|d\ntime_stamp|d\nyes_or_no|d")
}

func TestRelationsAreFoundByTheirNames(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "orders")
	s := server.Session(t)
	s.Want(t, "SELECT table_schema, table_name FROM information_schema.tables WHERE table_name = 'tables' OR table_name = 'orders_id' ORDER BY 2",
		"public|orders_id\ninformation_schema|tables")
	s.Want(t, "SELECT table_schema, table_name FROM information_schema.tables WHERE table_name IN ('tables', 'orders_id', 'orders')  ORDER BY 2",
		"public|orders_id\ninformation_schema|tables")
	s.Want(t, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name IN ('tables', 'orders_id')", "orders_id")
	s.Want(t, "SELECT column_name, data_type, domain_name FROM information_schema.columns WHERE table_name = 'orders_id'", "id|bigint|"+sqltest.Null)
	s.Want(t, "SELECT count(*) FROM information_schema.columns WHERE table_name IS NULL OR table_schema = 'nosuch'", "0")
	limited := server.SessionWith(t, sqlfuncs.SessionOptions{User: "clerk", Database: "shop", Generators: []string{"inv*"}})
	limited.Want(t, "SELECT table_name FROM information_schema.tables WHERE table_name = 'orders_id' UNION ALL SELECT sequencename FROM pg_sequences", "")
	limited.Want(t, "SELECT view_definition FROM information_schema.views WHERE table_name = 'ids'", sqltest.Null)
}

// TestCatalogsDoNotChangeInASnapshot: pg_dump reads the catalogs in many statements
// of one snapshot.
func TestCatalogsDoNotChangeInASnapshot(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	const look = "SELECT relname FROM pg_class WHERE relname = 'late'"
	s.Must(t, "BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
	s.Want(t, look, "")
	server.Segment(t, "late")
	s.Want(t, look, "")
	s.Must(t, "COMMIT")
	s.Want(t, look, "late")
	s.Must(t, "BEGIN")
	s.Want(t, look, "late")
	s.Must(t, "SELECT drop_generator('late')")
	s.Want(t, look, "")
	s.Must(t, "COMMIT")
}
