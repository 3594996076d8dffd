package foreign_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
	"nextid/migrations/foreign"
)

// mariadb is an application's MariaDB with the database shop.
type mariadb struct {
	*sql.DB
	t   *testing.T
	dsn string // for foreign.Open
}

func startMariaDB(t *testing.T, settings ...string) *mariadb {
	t.Helper()
	address, _ := dbtest.QuickMariaDB(t, append(settings, "plugin-maturity=unknown")...)
	m := &mariadb{t: t, dsn: "mysql://root@" + address + "/shop"}
	m.DB = m.login("root@tcp(" + address + ")/")
	m.exec("CREATE DATABASE shop")
	m.DB = m.login("root@tcp(" + address + ")/shop?multiStatements=true")
	return m
}

// login opens a pool of one connection.
func (m *mariadb) login(dsn string) *sql.DB {
	m.t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		m.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	m.t.Cleanup(func() { _ = db.Close() }) // the server ends, too
	return db
}

func (m *mariadb) exec(text string) sql.Result {
	m.t.Helper()
	r, err := m.ExecContext(m.t.Context(), text)
	if err != nil {
		m.t.Fatalf("%s: %v", text, err)
	}
	return r
}

func (m *mariadb) fails(number uint16, text string) {
	m.t.Helper()
	_, err := m.ExecContext(m.t.Context(), text)
	if e, ok := errors.AsType[*mysqldriver.MySQLError](err); !ok || e.Number != number {
		m.t.Errorf("%s: %v, want error %d", text, err, number)
	}
}

// numbers returns the rows of a query with one column.
func (m *mariadb) numbers(text string) (ids []int64) {
	m.t.Helper()
	rows, err := m.QueryContext(m.t.Context(), text)
	if err != nil {
		m.t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			m.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		m.t.Fatalf("%s: %v", text, err)
	}
	return ids
}

// fillOrders returns the configuration that most tests use.
func fillOrders(t *testing.T, s *server, parameters string) foreign.Config {
	t.Helper()
	fill, err := foreign.ParseFill("orders.id=orders")
	if err != nil {
		t.Fatal(err)
	}
	return foreign.Config{Server: parseServer(t, "mysql://app@"+s.mysql+"/nextid"+parameters), Fill: []foreign.Fill{fill}}
}

const ordersTable = "CREATE TABLE shop.orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, note TEXT)"

func TestEnginesOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	app.exec(ordersTable)
	s.genes()
	direct := s.connect()
	var log history.Log
	for _, engine := range []string{"federated", "spider", "federated"} { // up changes the engine
		t.Run(engine, func(t *testing.T) {
			app.t = t
			needsPlugin(t, app, engine)
			c := fillOrders(t, s, "?engine="+engine)
			for range 2 {
				up(t, app.dsn, c)
				if st := status(t, app.dsn); !st.Current() || st.Server != s.mysql || st.Took == 0 {
					t.Fatalf("after up: %+v", st)
				}
			}
			drawOrders(t, app, &log)
			for _, field := range []int64{0, 713, 1023} {
				id := app.numbers(fmt.Sprintf("SELECT nextid.next_id_for('gene', %d)", field))[0]
				if n := direct.numbers(fmt.Sprintf("SELECT field FROM parse_id(%d, 'gene')", id)); n[0] != field {
					t.Errorf("the field of %d is %d, not %d", id, n, field)
				}
			}
		})
	}
	check(t, &log)
}

// needsPlugin skips a test if the plugin of an engine is not installed.
func needsPlugin(t *testing.T, app *mariadb, engine string) {
	t.Helper()
	var dir string
	if err := app.QueryRowContext(t.Context(), "SELECT @@plugin_dir").Scan(&dir); err != nil {
		t.Fatal(err)
	}
	library := map[string]string{"federated": "ha_federatedx.so", "spider": "ha_spider.so"}[engine]
	if _, err := os.Stat(filepath.Join(dir, library)); err != nil {
		t.Skipf("needs the Debian package mariadb-plugin-%s", engine)
	}
}

// drawOrders inserts rows in all ways, each of which must draw new ids.
func drawOrders(t *testing.T, app *mariadb, log *history.Log) {
	t.Helper()
	app.exec("DELETE FROM shop.orders")
	for _, insert := range []struct {
		rows int
		text string
	}{
		{1, "INSERT INTO shop.orders (note) VALUES ('a')"},
		{3, "INSERT INTO shop.orders (note) VALUES ('a'), ('b'), ('c')"},
		{50, "INSERT INTO shop.orders (note) SELECT seq FROM seq_1_to_50"},
		{3, "INSERT INTO shop.orders VALUES (0, 'a'), (NULL, 'b'), (DEFAULT, 'c')"},
	} {
		ids := app.numbers(insert.text + " RETURNING id")
		slices.Sort(ids)
		if len(ids) != insert.rows || ids[0] < 1<<40 {
			t.Errorf("%s: %d", insert.text, ids)
		}
		record(log, ids)
	}
	for range 2 {
		record(log, app.numbers("SELECT nextid.next_id('orders')"))
	}
	// A driver reports the id, although LAST_INSERT_ID() does not.
	id, err := app.exec("INSERT INTO shop.orders (note) VALUES ('reported')").LastInsertId()
	if err != nil || id != app.numbers("SELECT id FROM shop.orders WHERE note = 'reported'")[0] {
		t.Errorf("LastInsertId %d, %v", id, err)
	}
	// The trigger keeps an id that is given.
	app.exec("INSERT INTO shop.orders VALUES (7, 'given')")
	if ids := app.numbers("SELECT id FROM shop.orders WHERE note = 'given'"); ids[0] != 7 {
		t.Errorf("a given id became %d", ids)
	}
	// Nothing else was drawn: a read by name reads one row.
	if n := app.numbers(fmt.Sprintf("SELECT COUNT(*) FROM nextid.id_parts WHERE id = %d AND kind = 'snowflake'", id)); n[0] != 1 {
		t.Errorf("id_parts has %d rows", n)
	}
}

func record(log *history.Log, ids []int64) {
	for _, id := range ids {
		log.Add(history.Event{Name: "orders", Client: 1, Range: generator.Range{First: id, Count: 1, Step: 1}})
	}
}

// TestBatchesOfMariaDB draws from the engines that can read several rows of one key.
func TestBatchesOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	for _, engine := range []string{"spider"} {
		t.Run(engine, func(t *testing.T) {
			app.t = t
			needsPlugin(t, app, engine)
			c := fillOrders(t, s, "?engine="+engine)
			c.Fill = nil
			up(t, app.dsn, c)
			app.exec(`CREATE OR REPLACE TABLE shop.bulk (id BIGINT PRIMARY KEY, note TEXT);
				INSERT INTO shop.bulk SELECT b.id, n.seq
				FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS seq
					FROM (SELECT id FROM nextid.id_batch WHERE name = 'orders' AND n = 1000 LIMIT 1000) AS ids) AS b
				JOIN seq_1_to_1000 AS n USING (seq)`)
			if n := app.numbers("SELECT COUNT(DISTINCT id) FROM shop.bulk WHERE id > 0"); n[0] != 1000 {
				t.Errorf("%d ids", n)
			}
		})
	}
}

// TestLimitsOfMariaDB checks the warnings of docs/foreign.md.
func TestLimitsOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	app.exec(ordersTable)
	up(t, app.dsn, fillOrders(t, s, ""))
	issued := func() string {
		return s.connect().text("SELECT issued::text FROM generators WHERE name = 'orders'")
	}
	app.exec("INSERT INTO shop.orders (note) VALUES ('a')")
	before := issued()
	app.exec("EXPLAIN SELECT id FROM nextid.ids WHERE name = 'orders'")
	if after := issued(); after == before {
		t.Errorf("EXPLAIN drew no id on FederatedX: the page says that it does")
	}
	const three = " FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS r"
	if ids := app.numbers("SELECT i.id" + three + ", nextid.ids i WHERE i.name = 'orders'"); len(ids) != 3 || ids[0] != ids[2] {
		t.Errorf("a join drew %d: the page says that all rows show one id", ids)
	}
	if ids := app.numbers("SELECT nextid.next_id('orders')" + three); len(ids) != 3 || ids[0] == ids[1] || ids[1] == ids[2] || ids[0] == ids[2] {
		t.Errorf("next_id drew %d for three rows", ids)
	}
	app.exec("CREATE TABLE shop.strict (id BIGINT NOT NULL PRIMARY KEY, note TEXT)")
	c := fillOrders(t, s, "")
	c.Fill = []foreign.Fill{{Table: "strict", Column: "id", Generator: "orders"}}
	wantUpError(t, app.dsn, c, "no default", "ALTER COLUMN `id` SET DEFAULT 0")
	app.exec("CREATE TRIGGER shop.by_hand BEFORE INSERT ON shop.strict FOR EACH ROW SET NEW.id = nextid.next_id('orders')")
	app.fails(1364, "INSERT INTO shop.strict (note) SELECT 'a'")
	app.exec("DROP TRIGGER shop.by_hand; ALTER TABLE shop.strict ALTER COLUMN id SET DEFAULT 0")
	up(t, app.dsn, c)
	app.exec("INSERT INTO shop.strict (note) SELECT 'a' UNION ALL SELECT 'b'")
	if id := app.numbers("SELECT LAST_INSERT_ID()"); id[0] != 0 {
		t.Errorf("LAST_INSERT_ID() is %d: the page says that it is not set", id)
	}
}

// TestNoGeneratorOfMariaDB inserts while the server has no generator of the name. The
// row must not get a number of MariaDB's own: it could be an id that nextid gives later.
func TestNoGeneratorOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t, "NEXTID_AUTO_CREATE_TABLES=false"), startMariaDB(t)
	app.exec(ordersTable)
	app.exec("INSERT INTO shop.orders VALUES (41, 'before'); CREATE USER teller@localhost")
	up(t, app.dsn, fillOrders(t, s, ""))
	for _, text := range []string{"INSERT INTO shop.orders (note) VALUES ('a')", "SELECT nextid.next_id('orders')", "SELECT nextid.next_id('Weird Name')", "SELECT nextid.next_id(NULL)"} {
		app.fails(1146, text)
	}
	app.fails(1048, "SELECT nextid.next_id_for('orders', NULL)")
	_, err := app.ExecContext(t.Context(), "SELECT nextid.next_id_for('Weird Name', 3)")
	if err == nil || !strings.Contains(err.Error(), "nextid refused, and FederatedX does not say why: ask nextid itself, SELECT next_id_for('Weird Name', 3)") {
		t.Errorf("an error of the server: %v", err)
	}
	if ids := app.numbers("SELECT id FROM shop.orders"); len(ids) != 1 {
		t.Errorf("rows %d", ids)
	}
	s.connect().exec("SELECT next_id('orders')")
	app.exec("INSERT INTO shop.orders (note) VALUES ('a')")

	// An upgrade from the migrations that returned NULL keeps the grants.
	app.exec("DELETE FROM nextid.schema_version WHERE version_id > 3; GRANT EXECUTE ON FUNCTION nextid.next_id TO teller@localhost")
	app.exec("CREATE OR REPLACE FUNCTION nextid.next_id(generator VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BIGINT READS SQL DATA RETURN NULL")
	up(t, app.dsn, foreign.Config{})
	teller := &mariadb{t: t, DB: app.login(strings.Replace(strings.Replace(app.dsn, "mysql://root@", "teller@tcp(", 1), "/shop", ")/", 1))}
	if ids := teller.numbers("SELECT nextid.next_id('orders')"); ids[0] < 1<<40 {
		t.Errorf("id %d", ids)
	}
}

// TestNamesOfMariaDB fills columns of tables with long names, with names that differ in
// their case only, and of renamed tables.
func TestNamesOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	long, more, upper := strings.Repeat("ж", 50), strings.Repeat("l", 60), "Orders"
	for _, table := range []string{long, more + "1", more + "2", "orders", "it's `one`", "a.b", "Case", "case"} {
		app.exec("CREATE TABLE shop.`" + strings.ReplaceAll(table, "`", "``") + "` (id BIGINT AUTO_INCREMENT PRIMARY KEY, ident BIGINT)")
	}
	app.exec("CREATE TABLE shop.Orders (id VARCHAR(30) PRIMARY KEY)")
	c := fillOrders(t, s, "")
	dotted, err := foreign.ParseFill("`a.b`.ID=orders")
	if err != nil {
		t.Fatal(err)
	}
	c.Fill = []foreign.Fill{dotted}
	for _, table := range []string{long, "orders", "it's `one`", more + "1", "Case", "case"} {
		c.Fill = append(c.Fill, foreign.Fill{Table: table, Column: "id", Generator: "orders"})
	}
	up(t, app.dsn, c)
	for _, table := range []string{"Case", "case"} {
		app.exec("DROP TRIGGER shop.nextid_" + table + "_id")
		if st := status(t, app.dsn); len(st.Problems) != 1 || !strings.HasPrefix(st.Problems[0], "the column shop."+table+".id has no trigger") {
			t.Errorf("without the trigger of %s: %+v", table, st)
		}
		up(t, app.dsn, c)
	}
	if st := status(t, app.dsn); !st.Current() {
		t.Errorf("%+v", st)
	}
	for _, f := range c.Fill {
		app.exec("INSERT INTO shop.`" + strings.ReplaceAll(f.Table, "`", "``") + "` (ident) VALUES (1)")
		if ids := app.numbers("SELECT id FROM shop.`" + strings.ReplaceAll(f.Table, "`", "``") + "`"); ids[0] < 1<<40 {
			t.Errorf("%s: %d", f.Table, ids)
		}
	}
	c.Fill = []foreign.Fill{{Table: more + "2", Column: "id", Generator: "orders"}}
	wantUpError(t, app.dsn, c, "which shop."+more+"1.id has already", "shorter name")
	c.Fill = []foreign.Fill{{Table: more + "1", Column: "ident", Generator: "orders"}}
	wantUpError(t, app.dsn, c, "which shop."+more+"1.id has already", "shorter name")
	c.Fill = []foreign.Fill{{Table: upper, Column: "id", Generator: "orders"}}
	wantUpError(t, app.dsn, c, "of type varchar", "MODIFY")

	// A renamed table keeps its trigger.
	app.exec("RENAME TABLE shop.orders TO shop.renamed; " + ordersTable)
	c = fillOrders(t, s, "")
	wantUpError(t, app.dsn, c, "which shop.renamed has already", "fill it first and then drop that trigger")
	app.exec("INSERT INTO shop.renamed (ident) VALUES (2)")
	if ids := app.numbers("SELECT id FROM shop.renamed WHERE ident = 2"); ids[0]>>12 == app.numbers("SELECT id FROM shop.renamed WHERE ident = 1")[0]>>12 {
		t.Errorf("id %d is MariaDB's own", ids)
	}
	c.Fill = append([]foreign.Fill{{Table: "renamed", Column: "id", Generator: "orders"}}, c.Fill...)
	wantUpError(t, app.dsn, c, "which shop.renamed has already", "fill it first and then drop that trigger")
	app.exec("DROP TRIGGER shop.nextid_orders_id")
	up(t, app.dsn, c)
	if st := status(t, app.dsn); !st.Current() {
		t.Errorf("%+v", st)
	}
}

// TestFillInUse repeats up with --fill while sessions insert: each row gets an id of
// nextid.
func TestFillInUse(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	app.exec(ordersTable)
	c := fillOrders(t, s, "")
	up(t, app.dsn, c)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		db := app.login(strings.Replace(strings.Replace(app.dsn, "mysql://root@", "root@tcp(", 1), "/shop", ")/", 1))
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := db.ExecContext(context.WithoutCancel(ctx), "INSERT INTO shop.orders (note) VALUES ('x')"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	db := open(t, app.dsn)
	for range 20 {
		if err := db.Up(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
	issued := s.connect().numbers("SELECT issued FROM generators WHERE name = 'orders'")[0]
	if rows := app.numbers("SELECT COUNT(*) FROM shop.orders")[0]; rows > issued || rows < 20 {
		t.Errorf("%d rows and %d ids", rows, issued)
	}
}

func wantUpError(t *testing.T, dsn string, c foreign.Config, what, hint string) {
	t.Helper()
	err := open(t, dsn).Up(t.Context(), c)
	e, ok := errors.AsType[*foreign.Error](err)
	if !ok || !strings.Contains(e.What, what) || !strings.Contains(e.Hint, hint) {
		t.Errorf("up: %v %+v, want %q and %q", err, e, what, hint)
	}
}

// TestRestartUnderMariaDB restarts nextid between two inserts.
func TestRestartUnderMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	app.exec(ordersTable)
	var log history.Log
	for _, engine := range []string{"federated", "spider"} {
		t.Run(engine, func(t *testing.T) {
			app.t = t
			needsPlugin(t, app, engine)
			up(t, app.dsn, fillOrders(t, s, "?engine="+engine))
			record(&log, app.numbers("INSERT INTO shop.orders (note) VALUES ('before') RETURNING id"))
			s.kill()
			for range 2 {
				app.fails(1429, "INSERT IGNORE INTO shop.orders (note) VALUES ('down')")
			}
			s.start()
			failed := 0
			for ; failed < 3; failed++ {
				r, err := app.ExecContext(t.Context(), "INSERT INTO shop.orders (note) VALUES ('after')")
				if err == nil {
					id, err := r.LastInsertId()
					if err != nil {
						t.Fatal(err)
					}
					record(&log, []int64{id})
					break
				}
				if e, ok := errors.AsType[*mysqldriver.MySQLError](err); !ok || e.Number/1000 == 2 {
					t.Errorf("after the restart: %v, a number of the client library", err)
				}
			}
			if failed > 1 {
				t.Errorf("%d inserts failed after the restart", failed)
			}
		})
	}
	check(t, &log)
}

// TestUsersOfMariaDB: the engines support mysql_native_password only.
func TestUsersOfMariaDB(t *testing.T) {
	t.Parallel()
	const password = `it's \secret`
	users := filepath.Join(t.TempDir(), "users")
	native := "NEXTID_MYSQL_NATIVE_PASSWORD=true"
	passwd := exec.CommandContext(t.Context(), binary, "passwd", "--users", users, "app")
	passwd.Env = append(os.Environ(), native)
	passwd.Stdin = strings.NewReader(password + "\n")
	if out, err := passwd.CombinedOutput(); err != nil {
		t.Fatalf("passwd: %v\n%s", err, out)
	}
	s, app := startServer(t, "NEXTID_USERS="+users, native), startMariaDB(t)
	modern := startServer(t, "NEXTID_USERS="+users)
	app.exec(ordersTable)
	for _, engine := range []string{"federated", "spider"} {
		t.Run(engine, func(t *testing.T) {
			app.t = t
			needsPlugin(t, app, engine)
			c := fillOrders(t, s, "?engine="+engine)
			c.Password = password
			up(t, app.dsn, c)
			if st := status(t, app.dsn); st.Asked != nil {
				t.Errorf("with the password: %v", st.Asked)
			}
			app.exec("INSERT INTO shop.orders (note) VALUES ('a')")
			other := fillOrders(t, modern, "?engine="+engine)
			other.Password, other.Unasked = c.Password, true
			up(t, app.dsn, other)
			if st := status(t, app.dsn); st.Asked == nil {
				t.Error("the engine knows caching_sha2_password: the page says that it does not")
			}
			c.Password = "wrong"
			if err := open(t, app.dsn).Up(t.Context(), c); err == nil {
				app.exec("FLUSH TABLES")
				if st := status(t, app.dsn); st.Asked == nil {
					t.Error("a wrong password gets in")
				}
			}
		})
	}
}

// TestTLSOfMariaDB: SPIDER uses TLS and checks the certificate. A server that
// requires TLS refuses the other engines.
func TestTLSOfMariaDB(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	const native = "NEXTID_MYSQL_NATIVE_PASSWORD=true"
	passwd := exec.CommandContext(t.Context(), binary, "passwd", "--users", users, "app")
	passwd.Env = append(os.Environ(), native)
	passwd.Stdin = strings.NewReader("it's secret\n")
	if out, err := passwd.CombinedOutput(); err != nil {
		t.Fatalf("passwd: %v\n%s", err, out)
	}
	certificate, key := selfSigned(t)
	otherCA, _ := selfSigned(t)
	s := startServer(t, "NEXTID_USERS="+users, native, "NEXTID_TLS_CERT="+certificate, "NEXTID_TLS_KEY="+key, "NEXTID_REQUIRE_TLS=true")
	app := startMariaDB(t)
	app.exec(ordersTable)
	for _, c := range []struct {
		engine, options string
		works           bool
	}{
		{"spider", "&ssl_ca=" + certificate, true},
		{"spider", "", false},
		{"spider", "&ssl_ca=" + otherCA, false},
		{"spider", "&ssl_ca=" + certificate, true},
		{"federated", "", false},
	} {
		t.Run(c.engine+c.options, func(t *testing.T) {
			app.t = t
			needsPlugin(t, app, c.engine)
			config := fillOrders(t, s, "?engine="+c.engine+c.options)
			config.Password = "it's secret"
			err := open(t, app.dsn).Up(t.Context(), config)
			if err == nil {
				app.exec("FLUSH TABLES")
				err = status(t, app.dsn).Asked
			}
			if (err == nil) != c.works {
				t.Errorf("%v, want that it works: %t", err, c.works)
			}
			if c.works {
				app.exec("INSERT INTO shop.orders (note) VALUES ('a')")
			}
		})
	}
}

// TestAccountsOfMariaDB: an account needs rights in the database nextid to call the
// function, but not to insert.
func TestAccountsOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	app.exec(ordersTable)
	app.exec("CREATE USER clerk@localhost, teller@localhost; GRANT INSERT, SELECT ON shop.orders TO clerk@localhost")
	c := fillOrders(t, s, "")
	c.Grant = []string{"teller@localhost"}
	up(t, app.dsn, c)
	address := strings.TrimSuffix(strings.TrimPrefix(app.dsn, "mysql://root@"), "/shop")
	clerk, teller := app.login("clerk@tcp("+address+")/shop"), app.login("teller@tcp("+address+")/")
	if _, err := clerk.ExecContext(t.Context(), "INSERT INTO orders (note) VALUES ('a')"); err != nil {
		t.Errorf("the trigger: %v", err)
	}
	var id int64
	if err := clerk.QueryRowContext(t.Context(), "SELECT nextid.next_id('orders')").Scan(&id); err == nil {
		t.Error("an account without a grant can call the function")
	}
	if err := teller.QueryRowContext(t.Context(), "SELECT nextid.next_id('orders')").Scan(&id); err != nil || id == 0 {
		t.Errorf("with a grant: %v", err)
	}
	if err := teller.QueryRowContext(t.Context(), "SELECT id FROM nextid.ids WHERE name = 'orders'").Scan(&id); err == nil {
		t.Error("an account with a grant for the function can read the tables")
	}
}

func TestDownOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	app.exec(ordersTable)
	if st := status(t, app.dsn); st.Version != 0 || st.Current() {
		t.Errorf("before up: %+v", st)
	}
	done := make(chan error)
	c := fillOrders(t, s, "")
	for range 4 { // at once
		db := open(t, app.dsn)
		go func() { done <- db.Up(context.WithoutCancel(t.Context()), c) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	app.exec("CREATE VIEW shop.later AS SELECT nextid.next_id('later') AS id")
	for _, user := range []string{"trigger shop.nextid_orders_id, view shop.later", "view shop.later"} {
		err := open(t, app.dsn).Down(t.Context())
		if err == nil || !strings.HasSuffix(err.Error(), "in use by "+user) {
			t.Errorf("down: %v, want in use by %s", err, user)
		}
		app.exec("DROP TRIGGER IF EXISTS shop.nextid_orders_id")
	}
	app.exec("DROP VIEW shop.later; DROP TABLE nextid.fills")
	if st := status(t, app.dsn); st.Current() || !st.Dumped {
		t.Errorf("without nextid.fills: %+v", st)
	}
	up(t, app.dsn, c)
	if st := status(t, app.dsn); !st.Current() || len(st.Problems) > 0 {
		t.Errorf("after up: %+v", st)
	}
	app.exec("DROP TRIGGER shop.nextid_orders_id")
	app.exec("CREATE EVENT shop.nightly ON SCHEDULE EVERY 1 DAY DO INSERT INTO shop.orders (note) VALUES (nextid.next_id('later'))")
	if err := open(t, app.dsn).Down(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "in use by event shop.nightly") {
		t.Errorf("down: %v", err)
	}
	app.exec("DROP EVENT shop.nightly; CREATE TABLE nextid.theirs (id INT)")
	if err := open(t, app.dsn).Down(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "in use by table nextid.theirs") {
		t.Errorf("down: %v", err)
	}
	app.exec("DROP TABLE IF EXISTS nextid.theirs")
	// Down was killed while DROP DATABASE waited. Nothing holds the password any more.
	ctx, kill := context.WithCancel(t.Context())
	app.exec("LOCK TABLES nextid.id_parts READ")
	db := open(t, app.dsn)
	go func() { done <- db.Down(ctx) }()
	second := app.login(strings.Replace(strings.Replace(app.dsn, "mysql://root@", "root@tcp(", 1), "/shop", ")/", 1))
	for n := 1; n > 0; {
		if err := second.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM mysql.servers").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	if err := <-done; err == nil {
		t.Error("down did not wait")
	}
	app.exec("UNLOCK TABLES")
	up(t, app.dsn, foreign.Config{Server: c.Server})

	app.exec("CREATE DATABASE shopnextid; CREATE VIEW shopnextid.mine AS SELECT id FROM shop.orders; CREATE VIEW shop.other AS SELECT id FROM shopnextid.mine")
	for range 2 {
		if err := open(t, app.dsn).Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := app.numbers("SELECT (SELECT COUNT(*) FROM mysql.servers) + (SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'nextid')"); n[0] != 0 {
			t.Errorf("down left %d things", n)
		}
	}
	up(t, app.dsn, c)
	app.exec("INSERT INTO shop.orders (note) VALUES ('again')")
}

// TestReplicasOfMariaDB: a replica has neither the server nor the engine. It gets the
// rows, because its own trigger would draw other ids.
func TestReplicasOfMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t, "log-bin=bin", "binlog-format=MIXED")
	app.exec("CREATE TABLE shop.orders (id BIGINT NOT NULL DEFAULT 0 PRIMARY KEY, note TEXT); CREATE USER teller@localhost")
	c := fillOrders(t, s, "")
	c.Grant = []string{"teller@localhost"}
	up(t, app.dsn, c)
	app.exec("INSERT INTO shop.orders (note) VALUES ('drawn'); INSERT INTO shop.orders (id, note) SELECT nextid.next_id('orders'), 'drawn'")
	position := func() (gtid string) {
		if err := app.QueryRowContext(t.Context(), "SELECT @@gtid_binlog_pos").Scan(&gtid); err != nil {
			t.Fatal(err)
		}
		return gtid
	}
	before := position()
	up(t, app.dsn, foreign.Config{Server: c.Server}) // on a replica, which has nothing of its own in its log
	if after := position(); after != before {
		t.Errorf("a second up moved the binary log from %s to %s", before, after)
	}
	rows, err := app.QueryContext(t.Context(), "SHOW BINLOG EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	written := 0
	for rows.Next() {
		var kind, info string
		var skip any
		if err := rows.Scan(&skip, &skip, &kind, &skip, &skip, &info); err != nil {
			t.Fatal(err)
		}
		if kind == "Query" && (strings.Contains(info, "'drawn'") || strings.Contains(info, "FEDERATED") || strings.Contains(info, "id_parts")) {
			t.Errorf("replicas run %s", info)
		}
		if strings.HasPrefix(kind, "Write_rows") {
			written++
		}
	}
	if err := rows.Err(); err != nil || written < 2 {
		t.Errorf("%d events with rows, %v", written, err)
	}
}

// TestRefusedByMariaDB checks the errors of up.
func TestRefusedByMariaDB(t *testing.T) {
	t.Parallel()
	s, app := startServer(t), startMariaDB(t)
	c := fillOrders(t, s, "")
	wantUpError(t, app.dsn, c, "there is no column shop.orders.id", "Create the table")
	c.Fill = nil
	wantUpError(t, app.dsn, foreign.Config{Server: parseServer(t, "postgres://app@"+s.address+"/nextid")}, "over MySQL's protocol", "mysql://")
	engine := foreign.Config{Server: parseServer(t, "mysql://app@"+s.mysql+"/nextid?engine=spider")}
	wantUpError(t, sharedCluster(t).database(t), engine, "engine is for MySQL", "mysql_fdw")
	wantUpError(t, sharedCluster(t).database(t), fillOrders(t, s, ""), "--fill is for MySQL", "SET DEFAULT")
	if err := open(t, app.dsn).Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	app.exec("CREATE DATABASE nextid; CREATE TABLE nextid.theirs (id BIGINT)")
	wantUpError(t, app.dsn, c, "not made by nextid", "another database")
	for _, dsn := range []string{"mysql://root:topsecret@127.0.0.1:1/shop", "mysql://%zz:topsecret@x/shop", "mysql://a:topsecret@x/shop?nonsense=1&tls=none"} {
		if _, err := foreign.Open(t.Context(), dsn); err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for _, url := range []string{"mysql://a@x,y/z", "mysql://a@x/z?engine=innodb", "mysql://a@x/z?sslmode=require", "mysql://a@x/z?ssl_ca=f", "mysql://a@x/z?engine=federated&ssl_ca=f", `mysql://a@x/z?engine=spider&ssl_ca=a"b`, "mysql://a:secret@x/z", "redis://x/y"} {
		if server, err := foreign.ParseServer(url); err == nil {
			t.Errorf("%s: %+v", url, server)
		}
	}
	for _, fill := range []string{"", "orders=orders", "orders.id", "a.b.c.d=e", "orders.id=", "orders.id=it's", ".id=orders", "orders.=orders", `orders.id=a\`} {
		if f, err := foreign.ParseFill(fill); err == nil {
			t.Errorf("%q: %+v", fill, f)
		}
	}
	wantSQL(t, c)
}

// wantSQL checks the text of print: the statements of up, without the password.
func wantSQL(t *testing.T, c foreign.Config) {
	t.Helper()
	c.Password, c.Grant = "topsecret", []string{"teller@10.0.0.%", "PUBLIC", `o'hara\@x`}
	c.Fill = []foreign.Fill{{Database: "shop", Table: "or`ders", Column: "id", Generator: "orders"}}
	text, err := foreign.SQL("mysql://root@db/shop", c)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"INSTALL SONAME 'ha_federatedx'", "CREATE FUNCTION nextid.next_id", "ENGINE=FEDERATED CONNECTION='nextid/ids'", "TO 'teller'@'10.0.0.%'", "TO PUBLIC",
		`TO 'o''hara\\'@'x'`, "CREATE /*M! OR REPLACE */ TRIGGER `shop`.`nextid_or``ders_id` BEFORE INSERT ON `shop`.`or``ders`",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	if strings.Contains(text, "topsecret") || strings.Contains(text, "goose") {
		t.Errorf("the text shows too much:\n%s", text)
	}
}

// TestPrintForMariaDB runs the text of print with MariaDB's client.
func TestPrintForMariaDB(t *testing.T) {
	t.Parallel()
	client, err := exec.LookPath("mariadb")
	if err != nil {
		t.Skip("needs the Debian package mariadb-client")
	}
	s, app := startServer(t), startMariaDB(t)
	app.exec(ordersTable)
	c := fillOrders(t, s, "")
	c.Fill[0].Database = "shop"
	text, err := foreign.SQL(app.dsn, c)
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(app.dsn, "mysql://root@"), "/shop"), ":")
	cmd := exec.Command(client, "--no-defaults", "--protocol=tcp", "-h", host, "-P", port, "-u", "root")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	app.exec("INSERT INTO shop.orders (note) VALUES ('a')")
	app.fails(1146, "SELECT nextid.next_id('Weird Name')")
}

// TestPostgresOverMySQL installs mysql_fdw.
func TestPostgresOverMySQL(t *testing.T) {
	t.Parallel()
	s, cluster := startServer(t), sharedCluster(t)
	dsn := cluster.database(t)
	app := connect(t, dsn, nil)
	if app.text("SELECT count(*)::text FROM pg_available_extensions WHERE name = 'mysql_fdw'") == "0" {
		t.Skip("needs the Debian package postgresql-15-mysql-fdw")
	}
	c := foreign.Config{Server: parseServer(t, "mysql://app@"+s.mysql+"/nextid"), Grant: []string{"PUBLIC"}}
	before := objects(t, dsn)
	for range 2 {
		up(t, dsn, c)
		if st := status(t, dsn); !st.Current() || st.Server != s.mysql {
			t.Fatalf("after up: %+v", st)
		}
	}
	app.exec("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders'), note text)")
	var log history.Log
	record(&log, app.numbers("INSERT INTO orders (note) SELECT n FROM generate_series(1, 50) n RETURNING id"))
	record(&log, app.numbers("INSERT INTO orders (note) VALUES ('a'), ('b') RETURNING id"))
	check(t, &log)
	if kind := app.text("SELECT kind FROM nextid.parse_id((SELECT max(id) FROM orders))"); kind != "snowflake" {
		t.Errorf("parse_id: %s", kind)
	}
	app.fails("22004", "SELECT nextid.next_id(NULL)")
	s.genes()
	app.exec("CREATE TABLE genes AS SELECT n, nextid.next_id_for('gene', n) AS id FROM generate_series(712, 714) n")
	if fields := app.numbers("SELECT p.field FROM genes, nextid.parse_id(id, 'gene') p ORDER BY n"); !slices.Equal(fields, []int64{712, 713, 714}) {
		t.Errorf("fields %d", fields)
	}
	wantUpError(t, dsn, config(t, s), "the other protocol, mysql", "down first")
	app.exec("DROP TABLE orders, genes")
	if err := open(t, dsn).Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := objects(t, dsn); after != before {
		t.Errorf("down left:\n%s", after)
	}
	text, err := foreign.SQL(dsn, c)
	if err != nil {
		t.Fatal(err)
	}
	connect(t, dsn, nil).exec(text)
	up(t, cluster.database(t), config(t, s)) // the other protocol in another database
}
