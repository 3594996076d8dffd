package foreign

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"nextid/migrations"
	"nextid/migrations/appdb"
)

//go:embed mysql postgres postgres_mysql
var files embed.FS

// versionTable is the table in which goose records the migrations of schema nextid.
const versionTable = "nextid.schema_version"

// Database is one application's database. The fields hold what differs between
// PostgreSQL and MySQL.
type Database struct {
	db      *sql.DB
	dialect goose.Dialect
	folder  string // of the migrations

	lock, unlock string   // queries: lock returns 1 if it has the lock
	versioned    string   // query: does versionTable exist?
	newest       string   // query: the newest applied migration, NULL after a restore without rows, functions or tables
	users        string   // query: names of objects of others that use nextid's
	free         string   // hint for users
	drop         []string // statements that drop the rest after all migrations are undone
	ask          string   // query that nextid answers without drawing an id
	functions    string   // query: do the functions exist that need no server?

	// Up installs missing objects and applies the configuration. A second Up with the
	// same configuration changes nothing.
	Up       func(ctx context.Context, c Config) error
	present  func(ctx context.Context) (s Server, password string, err error) // returns the installed server, and the password of its user
	adopt    func(ctx context.Context) error                                  // makes a dump usable of which version returned dumped
	problems func(ctx context.Context) ([]string, error)                      // returns Status.Problems
}

// filled returns the text of embedded SQL files, with words replaced.
func filled(dir string, names []string, words *strings.Replacer) string {
	var all strings.Builder
	for _, name := range names {
		text, err := files.ReadFile(dir + name + ".sql")
		if err != nil {
			panic(err) // names are constants
		}
		all.WriteString(words.Replace(string(text)))
	}
	return all.String()
}

// Close closes the connections.
func (a *Database) Close() error { return a.db.Close() }

// locked runs f under the lock.
func (a *Database) locked(ctx context.Context, f func() error) error {
	conn, err := a.db.Conn(ctx)
	if err != nil {
		return hints.Explain(err)
	}
	defer conn.Close()
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, a.lock).Scan(&got); err != nil {
		return hints.Explain(err)
	}
	if got.Int64 != 1 {
		return &Error{What: "another nextid migrate is at work", Hint: "Wait until it is done."}
	}
	return hints.Explain(errors.Join(f(), appdb.Exec(context.WithoutCancel(ctx), conn, a.unlock)))
}

// version returns the newest applied migration, and whether versionTable exists.
// dumped: the schema was restored from a dump without rows, or without functions.
func (a *Database) version(ctx context.Context) (version int64, there, dumped bool, err error) {
	if err = a.db.QueryRowContext(ctx, a.versioned).Scan(&there); err != nil || !there {
		return 0, false, false, err
	}
	var newest sql.NullInt64
	err = a.db.QueryRowContext(ctx, a.newest).Scan(&newest)
	return newest.Int64, true, err == nil && !newest.Valid, err
}

// adopted calls adopt if the schema was restored from such a dump. It returns goose's
// provider.
func (a *Database) adopted(ctx context.Context) (*goose.Provider, error) {
	_, _, dumped, err := a.version(ctx)
	if err == nil && dumped {
		err = a.adopt(ctx)
	}
	if err != nil {
		return nil, err
	}
	return migrations.Provider(a.dialect, a.db, files, a.folder, versionTable)
}

// migrate applies the missing migrations.
func (a *Database) migrate(ctx context.Context) error {
	provider, err := a.adopted(ctx)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// Down removes everything that Up installed. If another object in the database
// depends on it, Down returns an error and changes nothing.
func (a *Database) Down(ctx context.Context) error {
	return a.locked(ctx, func() error {
		if _, there, _, err := a.version(ctx); err != nil || !there {
			return err
		}
		if err := a.unused(ctx); err != nil {
			return err
		}
		provider, err := a.adopted(ctx)
		if err != nil {
			return err
		}
		if _, err := provider.DownTo(ctx, 0); err != nil {
			return err
		}
		return appdb.Exec(ctx, a.db, a.drop...)
	})
}

// unused returns an error that names the objects of others that use nextid's.
func (a *Database) unused(ctx context.Context) error {
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

// Status queries the database, and through it the server. It draws no id.
func (a *Database) Status(ctx context.Context) (Status, error) {
	s, err := a.status(ctx)
	return s, hints.Explain(err)
}

func (a *Database) status(ctx context.Context) (s Status, err error) {
	names, err := fs.Glob(files, a.folder+"/*.sql")
	if err != nil {
		return s, err
	}
	s.Newest = int64(len(names)) // they are numbered from 1 without gaps
	if s.Version, _, s.Dumped, err = a.version(ctx); err != nil {
		return s, err
	}
	if s.Version == 0 && !s.Dumped {
		err = a.db.QueryRowContext(ctx, a.functions).Scan(&s.Functions)
		return s, err
	}
	installed, _, err := a.present(ctx)
	if err != nil {
		return s, err
	}
	s.Server = installed.Address()
	start := time.Now()
	s.Asked = hints.Explain(appdb.Exec(ctx, a.db, a.ask))
	s.Took = time.Since(start)
	if !s.Dumped {
		s.Problems, err = a.problems(ctx)
	}
	return s, err
}

// migrationsText returns the statements of all migrations of a folder. begin and end
// stand around statements with semicolons.
func migrationsText(dir, begin, end string) (string, error) {
	names, ups, err := migrations.Texts(files, dir)
	var all strings.Builder
	for i, name := range names {
		fmt.Fprintf(&all, "\n-- ---- %s ----\n%s", name, ups[i])
	}
	return strings.NewReplacer("-- +goose StatementBegin\n", begin, "-- +goose StatementEnd\n", end).Replace(all.String()), err
}

// hints explains errors of databases that connect to nextid.
var hints = appdb.Hints{
	"2F003": "PostgreSQL lets a role that is no superuser connect only with a password that the server asks for: nextid needs users (nextid passwd), and NEXTID_FOREIGN_PASSWORD the password of the one in --server. Or run up as a superuser.",

	"42501": "Log in as the role that ran up, or as a superuser.",

	"1045": "The account or its password is wrong: the one of --dsn, or the one of --server with NEXTID_FOREIGN_PASSWORD.",
	"1227": "Run it as an account that may create databases and servers, such as root.",
	"1429": noAnswer,
	"1434": noAnswer,
}

// noAnswer is the hint of the errors by which FederatedX and SPIDER replace all
// others.
const noAnswer = "The engine does not say why. Is nextid running where --server says, may the database's machine reach it, are user and password right, and does nextid ask for TLS? Its log tells."
