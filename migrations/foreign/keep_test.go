package foreign_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nextid/dbtest"
	"nextid/migrations/foreign"
)

// usersServer starts a server with the user app and a password.
func usersServer(t *testing.T, password string) *server {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users")
	environ := []string{"NEXTID_MYSQL_NATIVE_PASSWORD=true"}
	passwd := exec.CommandContext(t.Context(), binary, "passwd", "--users", users, "app")
	passwd.Env = append(os.Environ(), environ...)
	passwd.Stdin = strings.NewReader(password + "\n")
	if out, err := passwd.CombinedOutput(); err != nil {
		t.Fatalf("passwd: %v\n%s", err, out)
	}
	return startServer(t, append(environ, "NEXTID_USERS="+users)...)
}

// kept checks, for both kinds of database, that up keeps what is not given, and does
// not apply an address or a password with which the server does not answer.
func kept(t *testing.T, dsn string, c foreign.Config, dead foreign.Server, hint string) {
	t.Helper()
	c.Password = "first password"
	up(t, dsn, c)
	current := func() {
		t.Helper()
		if s := status(t, dsn); !s.Current() {
			t.Fatalf("status %+v", s)
		}
	}
	up(t, dsn, foreign.Config{KeepPassword: true})
	current()
	for _, wrong := range []foreign.Config{
		{Server: c.Server, Password: "wrong"}, {Server: c.Server}, {Server: dead, KeepPassword: true},
	} {
		wantUpError(t, dsn, wrong, "the server does not answer the database, so address and password are as before", "--unasked")
		current()
	}
	wantUpError(t, dsn, foreign.Config{Server: c.Server, Password: "wrong"}, "", hint)
	up(t, dsn, foreign.Config{Server: dead, KeepPassword: true, Unasked: true})
	if s := status(t, dsn); s.Asked == nil {
		t.Errorf("status %+v", s)
	}
	up(t, dsn, foreign.Config{Server: c.Server, KeepPassword: true})
	current()
}

func TestUpKeepsWhatIsNotGiven(t *testing.T) {
	t.Parallel()
	s := usersServer(t, "first password")
	dsn := sharedCluster(t).database(t)
	kept(t, dsn, config(t, s), parseServer(t, "postgres://app@127.0.0.1:1/nextid"), "")
	app := connect(t, dsn, nil)
	app.exec("SELECT nextid.next_id('orders'), nextid.dblink_next_id('orders')")
	// The grants stay: those of PUBLIC, too, and no more.
	app.exec("SET ROLE pg_monitor; SELECT nextid.next_id('orders'), nextid.id_time(1); RESET ROLE; REVOKE USAGE ON SCHEMA nextid FROM PUBLIC")
	up(t, dsn, foreign.Config{KeepPassword: true})
	app.exec("GRANT USAGE ON SCHEMA nextid TO PUBLIC; SET ROLE pg_monitor")
	app.fails("42501", "SELECT nextid.next_id('orders')")
}

func TestUpAndStatusOnMariaDB(t *testing.T) {
	t.Parallel()
	s, app := usersServer(t, "first password"), startMariaDB(t)
	app.exec(ordersTable)
	c := fillOrders(t, s, "")
	t.Run("kept", func(t *testing.T) {
		app.t = t
		kept(t, app.dsn, c, parseServer(t, "mysql://app@127.0.0.1:1/nextid"), "nextid refuses the user or its password")
	})
	c.KeepPassword = true
	up(t, app.dsn, c)
	t.Run("tables and passwords", func(t *testing.T) {
		app.t = t
		needsPlugin(t, app, "spider")
		for range 2 { // FederatedX connects when it makes a table, SPIDER does not
			for _, password := range []string{strings.Repeat("x", 65), "at the end ", "\U0001F600"} {
				wantUpError(t, app.dsn, foreign.Config{Server: c.Server, Password: password}, "does not keep this password", "nextid passwd app")
			}
			wantUpError(t, app.dsn, foreign.Config{Server: parseServer(t, "mysql://app@127.0.0.1:1/nextid"), Password: "first password"}, "", "")
			app.exec("INSERT INTO shop.orders (note) VALUES ('still')")
			c.Server = parseServer(t, "mysql://app@"+s.mysql+"/nextid?engine=spider")
			up(t, app.dsn, c)
		}
		for _, table := range []string{"ids", "id_parts", "id_fields", "ids, nextid.id_fields"} { // an up was killed
			app.exec("DROP TABLE nextid." + table)
			if st := status(t, app.dsn); st.Current() || st.Server != s.mysql || len(st.Problems) != 1 || !strings.Contains(st.Problems[0], "are missing") {
				t.Errorf("without %s: %+v", table, st)
			}
			up(t, app.dsn, foreign.Config{KeepPassword: true})
			app.exec("INSERT INTO shop.orders (note) VALUES ('again')")
			if st := status(t, app.dsn); !st.Current() {
				t.Errorf("%+v", st)
			}
		}
	})
	t.Run("columns that hold no id", func(t *testing.T) {
		app.t = t
		for _, kind := range []string{"INT NOT NULL AUTO_INCREMENT", "VARCHAR(40) NOT NULL DEFAULT ''", "DECIMAL(12) NOT NULL DEFAULT 0"} {
			app.exec("CREATE OR REPLACE TABLE shop.small (id " + kind + " PRIMARY KEY)")
			wantUpError(t, app.dsn, foreign.Config{KeepPassword: true, Fill: []foreign.Fill{{Table: "small", Column: "id", Generator: "small"}}},
				"does not hold an id of 64 bits", "MODIFY `id` BIGINT")
		}
		app.exec("CREATE OR REPLACE TABLE shop.small (id DECIMAL(20) NOT NULL DEFAULT 0 PRIMARY KEY)")
		up(t, app.dsn, foreign.Config{KeepPassword: true, Fill: []foreign.Fill{{Table: "small", Column: "id", Generator: "small"}}})
		app.exec("INSERT INTO shop.small () VALUES ()")
		app.exec("DROP TABLE shop.small")
	})
	t.Run("status checks the triggers", func(t *testing.T) {
		app.t = t
		problem := func(text string) {
			t.Helper()
			if s := status(t, app.dsn); s.Current() || len(s.Problems) != 1 || !strings.Contains(s.Problems[0], text) {
				t.Errorf("status %+v, want %q", s, text)
			}
		}
		app.exec("DROP TRIGGER shop.nextid_orders_id")
		problem("the column shop.orders.id has no trigger any more: run up with --fill shop.orders.id=orders")
		app.exec("CREATE TRIGGER shop.nextid_orders_id BEFORE INSERT ON shop.orders FOR EACH ROW SET NEW.note = 'x'")
		problem("has a trigger that was changed")
		up(t, app.dsn, c)
		app.exec("TRUNCATE shop.orders; ALTER TABLE shop.orders MODIFY id INT AUTO_INCREMENT")
		problem("does not hold an id of 64 bits")
		app.exec("ALTER TABLE shop.orders MODIFY id BIGINT NOT NULL AUTO_INCREMENT")
		if s := status(t, app.dsn); !s.Current() {
			t.Errorf("status %+v", s)
		}
	})
	t.Run("the trigger of import_generator", func(t *testing.T) {
		app.t = t
		// As generator/takeover makes it.
		const fence = "CREATE TRIGGER shop.orders_nextid BEFORE INSERT ON shop.orders FOR EACH ROW " +
			"IF NEW.id IS NULL OR NEW.id = 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'fenced'; END IF"
		app.exec(fence)
		app.exec("INSERT INTO shop.orders (note) VALUES ('first the fill, then the fence')")
		app.exec("DROP TRIGGER shop.nextid_orders_id; DROP TRIGGER shop.orders_nextid; " + fence)
		app.fails(1644, "INSERT INTO shop.orders (note) VALUES ('x')")
		app.exec("CREATE TRIGGER shop.nextid_orders_id BEFORE INSERT ON shop.orders FOR EACH ROW SET NEW.id = nextid.next_id('orders')")
		if s := status(t, app.dsn); len(s.Problems) != 1 || !strings.Contains(s.Problems[0], "behind the one of import_generator") {
			t.Errorf("status %+v", s)
		}
		up(t, app.dsn, c)
		app.exec("INSERT INTO shop.orders (note) VALUES ('first the fence, then the fill')")
		if s := status(t, app.dsn); !s.Current() {
			t.Errorf("status %+v", s)
		}
	})
	t.Run("of an earlier build", func(t *testing.T) {
		app.t = t
		app.exec("ALTER TABLE nextid.fills CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci; DELETE FROM nextid.schema_version WHERE version_id = 5")
		app.exec("CREATE OR REPLACE FUNCTION nextid.next_id(generator VARCHAR(128)) RETURNS BIGINT READS SQL DATA RETURN (SELECT ids.id FROM nextid.ids WHERE ids.name = generator)")
		app.exec("CREATE TABLE shop.ORDERS LIKE shop.orders")
		if s := status(t, app.dsn); s.Current() || s.Asked != nil || len(s.Problems) > 0 {
			t.Errorf("status %+v", s)
		}
		up(t, app.dsn, foreign.Config{KeepPassword: true, Fill: []foreign.Fill{c.Fill[0], {Table: "ORDERS", Column: "id", Generator: "orders"}}})
		if n := app.numbers("SELECT COUNT(*) FROM nextid.fills WHERE table_name IN ('orders', 'ORDERS')"); n[0] != 2 {
			t.Errorf("nextid.fills has %d rows", n)
		}
		app.fails(1146, "SELECT nextid.next_id(NULL)")
		app.exec("INSERT INTO shop.orders (note) VALUES ('x'); DROP TABLE shop.ORDERS")
		if s := status(t, app.dsn); !s.Current() {
			t.Errorf("status %+v", s)
		}
	})
	t.Run("a dump without rows", func(t *testing.T) {
		app.t = t
		app.exec("DELETE FROM nextid.schema_version; DELETE FROM nextid.fills")
		if s := status(t, app.dsn); s.Version != 0 || s.Current() {
			t.Errorf("status %+v", s)
		}
		up(t, app.dsn, c)
		app.exec("INSERT INTO shop.orders (note) VALUES ('y')")
		if s := status(t, app.dsn); !s.Current() {
			t.Errorf("status %+v", s)
		}
		// mariadb-dump without --routines
		app.exec("DROP FUNCTION nextid.next_id; DROP FUNCTION nextid.next_id_for")
		if s := status(t, app.dsn); !s.Dumped || s.Current() {
			t.Errorf("status %+v", s)
		}
		up(t, app.dsn, foreign.Config{KeepPassword: true})
		app.exec("INSERT INTO shop.orders (note) VALUES ('z')")
		if s := status(t, app.dsn); !s.Current() || len(app.numbers("SELECT 1 FROM nextid.fills")) == 0 {
			t.Errorf("status %+v", s)
		}
	})
}

// TestDumpsOfPostgres: after the restore of a dump without rows, up is needed. The
// owner of an application can dump without the schema nextid.
func TestDumpsOfPostgres(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), startCluster(t)
	dsn, second, third := cluster.install(t, server), cluster.database(t), cluster.database(t)
	s := connect(t, dsn, nil)
	s.exec("CREATE ROLE clerk LOGIN; GRANT CREATE ON SCHEMA public TO clerk; SET ROLE clerk; CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders', 10), note text)")
	dump := func(arguments ...string) []byte {
		t.Helper()
		out, err := exec.Command(dbtest.PostgresProgram(t, "pg_dump"), arguments...).Output()
		if err != nil {
			t.Fatalf("pg_dump %v: %v", arguments, err)
		}
		return out
	}
	restore := func(dsn string, text []byte) {
		t.Helper()
		cmd := exec.Command(dbtest.PostgresProgram(t, "psql"), "-qX", "-v", "ON_ERROR_STOP=1", dsn)
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	restore(second, dump("-s", dsn))
	if s := status(t, second); s.Version != 0 || s.Current() || !s.Dumped || s.Server != server.address || s.Asked != nil {
		t.Errorf("status %+v", s)
	}
	up(t, second, config(t, server))
	if s := status(t, second); !s.Current() {
		t.Errorf("status %+v", s)
	}
	connect(t, second, nil).exec("INSERT INTO orders (note) VALUES ('x')")

	owner := strings.Replace(dsn, "postgres@", "clerk@", 1)
	if err := exec.Command(dbtest.PostgresProgram(t, "pg_dump"), owner).Run(); err == nil {
		t.Error("pg_dump by the owner works with our schema: the page says that it does not")
	}
	up(t, third, config(t, server))
	connect(t, third, nil).exec("GRANT CREATE ON SCHEMA public TO clerk")
	restore(strings.Replace(third, "postgres@", "clerk@", 1), dump("-t", "public.*", owner))
	connect(t, third, nil).exec("INSERT INTO orders (note) VALUES ('x')")
}
