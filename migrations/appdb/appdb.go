// Package appdb reaches the databases of applications, which the commands
// below package migrations change.
package appdb

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"nextid/dsn"
)

// Error is a failure that the person at the terminal can do something about.
type Error struct {
	What string // in one line
	Hint string
	Err  error // the cause, may be nil
}

func (e *Error) Error() string { return e.What }
func (e *Error) Unwrap() error { return e.Err }

// At adds a database's name to an error.
func At(name string, err error) error {
	if err == nil {
		return nil
	}
	what := &Error{What: name + ": " + err.Error(), Err: err}
	if e, ok := errors.AsType[*Error](err); ok {
		what.Hint = e.Hint
	}
	return what
}

// IsMySQL reports whether a URL names a MySQL or MariaDB; ok is false for a URL
// of neither those nor PostgreSQL.
func IsMySQL(url string) (is, ok bool) {
	switch scheme, _, _ := strings.Cut(url, "://"); scheme {
	case "mysql", "mariadb":
		return true, true
	case "postgres", "postgresql":
		return false, true
	}
	return false, false
}

// NameOf shows a URL in messages: without user, password and options.
func NameOf(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "a database"
	}
	return u.Host + u.Path
}

// OpenPostgres returns a pool for an application's PostgreSQL. A statement may
// hold several. Rows are never hidden by row security: a statement that would
// see only some fails.
func OpenPostgres(text string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(text)
	if err != nil { // pgx takes the password out
		return nil, &Error{What: err.Error(), Hint: "Write --dsn postgres://USER@HOST:5432/DATABASE.", Err: err}
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.RuntimeParams["application_name"] = "nextid migrate"
	config.RuntimeParams["client_min_messages"] = "warning"
	config.RuntimeParams["row_security"] = "off"
	return stdlib.OpenDB(*config), nil
}

// OpenMySQL returns a pool for an application's MySQL or MariaDB. A statement
// may hold several.
func OpenMySQL(text string) (*sql.DB, error) {
	c, err := dsn.MySQL(text)
	if err == nil && c.DBName == "" {
		err = errors.New("the URL names no database")
	}
	if err != nil {
		return nil, &Error{What: err.Error(), Hint: "Write --dsn mysql://USER@HOST:3306/DATABASE.", Err: err}
	}
	c.ParseTime = true // of goose's table
	c.MultiStatements = true
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Literal quotes a text for PostgreSQL.
func Literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// LiteralMySQL quotes a text for MySQL.
func LiteralMySQL(s string) string {
	if strings.ContainsRune(s, '\\') { // which not every sql_mode reads as an escape
		return fmt.Sprintf("X'%x'", s)
	}
	return Literal(s)
}

// QuoteMySQL quotes a name for MySQL.
func QuoteMySQL(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// PostgresSays reports whether an error is one of these SQLSTATEs.
func PostgresSays(err error, states ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(states, e.Code)
}

// MySQLSays reports whether an error has one of these numbers.
func MySQLSays(err error, numbers ...uint16) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains(numbers, e.Number)
}
