package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Link is a connection to a server.
type Link struct {
	protocol protocol
	fd       int
	in       []byte // in[:filled] came and was not looked at yet
	filled   int
	out      []byte // what the socket did not take at once
	ids      []ID
	// Values says to keep the ids that answers bring: the first column of
	// each row, or the number an INSERT gave. Reading them costs a little.
	Values         bool
	sent, received int64
}

// protocol holds what the client knows of a wire protocol.
type protocol interface {
	// query appends a statement.
	query(dst []byte, sql string) []byte
	// prepare appends the preparation of a statement and returns how many
	// answers it brings. execute appends its execution.
	prepare(dst []byte, sql string) ([]byte, int)
	execute(dst []byte) []byte
	// scan looks at what came, hands over what it finds, and returns how much
	// of it is dealt with and how many answers it completes.
	scan(in []byte, values *[]ID) (used, answers int, err error)
}

// serverError is an answer that says no.
type serverError string

func (e serverError) Error() string { return string(e) }

// Dial connects to postgres://, mysql://, mariadb:// or redis://. A Unix socket
// is named as ?host=DIRECTORY for PostgreSQL, ?socket=FILE for MySQL.
// Connections with TLS cannot be measured.
func Dial(ctx context.Context, dsn string) (*Link, error) {
	scheme, _, _ := strings.Cut(dsn, "://")
	switch scheme {
	case "postgres", "postgresql":
		return dialPostgres(ctx, dsn)
	case "mysql", "mariadb":
		return dialMySQL(ctx, dsn)
	case "redis":
		return dialRedis(ctx, dsn)
	}
	return nil, fmt.Errorf("%q is no URL that begins with postgres://, mysql://, mariadb:// or redis://", scheme)
}

func dialPostgres(ctx context.Context, dsn string) (*Link, error) {
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	hijacked, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	return takeOver(hijacked.Conn, &pgProtocol{})
}

func dialRedis(ctx context.Context, dsn string) (*Link, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return nil, errors.New("not a URL of Redis: redis://HOST:PORT")
	}
	l, err := connect(ctx, "tcp", u.Host, redisProtocol{})
	if err == nil {
		if _, err = l.exchange(ctx, l.Query(nil, "PING"), 1); err != nil {
			l.Close()
		}
	}
	return l, err
}

// connect opens a connection without a login.
func connect(ctx context.Context, network, address string, p protocol) (*Link, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return takeOver(conn, p)
}

// takeOver makes a link of a connection. It duplicates the descriptor and closes the original: so the runtime's
// poller does not look at it, too.
func takeOver(conn net.Conn, p protocol) (*Link, error) {
	defer func() { _ = conn.Close() }() // the duplicate lives on
	if _, encrypted := conn.(*tls.Conn); encrypted {
		return nil, errors.New("connections with TLS cannot be measured: add sslmode=disable, or the like")
	}
	fd, err := duplicate(conn)
	if err != nil {
		return nil, err
	}
	return &Link{protocol: p, fd: fd, in: make([]byte, 64<<10)}, nil
}

// Query appends the request that runs one statement.
func (l *Link) Query(dst []byte, sql string) []byte { return l.protocol.query(dst, sql) }

// Prepare prepares the one statement that Execute runs.
func (l *Link) Prepare(ctx context.Context, sql string) error {
	request, answers := l.protocol.prepare(nil, sql)
	_, err := l.exchange(ctx, request, answers)
	return err
}

// Execute appends the request that runs the prepared statement.
func (l *Link) Execute(dst []byte) []byte { return l.protocol.execute(dst) }

// Exec runs a statement and returns the ids of its rows.
func (l *Link) Exec(ctx context.Context, sql string) ([]ID, error) {
	before := l.Values
	l.Values = true
	defer func() { l.Values = before }()
	ids, err := l.exchange(ctx, l.Query(nil, sql), 1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shorten(sql), err)
	}
	return ids, nil
}

func shorten(sql string) string {
	if len(sql) > 100 {
		return sql[:100] + " …"
	}
	return sql
}

// scan looks at what was read.
func (l *Link) scan() (answers int, err error) {
	var values *[]ID
	if l.Values {
		values = &l.ids
	}
	used, answers, err := l.protocol.scan(l.in[:l.filled], values)
	l.filled = copy(l.in, l.in[used:l.filled])
	if l.filled == len(l.in) { // one message is larger than the buffer
		l.in = append(l.in, make([]byte, len(l.in))...)
	}
	return answers, err
}
