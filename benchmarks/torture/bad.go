package torture

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// bad is a kind of bad client. do runs it once. Kinds with attackers are used by
// Attack, which runs so many of them at once, each repeatedly. Kinds without are
// used by Run.
type bad struct {
	name      string
	attackers int
	pause     time.Duration // after each run
	do        func(ctx context.Context, v *victim) error
}

// victim is the server that a bad client connects to.
type victim struct {
	config  *pgx.ConnConfig
	address func(over protocol) (network, address string)
	name    string // of a generator; set in Run
}

var badClients = []bad{
	{"connections that say nothing", 64, 20 * time.Millisecond, func(ctx context.Context, v *victim) error {
		conn, err := v.dial(ctx, postgres)
		if err == nil {
			time.AfterFunc(time.Second, func() { _ = conn.Close() })
		}
		return err
	}},
	{"TLS handshakes", 16, 50 * time.Millisecond, func(ctx context.Context, v *victim) error {
		conn, err := v.dial(ctx, postgres)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil { // SSLRequest
			return err
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			return err
		}
		return tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // its own server, on loopback
	}},
	{"passwords", 32, 0, func(ctx context.Context, v *victim) error {
		config := v.config.Copy()
		config.Password = "wrong"
		if conn, err := pgx.ConnectConfig(ctx, config); err == nil {
			_ = conn.Close(ctx)
		}
		return nil
	}},
	{"unfinished messages", 64, 100 * time.Millisecond, func(ctx context.Context, v *victim) error {
		return v.bare(ctx, append([]byte{'Q', 0, 0x0f, 0xf0, 0}, make([]byte, 1<<20-8<<10)...), time.Second)
	}},
	{"large statements", 16, 0, func(ctx context.Context, v *victim) error {
		return v.repeat(ctx, "SELECT count(*) FROM (SELECT repeat('x', 1000) || g AS t FROM generate_series(1, 20000) g ORDER BY t) a WHERE t ~ '(x{1,40}){1,10}y'")
	}},
	{"large texts", 16, 0, func(ctx context.Context, v *victim) error {
		return v.repeat(ctx, "SELECT 1 IN (0"+strings.Repeat(", 1+1", 20_000)+")")
	}},
	{"readers that do not read", 64, 100 * time.Millisecond, func(ctx context.Context, v *victim) error {
		return v.bare(ctx, query("SELECT repeat('x', 1000) FROM generate_series(1, 10000000)"), 2*time.Second)
	}},
	{"HTTP: a million ids a request", 16, 0, func(ctx context.Context, v *victim) error { return v.post(ctx, 1_000_000, 0) }},
	{"HTTP: a million ids that are not read", 60, 0, func(ctx context.Context, v *victim) error { return v.post(ctx, 1_000_000, 2*time.Second) }},
	{"HTTP: one id a request", 32, 0, func(ctx context.Context, v *victim) error { return v.post(ctx, 1, 0) }},

	{name: "half a login, then silence", do: func(ctx context.Context, v *victim) error {
		return v.raw(ctx, postgres, []byte{0, 0, 0, 40, 0, 3, 0, 0, 'u'}, time.Second)
	}},
	{name: "half a login over MySQL, then silence", do: func(ctx context.Context, v *victim) error {
		return v.raw(ctx, mysql, []byte{200, 0, 0, 1, 5, 0x82}, time.Second)
	}},
	{name: "nonsense", do: func(ctx context.Context, v *victim) (err error) {
		b := make([]byte, 4096)
		for i := range b {
			b[i] = byte(rand.Int())
		}
		for _, p := range []protocol{postgres, mysql, web} {
			err = errors.Join(err, v.raw(ctx, p, b, 0))
		}
		return err
	}},
	{name: "half a request over HTTP, then silence", do: func(ctx context.Context, v *victim) error {
		return v.raw(ctx, web, []byte("GET /healthz HTTP/1.1\r\nHost: x\r\nX"), time.Second)
	}},
	{name: "a reader that does not read, and vanishes", do: func(ctx context.Context, v *victim) error {
		return v.bare(ctx, query("SELECT repeat('x', 1000) FROM generate_series(1, 100000)"), time.Second)
	}},
	{name: "many ids asked for, and the connection cut in the middle", do: func(ctx context.Context, v *victim) error {
		return v.bare(ctx, query("SELECT next_ids('"+v.name+"', 10000)"), 5*time.Millisecond)
	}},
	{name: "half a message, then silence", do: func(ctx context.Context, v *victim) error {
		return v.bare(ctx, append([]byte{'Q', 0, 0x0f, 0xf0, 0}, make([]byte, 1<<18)...), time.Second)
	}},
	{name: "statements that are given up while they run", do: func(ctx context.Context, v *victim) (err error) {
		for _, sql := range []string{"SELECT pg_sleep(10)", "SELECT count(*) FROM generate_series(1, 10000000)"} {
			err = errors.Join(err, v.session(ctx, func(ctx context.Context, conn *pgx.Conn) {
				soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
				_, _ = conn.Exec(soon, sql)
			}))
		}
		return err
	}},
	{name: "statements that are wrong, and prepared ones that are not closed", do: func(ctx context.Context, v *victim) error {
		return v.session(ctx, func(ctx context.Context, conn *pgx.Conn) {
			for i := range 50 {
				_, _ = conn.Exec(ctx, "SELECT 1/0")
				_, _ = conn.Prepare(ctx, string(rune('a'+i)), "SELECT next_id($1), "+string(rune('0'+i%10)))
			}
		})
	}},
	{name: "names that do not exist", do: func(ctx context.Context, v *victim) error {
		return v.session(ctx, func(ctx context.Context, conn *pgx.Conn) {
			for range 20 {
				_, _ = conn.Exec(ctx, "SELECT parse_id($1, 'nobody')", rand.Int64())
			}
		})
	}},
}

// httpClient holds the connections of all attackers over HTTP, one for each
// attacker.
var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// post requests n ids over HTTP. They are of a name of its own: clients of the same
// name share its rate. post reads all ids; if wait is not 0, it waits and reads
// none.
func (v *victim) post(ctx context.Context, n int, wait time.Duration) error {
	_, address := v.address(web)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://%s/api/v1/generators/attack/ids?n=%d", address, n), nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth(v.config.User, v.config.Password)
	answer, err := httpClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	if wait > 0 {
		rest(ctx, wait)
		return nil
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// query returns a Query message of PostgreSQL's protocol.
func query(sql string) []byte {
	n := len(sql) + 5
	return append(append([]byte{'Q', 0, 0, byte(n >> 8), byte(n)}, sql...), 0)
}

func (v *victim) dial(ctx context.Context, over protocol) (net.Conn, error) {
	network, address := v.address(over)
	return (&net.Dialer{Timeout: patience}).DialContext(ctx, network, address)
}

// raw sends bytes without a login, waits, and closes the connection.
func (v *victim) raw(ctx context.Context, over protocol, what []byte, wait time.Duration) error {
	conn, err := v.dial(ctx, over)
	if err != nil {
		return err
	}
	return send(ctx, conn, what, wait)
}

// bare logs in, sends bytes, waits, and closes the connection without a Terminate
// message.
func (v *victim) bare(ctx context.Context, what []byte, wait time.Duration) (err error) {
	return errors.Join(v.session(ctx, func(ctx context.Context, conn *pgx.Conn) {
		var bare *pgconn.HijackedConn
		if bare, err = conn.PgConn().Hijack(); err == nil {
			err = send(ctx, bare.Conn, what, wait)
		}
	}), err)
}

// send writes bytes to a connection, waits, and closes it.
func send(ctx context.Context, conn net.Conn, what []byte, wait time.Duration) error {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err := conn.Write(what)
	if err == nil { // otherwise the server has closed the connection
		rest(ctx, wait)
	}
	return err
}

// session logs in, calls do, and logs out.
func (v *victim) session(ctx context.Context, do func(context.Context, *pgx.Conn)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, v.config)
	if err != nil {
		return err
	}
	do(ctx, conn)
	if !conn.IsClosed() && !conn.PgConn().IsBusy() {
		_ = conn.Close(ctx)
	}
	return nil
}

// repeat runs a statement repeatedly until ctx ends. It ignores errors of the
// server. At the end it waits until the running statement is cancelled, so that the
// statement does not disturb the next measurement.
func (v *victim) repeat(ctx context.Context, sql string) error {
	conn, err := pgx.ConnectConfig(ctx, v.config)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = conn.Close(last)
		select {
		case <-conn.PgConn().CleanupDone():
		case <-last.Done():
		}
	}()
	for ctx.Err() == nil {
		_, err = conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// misbehave runs random bad clients, one after the other, until ctx ends. It ignores
// their errors: the server may be down.
func (p *place) misbehave(ctx context.Context) {
	for ctx.Err() == nil {
		b, n := badClients[rand.IntN(len(badClients))], p.nodes[rand.IntN(len(p.nodes))]
		if b.attackers > 0 {
			continue
		}
		config, err := pgx.ParseConfig(n.url())
		if err != nil {
			return
		}
		_ = b.do(ctx, &victim{config: config, name: p.names[0], address: func(over protocol) (string, string) { return "unix", n.socket(over) }})
		p.run.mu.Lock()
		p.run.bad[b.name]++
		p.run.mu.Unlock()
		rest(ctx, time.Duration(rand.IntN(400))*time.Millisecond)
	}
}
