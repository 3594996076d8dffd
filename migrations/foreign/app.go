package foreign

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
)

// versionTable is the table in which goose records the migrations of schema nextid.
const versionTable = "nextid.schema_version"

// app migrates the schema nextid in an application's database. The fields hold what
// differs between databases.
type app struct {
	db         *sql.DB
	dialect    goose.Dialect
	migrations fs.FS

	versioned string                                    // query: does versionTable exist?
	users     string                                    // query: names of objects of others that use nextid's
	free      string                                    // hint for users
	drop      []string                                  // statements that drop the rest after all migrations are undone
	server    func(ctx context.Context) (string, error) // returns the address of the configured server
	ask       string                                    // query that nextid answers without drawing an id
	functions string                                    // query: do the functions exist that need no server? "": there are none

	adopt    func(ctx context.Context) error             // makes a restored dump without rows usable
	problems func(ctx context.Context) ([]string, error) // returns Status.Problems; may be nil
}

// filled returns the text of SQL files, with words replaced.
func filled(files fs.FS, dir string, names []string, words *strings.Replacer) (string, error) {
	var all strings.Builder
	for _, name := range names {
		text, err := fs.ReadFile(files, dir+name+".sql")
		if err != nil {
			return "", err
		}
		all.WriteString(words.Replace(string(text)))
	}
	return all.String(), nil
}

// Close implements Database.
func (a *app) Close() error { return a.db.Close() }

// provider returns goose's provider for this database.
func (a *app) provider() (*goose.Provider, error) {
	return goose.NewProvider(a.dialect, a.db, a.migrations,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true))
}

// dumped reports whether the schema was restored from a dump without rows, so that
// no version is recorded.
func (a *app) dumped(ctx context.Context) (bool, error) {
	var there bool
	if err := a.db.QueryRowContext(ctx, a.versioned).Scan(&there); err != nil || !there {
		return false, err
	}
	var versions int
	err := a.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+versionTable).Scan(&versions)
	return versions == 0, err
}

// migrate applies the missing migrations.
func (a *app) migrate(ctx context.Context) error {
	if err := a.adoptDumped(ctx); err != nil {
		return err
	}
	provider, err := a.provider()
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// adoptDumped calls adopt if the schema was restored from a dump without rows.
func (a *app) adoptDumped(ctx context.Context) error {
	dumped, err := a.dumped(ctx)
	if err != nil || !dumped {
		return err
	}
	return a.adopt(ctx)
}

// uninstall implements Down, under the lock.
func (a *app) uninstall(ctx context.Context) error {
	version, err := a.version(ctx)
	if err != nil || version < 0 {
		return err
	}
	if err := a.unused(ctx); err != nil {
		return err
	}
	if err := a.adoptDumped(ctx); err != nil {
		return err
	}
	provider, err := a.provider()
	if err != nil {
		return err
	}
	if _, err := provider.DownTo(ctx, 0); err != nil {
		return err
	}
	for _, statement := range a.drop {
		if _, err := a.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// unused returns an error that names the objects of others that use nextid's.
func (a *app) unused(ctx context.Context) error {
	users, err := appdb.Texts(ctx, a.db, a.users)
	if err != nil || len(users) == 0 {
		return err
	}
	const shown = 5
	more := ""
	if n := len(users) - shown; n > 0 {
		users, more = users[:shown], fmt.Sprintf(" and %d more", n)
	}
	return &Error{What: "in use by " + strings.Join(users, ", ") + more, Hint: a.free}
}

// version returns the newest applied migration; -1 if versionTable does not exist.
func (a *app) version(ctx context.Context) (int64, error) {
	var there bool
	if err := a.db.QueryRowContext(ctx, a.versioned).Scan(&there); err != nil || !there {
		return -1, err
	}
	if dumped, err := a.dumped(ctx); err != nil || dumped {
		return 0, err
	}
	provider, err := a.provider()
	if err != nil {
		return 0, err
	}
	return provider.GetDBVersion(ctx)
}

// Status implements Database.
func (a *app) Status(ctx context.Context) (Status, error) {
	s, err := a.status(ctx)
	s.Asked = hints.Explain(s.Asked)
	return s, hints.Explain(err)
}

func (a *app) status(ctx context.Context) (s Status, err error) {
	names, err := migrationNames(a.migrations)
	if err != nil {
		return s, err
	}
	s.Newest = int64(len(names))
	s.Version, err = a.version(ctx)
	s.Version = max(s.Version, 0)
	if err == nil && s.Version == 0 {
		s.Dumped, err = a.dumped(ctx)
	}
	if err == nil && s.Version == 0 && !s.Dumped && a.functions != "" {
		err = a.db.QueryRowContext(ctx, a.functions).Scan(&s.Functions)
	}
	if err != nil || s.Version == 0 && !s.Dumped {
		return s, err
	}
	if s.Server, err = a.server(ctx); err != nil {
		return s, err
	}
	start := time.Now()
	_, s.Asked = a.db.ExecContext(ctx, a.ask)
	s.Took = time.Since(start)
	if a.problems != nil {
		s.Problems, err = a.problems(ctx)
	}
	return s, err
}

// migrationNames lists the migrations, oldest first. They are numbered from 1
// without gaps.
func migrationNames(folder fs.FS) ([]string, error) {
	names, err := fs.Glob(folder, "*.sql")
	slices.Sort(names)
	return names, err
}

// migrationsText returns the statements of the Up parts of all migrations of a
// folder.
func migrationsText(folder fs.FS) (string, error) {
	names, err := migrationNames(folder)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return "", err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		fmt.Fprintf(&all, "\n-- ---- %s ----\n", name)
		for line := range strings.Lines(up) {
			if !strings.HasPrefix(line, "-- +goose") {
				all.WriteString(line)
			}
		}
	}
	return all.String(), nil
}

// hints explains errors of databases that connect to nextid.
var hints = appdb.Hints{
	"2F003": "PostgreSQL lets a role that is no superuser connect only with a password that the server asks for: nextid needs users (nextid passwd), and NEXTID_FOREIGN_PASSWORD the password of the one in --server. Or run up as a superuser.",

	"1045": "The account or its password is wrong: the one of --dsn, or the one of --server with NEXTID_FOREIGN_PASSWORD.",
	"1227": "Run it as an account that may create databases and servers, such as root.",
	"1429": noAnswer,
	"1434": noAnswer,
}

// noAnswer is the hint of the errors by which FederatedX and SPIDER replace all
// others.
const noAnswer = "The engine does not say why. Is nextid running where --server says, may the database's machine reach it, are user and password right, and does nextid ask for TLS? Its log tells."
