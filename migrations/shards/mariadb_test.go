package shards_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"nextid/dbtest"
	"nextid/migrations/shards"
)

const mariadbTable = "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, note TEXT)"

// TestMariaDB runs on sets of four servers, because the settings are the server's.
// The tests mostly wait. So several sets run them in parallel, the longest first.
func TestMariaDB(t *testing.T) {
	t.Parallel()
	type test struct {
		name string
		test func(t *testing.T, f *fleet)
	}
	start := func() []string {
		addresses := make([]string, 4)
		var wg sync.WaitGroup
		for i := range addresses {
			wg.Go(func() { addresses[i], _ = dbtest.QuickMariaDB(t) })
		}
		wg.Wait()
		return addresses
	}
	first := start()
	if t.Skipped() || t.Failed() {
		return
	}
	tests := make(chan test)
	var wg sync.WaitGroup
	for _, addresses := range []func() []string{func() []string { return first }, sync.OnceValue(start), sync.OnceValue(start)} {
		wg.Go(func() {
			for tc := range tests {
				t.Run(tc.name, func(t *testing.T) { tc.test(t, mariadbFleet(t, addresses())) })
			}
		})
	}
	for _, tc := range []test{
		{"interrupted", func(t *testing.T, f *fleet) {
			if testing.Short() {
				t.Skip("takes half a minute")
			}
			testInterrupted(t, f, 6000, 2)
		}},
		{"killed", testKills},
		{"reshard under load", testReshard},
		{"settings are told every time", testToldEveryTime},
		{"restored by hand", testRestoredByHand},
		{"half installed", testHalfInstalled},
		{"of an earlier build", func(t *testing.T, f *fleet) { testEarlier(t, f, "ALTER TABLE nextid_shard DROP COLUMN drained") }},
		{"refusals", testMariaDBRefusals},
		{"status finds overlaps", testMariaDBStatus},
		{"the page's commands", testPage},
		{"a session that stays", testSessionThatStays},
		{"reshard with spare numbers", testReshardWithSpareNumbers},
		{"reshard with rows", testReshardWithRows},
		{"down restores", testMariaDBDown},
		{"up repairs what it can", testMariaDBMends},
		{"mended in two runs", func(t *testing.T, f *fleet) {
			testMendedInTwoRuns(t, f, "SET GLOBAL auto_increment_increment = 1, GLOBAL auto_increment_offset = 1", "SELECT * FROM orders")
		}},
		{"nearly full", func(t *testing.T, f *fleet) {
			testNearlyFull(t, f, "CREATE TABLE small (id TINYINT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = %d", 90, 103)
		}},
		{"dumps of a schema", testMariaDBDump},
		{"odd names", testMariaDBOddNames},
		{"noted, not set", func(t *testing.T, f *fleet) { testNoted(t, f, "SET GLOBAL auto_increment_increment = 3") }},
		{"status looks at all", testMariaDBLooks},
		{"blind spots", testMariaDBBlindSpots},
		{"three shards", testThreeShards},
		{"existing rows", testExistingRows},
		{"print changes nothing", testPrint},
		{"without SUPER", testWithoutSuper},
	} {
		tests <- tc
	}
	close(tests)
	wg.Wait()
}

var databases atomic.Int64

// mariadbFleet makes a new database with the table on every server.
func mariadbFleet(t *testing.T, addresses []string) *fleet {
	f := &fleet{t: t, rows: shards.RowsAll}
	name := fmt.Sprintf("app%d", databases.Add(1))
	for _, address := range addresses {
		admin := openMariaDB(t, address, "test")
		for _, statement := range []string{
			"CREATE DATABASE " + name, "USE " + name, mariadbTable,
			"SET GLOBAL auto_increment_increment = 1, GLOBAL auto_increment_offset = 1",
		} {
			if _, err := admin.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		_ = admin.Close()
		f.dsns = append(f.dsns, "mysql://root@"+address+"/"+name)
	}
	t.Cleanup(func() {
		for _, address := range addresses {
			admin := openMariaDB(t, address, "test")
			if _, err := admin.Exec("DROP DATABASE " + name); err != nil {
				t.Error(err)
			}
			_ = admin.Close()
		}
	})
	f.open = func(i int) *sql.DB { return openMariaDB(t, addresses[i], name) }
	f.connect(len(addresses))
	return f
}

func openMariaDB(t *testing.T, address, database string) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "tcp", address, database
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db
}

// setting returns the settings of new sessions of shard i.
func (f *fleet) setting(i int) string {
	f.t.Helper()
	var s string
	err := f.dbs[i].QueryRowContext(f.t.Context(), "SELECT CONCAT(@@GLOBAL.auto_increment_offset, '/', @@GLOBAL.auto_increment_increment)").Scan(&s)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// testThreeShards runs on both kinds of database.
func testThreeShards(t *testing.T, f *fleet) {
	var lines []string
	o := f.options()
	o.Progress = func(line string) { lines = append(lines, line) }
	if err := shards.Up(t.Context(), f.dsns[:3], o); err != nil {
		t.Fatal(err)
	}
	if n := len(lines); n == 0 || lines[n-1] != "" || !slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, " goes above all shards, 1 of 1") }) {
		t.Errorf("the terminal shows %q", lines)
	}
	for i := range 3 {
		if id := f.ids(i, 1)[0]; id%3 != int64(i+1)%3 || id > 6 {
			t.Errorf("the first id of shard %d is %d", i+1, id)
		}
	}
	l, _ := f.startLoad(3, time.Second, time.Second)
	f.more(500)
	l.end(t)
	f.sound(3)
	f.up(3) // changes nothing
	f.sound(3)
	f.check(500)
	f.down(3)
}

func testMariaDBStatus(t *testing.T, f *fleet) {
	if r := f.status(2); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "both draw 1 for orders.id") {
		t.Errorf("before up: %q", r.Problems)
	}
	f.up(3)
	f.sound(3)
	f.ids(0, 50)
	for _, tc := range []struct{ statement, problem string }{
		{"SET GLOBAL auto_increment_offset = 1", "both draw 151 for orders.id: 1, 4, 7, … and 1, 4, 7, …"},
		{"SET GLOBAL auto_increment_increment = 1", "both draw 154 for orders.id: 1, 4, 7, … and 1, 2, 3, …"},
		{"SET GLOBAL auto_increment_increment = 5", "both draw 157 for orders.id: 1, 4, 7, … and 2, 7, 12, …"},
	} {
		f.exec(1, tc.statement)
		r := f.status(3)
		if all := strings.Join(r.Problems, "\n"); !strings.Contains(all, tc.problem) || !strings.Contains(all, "should draw 2, 5, 8, …, and draws others") {
			t.Errorf("after %s: %q", tc.statement, r.Problems)
		}
		f.up(3)
		f.sound(3)
	}
	if r := f.status(2); len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "is one of 3 shards, and 2 are given") {
		t.Errorf("with one missing: %q", r.Problems)
	}
	f.everywhere("CREATE TABLE later (id INT AUTO_INCREMENT PRIMARY KEY)")
	f.sound(3)
	f.down(3)
}

func testMariaDBDown(t *testing.T, f *fleet) {
	f.exec(1, "SET GLOBAL auto_increment_increment = 7, GLOBAL auto_increment_offset = 3")
	tables := func(i int) (names string) {
		err := f.dbs[i].QueryRowContext(t.Context(), "SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()").Scan(&names)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for range 2 {
		f.up(3)
		f.up(3) // the note keeps the settings from before the first up
		if s := f.setting(1); s != "2/3" {
			t.Errorf("up: %s", s)
		}
		f.down(3)
		for i, want := range []string{"1/1", "3/7", "1/1"} {
			if s := f.setting(i); s != want {
				t.Errorf("down left shard %d with %s, not %s", i+1, s, want)
			}
			if names := tables(i); names != "orders" {
				t.Errorf("down left %s", names)
			}
		}
	}
	f.down(3) // nothing to do
	if !strings.Contains(f.out.String(), "is no shard") {
		t.Errorf("no word about it:\n%s", &f.out)
	}
}

// testReshard adds a fourth shard, and further ones, while sessions connect and
// disconnect, for both kinds of database.
func testReshard(t *testing.T, f *fleet) {
	f.up(3)
	// Some sessions last from before the change until long after it.
	lifetimes := []time.Duration{300 * time.Millisecond, 4 * time.Second}
	l, ctx := f.startLoad(3, lifetimes...)
	f.more(300)
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()); err != nil {
		t.Fatalf("%v\n%s", err, &f.out)
	}
	f.load(l, ctx, 3, lifetimes...)
	f.more(1000)
	f.sound(4)
	l.end(t)
	f.check(1300)
	for i, want := range []shards.Progression{{Offset: 1, Increment: 6}, {Offset: 2, Increment: 3}, {Offset: 3, Increment: 3}, {Offset: 4, Increment: 6}} {
		if m := f.status(4).States[i].Member; m.Has != want || m.Of != 4 {
			t.Errorf("shard %d has %v of %d, not %v", i+1, m.Has, m.Of, want)
		}
	}
	f.down(4)
}

// testReshardWithSpareNumbers: with an increment greater than the number of shards,
// no old shard changes, and reshard does not wait for sessions.
func testReshardWithSpareNumbers(t *testing.T, f *fleet) {
	o := f.options()
	o.Increment = 8
	if err := shards.Up(t.Context(), f.dsns[:3], o); err != nil {
		t.Fatal(err)
	}
	l, ctx := f.startLoad(3, time.Hour)
	o = f.options()
	o.Wait = 0
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], o); err != nil {
		t.Fatal(err)
	}
	f.load(l, ctx, 3, time.Hour)
	f.more(300)
	l.end(t)
	f.sound(4)
	f.check(300)
	if m := f.status(4).States[3].Member; m.Has != (shards.Progression{Offset: 4, Increment: 8}) {
		t.Errorf("the new shard has %v", m.Has)
	}
	fails(t, shards.Up(t.Context(), f.dsns[:4], shards.Options{Out: &f.out, Increment: 3}), "too small for 4 shards")
	f.down(4)
}

// testReshardWithRows: the new shard has rows whose ids the other shards would draw.
func testReshardWithRows(t *testing.T, f *fleet) {
	f.up(3)
	f.exec(3, insert(300))
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		f.ids(i, 100)
	}
	f.sound(4)
	f.down(4)
}

// testSessionThatStays: while a session has the settings from before the change, the
// new shard does not start. No ids collide before, during or after that.
func testSessionThatStays(t *testing.T, f *fleet) {
	f.up(3)
	old, err := f.open(0).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	client := int(f.clients.Add(1))
	draw := func() (last int64) {
		rows, err := old.QueryContext(t.Context(), insert(20))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&last); err != nil {
				t.Fatal(err)
			}
			f.record(client, last)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return last
	}
	draw()
	o := f.options()
	o.Wait = 500 * time.Millisecond
	err = shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], o)
	fails(t, err, "sessions are older than the change, and may still draw ids in the old progression: 1 (")
	// The session still draws with increment 3, the new ones with 6.
	for range 5 {
		if a, b := draw(), draw(); b-a != 60 {
			t.Errorf("from %d to %d: not an old session", a, b)
		}
		f.ids(0, 10)
		f.ids(1, 10)
		f.ids(2, 10)
	}
	if r := f.status(3); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "may still draw as before") {
		t.Errorf("status: %q", r.Problems)
	}
	o = f.options()
	o.Wait, o.Kill = 0, true
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], o); err != nil {
		t.Fatal(err)
	}
	if err := old.PingContext(t.Context()); err == nil {
		t.Error("the old session was not ended")
	}
	for range 5 {
		for i := range 4 {
			f.ids(i, 50)
		}
	}
	f.sound(4)
	f.check(500)
	f.down(4)
}

// testExistingRows: all databases have drawn ids from 1 on, and one counter is far
// ahead. The new ids do not collide.
func testExistingRows(t *testing.T, f *fleet) {
	f.rows = shards.RowsNone
	for i := range 3 {
		f.exec(i, insert(40*(i+1)))
	}
	f.exec(1, "INSERT INTO orders VALUES (5000, 'by hand')")
	f.exec(2, "ALTER TABLE orders AUTO_INCREMENT = 9000")
	f.up(3)
	for i := range 3 {
		if first := f.ids(i, 10)[0]; first < 9000 || first > 9003 {
			t.Errorf("shard %d goes on at %d", i+1, first)
		}
	}
	f.sound(3)
	f.check(30)
	f.down(3)
}

func testMariaDBRefusals(t *testing.T, f *fleet) {
	up := func(dsns ...string) error {
		o := f.options()
		o.Wait = 0
		return shards.Up(t.Context(), dsns, o)
	}
	twice := strings.TrimSuffix(f.dsns[0], "/app") // the same server under another name
	fails(t, up(f.dsns[0], strings.Replace(twice, "127.0.0.1", "localhost", 1)), "another migrate shards is at work")
	fails(t, up("redis://x"), "mysql:// or postgres://")
	fails(t, up("mysql://root@127.0.0.1:1"), "names no database")
	f.exec(1, "SET GLOBAL read_only = ON")
	fails(t, up(f.dsns...), "the server is read-only, as a replica is")
	f.exec(1, "SET GLOBAL read_only = OFF")

	f.exec(1, "CREATE TABLE items (id TINYINT AUTO_INCREMENT PRIMARY KEY)")
	fails(t, up(f.dsns...), "there is no items.id that draws ids")
	f.exec(1, "INSERT INTO items VALUES (126)")
	for _, i := range []int{0, 2, 3} {
		f.exec(i, "CREATE TABLE items (id TINYINT AUTO_INCREMENT PRIMARY KEY)")
	}
	fails(t, up(f.dsns...), "items.id ends at 127, and its next id would be 129: make it a bigint")
	f.everywhere("DROP TABLE items")
	f.down(4) // the other shards were repaired
	f.up(3)
	fails(t, shards.Reshard(t.Context(), f.dsns[:2], f.dsns[3], f.options()), "is one of 3 shards, and 2 are given")
	fails(t, shards.Reshard(t.Context(), f.dsns[:3], f.dsns[2], f.options()), "another migrate shards is at work")
	fails(t, shards.Reshard(t.Context(), f.dsns[1:], f.dsns[0], f.options()), "is no shard")
	fails(t, up(f.dsns...), "is one of 3 shards, and 4 are given")

	// Without PROCESS the sessions of others are not seen.
	address := strings.TrimPrefix(f.dsns[0], "mysql://root@")
	host, name, _ := strings.Cut(address, "/")
	f.exec(0, "CREATE OR REPLACE USER limited@localhost")
	f.exec(0, "GRANT ALL ON "+name+".* TO limited@localhost")
	f.exec(0, "GRANT SUPER ON *.* TO limited@localhost")
	limited := "mysql://limited@" + host + "/" + name
	err := shards.Reshard(t.Context(), []string{limited, f.dsns[1], f.dsns[2]}, f.dsns[3], f.options())
	fails(t, err, "cannot see the sessions of others")
	f.sound(3)
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()); err != nil {
		t.Error(err)
	}
	for i := range 4 {
		f.ids(i, 20)
	}
	f.sound(4)
	f.check(80)
	f.down(4)
}

func testPrint(t *testing.T, f *fleet) {
	f.exec(2, insert(5))
	var out strings.Builder
	if err := shards.Up(t.Context(), f.dsns[:3], f.options().Dry(&out)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SET GLOBAL auto_increment_increment = 3, GLOBAL auto_increment_offset = 2;\n",
		"ALTER TABLE `orders` AUTO_INCREMENT = 8;\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
	for i, s := range f.status(3).States {
		if s.Member != nil || f.setting(i) != "1/1" {
			t.Errorf("print changed shard %d", i+1)
		}
	}
	f.runs(out.String())
	f.sound(3)
	for i := range 3 {
		f.ids(i, 5)
	}
	f.check(15)
	f.up(3) // finds its notes
	f.sound(3)
	f.down(3)
}

// runs executes the output of print: each statement on the database that its comment
// names.
func (f *fleet) runs(printed string) {
	f.t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^/\* (\S+) \*/ ([A-Z].*;)$`).FindAllStringSubmatch(printed, -1) {
		f.exec(slices.IndexFunc(f.dsns, func(dsn string) bool { return strings.Contains(dsn, "@"+m[1]) }), m[2])
	}
	f.renew()
}
