package ticket

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgpassfile"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"

	"nextid/dsn"
)

// System is a type of database.
type System string

// The values of System.
const (
	Postgres System = "postgres"
	MySQL    System = "mysql"
	Redis    System = "redis"
)

// schemes are the URL schemes of each system.
var schemes = map[string]System{
	"postgres": Postgres, "postgresql": Postgres, "mysql": MySQL, "mariadb": MySQL, "redis": Redis, "rediss": Redis,
}

// connectTimeout bounds one attempt to connect.
const connectTimeout = 2 * time.Second

// Passwords reads the password file, in the format of PostgreSQL's .pgpass: lines
// of host:port:database:user:password, with * for any value. nil means no file.
type Passwords func() ([]byte, error)

// Location is the URL of a database that does not belong to nextid: tickets are
// drawn from it, or its numbers are taken over. Its forms are
// postgres://USER@HOST:PORT/DATABASE, mysql://USER@HOST:PORT/DATABASE and
// redis://HOST:PORT/NUMBER. A URL without a password gets that of the password
// file.
type Location struct {
	System System
	url    *url.URL
}

// ParseLocation parses a URL.
func ParseLocation(text string) (Location, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Location{}, errors.New("not a URL") // the error of url.Parse contains the URL with its password
	}
	l := Location{System: schemes[u.Scheme], url: u}
	switch {
	case l.System == "":
		return l, errors.New("the URL begins with none of postgres://, mysql://, redis://")
	case u.Hostname() == "":
		return l, errors.New("the URL names no host")
	case strings.Contains(u.Host, ","):
		return l, errors.New("the URL names more than one host")
	case l.System != Redis && l.database() == "":
		return l, errors.New("the URL names no database")
	}
	return l, nil
}

// HasPassword reports whether the URL holds a password.
func (l Location) HasPassword() bool {
	_, ok := l.url.User.Password()
	return ok || l.url.Query().Has("password")
}

// String returns the URL for messages, without its password and parameters.
func (l Location) String() string {
	shown := *l.url
	shown.RawQuery = ""
	return shown.Redacted()
}

// Place returns the host and the database, "" for the zero Location.
func (l Location) Place() string {
	if l.url == nil {
		return ""
	}
	return l.url.Host + l.url.Path
}

func (l Location) database() string { return strings.TrimPrefix(l.url.Path, "/") }

func (l Location) port() string {
	if p := l.url.Port(); p != "" {
		return p
	}
	return map[System]string{Postgres: "5432", MySQL: "3306", Redis: "6379"}[l.System]
}

// password returns the password of the URL, else that of the file.
func (l Location) password(p Passwords) (string, error) {
	if word, ok := l.url.User.Password(); ok || p == nil {
		return word, nil
	}
	content, err := p()
	if err != nil {
		return "", err
	}
	file, err := pgpassfile.ParsePassfile(bytes.NewReader(content))
	if err != nil {
		return "", err
	}
	return file.FindPassword(l.url.Hostname(), l.port(), l.database(), l.url.User.Username()), nil
}

// OpenSQL returns a pool of at most one connection. Its first use connects.
// settings are set in each session of a MySQL.
func (l Location) OpenSQL(p Passwords, settings map[string]string) (*sql.DB, error) {
	password, err := l.password(p)
	if err != nil {
		return nil, err
	}
	var db *sql.DB
	switch l.System {
	case Postgres:
		c, err := pgx.ParseConfig(l.url.String())
		if err != nil {
			return nil, err // pgx hides the password
		}
		if password != "" {
			c.Password = password
		}
		c.ConnectTimeout = connectTimeout
		// Unnamed statements: a pooler may give each transaction another session.
		c.DefaultQueryExecMode = pgx.QueryExecModeExec
		db = stdlib.OpenDB(*c)
	case MySQL:
		c, err := dsn.MySQL(l.url.String())
		if err != nil {
			return nil, err
		}
		c.Passwd, c.Timeout = password, connectTimeout
		c.InterpolateParams = true
		if c.Params == nil {
			c.Params = map[string]string{}
		}
		maps.Copy(c.Params, settings)
		connector, err := mysqldriver.NewConnector(c)
		if err != nil {
			return nil, err
		}
		db = sql.OpenDB(connector)
	case Redis:
		return nil, errors.New("Redis has no SQL")
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// OpenRedis returns a client of a Redis with at most one connection. Its first use
// connects. timeout bounds each read and write. No command is repeated.
func (l Location) OpenRedis(p Passwords, timeout time.Duration) (*redis.Client, error) {
	password, err := l.password(p)
	if err != nil {
		return nil, err
	}
	o, err := dsn.Redis(l.url, []string{l.url.Host}, l.port(), l.database())
	if err != nil {
		return nil, err
	}
	o.Password, o.PoolSize = password, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = connectTimeout, timeout, timeout
	return redis.NewClient(o.Simple()), nil
}

// QuoteName quotes the name of a table, or schema.table, for SQL. The parts may
// contain letters, digits and _ only.
func (s System) QuoteName(name string) (string, error) {
	parts := strings.Split(name, ".")
	if len(parts) > 2 || slices.ContainsFunc(parts, func(p string) bool { return !plain.MatchString(p) }) {
		return "", fmt.Errorf("%q is not the name of a table (letters, digits and _, at most 63)", name)
	}
	quote := `"`
	if s == MySQL {
		quote = "`"
	}
	return quote + strings.Join(parts, quote+"."+quote) + quote, nil
}

// plain matches the names that need no escaping in any of the databases.
var plain = regexp.MustCompile(`^[a-zA-Z0-9_]{1,63}$`)
