// Package appdb reaches the databases of applications, which the commands
// below package migrations change.
package appdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
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

// Hints say what to do about the errors of databases, by SQLSTATE or by the number
// of MySQL.
type Hints map[string]string

// Explain turns an answer of a database into one line with a hint.
func (h Hints) Explain(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		what := e.Message
		if e.Detail != "" {
			what += ": " + strings.TrimSpace(e.Detail)
		}
		return &Error{What: fmt.Sprintf("%s (SQLSTATE %s)", what, e.Code), Hint: cmp.Or(h[e.Code], e.Hint), Err: err}
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return &Error{What: fmt.Sprintf("%s (error %d)", strings.TrimSpace(e.Message), e.Number), Hint: h[strconv.Itoa(int(e.Number))], Err: err}
	}
	return err
}

// At explains an error, and adds the name of the database.
func (h Hints) At(name string, err error) error {
	if err = h.Explain(err); err == nil {
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
	scheme, _, isURL := strings.Cut(url, "://")
	is = isURL && (scheme == "mysql" || scheme == "mariadb")
	return is, is || isURL && (scheme == "postgres" || scheme == "postgresql")
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

// Querier is a pool or a connection.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Each calls scan for each row of a query.
func Each(ctx context.Context, db Querier, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = scan(rows)
	}
	return cmp.Or(err, rows.Err(), rows.Close())
}

// Texts returns the rows of a query with one column.
func Texts(ctx context.Context, db Querier, query string, args ...any) (all []string, err error) {
	err = Each(ctx, db, func(rows *sql.Rows) error {
		all = append(all, "")
		return rows.Scan(&all[len(all)-1])
	}, query, args...)
	return all, err
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
