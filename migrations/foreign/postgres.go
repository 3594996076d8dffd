package foreign

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
)

// postgresFolders maps the protocol between the database and nextid to a folder of
// migrations: for postgres_fdw, or for mysql_fdw.
var postgresFolders = map[string]string{protocolPostgres: "postgres", protocolMySQL: "postgres_mysql"}

// upLock is the key of the advisory lock under which the schema changes: "nextid".
const upLock int64 = 0x6e6578746964

// postgres is an application's PostgreSQL.
type postgres struct{ Database }

func openPostgres(ctx context.Context, dsn string) (*Database, error) {
	db, err := appdb.OpenPostgres(dsn)
	if err != nil {
		return nil, err
	}
	p := &postgres{Database{
		db: db, dialect: goose.DialectPostgres,
		lock:      fmt.Sprintf("SELECT 1 FROM pg_catalog.pg_advisory_lock(%d)", upLock),
		unlock:    fmt.Sprintf("SELECT pg_catalog.pg_advisory_unlock(%d)", upLock),
		versioned: "SELECT to_regclass('" + versionTable + "') IS NOT NULL",
		newest:    "SELECT MAX(version_id) FROM " + versionTable,
		users:     postgresUsers,
		free:      "Drop them first, such as ALTER TABLE … ALTER COLUMN id DROP DEFAULT. What uses dblink: ALTER EXTENSION dblink SET SCHEMA public.",
		drop:      []string{"DROP TABLE " + versionTable + "; " + dropLayouts + "; DROP SCHEMA nextid"}, // one implicit transaction
		ask:       "SELECT FROM nextid.parse_id(0)",
		functions: "SELECT to_regproc('nextid.layout_of') IS NOT NULL",
		problems:  func(context.Context) ([]string, error) { return nil, nil },
	}}
	p.Up, p.present, p.adopt = p.install, p.server, p.adoptDump
	protocol, err := p.installed(ctx)
	if err != nil {
		return nil, errors.Join(hints.Explain(err), db.Close())
	}
	p.folder = postgresFolders[cmp.Or(protocol, protocolPostgres)]
	return &p.Database, nil
}

// installed returns the protocol of the installed foreign server, "" for none.
func (p *postgres) installed(ctx context.Context) (protocol string, err error) {
	err = p.db.QueryRowContext(ctx, `SELECT coalesce((SELECT CASE w.fdwname WHEN 'mysql_fdw' THEN '`+protocolMySQL+`' ELSE '`+protocolPostgres+`' END
		FROM pg_catalog.pg_foreign_server s JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
		WHERE s.srvname = 'nextid' AND to_regclass('`+versionTable+`') IS NOT NULL), '')`).Scan(&protocol)
	return protocol, err
}

// install implements Up.
func (p *postgres) install(ctx context.Context, c Config) error {
	if err := asksPostgres(c); err != nil {
		return err
	}
	err := p.locked(ctx, func() error {
		if err := p.ownSchema(ctx); err != nil {
			return err
		}
		was, password, err := p.server(ctx)
		if err != nil {
			return err
		}
		granted, err := appdb.Texts(ctx, p.db, `SELECT DISTINCT CASE u.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(u.grantee) END
			FROM pg_proc f JOIN pg_namespace s ON s.oid = f.pronamespace, aclexplode(f.proacl) x, aclexplode(s.nspacl) u
			WHERE s.nspname = 'nextid' AND f.proname = CASE WHEN $1 THEN 'layout_of' ELSE 'next_id' END
				AND x.grantee = u.grantee AND u.privilege_type = 'USAGE' AND u.grantee <> s.nspowner`, c.FunctionsOnly)
		if err != nil {
			return err
		}
		c.Grant = append(granted, c.Grant...)
		if c.FunctionsOnly {
			return p.functionsOnly(ctx, c)
		}
		c = c.keep(was, password, protocolPostgres)
		layouts, err := p.layouts(ctx, c)
		if err != nil {
			return err
		}
		if was.Protocol != "" && was.Protocol != c.Server.Protocol {
			return &Error{
				What: "what is installed asks over the other protocol, " + was.Protocol,
				Hint: "Run nextid migrate foreign down first.",
			}
		}
		p.folder = postgresFolders[c.Server.Protocol]
		if err := p.migrate(ctx); err != nil {
			return err
		}
		return p.connect(ctx, layouts+connectionSQL(c), c)
	})
	if appdb.Says(err, "42501") {
		err = p.missingRights(ctx, c, err)
	}
	return err
}

// missingRights adds a hint to the error of a missing right: the statements that a
// superuser has to run first.
func (p *postgres) missingRights(ctx context.Context, c Config, denied error) error {
	wrapper := "postgres_fdw"
	if c.FunctionsOnly {
		wrapper = ""
	} else if c.Server.Protocol == protocolMySQL {
		wrapper = "mysql_fdw"
	}
	statements, err := appdb.Texts(ctx, p.db, `
		SELECT statement FROM (VALUES
			(1, NOT has_database_privilege(current_database(), 'CREATE') AND to_regnamespace('nextid') IS NULL,
				format('GRANT CREATE ON DATABASE %I TO %I;', current_database(), CURRENT_USER)),
			(2, $1 <> '' AND NOT EXISTS (SELECT FROM pg_extension WHERE extname = $1), format('CREATE EXTENSION %I;', $1)),
			(3, $1 <> '' AND NOT EXISTS (SELECT FROM pg_foreign_data_wrapper WHERE fdwname = $1 AND has_foreign_data_wrapper_privilege(oid, 'USAGE')),
				format('GRANT USAGE ON FOREIGN DATA WRAPPER %I TO %I;', $1, CURRENT_USER))
		) AS rights (n, missing, statement) WHERE missing ORDER BY n`, wrapper)
	if err != nil || len(statements) == 0 {
		return denied
	}
	return &Error{
		What: hints.Explain(denied).Error(), Err: denied,
		Hint: "As a superuser, run in this database: " + strings.Join(statements, " ") + " Then run up again.",
	}
}

// functionsOnly installs the functions that need no server.
func (p *postgres) functionsOnly(ctx context.Context, c Config) error {
	provider, err := p.adopted(ctx)
	if err != nil {
		return err
	}
	if _, err := provider.GetDBVersion(ctx); err != nil { // creates versionTable
		return err
	}
	layouts, err := p.layouts(ctx, c)
	if err != nil {
		return err
	}
	return appdb.Exec(ctx, p.db, layouts+grantsSQL(c, "grant_layouts"))
}

// layouts returns the SQL of the functions that need no server. If the server does
// not list its generators, installed functions stay: the result is empty.
func (p *postgres) layouts(ctx context.Context, c Config) (string, error) {
	if len(c.Server.Options) > 0 {
		more, standard, err := c.Server.generators(ctx, c)
		switch {
		case err == nil:
			c.Layouts, c.defaultLayout = append(more, c.Layouts...), standard
		case c.FunctionsOnly:
			return "", &Error{What: "the server does not name its generators: " + hints.Explain(err).Error(), Err: err, Hint: "Leave --server out, and name them with --layout GENERATOR=LAYOUT."}
		default:
			if c.Note != nil {
				c.Note(fmt.Sprintf("nextid.id_floor does not know the generators of %s: %v", c.Server.Address(), hints.Explain(err)))
			}
			var there bool
			if err := p.db.QueryRowContext(ctx, p.functions).Scan(&there); err != nil || there && len(c.Layouts) == 0 {
				return "", err
			}
		}
	}
	return layoutsSQL(c), nil
}

// server implements present.
func (p *postgres) server(ctx context.Context) (s Server, password string, err error) {
	if s.Protocol, err = p.installed(ctx); err != nil || s.Protocol == "" {
		return s, "", err
	}
	texts, err := appdb.Texts(ctx, p.db, `SELECT unnest(srvoptions) FROM pg_foreign_server WHERE srvname = 'nextid'
		UNION ALL SELECT unnest(umoptions) FROM pg_user_mappings WHERE srvname = 'nextid' AND usename = CURRENT_USER`)
	s.Options = map[string]string{}
	for _, text := range texts {
		switch name, value, _ := strings.Cut(text, "="); name {
		case "user", "username":
			s.User = value
		case "password":
			password = value
		default:
			s.Options[name] = value
		}
	}
	return s, password, err
}

// adoptDump records the migrations whose objects were restored from a dump without
// rows.
func (p *postgres) adoptDump(ctx context.Context) error {
	return appdb.Exec(ctx, p.db, `INSERT INTO `+versionTable+` (version_id, is_applied)
		SELECT v, true FROM (VALUES (0, true), (1, to_regclass('nextid.ids') IS NOT NULL),
			(2, to_regproc('nextid.next_ids') IS NOT NULL), (3, to_regproc('nextid.dblink_next_id') IS NOT NULL),
			(4, to_regproc('nextid.next_ids') IS NOT NULL AND to_regproc('nextid.next_id_for') IS NOT NULL),
			(5, to_regproc('nextid.public_uuid') IS NOT NULL)) AS made (v, there)
		WHERE there ORDER BY v`)
}

// asksPostgres returns an error if the configuration is not for PostgreSQL.
func asksPostgres(c Config) error {
	switch {
	case c.Server.Options["engine"] != "":
		return &Error{What: "--server: engine is for MySQL and MariaDB", Hint: "PostgreSQL asks over MySQL's protocol with mysql_fdw."}
	case len(c.Fill) > 0:
		return &Error{
			What: "--fill is for MySQL and MariaDB",
			Hint: "In PostgreSQL, write ALTER TABLE … ALTER COLUMN id SET DEFAULT nextid.next_id('…').",
		}
	}
	return nil
}

// ownSchema creates the schema nextid. It returns an error if the schema exists and
// was not made by nextid, or was made by another role.
func (p *postgres) ownSchema(ctx context.Context) error {
	var foreign, others bool
	var owner string
	err := p.db.QueryRowContext(ctx, `SELECT ours IS NULL AND (EXISTS (SELECT FROM pg_class WHERE relnamespace = s.oid)
				OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = s.oid)),
			ours IS NOT NULL AND pg_get_userbyid(s.nspowner) <> CURRENT_USER, pg_get_userbyid(s.nspowner)
		FROM pg_namespace s, to_regclass('`+versionTable+`') ours WHERE s.nspname = 'nextid'`).Scan(&foreign, &others, &owner)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case foreign:
		return &Error{
			What: "the database has a schema nextid that was not made by nextid migrate foreign",
			Hint: "Rename it: ALTER SCHEMA nextid RENAME TO …;",
		}
	case others: // the functions run as their owner, and need that role's user mapping
		return &Error{
			What: fmt.Sprintf("installed by role %q, not by this one", owner),
			Hint: "Log in as that role, or run down as a superuser first. A superuser can also add options=-c%20role%3DROLE to the URL.",
		}
	}
	return appdb.Exec(ctx, p.db, `DO $$ BEGIN
		IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'nextid') THEN CREATE SCHEMA nextid; END IF;
	END $$`)
}

// connect applies the configuration in one transaction. Before it commits, it
// queries the server (unless c.Unasked), and rolls back if that fails. A superuser
// also turns off the logging of statements for this transaction, which hold the
// password.
func (p *postgres) connect(ctx context.Context, connection string, c Config) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	const quiet = `SELECT pg_catalog.set_config(name, value, true)
		FROM (VALUES ('log_statement', 'none'), ('log_min_duration_statement', '-1'), ('log_min_error_statement', 'panic')) AS quiet (name, value)
		WHERE (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER)`
	if err := appdb.Exec(ctx, tx, quiet, "SELECT pg_catalog.set_config('nextid.password', "+literal(c.Password)+", true)", connection); err != nil {
		return err
	}
	if !c.Unasked {
		if err := appdb.Exec(ctx, tx, p.ask); err != nil {
			return unanswered(err, func() string { return "" })
		}
	}
	return tx.Commit()
}

// postgresUsers lists the objects of others that depend on nextid's. Dependencies of
// type a are included: before PostgreSQL 15, DROP FUNCTION drops generated columns
// that call the function. The dblink that Up made is dropped; postgres_fdw moves if
// it is in use.
const postgresUsers = `
	WITH made AS (
		SELECT 'pg_proc'::regclass AS class, f.oid FROM pg_proc f WHERE f.pronamespace = 'nextid'::regnamespace
		UNION ALL SELECT 'pg_class'::regclass, c.oid FROM pg_class c WHERE c.relnamespace = 'nextid'::regnamespace
		UNION ALL SELECT 'pg_foreign_server'::regclass, s.oid FROM pg_foreign_server s WHERE s.srvname = 'nextid'
	), ours AS ( -- without what belongs to an extension
		SELECT * FROM made m WHERE NOT EXISTS
			(SELECT FROM pg_depend d WHERE d.classid = m.class AND d.objid = m.oid AND d.deptype = 'e')
		UNION ALL SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
			WHERE d.deptype = 'e' AND e.extname = 'dblink' AND e.extnamespace = 'nextid'::regnamespace)
	SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid)
	FROM pg_depend d JOIN ours ON d.refclassid = ours.class AND d.refobjid = ours.oid
	WHERE (d.deptype = 'n' OR d.deptype = 'a' AND d.objsubid > 0) AND d.classid <> 'pg_user_mapping'::regclass
		AND NOT EXISTS (SELECT FROM ours o WHERE o.class = d.classid AND o.oid = d.objid)
	ORDER BY 1`

// postgresSQL returns all statements that Up runs on a new database.
func postgresSQL(c Config) (string, error) {
	if err := asksPostgres(c); err != nil {
		return "", err
	}
	c = c.keep(Server{}, "", protocolPostgres)
	if c.FunctionsOnly {
		return "CREATE SCHEMA nextid;\n" + layoutsSQL(c) + grantsSQL(c, "grant_layouts"), nil
	}
	text, err := migrationsText(postgresFolders[c.Server.Protocol], "", "")
	return fmt.Sprintf("CREATE SCHEMA nextid;\n%s\n-- ---- layouts ----\n%s\n-- ---- connection ----\n%s", text, layoutsSQL(c), connectionSQL(c)), err
}

// ofUser lists the options that belong to the user mapping.
var ofUser = []string{"sslcert", "sslkey", "sslcrl", "password_required"}

// connectionSQL returns the statements that set the server, the login and the
// grants.
func connectionSQL(c Config) string {
	server, user := map[string]string{}, map[string]string{"user": c.Server.User}
	for name, value := range c.Server.Options {
		if slices.Contains(ofUser, name) {
			user[name] = value
		} else {
			server[name] = value
		}
	}
	grant, timeType := "grant", "timestamptz"
	if c.Server.Protocol == protocolMySQL { // with mysql_fdw the database is an option of the tables
		delete(server, "dbname")
		user = map[string]string{"username": c.Server.User}
		grant, timeType = "grant_mysql", "timestamp"
	}
	return filled(connectDir, []string{"parse_id", "connection"}, strings.NewReplacer(
		"{{time}}", timeType, "{{server options}}", array(server), "{{user options}}", array(user))) + grantsSQL(c, grant, "grant_layouts")
}

// connectDir holds the scripts that every Up runs.
const connectDir = "postgres/connect/"

// grantsSQL grants the functions to the roles of a configuration, and revokes them
// from PUBLIC.
func grantsSQL(c Config, files ...string) string {
	text := "\nREVOKE ALL ON ALL FUNCTIONS IN SCHEMA nextid FROM PUBLIC;\n"
	for _, role := range c.Grant {
		quoted := pgx.Identifier{role}.Sanitize()
		if strings.EqualFold(role, "public") {
			quoted = "PUBLIC"
		}
		text += filled(connectDir, files, strings.NewReplacer("{{role}}", quoted))
	}
	return text
}

// array returns an SQL array in which names and values of options alternate.
func array(options map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		texts = append(texts, literal(name), literal(options[name]))
	}
	return "ARRAY[" + strings.Join(texts, ", ") + "]"
}

// literal returns a string constant that may stand inside a dollar-quoted string.
func literal(s string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, `$`, `\x24`).Replace(s) + "'"
}

// unanswered returns the error of an Up whose server did not answer. diagnose returns a
// better hint than that of err, or "".
func unanswered(err error, diagnose func() string) error {
	if err = hints.Explain(err); err == nil {
		return nil
	}
	return &Error{
		What: "the server does not answer the database, so address and password are as before: " + err.Error(), Err: err,
		Hint: strings.TrimSpace(cmp.Or(diagnose(), appdb.HintOf(err)) + " To apply them before the server is there, add --unasked."),
	}
}
