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

// Link is a connection to a server. It owns its file descriptor, which does not
// block.
type Link struct {
	protocol protocol
	fd       int
	in       []byte // in[:filled] was received and not scanned
	filled   int
	out      []byte // part of requests that the socket has not accepted yet
	ids      []ID   // of the present answers, if Values is set
	// Values makes the Link parse ids in answers: the first column of each row,
	// or the number that an INSERT generated. Parsing costs some time.
	Values         bool
	sent, received int64 // bytes since the measurement began
}

// protocol encodes requests and decodes answers of a wire protocol.
type protocol interface {
	// query appends the request of a statement.
	query(dst []byte, sql string) []byte
	// prepare appends the request that prepares a statement, and returns the number
	// of answers. execute appends the request that executes the statement.
	prepare(dst []byte, sql string) ([]byte, int)
	execute(dst []byte) []byte
	// scan decodes the complete messages in in, and appends ids to values unless
	// that is nil. It returns the length of these messages, and the number of
	// answers that they end.
	scan(in []byte, values *[]ID) (used, answers int, err error)
}

// serverError is an error that a server has returned.
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

// dialPostgres logs in by pgconn, and takes the connection over.
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

// takeOver makes a Link of a connection, which it closes. The Link has a duplicate
// of its descriptor, which is not registered with the runtime's poller.
func takeOver(conn net.Conn, p protocol) (*Link, error) {
	defer func() { _ = conn.Close() }() // the duplicate stays open
	if _, encrypted := conn.(*tls.Conn); encrypted {
		return nil, errors.New("connections with TLS cannot be measured: add sslmode=disable, or the like")
	}
	fd, err := duplicate(conn)
	if err != nil {
		return nil, err
	}
	return &Link{protocol: p, fd: fd, in: make([]byte, 64<<10)}, nil
}

// Query appends the request of one statement.
func (l *Link) Query(dst []byte, sql string) []byte { return l.protocol.query(dst, sql) }

// Prepare prepares the statement that Execute runs. A Link has only one.
func (l *Link) Prepare(ctx context.Context, sql string) error {
	request, answers := l.protocol.prepare(nil, sql)
	_, err := l.exchange(ctx, request, answers)
	return err
}

// Execute appends the request that runs the prepared statement.
func (l *Link) Execute(dst []byte) []byte { return l.protocol.execute(dst) }

// Exec runs a statement and returns the ids in its result.
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

// scan decodes the received bytes, and returns the number of complete answers.
func (l *Link) scan() (answers int, err error) {
	var values *[]ID
	if l.Values {
		values = &l.ids
	}
	used, answers, err := l.protocol.scan(l.in[:l.filled], values)
	l.filled = copy(l.in, l.in[used:l.filled])
	if l.filled == len(l.in) { // a message is larger than the buffer
		l.in = append(l.in, make([]byte, len(l.in))...)
	}
	return answers, err
}
