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

// versionTable is in the schema that it tells the version of.
const versionTable = "nextid.schema_version"

// app holds what the databases of applications have in common: the schema
// nextid in them, which goose migrates.
type app struct {
	db         *sql.DB
	dialect    goose.Dialect
	migrations fs.FS

	versioned string   // a query: does versionTable exist?
	users     string   // a query: the objects that use ours, by name
	free      string   // what to do about them
	drop      []string // what is left when all migrations are undone
	server    func(ctx context.Context) (string, error)
	ask       string // a query that nextid answers, without drawing an id
	functions string // a query: are the functions there that ask no server? "" where there are none

	adopt    func(ctx context.Context) error             // makes an installation of what a dump without rows brought
	problems func(ctx context.Context) ([]string, error) // what is wrong with triggers, may be nil
}

// filled is the text of some SQL files with their {{words}} replaced.
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

// provider is goose on this database.
func (a *app) provider() (*goose.Provider, error) {
	return goose.NewProvider(a.dialect, a.db, a.migrations,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true))
}

// dumped reports whether the schema came with a dump that holds no rows, so
// that no version is noted.
func (a *app) dumped(ctx context.Context) (bool, error) {
	var there bool
	if err := a.db.QueryRowContext(ctx, a.versioned).Scan(&there); err != nil || !there {
		return false, err
	}
	var versions int
	err := a.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+versionTable).Scan(&versions)
	return versions == 0, err
}

// migrate applies the migrations that are missing.
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

func (a *app) adoptDumped(ctx context.Context) error {
	dumped, err := a.dumped(ctx)
	if err != nil || !dumped {
		return err
	}
	return a.adopt(ctx)
}

// uninstall removes what Up installed. It refuses while an object uses it.
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

// unused refuses when other objects need ours, and names them.
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

// version is the newest migration applied, -1 when there is not even a place
// to note it.
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
// without holes, which a test checks.
func migrationNames(folder fs.FS) ([]string, error) {
	names, err := fs.Glob(folder, "*.sql")
	slices.Sort(names)
	return names, err
}

// migrationsText is the text of the migrations of a folder.
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

// hints say what to do about errors that come up when servers ask each other.
var hints = appdb.Hints{
	"2F003": "PostgreSQL lets a role that is no superuser connect only with a password that the server asks for: nextid needs users (nextid passwd), and NEXTID_FOREIGN_PASSWORD the password of the one in --server. Or run up as a superuser.",

	"1045": "The account or its password is wrong: the one of --dsn, or the one of --server with NEXTID_FOREIGN_PASSWORD.",
	"1227": "Run it as an account that may create databases and servers, such as root.",
	"1429": noAnswer,
	"1434": noAnswer,
}

// noAnswer is for the errors that FederatedX and SPIDER turn all others into.
const noAnswer = "The engine does not say why. Is nextid running where --server says, may the database's machine reach it, are user and password right, and does nextid ask for TLS? Its log tells."
