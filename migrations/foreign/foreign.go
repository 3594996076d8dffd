package foreign

import (
	"context"
	"net/url"
	"time"

	"nextid/migrations/appdb"
)

// Config says what Up installs.
type Config struct {
	Server       Server   // without options: the one that is installed, else that of this machine
	Password     string   // of Server.User; "" for none
	KeepPassword bool     // take the one that is installed for the same user instead
	Unasked      bool     // apply it although the server does not answer
	Grant        []string // roles that may call the functions; "PUBLIC" for all
	Fill         []Fill   // columns that get a trigger: MySQL and MariaDB

	// The layouts whose arithmetic PostgreSQL gets. Generators are added to
	// those that the server names, which ReadLayout reads.
	Layouts       []Layout // by their names, in lower case
	Generators    []Layout // by the names of generators
	DefaultLayout string   // where the server does not name one
	ReadLayout    func(generator string, options []byte) (l Layout, ok bool)
	FunctionsOnly bool                 // only the arithmetic, and no postgres_fdw
	Note          func(problem string) // is told why the server's generators are not known
}

// keep fills in what is not given: from what is installed, was and password,
// or else with the server of this machine.
func (c Config) keep(was Server, password, protocol string) Config {
	if len(c.Server.Options) == 0 {
		if c.Server = was; len(was.Options) == 0 {
			c.Server = localServers[protocol]
		}
	}
	if c.KeepPassword {
		if c.Password = ""; c.Server.User == was.User {
			c.Password = password
		}
	}
	return c
}

// Status describes what is installed in an application's database.
type Status struct {
	Version int64         // the newest migration that was applied, 0: none
	Newest  int64         // the newest that this program has
	Server  string        // where the functions ask, as the database has it
	Asked   error         // why the server did not answer the database, nil if it did
	Took    time.Duration // until it answered

	Dumped    bool     // the schema came with a dump without rows: it is there, and its version is not known
	Functions bool     // the functions that ask no server are installed
	Problems  []string // of the columns that Up made triggers for, a line each
}

// FunctionsOnly reports whether nothing was installed that asks a server.
func (s Status) FunctionsOnly() bool { return s.Version == 0 && s.Functions }

// Current reports whether everything is installed and the server answers.
func (s Status) Current() bool {
	return s.FunctionsOnly() || s.Version == s.Newest && s.Asked == nil && len(s.Problems) == 0
}

// Database is one application's database.
type Database interface {
	// Up installs what is missing and applies the configuration. A second Up
	// with the same configuration changes nothing.
	Up(ctx context.Context, c Config) error

	// Down removes everything that Up installed. It refuses, and changes
	// nothing, while something in the database uses it.
	Down(ctx context.Context) error

	// Status asks the database, and through it the server. It draws no id.
	Status(ctx context.Context) (Status, error)

	// Close ends the connections.
	Close() error
}

// Error is a failure that the person at the terminal can do something about.
type Error = appdb.Error

// Open connects to an application's database, postgres://… or mysql://….
func Open(ctx context.Context, dsn string) (Database, error) {
	switch mysql, known := appdb.IsMySQL(dsn); {
	case mysql:
		return openMySQL(ctx, dsn)
	case known:
		return openPostgres(ctx, dsn)
	}
	return nil, errNotAURL
}

// SQL returns what Up runs on such a database, without connecting to it.
func SQL(dsn string, c Config) (string, error) {
	switch mysql, known := appdb.IsMySQL(dsn); {
	case mysql:
		return mysqlSQL(dsn, c)
	case known:
		return postgresSQL(c)
	}
	return "", errNotAURL
}

// errNotAURL does not repeat the URL, which may hold a password.
var errNotAURL = &Error{
	What: "the application's database is neither a postgres:// nor a mysql:// URL",
	Hint: "Give it as --dsn postgres://USER@HOST:PORT/DATABASE or --dsn mysql://USER@HOST:PORT/DATABASE.",
}

// Redact is dsn without its password.
func Redact(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "the database"
	}
	q := u.Query()
	q.Del("password")
	u.RawQuery = q.Encode()
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}
