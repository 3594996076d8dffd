package torture

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
)

// rude is one way to be a bad client. It is over when do returns.
type rude struct {
	name string
	do   func(ctx context.Context, n *node)
}

var rudes = []rude{
	{"half a login, then silence", func(ctx context.Context, n *node) {
		n.raw(ctx, postgres, []byte{0, 0, 0, 40, 0, 3, 0, 0, 'u'}, time.Second)
	}},
	{"half a login over MySQL, then silence", func(ctx context.Context, n *node) {
		n.raw(ctx, mysql, []byte{200, 0, 0, 1, 5, 0x82}, time.Second)
	}},
	{"nonsense", func(ctx context.Context, n *node) {
		b := make([]byte, 4096)
		for i := range b {
			b[i] = byte(rand.Int())
		}
		for _, p := range []protocol{postgres, mysql, web} {
			n.raw(ctx, p, b, 0)
		}
	}},
	{"half a request over HTTP, then silence", func(ctx context.Context, n *node) {
		n.raw(ctx, web, []byte("GET /healthz HTTP/1.1\r\nHost: x\r\nX"), time.Second)
	}},
	{"a reader that does not read, and vanishes", func(ctx context.Context, n *node) {
		n.bare(ctx, query("SELECT repeat('x', 1000) FROM generate_series(1, 100000)"), time.Second)
	}},
	{"many ids asked for, and the connection cut in the middle", func(ctx context.Context, n *node) {
		n.bare(ctx, query("SELECT next_ids('"+n.place.names[0]+"', 10000)"), 5*time.Millisecond)
	}},
	{"half a message, then silence", func(ctx context.Context, n *node) {
		n.bare(ctx, append([]byte{'Q', 0, 0x0f, 0xf0, 0}, make([]byte, 1<<18)...), time.Second)
	}},
	{"statements that are given up while they run", func(ctx context.Context, n *node) {
		n.polite(ctx, func(ctx context.Context, conn *pgx.Conn) {
			soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			_, _ = conn.Exec(soon, "SELECT pg_sleep(10)")
		})
		n.polite(ctx, func(ctx context.Context, conn *pgx.Conn) {
			soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			_, _ = conn.Exec(soon, "SELECT count(*) FROM generate_series(1, 10000000)")
		})
	}},
	{"statements that are wrong, and prepared ones that nobody closes", func(ctx context.Context, n *node) {
		n.polite(ctx, func(ctx context.Context, conn *pgx.Conn) {
			for i := range 50 {
				_, _ = conn.Exec(ctx, "SELECT 1/0")
				_, _ = conn.Prepare(ctx, string(rune('a'+i)), "SELECT next_id($1), "+string(rune('0'+i%10)))
			}
		})
	}},
	{"names that do not exist", func(ctx context.Context, n *node) {
		n.polite(ctx, func(ctx context.Context, conn *pgx.Conn) {
			for range 20 {
				_, _ = conn.Exec(ctx, "SELECT parse_id($1, 'nobody')", rand.Int64())
			}
		})
	}},
}

// misbehave is one bad client after the other, until ctx ends.
func (p *place) misbehave(ctx context.Context) {
	for ctx.Err() == nil {
		bad, n := rudes[rand.IntN(len(rudes))], p.nodes[rand.IntN(len(p.nodes))]
		bad.do(ctx, n)
		p.run.mu.Lock()
		p.run.rude[bad.name]++
		p.run.mu.Unlock()
		rest(ctx, time.Duration(rand.IntN(400))*time.Millisecond)
	}
}

// query is a message of PostgreSQL's simple protocol.
func query(sql string) []byte {
	n := len(sql) + 5
	return append(append([]byte{'Q', 0, 0, byte(n >> 8), byte(n)}, sql...), 0)
}

// raw says something without a login, waits, and vanishes.
func (n *node) raw(ctx context.Context, over protocol, what []byte, wait time.Duration) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "unix", n.socket(over))
	if err != nil {
		return // the server is gone at the moment
	}
	say(ctx, conn, what, wait)
}

// bare logs in, says something, waits, and vanishes.
func (n *node) bare(ctx context.Context, what []byte, wait time.Duration) {
	n.polite(ctx, func(ctx context.Context, conn *pgx.Conn) {
		if bare, err := conn.PgConn().Hijack(); err == nil {
			say(ctx, bare.Conn, what, wait)
		}
	})
}

func say(ctx context.Context, conn net.Conn, what []byte, wait time.Duration) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(what); err == nil { // else the server has hung up
		rest(ctx, wait)
	}
}

// polite logs in and out.
func (n *node) polite(ctx context.Context, do func(context.Context, *pgx.Conn)) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := n.connect(ctx)
	if err != nil {
		return // the server is gone at the moment
	}
	do(ctx, conn)
	if !conn.IsClosed() && !conn.PgConn().IsBusy() {
		_ = conn.Close(ctx)
	}
}
