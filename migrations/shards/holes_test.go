package shards_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/shards"
)

// has sees that one of the lines holds a text.
func has(t *testing.T, lines []string, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(lines, "\n"), text) {
		t.Errorf("%q is missing in %q", text, lines)
	}
}

// testHalfInstalled: statements of MySQL that make tables cannot be taken back
// together. What an up or a down that was killed has left is in nobody's way.
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
	f.exec(1, "SET GLOBAL auto_increment_increment = 1, GLOBAL auto_increment_offset = 1") // as the note had said
	f.up(2)
	f.sound(2)
	f.down(2)
}

// testToldEveryTime: a reshard that ends early has changed a shard; the run
// that finishes it tells of that one, too.
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

	// Settings that outlast a restart are left alone and said to be right.
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

// looks is for both kinds of database: rows that status has to find.
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
}

// testNearlyFull: a column that has used more than 80 % of its type is noted,
// and one that has used less is not. create takes where the ids go on.
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
	f.everywhere("CREATE SEQUENCE numbers")
	f.everywhere("CREATE TABLE bills (id BIGINT PRIMARY KEY DEFAULT NEXTVAL(numbers), note TEXT)")
	f.up(3)
	r := f.status(3)
	has(t, r.Problems, "both draw 1 for bills.id: 1, 2, 3, … and 1, 2, 3, …; up does not set sequences of MariaDB: ALTER SEQUENCE ")
	_, statement, _ := strings.Cut(r.Problems[0], "sequences of MariaDB: ")
	statement, _, _ = strings.Cut(statement, " on all shards")
	f.everywhere(statement)
	f.sound(3)
	drawn := map[int64]bool{}
	for i := range 3 {
		for range 20 {
			var id int64
			if err := f.dbs[i].QueryRow("INSERT INTO bills (note) VALUES ('x') RETURNING id").Scan(&id); err != nil || drawn[id] {
				t.Fatalf("shard %d drew %d, %v", i+1, id, err)
			}
			drawn[id] = true
		}
	}
	f.sound(3)
	f.everywhere("CREATE SEQUENCE unnamed")
	r = f.status(3)
	has(t, r.Problems, "for unnamed")
	has(t, r.Missed, "sequence unnamed, which no column names")
	f.exclude = []string{"unnamed"}
	looks(t, f, "INSERT INTO orders VALUES (%d, 'by hand')")
	f.down(3)
	other := strings.TrimPrefix(f.dsns[0][strings.LastIndex(f.dsns[0], "/"):], "/") + "_other"
	f.everywhere("CREATE DATABASE " + other)
	f.everywhere("CREATE TABLE " + other + ".orders LIKE orders")
	has(t, f.status(2).Problems, other+".orders.id")
	f.everywhere("DROP DATABASE " + other)
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
	f.everywhere("CREATE SCHEMA other; CREATE TABLE other.orders (id serial PRIMARY KEY)")
	has(t, f.status(3).Problems, "both draw 1 for other.orders.id: 1, 2, 3, … and 1, 2, 3, …; it is not among what up sets")
	f.exclude = []string{"other"}
	f.sound(3)
	f.everywhere("CREATE SEQUENCE hibernate_sequence")
	f.up(3)
	if r := f.status(3); len(r.Problems) > 0 {
		t.Errorf("%q", r.Problems)
	} else {
		has(t, r.Missed, "sequence hibernate_sequence, which no column names")
		has(t, r.States[0].Notes, "a table that is created later")
	}
}

// testStrides: of a sequence that counts in steps of 50 each number stands for
// a block, as Hibernate's do. The shards share the blocks.
func testStrides(t *testing.T, f *fleet) {
	f.everywhere("CREATE SEQUENCE pooled INCREMENT BY 50")
	f.exclude = []string{"orders"}
	f.exec(0, "SELECT nextval('pooled') FROM generate_series(1, 3)")
	f.up(3)
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()); err != nil {
		t.Fatal(err)
	}
	owner := map[int64]int{}
	for i := range 4 {
		for range 10 {
			var v int64
			if err := f.dbs[i].QueryRow("SELECT nextval('pooled')").Scan(&v); err != nil {
				t.Fatal(err)
			}
			if v <= 151 {
				t.Errorf("shard %d begins a block at %d, in the one of 101", i+1, v)
			}
			for id := v; id < v+50; id++ {
				if other, taken := owner[id]; taken {
					t.Fatalf("shards %d and %d have %d in their blocks", other+1, i+1, id)
				}
				owner[id] = i
			}
		}
	}
	if r := f.status(4); len(r.Problems) > 0 {
		t.Errorf("%q", r.Problems)
	}
	f.exec(1, "ALTER SEQUENCE pooled RESTART WITH 5020")
	has(t, f.status(4).Problems, "both draw numbers of the same blocks of 50 for pooled")
	f.up(4)
	f.down(4)
	if s := f.sequences(0); !strings.Contains(s, "pooled") || !strings.Contains(s, ",50,") {
		t.Errorf("down left %s", s)
	}
}

// mends is for both kinds of database: what is wrong with one shard or column
// keeps nothing else from being mended.
func mends(t *testing.T, f *fleet, spoil, unreachable string) {
	f.up(3)
	f.ids(0, 10)
	f.exec(1, spoil)
	err := shards.Up(t.Context(), []string{f.dsns[0], f.dsns[1], unreachable}, f.options())
	if err == nil || !strings.Contains(f.out.String(), "draws 2, 5, 8, … again") || !strings.Contains(f.out.String(), "run up again when this is mended") {
		t.Fatalf("%v\n%s", err, &f.out)
	}
	if r := f.status(3); strings.Contains(strings.Join(r.Problems, "\n"), "both draw") {
		t.Errorf("%q", r.Problems)
	}
	f.exec(0, "CREATE TABLE keyed (id INT PRIMARY KEY)") // draws nothing
	f.up(3)
	f.sound(3)
}

func testMariaDBMends(t *testing.T, f *fleet) {
	mends(t, f, "SET GLOBAL auto_increment_offset = 1, GLOBAL auto_increment_increment = 1", "mysql://root@127.0.0.1:1/shop")
	f.exec(0, "CREATE TABLE lonely (id INT AUTO_INCREMENT PRIMARY KEY)")
	f.everywhere("CREATE TABLE small (id TINYINT AUTO_INCREMENT PRIMARY KEY)")
	f.exec(2, "INSERT INTO small VALUES (126)")
	f.everywhere("CREATE TABLE zoo (id INT AUTO_INCREMENT PRIMARY KEY)")
	f.exec(2, "INSERT INTO zoo VALUES (70)")
	err := shards.Up(t.Context(), f.dsns[:3], f.options())
	fails(t, err, "there is no lonely.id")
	fails(t, err, "column small.id ends at 127")
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
	mends(t, f, "ALTER SEQUENCE orders_id_seq INCREMENT BY 1 RESTART WITH 1", "postgres://postgres@127.0.0.1:1/shop")
	f.exec(0, "CREATE TABLE lonely (id serial PRIMARY KEY)")
	f.everywhere("CREATE SEQUENCE letters; CREATE TABLE a (id text PRIMARY KEY DEFAULT 'D' || nextval('letters'))")
	f.everywhere("CREATE TABLE small (id smallserial PRIMARY KEY); CREATE TABLE zoo (id serial PRIMARY KEY)")
	f.exec(2, "SELECT setval('small_id_seq', 32766)")
	err := shards.Up(t.Context(), f.dsns[:3], f.options())
	fails(t, err, "there is no lonely.id")
	fails(t, err, "column small.id ends at 32767")
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
		if name = filepath.Join("/usr/lib/postgresql/15/bin", name); exec.Command(name, "--version").Run() != nil {
			t.Skip(err)
		}
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

// dumped is for both kinds of database: the schema of a shard is that of the
// next one.
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
	dump := client(t, "", "pg_dump", "-s", "-d", f.dsns[0])
	f.exec(3, "DROP TABLE orders")
	client(t, dump, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", f.dsns[3])
	dumped(t, f)
}

// testWithoutSuper: what cannot be set is not noted, and the other way can be
// undone without the right, too.
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
	o := f.options()
	o.Scope = shards.Session
	if err := shards.Up(t.Context(), dsns, o); err != nil {
		t.Fatal(err)
	}
	if err := shards.Down(t.Context(), dsns, f.options()); err != nil {
		t.Error(err)
	}
}

// testScriptTwice: an up that fails behind the script is run again. A dry run
// names the servers.
func testScriptTwice(t *testing.T, f *fleet) {
	var dry strings.Builder
	o := f.options()
	o.Script = "CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY); -- first;\nCREATE TABLE tags (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) DEFAULT ';');\n"
	f.exec(0, "CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY)")
	stays := f.open(1)
	if err := stays.Ping(); err != nil {
		t.Fatal(err)
	}
	o.Wait = 100 * time.Millisecond
	fails(t, shards.Up(t.Context(), f.dsns[:3], o), "older than the change")
	_ = stays.Close()
	f.renew()
	o.Wait = 10 * time.Second
	if err := shards.Up(t.Context(), f.dsns[:3], o); err != nil {
		t.Fatal(err)
	}
	f.sound(3)
	if n := len(f.status(3).States[0].Lines); n != 3 {
		t.Errorf("%d lines", n)
	}
	if err := shards.Down(t.Context(), f.dsns[:3], f.options().Dry(&dry)); err != nil {
		t.Fatal(err)
	}
	for _, dsn := range f.dsns[:3] {
		_, name, _ := strings.Cut(dsn, "@")
		has(t, []string{dry.String()}, "/* "+name+" */ SET GLOBAL auto_increment_increment = 1, GLOBAL auto_increment_offset = 1;")
	}
	f.sound(3)
	f.down(3)
}
