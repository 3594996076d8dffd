// Package appdb opens the databases of applications, which the commands below
// package migrations change. It also holds what these commands have in common: an
// Error with a hint for the user, the Hints for errors of databases, and helpers for
// queries and quoting. Each caller owns, and closes, the pools that it opens.
package appdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"nextid/dsn"
)

// Error is an error that the user can correct.
type Error struct {
	What string // one line: what happened
	Hint string // what to do; may be empty
	Err  error  // the cause, may be nil
}

func (e *Error) Error() string { return e.What }
func (e *Error) Unwrap() error { return e.Err }

// Hints maps SQLSTATEs of PostgreSQL and error numbers of MySQL to the hint of an
// Error.
type Hints map[string]string

// Explain converts an error of a database or of the network to an Error, and returns
// other errors unchanged. PostgreSQL's own hint is used where h has none.
func (h Hints) Explain(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	code := Code(err)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		what := e.Message
		if e.Detail != "" {
			what += ": " + strings.TrimSpace(e.Detail)
		}
		return &Error{What: fmt.Sprintf("%s (SQLSTATE %s)", what, code), Hint: cmp.Or(h[code], e.Hint), Err: err}
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return &Error{What: fmt.Sprintf("%s (error %s)", strings.TrimSpace(e.Message), code), Hint: h[code], Err: err}
	}
	if dsn.Unreachable(err) {
		return &Error{What: "no connection: " + dsn.Plain(err).Error(), Hint: "Check that it runs, and that host and port are right.", Err: err}
	}
	return err
}

// At explains an error as Explain does, and prefixes the name of the database.
func (h Hints) At(name string, err error) error {
	if err = h.Explain(err); err == nil {
		return nil
	}
	return &Error{What: name + ": " + err.Error(), Hint: HintOf(err), Err: err}
}

// HintOf returns the hint of an Error, and "" for other errors.
func HintOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}

// IsMySQL reports whether a URL names a MySQL or MariaDB. It returns an error unless
// the URL names one of these or a PostgreSQL.
func IsMySQL(url string) (bool, error) {
	scheme, _, ok := strings.Cut(url, "://")
	if is := scheme == "mysql" || scheme == "mariadb"; ok && (is || scheme == "postgres" || scheme == "postgresql") {
		return is, nil
	}
	return false, &Error{ // does not quote the URL, which may hold a password
		What: "a database is given as a mysql:// or postgres:// URL",
		Hint: "Write --dsn postgres://USER@HOST:5432/DATABASE or --dsn mysql://USER@HOST:3306/DATABASE.",
	}
}

// NameOf returns a URL without user, password and options, for messages.
func NameOf(text string) string {
	u, hosts, err := dsn.Parse(text)
	if err != nil {
		return "--dsn"
	}
	return strings.Join(hosts, ",") + u.Path
}

// WithoutPassword returns a URL without its password.
func WithoutPassword(text string) (string, error) {
	u, hosts, err := dsn.Parse(text)
	if err != nil {
		return "", err
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	q.Del("password")
	u.RawQuery = q.Encode()
	return dsn.Text(u, hosts), nil
}

// FeedNote begins the comment on a sequence that package feed moves.
const FeedNote = "nextid feed "

// Plus returns n+by, at most the greatest int64. by must not be negative.
func Plus(n, by int64) int64 {
	if n > math.MaxInt64-by {
		return math.MaxInt64
	}
	return n + by
}

// OpenPostgres returns a pool for an application's PostgreSQL. One call may hold
// several statements (simple protocol). Row security never hides rows: a statement
// fails if a policy would filter its result (row_security = off). A pooler in
// transaction mode loses that setting.
func OpenPostgres(text string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(text)
	if err != nil { // pgx removes the password from its error
		return nil, &Error{What: err.Error(), Hint: "Write --dsn postgres://USER@HOST:5432/DATABASE.", Err: err}
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.RuntimeParams["application_name"] = "nextid migrate"
	// PgBouncer refuses a start-up packet with these.
	return stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET client_min_messages = warning; SET row_security = off")
		return err
	})), nil
}

// MySQLConfig parses the URL of an application's MySQL or MariaDB. One call may hold
// several statements, with constants of LiteralMySQL.
func MySQLConfig(text string) (*mysql.Config, error) {
	c, err := dsn.MySQL(text)
	if err != nil {
		return nil, &Error{What: err.Error(), Hint: mysqlHint, Err: err}
	}
	c.ParseTime = true // goose scans a time from its table
	c.MultiStatements = true
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	c.Params["sql_mode"] = cmp.Or(c.Params["sql_mode"], BackslashEscapes)
	return c, nil
}

const mysqlHint = "Write --dsn mysql://USER@HOST:3306/DATABASE."

// OpenMySQL returns a pool for a MySQLConfig. The URL must name a database.
func OpenMySQL(text string) (*sql.DB, error) {
	c, err := MySQLConfig(text)
	if err != nil {
		return nil, err
	}
	if c.DBName == "" {
		return nil, &Error{What: "the URL names no database", Hint: mysqlHint}
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Open returns a pool of OpenPostgres or OpenMySQL, by the scheme of the URL.
func Open(url string) (db *sql.DB, mysql bool, err error) {
	if mysql, err = IsMySQL(url); err != nil {
		return nil, false, err
	}
	open := OpenPostgres
	if mysql {
		open = OpenMySQL
	}
	db, err = open(url)
	return db, mysql, err
}

// Querier is implemented by *sql.DB, *sql.Conn and *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Exec runs statements until one fails.
func Exec(ctx context.Context, db Querier, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
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
	return cmp.Or(err, rows.Err(), rows.Close()) //nolint:sqlclosecheck // the error of Close counts
}

// Texts returns the values of a query with one text column.
func Texts(ctx context.Context, db Querier, query string, args ...any) (all []string, err error) {
	err = Each(ctx, db, func(rows *sql.Rows) error {
		all = append(all, "")
		return rows.Scan(&all[len(all)-1])
	}, query, args...)
	return all, err
}

// Literal returns a string constant of PostgreSQL.
func Literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// LiteralMySQL returns a string constant of MySQL, for sessions with BackslashEscapes.
func LiteralMySQL(s string) string { return Literal(strings.ReplaceAll(s, `\`, `\\`)) }

// BackslashEscapes is a value for sql_mode with which a backslash in a string constant
// is an escape character, as it is by default.
const BackslashEscapes = "REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')"

// QuoteMySQL returns a quoted identifier of MySQL.
func QuoteMySQL(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Code returns the SQLSTATE of an error of PostgreSQL, or the error number of MySQL; ""
// for other errors.
func Code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return strconv.Itoa(int(e.Number))
	}
	return ""
}

// Says reports whether an error has one of these codes; see Code.
func Says(err error, codes ...string) bool { return slices.Contains(codes, Code(err)) }

// LockTimeout reports whether a statement did not get a lock within its limit. It was
// not executed.
func LockTimeout(err error) bool { return Says(err, "55P03", "1205") }

// SplitName splits a name at the dots outside of quotes, " or `. In folded, unquoted
// parts are in lower case. ok is false if a part is empty, or a quote does not end.
func SplitName(name string) (folded, exact []string, ok bool) {
	for rest := name + "."; rest != ""; {
		m := namePart.FindStringSubmatch(rest)
		if m == nil {
			return nil, nil, false
		}
		quoted := strings.ReplaceAll(m[1], `""`, `"`) + strings.ReplaceAll(m[2], "``", "`")
		folded, exact = append(folded, quoted+strings.ToLower(m[3])), append(exact, quoted+m[3])
		rest = rest[len(m[0]):]
	}
	return folded, exact, true
}

// namePart matches a part of a name, and the dot behind it. \x60 is a backquote.
var namePart = regexp.MustCompile(`^(?:"((?:[^"]|"")+)"|\x60((?:[^\x60]|\x60\x60)+)\x60|([^".\x60][^.]*))\.`)

// MostOfMySQL returns the greatest number of a column type of MySQL, at most
// MaxInt64; 0 for a type that is no integer.
func MostOfMySQL(kind string) int64 {
	name, _, _ := strings.Cut(kind, "(")
	name, _, _ = strings.Cut(name, " ")
	bits := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[name]
	switch {
	case bits == 0:
		return 0
	case bits == 64:
		return math.MaxInt64
	case strings.Contains(kind, "unsigned"):
		return 1<<bits - 1
	}
	return 1<<(bits-1) - 1
}

// PrintTable writes lines whose cells are separated by tabs, in columns.
func PrintTable(w io.Writer, lines ...string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, strings.Join(lines, "\n"))
	_ = columns.Flush() // the program reports errors of its output
}

// PrintEach writes a line for each finding of a kind.
func PrintEach(w io.Writer, kind string, found []string) {
	for _, text := range found {
		fmt.Fprintf(w, "%s: %s\n", kind, text)
	}
}
