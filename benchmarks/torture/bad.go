package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/benchmarks/load"
	"nextid/dbtest"
)

// attack is one run of a bad client on a server.
type attack func(ctx context.Context, n *node) error

// Indexes of the sockets of a server.
const (
	postgres = iota
	mysql
	web
)

// sockets returns the paths of the server's Unix sockets.
func (n *node) sockets() [web + 1]string {
	return [...]string{filepath.Join(n.Dir, dbtest.PGSocket), filepath.Join(n.Dir, dbtest.MySQLSocket), n.HTTP}
}

var badClients = []struct {
	name string
	do   attack
}{
	{"half a login, then silence", raw(postgres, []byte{0, 0, 0, 40, 0, 3, 0, 0, 'u'}, time.Second)},
	{"half a login over MySQL, then silence", raw(mysql, []byte{200, 0, 0, 1, 5, 0x82}, time.Second)},
	{"half a request over HTTP, then silence", raw(web, []byte("GET /healthz HTTP/1.1\r\nHost: x\r\nX"), time.Second)},
	{"nonsense", func(ctx context.Context, n *node) (err error) {
		b := make([]byte, 4096)
		for i := range b {
			b[i] = byte(rand.Int())
		}
		for socket := range n.sockets() {
			err = errors.Join(err, raw(socket, b, 0)(ctx, n))
		}
		return err
	}},
	{"a reader that does not read, and vanishes", bare(query("SELECT repeat('x', 1000) FROM generate_series(1, 100000)"), time.Second)},
	{"many ids asked for, and the connection cut in the middle", func(ctx context.Context, n *node) error {
		return bare(query("SELECT next_ids('"+n.place.names[0]+"', 10000)"), 5*time.Millisecond)(ctx, n)
	}},
	{"half a message, then silence", bare(append([]byte{'Q', 0, 0x0f, 0xf0, 0}, make([]byte, 1<<18)...), time.Second)},
	{"statements that are given up while they run", func(ctx context.Context, n *node) (err error) {
		for _, sql := range []string{"SELECT pg_sleep(10)", "SELECT count(*) FROM generate_series(1, 10000000)"} {
			err = errors.Join(err, session(func(ctx context.Context, conn *pgconn.PgConn) error {
				soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
				_, _ = conn.Exec(soon, sql).ReadAll()
				return nil
			})(ctx, n))
		}
		return err
	}},
	{"statements that are wrong, and prepared ones that are not closed", session(func(ctx context.Context, conn *pgconn.PgConn) error {
		for i := range 50 {
			_, _ = conn.Exec(ctx, "SELECT 1/0").ReadAll()
			_, _ = conn.Prepare(ctx, string(rune('a'+i)), "SELECT next_id($1), "+string(rune('0'+i%10)), nil)
		}
		return nil
	})},
	{"names that do not exist", session(func(ctx context.Context, conn *pgconn.PgConn) error {
		for range 20 {
			_, _ = conn.Exec(ctx, fmt.Sprintf("SELECT parse_id(%d, 'nobody')", rand.Int64())).ReadAll()
		}
		return nil
	})},
}

// query returns a Query message of PostgreSQL's protocol.
func query(sql string) []byte {
	n := len(sql) + 5
	return append(append([]byte{'Q', 0, 0, byte(n >> 8), byte(n)}, sql...), 0)
}

// raw sends bytes to a socket without a login, waits, and closes the connection.
func raw(socket int, what []byte, wait time.Duration) attack {
	return func(ctx context.Context, n *node) error {
		conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "unix", n.sockets()[socket])
		if err != nil {
			return err
		}
		return send(ctx, conn, what, wait)
	}
}

// bare logs in, sends bytes, waits, and closes the connection without a Terminate
// message.
func bare(what []byte, wait time.Duration) attack {
	return session(func(ctx context.Context, conn *pgconn.PgConn) error {
		bare, err := conn.Hijack()
		if err != nil {
			return err
		}
		return send(ctx, bare.Conn, what, wait)
	})
}

// send writes bytes to a connection, waits, and closes it.
func send(ctx context.Context, conn net.Conn, what []byte, wait time.Duration) error {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err := conn.Write(what)
	if err == nil { // otherwise the server has closed the connection
		load.Rest(ctx, wait)
	}
	return err
}

// session logs in, calls do, and logs out.
func session(do func(context.Context, *pgconn.PgConn) error) attack {
	return func(ctx context.Context, n *node) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		conn, err := pgconn.Connect(ctx, n.URL)
		if err != nil {
			return err
		}
		err = do(ctx, conn)
		if !conn.IsClosed() && !conn.IsBusy() {
			_ = conn.Close(ctx)
		}
		return err
	}
}

// misbehave runs random bad clients, one after the other, until ctx ends. It ignores
// their errors: the server may be down.
func (p *place) misbehave(ctx context.Context) {
	for ; ctx.Err() == nil; load.Rest(ctx, time.Duration(rand.IntN(400))*time.Millisecond) {
		b, n := badClients[rand.IntN(len(badClients))], p.nodes[rand.IntN(len(p.nodes))]
		_ = b.do(ctx, n)
		p.run.mu.Lock()
		p.run.bad[b.name]++
		p.run.mu.Unlock()
	}
}
