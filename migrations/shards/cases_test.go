package shards_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/appdb"
	"nextid/migrations/shards"
)

// has checks that one of the lines contains a text.
func has(t *testing.T, lines []string, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(lines, "\n"), text) {
		t.Errorf("%q is missing in %q", text, lines)
	}
}

// testHalfInstalled: MySQL commits each statement of DDL by itself. After an up or a
// down that was killed, the next one succeeds.
func testHalfInstalled(t *testing.T, f *fleet) {
	const versions = "DELETE FROM nextid_shard_version WHERE version_id > 0"
	for _, left := range [][]string{
		{versions}, {versions, "DROP TABLE nextid_shard_lines"}, // up
		{"DROP TABLE nextid_shard_lines"}, {"DROP TABLE nextid_shard_lines", "DROP TABLE nextid_shard"}, // down
	} {
		f.up(2)
		for _, statement := range left {
			f.exec(1, statement)
		}
		f.up(2)
		f.sound(2)
	}
	f.exec(1, "DROP TABLE nextid_shard_lines")
	f.down(2)
	f.exec(1, "SET GLOBAL auto_increment_increment = 1, GLOBAL auto_increment_offset = 1") // the values in the dropped note
	f.up(2)
	f.sound(2)
	f.down(2)
}

// testEarlier: the note is one of an earlier build. toEarlier makes it so.
func testEarlier(t *testing.T, f *fleet, toEarlier string) {
	earlier := func() {
		for i := range 2 {
			for statement := range strings.SplitSeq(toEarlier+"; DELETE FROM nextid_shard_version WHERE version_id = 2", "; ") {
				f.exec(i, statement)
			}
		}
		f.renew()
	}
	f.up(2)
	earlier()
	_, err := shards.Status(t.Context(), f.dsns[:2], shards.Options{})
	fails(t, err, "an earlier nextid")
	fails(t, shards.Up(t.Context(), f.dsns[:2], f.options().Dry(io.Discard)), "an earlier nextid")
	f.up(2)
	f.sound(2)
	for i := range 2 {
		f.ids(i, 5)
	}
	f.check(10)
	earlier()
	if err := shards.Reshard(t.Context(), f.dsns[:2], f.dsns[2], f.options()); err != nil {
		t.Fatal(err)
	}
	f.sound(3)
	earlier()
	f.down(3)
	for _, st := range f.status(2).States {
		if st.Lines[0].Draws.Increment != 1 || st.Member != nil {
			t.Errorf("after down: %+v", st)
		}
	}
}

// testToldEveryTime: a reshard that ends early has changed a shard. The run that
// completes it writes the settings of that shard, too.
func testToldEveryTime(t *testing.T, f *fleet) {
	f.up(3)
	old := f.open(0)
	if err := old.Ping(); err != nil {
		t.Fatal(err)
	}
	o := f.options()
	o.Wait = 0
	fails(t, shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], o), "sessions are older")
	_ = old.Close()
	for range 2 {
		f.out.Reset()
		f.renew()
		err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options())
		if err != nil {
			if !strings.Contains(err.Error(), "is a shard already") {
				t.Fatal(err)
			}
			f.up(4)
		}
		for i, want := range []string{"6\n  auto-increment-offset    = 1", "3\n  auto-increment-offset    = 2", "3\n  auto-increment-offset    = 3", "6\n  auto-increment-offset    = 4"} {
			if !strings.Contains(f.out.String(), "auto-increment-increment = "+want+"\n") {
				t.Errorf("no lines for shard %d in\n%s", i+1, &f.out)
			}
		}
	}
	f.down(4)

	// Settings in a configuration file are not changed, and are reported as right.
	lasting := dbtest.MariaDB(t, "auto-increment-increment=2", "auto-increment-offset=1")
	dsns := []string{lasting.MySQLURL("root", "test"), f.dsns[1]}
	admin := openMariaDB(t, lasting.Addr, "test")
	defer admin.Close()
	if _, err := admin.Exec(mariadbTable); err != nil {
		t.Fatal(err)
	}
	_ = admin.Close()
	f.out.Reset()
	if err := shards.Up(t.Context(), dsns, f.options()); err != nil {
		t.Fatal(err)
	}
	has(t, []string{f.out.String()}, "the command line of the server has the settings, which are right")
	r, err := shards.Status(t.Context(), dsns, shards.Options{})
	if err != nil || len(r.Problems)+len(r.Missed) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	has(t, r.States[0].Notes, "which are right")
	has(t, r.States[1].Notes, "my.cnf, which has to say: auto-increment-increment = 2, auto-increment-offset = 2")
	if err := shards.Down(t.Context(), dsns, f.options()); err != nil {
		t.Error(err)
	}
}

// testRestoredByHand: after a restart, sessions began without settings, before these
// were set by hand. Only the restart tells of such sessions.
func testRestoredByHand(t *testing.T, f *fleet) {
	restarted := dbtest.MariaDB(t)
	f.dsns[0] = restarted.MySQLURL("root", "test")
	f.open = func(int) *sql.DB { return openMariaDB(t, restarted.Addr, "test") }
	f.dbs[0] = f.open(0)
	f.exec(0, mariadbTable)
	f.up(2)
	_ = f.dbs[0].Close()
	restarted.Stop()
	restarted.Start()
	session := func() *sql.DB {
		db := f.open(0)
		t.Cleanup(func() { _ = db.Close() })
		if err := db.Ping(); err != nil {
			t.Fatal(err)
		}
		return db
	}
	old := session()
	f.dbs[0] = session()
	f.exec(0, "SET GLOBAL auto_increment_increment = 2, GLOBAL auto_increment_offset = 1")
	has(t, f.status(2).Problems, "sessions may still draw as before the last change")
	waits := func() {
		t.Helper()
		o := f.options()
		o.Wait = 0
		fails(t, shards.Up(t.Context(), f.dsns[:2], o), "sessions are older than the change")
		_ = old.Close()
	}
	waits()
	f.up(2)
	f.sound(2)
	// Ids of connections begin again with a restart.
	f.exec(0, "UPDATE nextid_shard SET drain_below = 1000000")
	old = session()
	waits()
	session()
	f.up(2)
	f.sound(2)
	f.down(2)
}

// looks checks, for both kinds of database, the rows that status must report.
func looks(t *testing.T, f *fleet, insert string) {
	t.Helper()
	for i := range 3 {
		f.ids(i, 5)
	}
	f.sound(3)
	lines := f.status(3).States[0].Lines
	next := lines[slices.IndexFunc(lines, func(l shards.Line) bool { return l.Name == "orders.id" })].Next
	f.exec(1, fmt.Sprintf(insert, next))
	r := f.status(3)
	has(t, r.Problems, fmt.Sprintf("will draw %d for orders.id", next))
	has(t, r.Problems, fmt.Sprintf("rows of orders.id are outside of its numbers 2, 5, 8, …: 1, such as %d", next))
	f.ids(0, 1)
	has(t, f.status(3).Problems, fmt.Sprintf("1 ids of orders.id exist twice, such as %d on", next))
	f.rows = shards.RowsNone
	f.sound(3)
	f.rows = shards.RowsAll
	f.exec(1, fmt.Sprintf("DELETE FROM orders WHERE id = %d", next))
	f.sound(3)
	f.exec(1, fmt.Sprintf(insert, next+300))
	f.ids(1, 5) // a greater id
	has(t, f.status(3).Problems, fmt.Sprintf("will draw %d for orders.id", next+300))
	f.up(3)
	f.sound(3)
	f.exec(0, "TRUNCATE orders")
	f.up(3)
	if first := f.ids(0, 1)[0]; first <= next+300 {
		t.Errorf("after TRUNCATE and up the first id is %d, of the time before up", first)
	}
}

// testNearlyFull: status notes a column that has used more than 80 % of its type,
// and no other. create makes a table whose next id is its argument.
func testNearlyFull(t *testing.T, f *fleet, create string, below, above int) {
	for _, at := range []int{below, above} {
		f.everywhere("DROP TABLE IF EXISTS small")
		f.everywhere(fmt.Sprintf(create, at))
		f.up(2)
		for i, state := range f.status(2).States {
			if noted := strings.Contains(strings.Join(state.Notes, "\n"), "small.id is at "); noted != (at == above) {
				t.Errorf("shard %d at %d: notes %q", i+1, at, state.Notes)
			}
		}
		f.down(2)
	}
}

func testMariaDBLooks(t *testing.T, f *fleet) {
	f.up(3)
	looks(t, f, "INSERT INTO orders VALUES (%d, 'by hand')")
	f.everywhere("CREATE SEQUENCE numbers")
	has(t, f.status(3).Missed, "the sequence numbers: nextid migrate feed")
	f.everywhere("ALTER TABLE numbers COMMENT = 'nextid feed orders 1 100 2026-11-27T00:00:00Z'")
	f.sound(3)
	f.down(3)
}

func testPostgresLooks(t *testing.T, f *fleet) {
	f.everywhere("CREATE SEQUENCE bills_seq; CREATE TABLE bills (id bigint PRIMARY KEY, note text)") // Hibernate's form
	f.up(3)
	f.sound(3)
	drawn := map[int64]bool{}
	for i := range 3 {
		for range 20 {
			var id int64
			if err := f.dbs[i].QueryRow("INSERT INTO bills (id) SELECT nextval('bills_seq') RETURNING id").Scan(&id); err != nil || drawn[id] {
				t.Fatalf("shard %d drew %d, %v", i+1, id, err)
			}
			drawn[id] = true
		}
	}
	looks(t, f, "INSERT INTO orders OVERRIDING SYSTEM VALUE VALUES (%d, 'by hand')")
	f.everywhere("CREATE SEQUENCE hibernate_sequence")
	f.exec(1, "SELECT setval('hibernate_sequence', 90)")
	f.up(3)
	f.exec(0, "SELECT setval('hibernate_sequence', 1)") // a number of its own, from before up
	f.up(3)
	f.above(0, "SELECT nextval('hibernate_sequence')", 90)
	if r := f.status(3); len(r.Problems) > 0 {
		t.Errorf("%q", r.Problems)
	} else {
		has(t, r.Missed, "sequence hibernate_sequence, which no column names")
		has(t, r.States[0].Notes, "a table that is created later")
	}
	f.everywhere("CREATE SEQUENCE pooled INCREMENT BY 50")
	for range 2 { // up leaves it alone, again and again
		fails(t, shards.Up(t.Context(), f.dsns[:3], f.options()), "pooled counts in steps of 50 (nextid migrate feed")
		f.asserts("SELECT seqincrement = 50 AND seqstart = 1 FROM pg_sequence WHERE seqrelid = 'pooled'::regclass")
	}
	f.exclude = []string{"pooled", "hibernate_sequence"}
	f.up(3)
	f.sound(3)
	f.exclude = nil
	f.everywhere("COMMENT ON SEQUENCE pooled IS 'nextid feed orders 1 100 2026-11-27T00:00:00Z'; COMMENT ON SEQUENCE hibernate_sequence IS 'nextid feed orders 101 200 2026-11-27T00:00:00Z mine'")
	f.sound(3)
	f.everywhere("ALTER SEQUENCE hibernate_sequence MINVALUE 100 START WITH 100 RESTART WITH 100")
	f.down(3)
	f.asserts("SELECT seqincrement = 1 FROM pg_sequence WHERE seqrelid = 'hibernate_sequence'::regclass")
}

// testTwoSchemas: each schema is a set of its own. status finds no problem in a
// correct one.
func testTwoSchemas(t *testing.T, f *fleet) {
	f.everywhere("CREATE SCHEMA other; CREATE TABLE other.orders (id serial PRIMARY KEY)")
	f.up(3)
	f.sound(3)
	has(t, f.status(3).States[0].Notes, "schemas with sequences beside this one: other")
	for i := range f.dsns {
		f.dsns[i] += "&search_path=other,public"
	}
	has(t, f.status(3).Problems, "both draw 1 for orders.id")
	f.up(3)
	f.sound(3)
	for i := range f.dsns {
		f.dsns[i] = strings.TrimSuffix(f.dsns[i], "&search_path=other,public")
	}
	if s := f.status(3).States[0]; s.Member == nil {
		t.Error("up in one schema has dropped the note of another")
	}
}

// testOddNames: search_path and --exclude take names with capitals, quotes, dots and
// blanks as psql does.
func testOddNames(t *testing.T, f *fleet) {
	f.everywhere(`CREATE SCHEMA "Shop One"; CREATE TABLE "Shop One"."Order.Items" ("Item ""Id" bigserial PRIMARY KEY);
		CREATE TABLE "Shop One"."select" (id serial PRIMARY KEY); CREATE TABLE "Shop One".plain (id serial PRIMARY KEY)`)
	for i := range f.dsns {
		f.dsns[i] += "&search_path=%22Shop%20One%22"
	}
	f.up(3)
	f.sound(3)
	for i := range 3 {
		for range 3 {
			f.exec(i, `INSERT INTO "Shop One"."Order.Items" DEFAULT VALUES`)
		}
	}
	f.sound(3)
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()); err != nil {
		t.Fatal(err)
	}
	f.sound(4)
	excluded(t, f, 4, map[string]int{
		`"Order.Items"`: 1, `Shop One`: 3, `"Shop One".plain`: 1, `PLAIN.ID`: 1, `plain`: 1, `"Order.Items"."Item ""Id"`: 1, `"Order.Items_Item ""Id_seq"`: 1, `select`: 1,
		`Order.Items`: 0, `"Plain"`: 0, `shop`: 0, `pla`: 0,
	})
	f.down(4)
	_, err := shards.Status(t.Context(), []string{strings.Replace(f.dsns[0], "%22Shop%20One%22", "Shop", 1)}, shards.Options{})
	fails(t, err, "there is no schema of search_path Shop")
}

func testMariaDBOddNames(t *testing.T, f *fleet) {
	f.everywhere("CREATE TABLE `Order.Items` (`Item ``Id` INT AUTO_INCREMENT PRIMARY KEY)")
	f.everywhere("CREATE TABLE `select` (id INT AUTO_INCREMENT PRIMARY KEY)")
	f.everywhere("CREATE TABLE `Select` (id INT AUTO_INCREMENT, other INT, PRIMARY KEY (id, other))")
	f.exec(0, "INSERT INTO `Order.Items` VALUES (1000)")
	f.exec(0, "INSERT INTO `Select` VALUES (2000, 1)")
	f.up(3)
	f.above(1, "INSERT INTO `Order.Items` VALUES () RETURNING `Item ``Id`", 1000)
	f.above(1, "INSERT INTO `Select` (other) VALUES (1) RETURNING id", 2000)
	for _, l := range f.status(3).States[1].Lines {
		if odd := l.Name == "Select.id"; odd == l.Unique || !odd && l.Name == "select.id" && l.Next > 1000 {
			t.Errorf("%+v", l)
		}
	}
	f.sound(3)
	excluded(t, f, 3, map[string]int{`"Order.Items"`: 1, "`Order.Items`.`Item ``Id`": 1, "select.id": 1, "Select.id": 2, "Order.Items": 0, "items": 0})
	f.down(3)
}

// TestReplicatedRows: a shard that subscribes to another one has the other's rows,
// too. status reports them neither as duplicates nor as ids of another progression.
func TestReplicatedRows(t *testing.T) {
	t.Parallel()
	f := &fleet{t: t, rows: shards.RowsAll}
	for range 2 {
		f.dsns = append(f.dsns, dbtest.QuickPostgres(t, "wal_level=logical"))
	}
	f.open = func(i int) *sql.DB { return openPostgres(t, f.dsns[i]) }
	f.connect(2)
	f.everywhere("CREATE TABLE orders (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, note text)")
	f.up(2)
	f.ids(0, 20)
	f.ids(1, 20)
	f.exec(0, "CREATE PUBLICATION shop FOR TABLE orders")
	f.exec(1, "CREATE SUBSCRIPTION shop CONNECTION "+appdb.Literal(f.dsns[0])+" PUBLICATION shop")
	for deadline, n := time.Now().Add(time.Minute), 0; n < 40; time.Sleep(100 * time.Millisecond) { //nolint:forbidigo // another server copies
		if err := f.dbs[1].QueryRowContext(t.Context(), "SELECT count(*) FROM orders").Scan(&n); err != nil || time.Now().After(deadline) {
			t.Fatalf("%d rows were copied: %v", n-20, err)
		}
	}
	f.sound(2)
	has(t, f.status(2).States[1].Notes, "tables with subscriptions of logical replication: 1")
	f.exec(1, "ALTER SUBSCRIPTION shop DISABLE")
	has(t, f.status(2).Problems, "20 ids of orders.id exist twice")
}

// excluded checks the number of lines that each --exclude removes. One that removes
// none is an error.
func excluded(t *testing.T, f *fleet, n int, names map[string]int) {
	t.Helper()
	all := len(f.status(n).States[0].Lines)
	for name, want := range names {
		r, err := shards.Status(t.Context(), f.dsns[:n], shards.Options{Exclude: []string{name}, Rows: shards.RowsNone})
		if want == 0 {
			fails(t, err, "--exclude "+name+": no table")
		} else if err != nil || all-len(r.States[0].Lines) != want {
			t.Errorf("--exclude %s: %v, %d of %d lines are left, not %d less", name, err, len(r.States[0].Lines), all, want)
		}
	}
}

// repairs checks, for both kinds of database, that a problem with one shard or column
// does not stop the repair of others.
func repairs(t *testing.T, f *fleet, spoil, unreachable string) {
	f.up(3)
	f.ids(0, 10)
	f.exec(1, spoil)
	err := shards.Up(t.Context(), []string{f.dsns[0], f.dsns[1], unreachable}, f.options())
	if err == nil || !strings.Contains(f.out.String(), "draws 2, 5, 8, … again") || !strings.Contains(f.out.String(), "run up again after this error is corrected") {
		t.Fatalf("%v\n%s", err, &f.out)
	}
	if r := f.status(3); strings.Contains(strings.Join(r.Problems, "\n"), "both draw") {
		t.Errorf("%q", r.Problems)
	}
	f.exec(0, "CREATE TABLE keyed (id INT PRIMARY KEY)") // draws nothing
	f.up(3)
	f.sound(3)
}

// testMendedInTwoRuns: a shard has lost its settings and drawn numbers of the other
// one. up restores them, and fails at the other shard, whose line is locked. The next
// up moves that line, too.
func testMendedInTwoRuns(t *testing.T, f *fleet, spoil, lock string) {
	f.up(2)
	f.exec(0, spoil)
	f.renew()
	f.ids(0, 100)
	other := f.open(1)
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	o := f.options()
	o.Wait = 0
	fails(t, shards.Up(t.Context(), f.dsns[:2], o), ": orders.id: ")
	if err := errors.Join(tx.Rollback(), other.Close()); err != nil {
		t.Fatal(err)
	}
	f.up(2)
	f.ids(0, 60) // above those of the other one
	f.ids(1, 50)
	f.sound(2)
	f.exec(0, spoil)
	f.renew()
	f.ids(0, 100)
	// print has each statement once.
	var out strings.Builder
	if err := shards.Up(t.Context(), f.dsns[:2], f.options().Dry(&out)); err != nil {
		t.Fatal(err)
	}
	printed := strings.Split(out.String(), "\n")
	for i, line := range printed {
		if strings.HasPrefix(line, "/*") && slices.Contains(printed[:i], line) {
			t.Errorf("print repeats %s", line)
		}
	}
	f.exec(1, "ALTER TABLE orders RENAME TO old_orders")
	f.renew()
	fails(t, shards.Reshard(t.Context(), f.dsns[:2], f.dsns[2], f.options()), "there is no orders.id that draws ids")
	f.exec(1, "ALTER TABLE old_orders RENAME TO orders")
	if err := shards.Reshard(t.Context(), f.dsns[:2], f.dsns[2], f.options()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		f.ids(i, 50)
	}
	f.sound(3)
	f.check(450)
	f.down(3)
}

func testMariaDBMends(t *testing.T, f *fleet) {
	repairs(t, f, "SET GLOBAL auto_increment_offset = 1, GLOBAL auto_increment_increment = 1", "mysql://root@127.0.0.1:1/shop")
	f.exec(0, "CREATE TABLE lonely (id INT AUTO_INCREMENT PRIMARY KEY)")
	f.everywhere("CREATE TABLE small (id TINYINT AUTO_INCREMENT PRIMARY KEY)")
	f.exec(2, "INSERT INTO small VALUES (126)")
	f.everywhere("CREATE TABLE zoo (id INT AUTO_INCREMENT PRIMARY KEY)")
	f.exec(2, "INSERT INTO zoo VALUES (70)")
	err := shards.Up(t.Context(), f.dsns[:3], f.options())
	fails(t, err, "there is no lonely.id")
	fails(t, err, "small.id ends at 127")
	f.exclude = []string{"lonely", "small"}
	f.sound(3)
	f.up(3)
	lines := f.status(3).States[0].Lines
	if i := slices.IndexFunc(lines, func(l shards.Line) bool { return l.Name == "zoo.id" }); i < 0 || lines[i].Next < 71 {
		t.Errorf("%+v", lines)
	}
	f.down(3)
}

func testPostgresMends(t *testing.T, f *fleet) {
	repairs(t, f, "ALTER SEQUENCE orders_id_seq INCREMENT BY 1 RESTART WITH 1", "postgres://postgres@127.0.0.1:1/shop")
	f.exec(0, "CREATE TABLE lonely (id serial PRIMARY KEY)")
	f.everywhere("CREATE SEQUENCE letters; CREATE TABLE a (id text PRIMARY KEY DEFAULT 'D' || nextval('letters'))")
	f.everywhere("CREATE TABLE small (id smallserial PRIMARY KEY); CREATE TABLE zoo (id serial PRIMARY KEY)")
	f.exec(2, "SELECT setval('small_id_seq', 32766)")
	err := shards.Up(t.Context(), f.dsns[:3], f.options())
	fails(t, err, "there is no lonely.id")
	fails(t, err, "small.id ends at 32767")
	f.exclude = []string{"lonely", "small"}
	f.up(3)
	r := f.status(3)
	if len(r.Problems) > 0 {
		t.Errorf("%q", r.Problems)
	}
	has(t, r.Missed, "the rows of a.id, which is of type text")
	texts := map[string]bool{}
	for i := range 3 {
		for range 5 {
			var id string
			if err := f.dbs[i].QueryRow("INSERT INTO a DEFAULT VALUES RETURNING id").Scan(&id); err != nil || texts[id] {
				t.Fatalf("%s, %v", id, err)
			}
			texts[id] = true
		}
	}
}

// client runs a program of a database.
func client(t *testing.T, input string, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, &complaint)
	}
	return out.String()
}

// dumped checks, for both kinds of database, that the dumped schema of a shard can
// be restored for a new shard.
func dumped(t *testing.T, f *fleet) {
	t.Helper()
	if m := f.status(4).States[3].Member; m != nil {
		t.Fatalf("a dump without rows made %+v", m)
	}
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		f.ids(i, 40)
	}
	f.sound(4)
	f.check(160)
	f.down(4)
}

func testMariaDBDump(t *testing.T, f *fleet) {
	f.up(3)
	f.ids(0, 10)
	arguments := func(i int) []string {
		host, database, _ := strings.Cut(strings.TrimPrefix(f.dsns[i], "mysql://root@"), "/")
		_, port, _ := strings.Cut(host, ":")
		return []string{"--no-defaults", "--protocol=tcp", "-h127.0.0.1", "-P" + port, "-uroot", database}
	}
	dump := client(t, "", "mariadb-dump", append([]string{arguments(0)[0], "--no-data"}, arguments(0)[1:]...)...)
	f.exec(3, "DROP TABLE orders")
	client(t, dump, "mariadb", arguments(3)...)
	dumped(t, f)
}

func testPostgresDump(t *testing.T, f *fleet) {
	f.up(3)
	f.ids(0, 10)
	copied := func(options ...string) {
		t.Helper()
		dump := client(t, "", dbtest.PostgresProgram(t, "pg_dump"), append(options, "-d", f.dsns[0])...)
		f.exec(3, "DROP TABLE orders")
		client(t, dump, dbtest.PostgresProgram(t, "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-d", f.dsns[3])
	}
	copied() // with the note
	for _, err := range []error{
		shards.Up(t.Context(), []string{f.dsns[0], f.dsns[1], f.dsns[3]}, f.options()),
		shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()),
	} {
		if fails(t, err, "has the note of 1, 4, 7, …"); !strings.Contains(appdb.HintOf(err), "run nextid migrate shards down for it alone") {
			t.Errorf("%v has the hint %q", err, appdb.HintOf(err))
		}
	}
	if err := shards.Down(t.Context(), f.dsns[3:], f.options()); err != nil {
		t.Fatal(err)
	}
	copied("-s")
	dumped(t, f)
}

// testWithoutSuper: without the right to apply settings, no note is written.
func testWithoutSuper(t *testing.T, f *fleet) {
	var dsns []string
	for i, dsn := range f.dsns[:3] {
		address, database, _ := strings.Cut(strings.TrimPrefix(dsn, "mysql://root@"), "/")
		f.exec(i, "CREATE OR REPLACE USER plain@localhost")
		f.exec(i, "GRANT ALL ON "+database+".* TO plain@localhost")
		f.exec(i, "GRANT PROCESS ON *.* TO plain@localhost")
		dsns = append(dsns, "mysql://plain@"+address+"/"+database)
	}
	fails(t, shards.Up(t.Context(), dsns, f.options()), "SUPER")
	for _, st := range f.status(3).States {
		if st.Member != nil {
			t.Errorf("up without the right noted %+v", st.Member)
		}
	}
}
