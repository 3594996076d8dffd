// Package foreign installs functions in the databases of applications that draw ids
// from a nextid server. After Up, a table can be declared with
//
//	id bigint PRIMARY KEY DEFAULT nextid.next_id('orders')
//
// In MySQL and MariaDB a DEFAULT may not call a function of the user. There a
// trigger sets the column (Fill).
//
// Open returns a Database by the scheme of its URL: that of a postgres or a mysqlApp,
// which hold what differs between the two. A Config says what Up installs. Status
// describes what is installed. A Server is the nextid server, as the application's
// database reaches it.
//
// The objects are goose migrations: folder postgres for postgres_fdw, postgres_mysql
// for mysql_fdw, and mysql. The configuration is not part of a migration: the
// server's address, the login, and the grants. Templates in connect/ hold it, and
// every Up applies them again.
//
// Up and Down run under an advisory lock in the database, so two of them never
// interleave. All objects are in a schema of their own, nextid; Down drops it. In
// PostgreSQL only the role that ran Up can log in at the server.
package foreign

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"nextid/migrations/appdb"
)

// Config says what Up installs.
type Config struct {
	Server       Server   // without options: the installed server, else the default of this machine
	Password     string   // of Server.User; "" for none
	KeepPassword bool     // use the installed password if the user is the same
	Unasked      bool     // apply the configuration although the server does not answer
	Grant        []string // roles that may call the functions; "PUBLIC" for all
	Fill         []Fill   // columns that get a trigger: MySQL and MariaDB

	// The functions that compute on ids in PostgreSQL know all layouts by name.
	Layouts       []Layout             // of generators, besides those that the server lists
	FunctionsOnly bool                 // install only these functions, without postgres_fdw
	Note          func(problem string) // called if the server does not list its generators; may be nil
	defaultLayout string               // as the server names it, "" for layout.Default
}

// keep completes the configuration: with the installed server was and its password,
// or with the default server of this machine.
func (c Config) keep(was Server, password, protocol string) Config {
	if len(c.Server.Options) == 0 {
		if c.Server = was; len(was.Options) == 0 {
			c.Server, _ = ParseServer(protocol + "://nextid@127.0.0.1/nextid") // never fails
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
	Version int64         // newest applied migration, 0: none
	Newest  int64         // newest migration of this program
	Server  string        // address of the server in the database's configuration
	Asked   error         // error of a query to the server, nil if it answered
	Took    time.Duration // duration of that query

	Dumped    bool     // rows, functions or nextid.fills are missing, as after the restore of a dump: the version is unknown
	Functions bool     // the functions that need no server are installed
	Problems  []string // a line for each trigger of Fill, and for tables, that are missing or wrong
}

// FunctionsOnly reports whether only functions are installed that need no server.
func (s Status) FunctionsOnly() bool { return s.Version == 0 && s.Functions }

// Current reports whether everything is installed and the server answers.
func (s Status) Current() bool {
	return s.FunctionsOnly() || s.Version == s.Newest && s.Asked == nil && len(s.Problems) == 0
}

// Answer says whether the server answered the database.
func (s Status) Answer() string {
	if s.Asked != nil {
		return "no: " + strings.ReplaceAll(s.Asked.Error(), "\n", "; ")
	}
	return fmt.Sprintf("in %s", s.Took.Round(10*time.Microsecond))
}

// Print writes the state of the named database. It returns an error unless everything
// is installed and the server answers.
func (s Status) Print(w io.Writer, name string) error {
	installed := fmt.Sprintf("version %d of %d", s.Version, s.Newest)
	switch {
	case s.FunctionsOnly():
		installed = "functions only"
	case s.Dumped:
		installed = "from a dump without rows or functions, so the version is not known"
	case s.Version == 0:
		installed = "nothing"
	}
	table := []string{"database\t" + name, "installed\t" + installed}
	if s.Version > 0 || s.Dumped {
		table = append(table, "server\t"+s.Server, "answers\t"+s.Answer())
	}
	appdb.PrintTable(w, table...)
	appdb.PrintEach(w, "problem", s.Problems)
	switch {
	case s.Current():
		return nil
	case len(s.Problems) > 0:
		return &Error{What: fmt.Sprintf("%d problems", len(s.Problems)), Hint: "See docs/foreign.md."}
	case s.Dumped:
		return &Error{What: "the version of what is installed is not known", Hint: "Run nextid migrate foreign up: it notes the version, and installs what is missing."}
	case s.Version < s.Newest:
		return &Error{What: "not up to date", Hint: "Run nextid migrate foreign up."}
	case s.Version > s.Newest:
		return &Error{What: "installed by a newer nextid", Hint: "Use that one."}
	}
	return &Error{What: "the server does not answer the database", Hint: appdb.HintOf(s.Asked)}
}

// Error is an error that the user can correct.
type Error = appdb.Error

// Open connects to an application's database, postgres://… or mysql://….
func Open(ctx context.Context, dsn string) (*Database, error) {
	mysql, err := appdb.IsMySQL(dsn)
	switch {
	case err != nil:
		return nil, err
	case mysql:
		return openMySQL(ctx, dsn)
	}
	return openPostgres(ctx, dsn)
}

// SQL returns the statements that Up runs on a new database. It does not connect.
func SQL(dsn string, c Config) (string, error) {
	mysql, err := appdb.IsMySQL(dsn)
	switch {
	case err != nil:
		return "", err
	case mysql:
		return mysqlSQL(dsn, c)
	}
	return postgresSQL(c)
}
