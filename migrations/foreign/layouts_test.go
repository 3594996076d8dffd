package foreign_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/generator/layout"
)

// nextidProgram runs a command of the program and returns what it prints.
func nextidProgram(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", arguments, err, out)
	}
	return string(out)
}

// answer returns the value of a query, or its error, as a text.
func (s *session) answer(sql string) string {
	s.t.Helper()
	rows, err := s.Conn.Query(s.t.Context(), sql)
	if err == nil {
		var values []*string
		if values, err = pgx.CollectRows(rows, pgx.RowTo[*string]); err == nil && values[0] != nil {
			return *values[0]
		}
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return "NULL"
}

// TestFunctionsEqualThoseOfTheServer compares the functions in PostgreSQL with the
// server's, with random ids and times of all layouts and of generators.
func TestFunctionsEqualThoseOfTheServer(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	asked := s.connect()
	asked.exec("SELECT next_id('orders')")
	for _, create := range []string{
		`'twitter', 'snowflake', '{"layout": "js"}'`, // the generator comes before the layout of its name
		`'own', 'snowflake', '{"fields": "time 41, field 7, worker 9, sequence 6", "epoch": "2020-01-01", "unit": "2ms"}'`,
		`'rings', 'ring', '{}'`, `'plain', 'segment', '{}'`, `'hidden', 'snowflake', '{"scatter": true}'`,
	} {
		asked.exec("SELECT create_generator(" + create + ")")
	}
	dsn := sharedCluster(t).database(t)
	nextidProgram(t, "migrate", "foreign", "up", "--functions-only", "--dsn", dsn, "--server", s.url(), "--layout", "later=discord")
	twin := connect(t, dsn, nil)
	for _, c := range []*session{asked, twin} {
		c.exec("SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'ISO'")
	}
	same := func(sql string) {
		t.Helper()
		if got, want := twin.answer(strings.ReplaceAll(sql, "part(", "nextid.field(")), asked.answer(regexp.MustCompile(`part\((.*), '(\w+)'\)`).ReplaceAllString(sql, "(parse_id($1)->>'$2')")); got != want {
			t.Errorf("%s is %s here, and %s at the server", sql, got, want)
		}
	}
	names := []string{"'orders'", "'own'", "'rings'", "'TWITTER'", "NULL"}
	for _, l := range layout.Presets() {
		names = append(names, "'"+l.Name+"'")
	}
	for _, name := range names {
		for range 12 {
			id := rand.Int64() >> rand.IntN(30)
			if rand.IntN(5) == 0 {
				id = -id
			}
			same(fmt.Sprintf("SELECT nextid.id_time(%d::bigint, %s)", id, name))
			if name == "NULL" {
				continue
			}
			for _, part := range []string{"datacenter", "worker", "rollback", "sequence", "field"} {
				same(fmt.Sprintf("SELECT part(%d::bigint, %s, '%s')", id, name, part))
			}
			at := time.Unix(rand.Int64N(4e9), rand.Int64N(1e9)).UTC().Format("2006-01-02 15:04:05.000000Z")
			same(fmt.Sprintf("SELECT nextid.id_floor(%s, timestamptz '%s')", name, at))
			same(fmt.Sprintf("SELECT nextid.id_ceil(%s, timestamptz '%s')", name, at))
		}
	}
	for _, sql := range []string{
		"SELECT nextid.id_time(NULL::bigint, 'orders')", "SELECT nextid.id_floor('orders', NULL)", "SELECT nextid.id_time(5::bigint)",
		"SELECT nextid.id_time(5::bigint, 'nothing')",
	} {
		same(sql)
	}
	// A layout without a time, and an unknown name, are errors.
	for _, name := range []string{"plain", "hidden", "nothing"} {
		twin.fails("22023", "SELECT nextid.id_floor('"+name+"', now())")
	}
	if got, want := twin.text("SELECT nextid.id_floor('later', '2026-01-01Z')::text"), asked.text("SELECT id_floor('discord', '2026-01-01Z')::text"); got != want {
		t.Errorf("the floor of --layout is %s, and of the layout %s", got, want)
	}
	twin.fails("22023", "SELECT nextid.field(1, 'orders', 'nothing')")
	if n := twin.text("SELECT count(*)::text FROM pg_foreign_data_wrapper"); n != "0" {
		t.Error("--functions-only made a foreign data wrapper")
	}
	if out := nextidProgram(t, "migrate", "foreign", "status", "--dsn", dsn); !strings.Contains(out, "functions only") {
		t.Errorf("status says %s", out)
	}
	twin.exec("CREATE TABLE t (id bigint, made timestamptz GENERATED ALWAYS AS (nextid.id_time(id, 'orders')) STORED)")
	if out, err := exec.Command(binary, "migrate", "foreign", "down", "--dsn", dsn).CombinedOutput(); err == nil || !strings.Contains(string(out), "in use by") {
		t.Errorf("down while a column uses id_time: %v, %s", err, out)
	}
	twin.exec("DROP TABLE t")
	nextidProgram(t, "migrate", "foreign", "down", "--dsn", dsn)
	if twin.text("SELECT count(*)::text FROM pg_namespace WHERE nspname = 'nextid'") != "0" {
		t.Error("down left the schema")
	}
}

// TestPartitionsByID: partition_ddl makes range partitions, and a condition with
// id_floor reads only those that it needs.
func TestPartitionsByID(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	cluster := startCluster(t)
	s.connect().exec("SELECT next_id('orders')")
	dsn := cluster.database(t)
	nextidProgram(t, "migrate", "foreign", "up", "--dsn", dsn, "--server", s.url(), "--grant", "PUBLIC")
	db := connect(t, dsn, nil)
	db.exec(`CREATE SCHEMA "Shop One"; CREATE TABLE "Shop One"."Events" (id bigint PRIMARY KEY, note text) PARTITION BY RANGE (id)`)
	const ddl = `SELECT nextid.partition_ddl('"Shop One"."Events"', 'orders', 'month', '2026-01-15', '2026-06-01Z')`
	for range 2 { // the second time makes none
		statements := db.lines(ddl)
		if len(statements) != 5 {
			t.Fatalf("%d statements: %q", len(statements), statements)
		}
		for _, statement := range statements {
			db.exec(statement)
		}
	}
	for _, at := range []string{"2026-01-01Z", "2026-02-28 23:59:59.999Z", "2026-05-31Z"} {
		db.exec(fmt.Sprintf(`INSERT INTO "Shop One"."Events" VALUES (nextid.id_ceil('orders', '%s'))`, at))
	}
	if got := db.text(`SELECT string_agg(tableoid::regclass::text, ' ' ORDER BY id) FROM "Shop One"."Events"`); got !=
		`"Shop One"."Events_2026_01" "Shop One"."Events_2026_02" "Shop One"."Events_2026_05"` {
		t.Errorf("the rows are in %s", got)
	}
	// An ordinary role may call the functions.
	db.exec(`CREATE ROLE reader; GRANT USAGE ON SCHEMA "Shop One" TO reader; GRANT SELECT ON "Shop One"."Events" TO reader; SET ROLE reader`)
	plan := strings.Join(db.lines(`EXPLAIN SELECT * FROM "Shop One"."Events" WHERE id >= nextid.id_floor('orders', '2026-04-01Z')`), "\n")
	for month, wanted := range map[string]bool{"01": false, "02": false, "03": false, "04": true, "05": true} {
		if strings.Contains(plan, "Events_2026_"+month) != wanted {
			t.Errorf("is the partition of month %s read? It should be %t:\n%s", month, wanted, plan)
		}
	}
	db.exec("RESET ROLE")
	for step, first := range map[string]string{"hour": "Events_2026_01_01_00", "day": "Events_2026_01_01", "week": "Events_2026w01", "year": "Events_2026"} {
		if got := db.text(fmt.Sprintf(`SELECT nextid.partition_ddl('"Shop One"."Events"', 'orders', '%s', '2026-01-01Z', '2026-01-01 00:00:01Z')`, step)); !strings.Contains(got, first+`" PARTITION`) {
			t.Errorf("%s: %s", step, got)
		}
	}
	db.fails("22023", `SELECT nextid.partition_ddl('"Shop One"."Events"', 'orders', 'decade', now(), now())`)
	if last := db.text(`SELECT nextid.partition_ddl('"Shop One"."Events"', 'orders', 'year', '2080-01-01Z', '2080-01-02Z')`); !strings.Contains(last, "TO (MAXVALUE)") {
		t.Errorf("the partition of the last year: %s", last)
	}
}

// lines returns the rows of a query with one text column.
func (s *session) lines(sql string) []string {
	s.t.Helper()
	rows, err := s.Conn.Query(s.t.Context(), sql)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return all
}
