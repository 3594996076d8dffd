package foreign_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"nextid/dbtest"
	"nextid/generator/history"
	"nextid/migrations/appdb"
	"nextid/migrations/foreign"
)

func config(t *testing.T, s *server) foreign.Config {
	t.Helper()
	return foreign.Config{Server: parseServer(t, s.url()), Grant: []string{"PUBLIC"}}
}

// objects describes everything in a database that is not PostgreSQL's own.
func objects(t *testing.T, dsn string) string {
	t.Helper()
	return connect(t, dsn, nil).text(`
		WITH made AS (
			SELECT 'pg_class'::regclass AS class, oid FROM pg_class UNION ALL SELECT 'pg_proc'::regclass, oid FROM pg_proc
			UNION ALL SELECT 'pg_namespace'::regclass, oid FROM pg_namespace WHERE nspname !~ '^pg_(temp|toast)'
			UNION ALL SELECT 'pg_extension'::regclass, oid FROM pg_extension
			UNION ALL SELECT 'pg_foreign_server'::regclass, oid FROM pg_foreign_server
			UNION ALL SELECT 'pg_foreign_data_wrapper'::regclass, oid FROM pg_foreign_data_wrapper
			UNION ALL SELECT 'pg_user_mapping'::regclass, oid FROM pg_user_mapping)
		SELECT coalesce(string_agg(pg_describe_object(class, oid, 0), E'\n' ORDER BY pg_describe_object(class, oid, 0)), '')
		FROM made WHERE oid >= 16384`)
}

func TestUpDownUp(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	dsn := sharedCluster(t).database(t)
	before := objects(t, dsn)
	if s := status(t, dsn); s.Version != 0 || s.Current() {
		t.Errorf("before up: %+v", s)
	}
	up(t, dsn, config(t, server))
	installed := objects(t, dsn)
	for _, name := range []string{
		"function nextid.next_id(text)", "function nextid.next_id(text,integer)", "function nextid.dblink_next_id(text)",
		"server nextid", "extension postgres_fdw", "extension dblink", "foreign table nextid.ids",
	} {
		if !strings.Contains("\n"+installed+"\n", "\n"+name+"\n") {
			t.Errorf("up did not make %s:\n%s", name, installed)
		}
	}
	s := status(t, dsn)
	if !s.Current() || s.Version != s.Newest || s.Server != server.address || s.Took == 0 {
		t.Errorf("after up: %+v", s)
	}
	up(t, dsn, config(t, server))
	if again := objects(t, dsn); again != installed {
		t.Errorf("a second up changed something:\n%s\nbefore:\n%s", again, installed)
	}
	for range 2 {
		if err := open(t, dsn).Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := objects(t, dsn); after != before {
			t.Errorf("down left:\n%s", after)
		}
	}
	up(t, dsn, config(t, server))
	if again := objects(t, dsn); again != installed {
		t.Errorf("the second way up made\n%s\nthe first made\n%s", again, installed)
	}
}

func TestTwoUpsAtOnce(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	dsn := sharedCluster(t).database(t)
	c := config(t, server)
	done := make(chan error)
	for range 4 {
		db := open(t, dsn)
		go func() { done <- db.Up(context.WithoutCancel(t.Context()), c) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if s := status(t, dsn); !s.Current() {
		t.Errorf("status %+v", s)
	}
}

// TestUpgrade runs up on each older version.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), sharedCluster(t)
	newest := status(t, cluster.database(t)).Newest
	for version := int64(1); version < newest; version++ {
		dsn := cluster.database(t)
		db, err := sql.Open("pgx", dsn+"&default_query_exec_mode=simple_protocol")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA nextid"); err != nil {
			t.Fatal(err)
		}
		p, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS("postgres"), goose.WithTableName("nextid.schema_version"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.UpTo(t.Context(), version); err != nil {
			t.Fatal(err)
		}
		if s := status(t, dsn); s.Version != version || s.Current() {
			t.Errorf("at version %d: %+v", version, s)
		}
		up(t, dsn, config(t, server))
		if s := status(t, dsn); !s.Current() {
			t.Errorf("after the upgrade from version %d: %+v", version, s)
		}
		connect(t, dsn, nil).exec("SELECT nextid.next_id('orders'), nextid.next_id('orders', 5), nextid.dblink_next_id('orders'), (nextid.parse_id(1)).field")
	}
}

func TestDownRefusesWhatIsUsed(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	dsn := sharedCluster(t).install(t, server)
	s := connect(t, dsn, nil)
	for _, use := range []struct{ make, users, drop string }{
		{
			"CREATE TABLE orders (id bigint DEFAULT nextid.next_id('orders', 10)); CREATE VIEW later AS SELECT nextid.next_id('later')",
			"default value for column id of table orders, rule _RETURN on view later", "DROP TABLE orders; DROP VIEW later",
		},
		{
			"CREATE SERVER elsewhere FOREIGN DATA WRAPPER dblink_fdw; CREATE VIEW there AS SELECT * FROM nextid.dblink('elsewhere', 'SELECT 1') AS d (id bigint)",
			"rule _RETURN on view there, server elsewhere", "DROP SERVER elsewhere; DROP VIEW there",
		},
	} {
		s.exec(use.make)
		before := objects(t, dsn)
		err := open(t, dsn).Down(t.Context())
		if e, ok := errors.AsType[*foreign.Error](err); !ok || e.What != "in use by "+use.users {
			t.Errorf("down: %v", err)
		}
		if after := objects(t, dsn); after != before {
			t.Errorf("a refused down changed\n%s\nto\n%s", before, after)
		}
		s.exec(use.drop)
	}
	if err := open(t, dsn).Down(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestExtensionsOfOthers: up uses existing extensions, and down keeps those that
// other objects need.
func TestExtensionsOfOthers(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), sharedCluster(t)

	dsn := cluster.database(t)
	s := connect(t, dsn, nil)
	s.exec(`CREATE SCHEMA "other place"; CREATE EXTENSION dblink SCHEMA "other place"; CREATE EXTENSION postgres_fdw`)
	before := objects(t, dsn)
	up(t, dsn, config(t, server))
	s.exec("SELECT nextid.next_id('orders'), nextid.dblink_next_id('orders')")
	if err := open(t, dsn).Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := objects(t, dsn); after != before {
		t.Errorf("down changed\n%s\nto\n%s", before, after)
	}

	dsn = cluster.install(t, server)
	s = connect(t, dsn, nil)
	s.exec("CREATE SERVER another FOREIGN DATA WRAPPER postgres_fdw")
	if err := open(t, dsn).Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if where := s.text("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'postgres_fdw'"); where != "public" {
		t.Errorf("postgres_fdw is in schema %s", where)
	}
}

// TestAnotherRole: the functions use the user mapping of the role that installed
// them. So another role cannot run up.
func TestAnotherRole(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	dsn := startCluster(t).install(t, server)
	connect(t, dsn, nil).exec("CREATE ROLE second LOGIN SUPERUSER")
	second := strings.Replace(dsn, "postgres@", "second@", 1)
	err := open(t, second).Up(t.Context(), config(t, server))
	if err == nil || !strings.Contains(err.Error(), `installed by role "postgres"`) {
		t.Errorf("up: %v", err)
	}
	up(t, second+"&options=-c%20role%3Dpostgres", config(t, server))
	connect(t, dsn, nil).exec("CREATE ROLE third LOGIN")
	if _, err := open(t, strings.Replace(dsn, "postgres@", "third@", 1)).Status(t.Context()); !strings.Contains(appdb.HintOf(err), "role that ran up") {
		t.Errorf("status of a role without rights: %v, hint %q", err, appdb.HintOf(err))
	}
	if s := status(t, dsn); !s.Current() {
		t.Errorf("status %+v", s)
	}
	if err := open(t, second).Down(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestForeignSchemaIsRefused(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	dsn := sharedCluster(t).database(t)
	s := connect(t, dsn, nil)
	s.exec("CREATE SCHEMA nextid")
	s.exec("CREATE TABLE nextid.mine (n int)")
	err := open(t, dsn).Up(t.Context(), config(t, server))
	if err == nil || !strings.Contains(err.Error(), "not made by nextid") {
		t.Errorf("up: %v", err)
	}
	if err := open(t, dsn).Down(t.Context()); err != nil { // nothing is installed
		t.Error(err)
	}
	s.exec("SELECT FROM nextid.mine")
	s.exec("DROP TABLE nextid.mine")
	up(t, dsn, config(t, server))
}

// TestAnotherServer: a second up connects the application to another server, and
// removes options that are no longer given.
func TestAnotherServer(t *testing.T) {
	t.Parallel()
	first, second := startServer(t), startServer(t)
	dsn := sharedCluster(t).database(t)
	up(t, dsn, foreign.Config{Server: parseServer(t, first.url()+"?fetch_size=7"), Grant: []string{"PUBLIC"}})
	s := connect(t, dsn, nil)
	s.exec("SELECT nextid.next_id('orders'), nextid.dblink_next_id('orders')")
	up(t, dsn, foreign.Config{Server: parseServer(t, second.url())})
	first.kill()
	if got := status(t, dsn); !got.Current() || got.Server != second.address {
		t.Errorf("status %+v", got)
	}
	s.exec("SELECT nextid.next_id('orders')")
	if options := s.text("SELECT array_to_string(srvoptions, ' ') FROM pg_foreign_server"); strings.Contains(options, "fetch_size") {
		t.Errorf("options %s", options)
	}
	second.kill()
	got := status(t, dsn)
	if got.Current() || got.Asked == nil || !strings.Contains(got.Asked.Error(), "Connection refused") {
		t.Errorf("status without a server: %+v", got)
	}
}

func TestPrivileges(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	var log history.Log
	cluster := startCluster(t)
	dsn := cluster.database(t)
	admin := connect(t, dsn, nil)
	admin.exec(`CREATE ROLE "shop's \ $connection$" LOGIN; CREATE ROLE nobody LOGIN`)
	admin.exec(`GRANT CREATE ON SCHEMA public TO PUBLIC`)
	up(t, dsn, foreign.Config{Server: parseServer(t, server.url()), Password: `se'cr$connection$e\t`, Grant: []string{`shop's \ $connection$`}})
	admin.exec(`CREATE ROLE shop LOGIN IN ROLE "shop's \ $connection$"`)

	if users := admin.text("SELECT string_agg(usename, ',') FROM pg_user_mappings WHERE umoptions @> ARRAY[$$user=app$$, $$password=se'cr$connection$e\\t$$]"); users != "postgres" {
		t.Errorf("the password was not set as given: %q", users)
	}
	shop := connect(t, strings.Replace(dsn, "postgres@", "shop@", 1), &log)
	shop.exec("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders', 3), n int)")
	shop.draws(10, "orders", "INSERT INTO orders (n) SELECT generate_series(1, 10) RETURNING id")
	shop.draws(1, "single", "SELECT nextid.next_id('single')")
	shop.draws(4, "single", "SELECT nextid.next_ids('single', 4)")
	shop.draws(1, "single", "SELECT nextid.dblink_next_id('single')")
	shop.exec("SELECT * FROM nextid.parse_id(123)")
	for _, sql := range []string{
		"SELECT * FROM nextid.ids", "SELECT * FROM nextid.id_batch", "SELECT * FROM nextid.schema_version",
		"SELECT setval('nextid.place_1', 1)", "SELECT last_value FROM nextid.place_1",
		"SELECT * FROM nextid.dblink('_nextid', 'SELECT next_id(''x'')') AS d (id bigint)",
		"CREATE TABLE nextid.t (n int)", "DROP FUNCTION nextid.next_id(text)",
	} {
		shop.fails("42501", sql)
	}
	if shop.version() >= 140000 {
		shop.fails("42501", "SELECT nextid.postgres_fdw_disconnect_all()")
	}
	if options := shop.numbers("SELECT count(*) FROM pg_user_mappings WHERE umoptions IS NOT NULL"); options[0] != 0 {
		t.Error("the application's role sees the login at the server")
	}

	nobody := connect(t, strings.Replace(dsn, "postgres@", "nobody@", 1), nil)
	for _, call := range []string{"next_id('x')", "next_id('x', 2)", "next_ids('x', 2)", "dblink_next_id('x')", "next_run('x', 2, NULL)", "next_id_for('x', 2)", "parse_id(1)"} {
		nobody.fails("42501", "SELECT nextid."+call)
	}

	// A role that may create operators and functions cannot make nextid's functions
	// use them.
	admin.exec("CREATE SCHEMA AUTHORIZATION nobody")
	nobody.exec("GRANT USAGE ON SCHEMA nobody TO PUBLIC")
	nobody.exec(`CREATE FUNCTION nobody.evil(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'evil'; END $$`)
	for _, operator := range []string{"=", "<", ">="} {
		nobody.exec("CREATE OPERATOR nobody." + operator + " (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = nobody.evil)")
	}
	nobody.exec(`CREATE FUNCTION nobody.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0::bigint'`)
	shop.exec("SET search_path = nobody, pg_catalog")
	if err := shop.try("SELECT 1::bigint = 1::bigint"); err == nil {
		t.Error("the operators do not come first: this proves nothing")
	}
	shop.draws(7, "orders", "SELECT nextid.next_id('orders', 3) FROM public.orders LIMIT 7")
	shop.exec("SELECT nextid.next_id('single'), nextid.dblink_next_id('single'), nextid.parse_id(1), nextid.next_ids('single', 2)")
	check(t, &log)
}

// TestFlagsOfFunctions checks the volatility and the parallel safety of the
// functions. Those with the owner's rights have a search_path of their own.
func TestFlagsOfFunctions(t *testing.T) {
	t.Parallel()
	s := connect(t, sharedCluster(t).install(t, startServer(t)), nil)
	wrong := s.text(`SELECT coalesce(string_agg(f.oid::regprocedure::text, ', '), '') FROM pg_proc f
		WHERE pronamespace = 'nextid'::regnamespace AND proname <> 'partition_ddl' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = f.oid AND d.deptype = 'e')
		AND NOT (proparallel = 's' AND provolatile <> 'v' AND (NOT prosecdef OR proconfig[1] = 'search_path=pg_catalog, pg_temp')) -- those that ask no server
		AND NOT (proparallel = 'u' AND provolatile = CASE proname WHEN 'parse_id' THEN 's' ELSE 'v' END::"char"
			AND (NOT prosecdef AND proname = 'next_id' AND pronargs = 2 OR prosecdef AND proconfig[1] ~ '^search_path=pg_catalog, (nextid, )?pg_temp$'))`)
	if wrong != "" {
		t.Errorf("flags of %s", wrong)
	}
}

// TestPasswordIsNotLogged: neither with all statements logged, nor if up fails.
func TestPasswordIsNotLogged(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	cluster := startCluster(t, "log_statement=all", "log_min_duration_statement=0", "log_min_error_statement=debug5")
	dsn := cluster.database(t)
	c := config(t, server)
	c.Password = "topsecret"
	up(t, dsn, c)
	up(t, dsn, c)
	directory := connect(t, dsn, nil).text("SELECT current_setting('data_directory')")
	out, err := exec.Command("grep", "-c", "CREATE SERVER", directory+"/../log").Output()
	if err != nil || strings.TrimSpace(string(out)) == "0" {
		t.Fatalf("the log does not show what up does: %v", err)
	}
	if out, _ := exec.Command("grep", "topsecret", directory+"/../log").Output(); len(out) > 0 {
		t.Errorf("the log shows the password:\n%s", out)
	}
}

// TestWithoutSuperuser: once an administrator has made the extensions and granted
// their use, an ordinary role can run up.
func TestWithoutSuperuser(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), startCluster(t)
	dsn := cluster.database(t)
	admin := connect(t, dsn, nil)
	admin.exec("CREATE ROLE deployer LOGIN; CREATE ROLE shop2 LOGIN")
	mine := strings.Replace(dsn, "postgres@", "deployer@", 1)
	err := open(t, mine).Up(t.Context(), config(t, server))
	e, ok := errors.AsType[*foreign.Error](err)
	if !ok || !strings.Contains(e.What, "42501") {
		t.Fatalf("up of a role without rights: %v", err)
	}
	_, list, _ := strings.Cut(e.Hint, ": ")
	grants, _, ok := strings.Cut(list, " Then")
	if !ok {
		t.Fatalf("the hint lacks the statements: %q", e.Hint)
	}
	admin.exec(grants)
	up(t, mine, foreign.Config{Server: parseServer(t, server.url()), Password: "x", Unasked: true, Grant: []string{"shop2"}})

	// The server of this test needs no password. PostgreSQL allows that to
	// superusers only, or if one of them sets password_required.
	s := status(t, mine)
	if s.Asked == nil || !strings.Contains(s.Asked.Error(), "password") {
		t.Errorf("status %+v", s)
	}
	admin.exec("ALTER USER MAPPING FOR deployer SERVER nextid OPTIONS (ADD password_required 'false')")
	if s := status(t, mine); !s.Current() {
		t.Errorf("status %+v", s)
	}
	shop := connect(t, strings.Replace(dsn, "postgres@", "shop2@", 1), nil)
	shop.exec("SELECT nextid.next_id('orders'), nextid.next_id('orders', 5)")
	shop.fails("42883", "SELECT nextid.dblink_next_id('orders')") // dblink is not there
	if err := open(t, mine).Down(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestUsers: a server with users requires a password. PostgreSQL then allows an
// owner that is no superuser.
func TestUsers(t *testing.T) {
	t.Parallel()
	server := &server{t: t, data: t.TempDir(), address: "127.0.0.1:0", mysql: "127.0.0.1:0"}
	passwd := func(password string) {
		t.Helper()
		cmd := exec.Command(binary, "passwd", "app", "--data", server.data)
		cmd.Stdin = strings.NewReader(password + "\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("passwd: %v\n%s", err, out)
		}
	}
	passwd("first password")
	server.start()
	t.Cleanup(server.kill)

	dsn := startCluster(t).database(t)
	admin := connect(t, dsn, nil)
	admin.exec("CREATE ROLE deployer3 LOGIN")
	admin.exec("GRANT CREATE ON DATABASE " + admin.text("SELECT current_database()") + " TO deployer3")
	admin.exec("CREATE EXTENSION postgres_fdw; GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO deployer3; CREATE EXTENSION dblink")
	dsn = strings.Replace(dsn, "postgres@", "deployer3@", 1)
	c := config(t, server)
	for _, wrong := range []string{"", "guessed"} {
		c.Password, c.Unasked = wrong, true
		up(t, dsn, c)
		if s := status(t, dsn); s.Current() || s.Asked == nil || !strings.Contains(s.Asked.Error(), "password") {
			t.Errorf("with password %q: %+v", wrong, s)
		}
	}
	c.Password = "first password"
	up(t, dsn, c)
	if s := status(t, dsn); !s.Current() {
		t.Errorf("status %+v", s)
	}
	s := connect(t, dsn, nil)
	const draw = "SELECT nextid.next_id('orders'), nextid.next_id('orders', 5), nextid.dblink_next_id('orders')"
	s.exec(draw)

	// A new password ends connections with the old one, and needs a second up.
	passwd("second password")
	server.signal(syscall.SIGHUP)
	for deadline := time.Now().Add(patience); s.try(draw) == nil; { // until the server has read the file
		if time.Now().After(deadline) {
			t.Fatal("the old password still draws")
		}
	}
	c.Password = "second password"
	up(t, dsn, c)
	if s := status(t, dsn); !s.Current() {
		t.Fatalf("status %+v", s)
	}
	s.exec(draw)
}

// TestTLS: the options of --server reach libpq, which checks the server's
// certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	certificate, key := selfSigned(t)
	server := startServer(t, "NEXTID_TLS_CERT="+certificate, "NEXTID_TLS_KEY="+key, "NEXTID_REQUIRE_TLS=true")
	dsn := sharedCluster(t).database(t)
	c := config(t, server)
	c.Unasked = true
	for options, works := range map[string]bool{
		"?sslmode=disable": false, "?sslmode=require": true,
		"?sslmode=verify-full": false, "?sslmode=verify-full&sslrootcert=" + certificate: true,
	} {
		c.Server = parseServer(t, server.url()+options)
		up(t, dsn, c)
		if s := status(t, dsn); s.Current() != works {
			t.Errorf("%s: %+v", options, s)
		} else if works {
			connect(t, dsn, nil).exec("SELECT nextid.next_id('orders'), nextid.dblink_next_id('orders')")
		}
	}
}

// selfSigned makes a certificate in a directory that PostgreSQL's user can
// enter, unlike t.TempDir.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "nextid-tls")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	certificate, key = dbtest.Certificate(t, dir)
	return certificate, key
}

// TestDumpAndRestore: a copy of the application's database draws from the same
// server, and keeps the grants.
func TestDumpAndRestore(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), sharedCluster(t)
	dsn, second := cluster.install(t, server), cluster.database(t)
	var log history.Log
	s := connect(t, dsn, &log)
	s.exec("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders', 10), note text)")
	s.draws(5, "orders", "INSERT INTO orders (note) SELECT 'x' FROM generate_series(1, 5) RETURNING id")
	dump, err := exec.Command(dbtest.PostgresProgram(t, "pg_dump"), dsn).Output()
	if err != nil {
		t.Fatal(err)
	}
	restore := exec.Command(dbtest.PostgresProgram(t, "psql"), "-qX", "-v", "ON_ERROR_STOP=1", second)
	restore.Stdin = bytes.NewReader(dump)
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if s := status(t, second); !s.Current() {
		t.Errorf("status %+v", s)
	}
	other := connect(t, second, &log)
	const add = "INSERT INTO orders (note) SELECT 'y' FROM generate_series(1, 20) RETURNING id"
	for range 2 {
		other.draws(20, "orders", add)
		s.draws(20, "orders", add)
	}
	if rights := other.text("SELECT string_agg(DISTINCT proacl::text, ' ') FROM pg_proc WHERE proname = 'dblink'"); rights != "{postgres=X/postgres}" {
		t.Errorf("dblink may be called by %s", rights)
	}
	check(t, &log)
}

func TestParseServer(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://ids":                            "ids:5433",
		"postgres://app@ids:6000/other":             "ids:6000",
		"postgresql://a:1,b/x":                      "a:1,b:5433",
		"postgres://[::1]:7/x?sslmode=verify-full":  "::1:7",
		"postgres:///x?host=/run/nextid&port=6000":  "/run/nextid:6000",
		"postgres://app@ids/x?sslcert=/a&options=b": "ids:5433",
		"mysql://app@ids/x?engine=spider":           "ids:3307",
	} {
		if s := parseServer(t, url); s.Address() != want {
			t.Errorf("%s is %s, not %s", url, s.Address(), want)
		}
	}
	if options := parseServer(t, "postgres://ids/x?options=b").Options["options"]; options != "b" {
		t.Errorf("options of the URL became %q", options)
	}
	for _, url := range []string{
		"", "ids:5433", "mysql://", "redis://ids", "postgres://", "postgres:///x", "postgres://app:secret@ids/x", "postgres://ids/x?password=secret",
		"postgres://ids/x?user=a", "postgres://ids/x?a%20b=c", "postgres://ids/x?options=%00", "postgres://a%0Ab@ids/x", "postgres://%zz@ids", "postgres://ids:x", "postgres://a:1,b:70000",
	} {
		if s, err := foreign.ParseServer(url); err == nil {
			t.Errorf("%q was read as %+v", url, s)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password: %v", url, err)
		}
	}
}

// TestPrint: print shows the statements that up runs.
func TestPrint(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	cluster := sharedCluster(t)
	dsn := cluster.database(t)
	c := config(t, server)
	c.Password = "topsecret"
	text, err := foreign.SQL(dsn, c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "topsecret") || strings.Contains(text, "goose") || strings.Contains(text, "DROP SERVER") {
		t.Errorf("print shows too much:\n%s", text)
	}
	connect(t, dsn, nil).exec(text)
	connect(t, dsn, nil).exec("SELECT nextid.next_id('orders'), nextid.next_id('orders', 5), nextid.dblink_next_id('orders')")

	for _, dsn := range []string{"mysql://root@localhost/shop", "sqlite:x", "", "postgres"} {
		if _, err := foreign.SQL(dsn, c); err == nil {
			t.Errorf("print for %q", dsn)
		}
		if _, err := foreign.Open(t.Context(), dsn); err == nil && !strings.HasPrefix(dsn, "mysql:") {
			t.Errorf("open %q", dsn)
		}
	}
}
