package foreign

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
)

// mysqlApp is an application's MariaDB or MySQL.
type mysqlApp struct {
	Database
	database string // of the URL: the default for Fill
}

func openMySQL(ctx context.Context, url string) (*Database, error) {
	config, database, err := mysqlConfig(url)
	if err != nil {
		return nil, err
	}
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(hints.Explain(err), db.Close())
	}
	m := &mysqlApp{Database{
		db: db, dialect: goose.DialectMySQL, folder: "mysql",
		lock: "SELECT GET_LOCK('nextid.migrate', 60)", unlock: "DO RELEASE_LOCK('nextid.migrate')", // waits 60 s at most
		versioned: "SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_schema = 'nextid' AND table_name = 'schema_version'",
		newest: "SELECT MAX(version_id) FROM " + versionTable + " WHERE EXISTS (SELECT * FROM information_schema.routines WHERE routine_schema = 'nextid' AND routine_name = 'next_id')" +
			" AND EXISTS (SELECT * FROM information_schema.tables WHERE table_schema = 'nextid' AND table_name = 'fills')",
		users:     mysqlUsers,
		free:      "Drop them first, such as DROP TRIGGER ….",
		drop:      []string{"DROP SERVER IF EXISTS nextid", "DROP DATABASE nextid"}, // killed between them, Down can be repeated
		ask:       "SELECT COUNT(*) FROM nextid.id_parts WHERE id = 0",
		functions: "SELECT FALSE",
	}, database}
	m.Up, m.present, m.problems = m.install, m.installed, m.fillProblems
	m.adopt = func(ctx context.Context) error { // all migrations run again: they keep tables, and replace functions
		return appdb.Exec(ctx, db, "DELETE FROM "+versionTable, "INSERT INTO "+versionTable+" (version_id, is_applied) VALUES (0, TRUE)")
	}
	return &m.Database, nil
}

// mysqlConfig parses a URL. A missing password is taken from $MYSQL_PWD. The
// database is returned separately: the connection itself has none.
func mysqlConfig(text string) (config *mysqldriver.Config, database string, err error) {
	if config, err = appdb.MySQLConfig(text); err != nil {
		return nil, "", err
	}
	config.Passwd = cmp.Or(config.Passwd, os.Getenv("MYSQL_PWD"))
	database, config.DBName = config.DBName, ""
	return config, database, nil
}

// install implements Up.
func (m *mysqlApp) install(ctx context.Context, c Config) error {
	fills, err := asksMySQL(c, m.database)
	if err != nil {
		return err
	}
	return m.locked(ctx, func() error {
		if err := m.ownSchema(ctx); err != nil {
			return err
		}
		if err := m.migrate(ctx); err != nil {
			return err
		}
		was, password, err := m.installed(ctx)
		if err != nil {
			return err
		}
		c := c.keep(was, password, protocolMySQL)
		if err = m.connect(ctx, c); err == nil && !c.Unasked {
			err = unanswered(appdb.Exec(ctx, m.db, m.ask), func() string { return diagnose(ctx, c.Server, c.Password) })
		}
		if err != nil {
			if len(was.Options) > 0 { // CREATE SERVER cannot be rolled back
				err = errors.Join(err, m.connect(ctx, Config{Server: was, Password: password}))
			}
			return err
		}
		for _, f := range fills {
			if err := m.fill(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// installed implements present.
func (m *mysqlApp) installed(ctx context.Context) (s Server, password string, err error) {
	var host, port, database, name, comment string
	err = m.db.QueryRowContext(ctx, `SELECT s.Host, s.Port, s.Db, s.Username, s.Password, COALESCE(t.engine, ''), COALESCE(t.table_comment, '')
		FROM mysql.servers s LEFT JOIN information_schema.tables t ON t.table_schema = 'nextid' AND t.table_name = 'id_fields' AND t.engine IN ('FEDERATED', 'SPIDER')
		WHERE s.Server_name = 'nextid'`).
		Scan(&host, &port, &database, &s.User, &password, &name, &comment)
	if errors.Is(err, sql.ErrNoRows) {
		return s, "", nil
	}
	s.Protocol = protocolMySQL
	s.Options = map[string]string{"dbname": database, "engine": strings.ToLower(name), "host": host, "port": port}
	_, file, _ := strings.Cut(comment, `ssl_ca "`)
	s.Options["ssl_ca"], _, _ = strings.Cut(file, `"`)
	return s, password, err
}

// diagnose connects to the server from this machine, and returns a hint, "" for none. The engines
// do not pass on the errors of the server.
func diagnose(ctx context.Context, s Server, password string) (hint string) {
	db, err := s.open(password)
	if err != nil {
		return ""
	}
	defer db.Close()
	err = db.PingContext(ctx)
	e, answered := errors.AsType[*mysqldriver.MySQLError](err)
	switch {
	case err == nil:
		return "It answers from here: may the database's machine reach that address, and does the user have mysql_native_password (docs/foreign.md)?"
	case answered && e.Number == 1045:
		return "nextid refuses the user or its password: NEXTID_FOREIGN_PASSWORD, and nextid passwd with mysql_native_password: true."
	case answered && e.Number == 3159:
		return "nextid requires TLS, which only SPIDER speaks: ?engine=spider&ssl_ca=FILE."
	case answered:
		return fmt.Sprintf("nextid says: %s (error %d).", e.Message, e.Number)
	}
	return "From here it cannot be reached either: is nextid running where --server says?"
}

// asksMySQL returns an error if the configuration is not for MySQL. Otherwise it
// returns c.Fill with database in place of an empty one.
func asksMySQL(c Config, database string) (fills []Fill, err error) {
	if len(c.Server.Options) > 0 && c.Server.Protocol != protocolMySQL {
		return nil, &Error{
			What: "a MySQL database asks over MySQL's protocol, and --server is not a mysql:// URL",
			Hint: "Write --server mysql://nextid@HOST:3307/nextid.",
		}
	}
	if c.FunctionsOnly || len(c.Layouts) > 0 {
		return nil, &Error{
			What: "--functions-only and --layout are for PostgreSQL",
			Hint: "Compute a bound on the nextid server: SELECT id_floor('orders', '2026-01-01').",
		}
	}
	for _, f := range c.Fill {
		if f.Database = cmp.Or(f.Database, database); f.Database == "" {
			return nil, &Error{What: "--fill: in which database is the table " + f.Table + "?", Hint: "Name it in --dsn, or write DATABASE.TABLE.COLUMN."}
		}
		fills = append(fills, f)
	}
	return fills, nil
}

// ownSchema creates the database nextid. It returns an error if a database of that
// name exists that nextid did not make.
func (m *mysqlApp) ownSchema(ctx context.Context) error {
	var tables, ours int
	err := m.db.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(table_name = 'schema_version'), 0)
		FROM information_schema.tables WHERE table_schema = 'nextid'`).Scan(&tables, &ours)
	switch {
	case err != nil || ours > 0:
		return err
	case tables > 0:
		return &Error{
			What: "the server has a database nextid that was not made by nextid migrate foreign",
			Hint: "If it is nextid's own store, give that another database.",
		}
	}
	return appdb.Exec(ctx, m.db, "CREATE DATABASE IF NOT EXISTS nextid")
}

// connect sets the server's address and login, makes the tables that read from the
// server, and grants.
func (m *mysqlApp) connect(ctx context.Context, c Config) error {
	e := c.Server.engine()
	if err := m.load(ctx, e); err != nil {
		return err
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// If this account may, it keeps the password out of the general log, and the tables
	// out of the binary log: replicas have no such server, and would stop.
	log := func(on bool) {
		_ = appdb.Exec(context.WithoutCancel(ctx), conn, fmt.Sprintf("SET SESSION sql_log_off = %t", !on))
		_ = appdb.Exec(context.WithoutCancel(ctx), conn, fmt.Sprintf("SET SESSION sql_log_bin = %t", on))
	}
	log(false)
	defer log(true)
	was, _, err := m.installed(ctx)
	if err != nil {
		return err
	}
	tables := tablesSQL(e)
	if was.Options["engine"] == "" || was.engine() != e {
		tables = "DROP TABLE IF EXISTS nextid.ids, nextid.id_parts, nextid.id_fields, nextid.id_batch;" + tables
	}
	if err := appdb.Exec(ctx, conn, serverSQL(c, len(was.Options) > 0, c.Password)); err != nil {
		return err
	}
	if _, kept, err := m.installed(ctx); err != nil || kept != c.Password {
		return cmp.Or(err, error(&Error{
			What: "mysql.servers does not keep this password: it has 64 characters, no spaces at the end, and no emoji",
			Hint: "Give the user another one: nextid passwd " + c.Server.User,
		}))
	}
	// FLUSH closes connections to the old address.
	return appdb.Exec(ctx, conn, slices.Concat([]string{tables, "FLUSH TABLES nextid.ids, nextid.id_fields, nextid.id_parts"}, mysqlGrants(c))...)
}

// engine is a storage engine that reads another server's tables.
type engine struct {
	name    string // in information_schema.engines
	library string // MariaDB's plugin
	debian  string // Debian package of the plugin
	batches bool   // reads several rows of one key, so nextid.id_batch works

	authority string // CA file for nextid's certificate, on the database's machine; "": no TLS
}

var engines = map[string]engine{
	"federated": {name: "FEDERATED", library: "ha_federatedx", debian: "mariadb-server"},
	"spider":    {name: "SPIDER", library: "ha_spider", debian: "mariadb-plugin-spider", batches: true},
}

// end returns the end of CREATE TABLE: the engine, the remote table, and with SPIDER
// how to check nextid's certificate.
func (e engine) end(table string) string {
	if e.name != "SPIDER" {
		return "ENGINE=" + e.name + " CONNECTION='nextid/" + table + "'"
	}
	comment := `wrapper "mysql", srv "nextid", table "` + table + `"`
	if e.authority != "" {
		comment += `, ssl_ca "` + e.authority + `", ssl_verify_server_cert "1"`
	}
	return "ENGINE=SPIDER COMMENT='" + comment + "'"
}

// load installs the plugin of an engine if the database does not have the engine.
func (m *mysqlApp) load(ctx context.Context, e engine) error {
	var loaded bool
	var version string
	err := m.db.QueryRowContext(ctx, "SELECT COUNT(*) > 0, VERSION() FROM information_schema.engines WHERE engine = ? AND support IN ('YES', 'DEFAULT')", e.name).
		Scan(&loaded, &version)
	if loaded || err != nil {
		return err
	}
	if !strings.Contains(version, "MariaDB") {
		return &Error{
			What: "the engine " + e.name + " is not enabled in this MySQL",
			Hint: "MySQL has FEDERATED only, and only when its configuration says federated.",
		}
	}
	if err := appdb.Exec(ctx, m.db, "INSTALL SONAME '"+e.library+"'"); err != nil {
		return &Error{
			What: "the engine " + e.name + " cannot be loaded: " + hints.Explain(err).Error(), Err: err,
			Hint: "On Debian it is in the package " + e.debian + "; MariaDB may have to start with plugin-maturity=unknown, and the account needs INSERT on mysql.plugin.",
		}
	}
	if e.name != "SPIDER" {
		return nil
	}
	for range 200 { // SPIDER creates its system tables in the background, within 10 s
		var n int
		err := m.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'mysql' AND table_name = 'spider_tables'").Scan(&n)
		if n > 0 || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// serverSQL returns the statement that creates the server in the database, or alters
// it.
func serverSQL(c Config, there bool, password string) string {
	verb := "CREATE SERVER nextid FOREIGN DATA WRAPPER mysql"
	if there {
		verb = "ALTER SERVER nextid"
	}
	return fmt.Sprintf("%s OPTIONS (HOST %s, PORT %s, DATABASE %s, USER %s, PASSWORD %s)", verb, appdb.LiteralMySQL(c.Server.Options["host"]),
		c.Server.Options["port"], appdb.LiteralMySQL(c.Server.Options["dbname"]), appdb.LiteralMySQL(c.Server.User), appdb.LiteralMySQL(password))
}

// tablesSQL returns the statements that make the tables of an engine.
func tablesSQL(e engine) string {
	files := []string{"tables"}
	if e.batches {
		files = append(files, "batches")
	}
	return filled("mysql/connect/", files, strings.NewReplacer(
		"{{at ids}}", e.end("ids"), "{{at id_fields}}", e.end("id_fields"), "{{at id_parts}}", e.end("id_parts"), "{{at id_batch}}", e.end("id_batch"),
	))
}

// mysqlGrants returns the statements that grant the functions to the accounts of a
// configuration.
func mysqlGrants(c Config) (grants []string) {
	for _, account := range c.Grant {
		name, host, ok := strings.Cut(account, "@")
		if !ok {
			host = "%"
		}
		quoted := appdb.LiteralMySQL(name) + "@" + appdb.LiteralMySQL(host)
		if strings.EqualFold(account, "public") {
			quoted = "PUBLIC"
		}
		grants = append(grants, "GRANT EXECUTE ON FUNCTION nextid.next_id TO "+quoted,
			"GRANT EXECUTE ON FUNCTION nextid.next_id_for TO "+quoted, "GRANT SELECT ON nextid.id_parts TO "+quoted)
		if c.Server.engine().batches {
			grants = append(grants, "GRANT SELECT ON nextid.id_batch TO "+quoted)
		}
	}
	return grants
}

// mysqlUsers lists the triggers, routines, events and views that use the database
// nextid, and the tables of others in it.
const mysqlUsers = `
	SELECT user FROM (
	SELECT CONCAT('trigger ', trigger_schema, '.', trigger_name) AS user, action_statement AS text FROM information_schema.triggers
	UNION ALL SELECT CONCAT(LOWER(routine_type), ' ', routine_schema, '.', routine_name), routine_definition
		FROM information_schema.routines WHERE routine_schema <> 'nextid'
	UNION ALL SELECT CONCAT('event ', event_schema, '.', event_name), event_definition FROM information_schema.events
	UNION ALL SELECT CONCAT('table ', table_schema, '.', table_name), 'nextid.' FROM information_schema.tables
		WHERE table_schema = 'nextid' AND table_name NOT IN ('ids', 'id_fields', 'id_parts', 'id_batch', 'fills', 'schema_version')
	UNION ALL SELECT CONCAT('view ', table_schema, '.', table_name), view_definition FROM information_schema.views) AS texts
	WHERE REPLACE(text, CHAR(96), '') REGEXP '(^|[^[:alnum:]_$])nextid[.]' ORDER BY 1`

// mysqlSQL returns all statements that Up runs on a new database.
func mysqlSQL(dsn string, c Config) (string, error) {
	_, database, err := mysqlConfig(dsn)
	if err != nil {
		return "", err
	}
	fills, err := asksMySQL(c, database)
	if err != nil {
		return "", err
	}
	text, err := migrationsText("mysql", "DELIMITER //\n", "//\nDELIMITER ;\n")
	if err != nil {
		return "", err
	}
	c = c.keep(Server{}, "", protocolMySQL)
	e := c.Server.engine()
	var all strings.Builder
	fmt.Fprintf(&all, "CREATE DATABASE nextid;\n%s\n-- ---- connection ----\nINSTALL SONAME '%s';\n%s; -- and the password\n%s\n",
		text, e.library, serverSQL(c, false, ""), tablesSQL(e))
	for _, grant := range mysqlGrants(c) {
		all.WriteString(grant + ";\n")
	}
	for _, f := range fills {
		fmt.Fprintf(&all, "\nDELIMITER //\n%s//\nDELIMITER ;\n", f.sql(""))
	}
	return all.String(), nil
}
