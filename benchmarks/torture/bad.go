package torture

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// AttackConfig configures Attack, which measures the latency of well-behaved clients
// while bad clients attack the server.
//
// The attackers represent other machines. They run in a process of their own, on
// processor time that no other process needs. But all use the same kernel. A control
// shows the effect of that: the same attack on another server, while the clients
// draw from the first one.
type AttackConfig struct {
	load.Setup
	Length time.Duration // of each measurement: without an attack, control, and attack
	Rounds int
	Only   string // part of the names of the attacks to run; "": all
}

// The well-behaved clients, and their common rate.
const (
	politeClients = 4
	politeRate    = 2000 // draws per second
)

// attackWarm is the duration of an attack before its measurement.
const attackWarm = 500 * time.Millisecond

// Attack measures each attack on servers with TLS and users: each chosen one in each
// round without it, on another server, and on the server itself.
func Attack(ctx context.Context, cfg AttackConfig) (*report.Report, error) {
	return cfg.Measure(ctx, &report.Report{
		Title: "nextid-bench attack: what others notice of it",
		Intro: fmt.Sprintf("%d connections ask for %d ids a second: in peace, while another server is attacked, and while this one is, from a process of its own. "+
			"Milliseconds from the instant at which a request should have begun; the median of the rounds.", politeClients, politeRate),
		Settings: []string{fmt.Sprintf("%d rounds of %v in each state", cfg.Rounds, cfg.Length)},
	}, func(s *load.Stage) {
		chosen := slices.DeleteFunc(slices.Clone(badClients), func(b bad) bool { return b.attackers == 0 || !strings.Contains(b.name, cfg.Only) })
		if len(chosen) == 0 {
			s.Fatalf("no attack has %q in its name", cfg.Only)
		}
		table := report.Table{First: "attack", Columns: report.Columns("p50 in peace", "p50", "p99 in peace", "p99, another server attacked", "p99",
			": peace", ": other attacked", "done")}
		server, other := guarded(s), guarded(s)
		for _, b := range chosen {
			s.Progress.Print(b.name)
			var p50, p99 [3][]float64 // in peace, another server attacked, this one attacked
			done := ""
			for range cfg.Rounds {
				for i, target := range []*dbtest.Server{nil, other, server} {
					var latency load.Latency
					latency, done = cfg.under(s, b.name, target, server)
					p50[i], p99[i] = append(p50[i], float64(latency.Quantile(0.5))/1e6), append(p99[i], float64(latency.Quantile(0.99))/1e6)
				}
			}
			times := func(a, b []float64) report.Cell {
				return report.Ratio([]float64{report.Median(a)}, []float64{report.Median(b)})
			}
			table.Rows = append(table.Rows, row(b.name,
				report.Number(p50[0]...), report.Number(p50[2]...), report.Number(p99[0]...), report.Number(p99[1]...), report.Number(p99[2]...),
				times(p99[2], p99[0]), times(p99[2], p99[1]), report.Text(done)))
			s.Report.Sections = []report.Section{{Title: "A well-behaved client", Table: table}} // kept after an interruption
		}
	})
}

// guarded starts a server with TLS and users.
func guarded(s *load.Stage) *dbtest.Server {
	dir := s.TempDir()
	add := exec.CommandContext(s.Ctx, s.Nextid, "passwd", "--users", dir+"/users", "--admin", "bench")
	add.Stdin = strings.NewReader("bench\n")
	if out, err := add.CombinedOutput(); err != nil {
		s.Fatalf("nextid passwd: %w\n%s", err, out)
	}
	s.Must(os.Setenv("PGPASSWORD", "bench")) // for all clients of this process, and the attackers
	cert, key, _ := dbtest.Certificate(s, dir)
	return s.Open(s.Server("--users", dir+"/users", "--tls-cert", cert, "--tls-key", key).Start)
}

// under draws from the server at a fixed rate, while an attack runs on target, nil
// for none. done is the attackers' own report.
func (cfg AttackConfig) under(s *load.Stage, name string, target, server *dbtest.Server) (latency load.Latency, done string) {
	if target != nil {
		cmd := dbtest.Supervised(s.Self, "attackers", name, target.URL, target.HTTP)
		cmd.Stderr = s.Progress.Writer()
		pipe, err := cmd.StdoutPipe()
		s.Must(err)
		s.Must(startIdle(cmd))
		out := bufio.NewReader(pipe)
		defer func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			rest, _ := io.ReadAll(out)
			err := cmd.Wait()
			if dbtest.Ended(cmd.Process.Pid); err != nil && s.Ctx.Err() == nil {
				s.Fatalf("the attackers: %w", err)
			}
			done = strings.TrimSpace(string(rest))
		}()
		if _, err := out.ReadString('\n'); err != nil { // they say that they begin
			s.Fatalf("the attackers ended: %w", err)
		}
	}
	result := s.Run(politeClients, func(_ int, c *load.Client) {
		c.Work = load.Repeat{{Bytes: s.Dial(c, server.URL).Query(nil, "SELECT next_id('orders')"), Answers: 1}}
	}, load.Config{Warm: attackWarm, Length: cfg.Length, Rate: politeRate})
	return result.Latency, ""
}

// Be runs the attackers of one name until ctx ends. The server is given by its URL
// and its address of HTTP. The result is the number of runs, and of those that
// failed.
func Be(ctx context.Context, name, at, overHTTP string) (string, error) {
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	v := &victim{url: at, addresses: [...]string{postgres: u.Host, web: overHTTP}}
	var done, failed atomic.Int64
	var work sync.WaitGroup
	for _, b := range badClients {
		if b.name != name {
			continue
		}
		for range b.attackers {
			work.Go(func() {
				for ; ctx.Err() == nil; load.Rest(ctx, b.pause) {
					if err := b.do(ctx, v); err != nil {
						failed.Add(1)
						load.Rest(ctx, 10*time.Millisecond)
					} else {
						done.Add(1)
					}
				}
			})
		}
	}
	work.Wait()
	return fmt.Sprintf("%d, %d refused", done.Load(), failed.Load()), nil
}

// startIdle starts a command with the policy SCHED_IDLE (sched(7)), with which it runs
// only when no other process needs the processor. A process inherits the policy of
// the thread that starts it. That thread ends with its goroutine.
func startIdle(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// attack is one run of a bad client.
type attack func(ctx context.Context, v *victim) error

// bad is a kind of bad client. Kinds with attackers are used by Attack, which runs so
// many of them at once, each repeatedly. Kinds without are used by Run.
type bad struct {
	name      string
	attackers int
	pause     time.Duration // after each run
	do        attack
}

// victim is the server that a bad client connects to.
type victim struct {
	url       string          // of PostgreSQL's protocol
	addresses [web + 1]string // or paths of Unix sockets
	name      string          // of a generator; set in Run
}

// protocol is an index of a victim's addresses.
type protocol int

const (
	postgres protocol = iota
	mysql
	web
)

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
		if conn, err := pgconn.Connect(ctx, v.url+"&password=wrong"); err == nil {
			_ = conn.Close(ctx)
		}
		return nil
	}},
	{"unfinished messages", 64, 100 * time.Millisecond, bare(unfinished(1<<20-8<<10), time.Second)},
	{"large statements", 16, 0, repeat("SELECT count(*) FROM (SELECT repeat('x', 1000) || g AS t FROM generate_series(1, 20000) g ORDER BY t) a WHERE t ~ '(x{1,40}){1,10}y'")},
	{"large texts", 16, 0, repeat("SELECT 1 IN (0" + strings.Repeat(", 1+1", 20_000) + ")")},
	{"readers that do not read", 64, 100 * time.Millisecond, bare(query("SELECT repeat('x', 1000) FROM generate_series(1, 10000000)"), 2*time.Second)},
	{"HTTP: a million ids a request", 16, 0, post(1_000_000, 0)},
	{"HTTP: a million ids that are not read", 60, 0, post(1_000_000, 2*time.Second)},
	{"HTTP: one id a request", 32, 0, post(1, 0)},

	{name: "half a login, then silence", do: raw(postgres, []byte{0, 0, 0, 40, 0, 3, 0, 0, 'u'}, time.Second)},
	{name: "half a login over MySQL, then silence", do: raw(mysql, []byte{200, 0, 0, 1, 5, 0x82}, time.Second)},
	{name: "half a request over HTTP, then silence", do: raw(web, []byte("GET /healthz HTTP/1.1\r\nHost: x\r\nX"), time.Second)},
	{name: "nonsense", do: func(ctx context.Context, v *victim) (err error) {
		b := make([]byte, 4096)
		for i := range b {
			b[i] = byte(rand.Int())
		}
		for p := range web + 1 {
			err = errors.Join(err, raw(p, b, 0)(ctx, v))
		}
		return err
	}},
	{name: "a reader that does not read, and vanishes", do: bare(query("SELECT repeat('x', 1000) FROM generate_series(1, 100000)"), time.Second)},
	{name: "many ids asked for, and the connection cut in the middle", do: func(ctx context.Context, v *victim) error {
		return bare(query("SELECT next_ids('"+v.name+"', 10000)"), 5*time.Millisecond)(ctx, v)
	}},
	{name: "half a message, then silence", do: bare(unfinished(1<<18), time.Second)},
	{name: "statements that are given up while they run", do: func(ctx context.Context, v *victim) (err error) {
		for _, sql := range []string{"SELECT pg_sleep(10)", "SELECT count(*) FROM generate_series(1, 10000000)"} {
			err = errors.Join(err, session(func(ctx context.Context, conn *pgconn.PgConn) error {
				soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
				_, _ = conn.Exec(soon, sql).ReadAll()
				return nil
			})(ctx, v))
		}
		return err
	}},
	{name: "statements that are wrong, and prepared ones that are not closed", do: session(func(ctx context.Context, conn *pgconn.PgConn) error {
		for i := range 50 {
			_, _ = conn.Exec(ctx, "SELECT 1/0").ReadAll()
			_, _ = conn.Prepare(ctx, string(rune('a'+i)), "SELECT next_id($1), "+string(rune('0'+i%10)), nil)
		}
		return nil
	})},
	{name: "names that do not exist", do: session(func(ctx context.Context, conn *pgconn.PgConn) error {
		for range 20 {
			_, _ = conn.Exec(ctx, fmt.Sprintf("SELECT parse_id(%d, 'nobody')", rand.Int64())).ReadAll()
		}
		return nil
	})},
}

// httpClient holds the connections of all attackers over HTTP, one for each
// attacker.
var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// post requests n ids over HTTP. They are of a name of its own: clients of the same
// name share its rate. post reads all ids; if wait is not 0, it waits and reads
// none.
func post(n int, wait time.Duration) attack {
	return func(ctx context.Context, v *victim) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://%s/api/v1/generators/attack/ids?n=%d", v.addresses[web], n), nil)
		if err != nil {
			return err
		}
		r.SetBasicAuth("bench", os.Getenv("PGPASSWORD"))
		answer, err := httpClient.Do(r)
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		if wait > 0 {
			load.Rest(ctx, wait)
			return nil
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
}

// query returns a Query message of PostgreSQL's protocol.
func query(sql string) []byte {
	n := len(sql) + 5
	return append(append([]byte{'Q', 0, 0, byte(n >> 8), byte(n)}, sql...), 0)
}

// unfinished returns the begin of a Query message of 1 MiB.
func unfinished(size int) []byte { return append([]byte{'Q', 0, 0x0f, 0xf0, 0}, make([]byte, size)...) }

// dial connects to the server's address of a protocol.
func (v *victim) dial(ctx context.Context, p protocol) (net.Conn, error) {
	network, address := "tcp", v.addresses[p]
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	return (&net.Dialer{Timeout: patience}).DialContext(ctx, network, address)
}

// raw sends bytes without a login, waits, and closes the connection.
func raw(p protocol, what []byte, wait time.Duration) attack {
	return func(ctx context.Context, v *victim) error {
		conn, err := v.dial(ctx, p)
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
	return func(ctx context.Context, v *victim) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		conn, err := pgconn.Connect(ctx, v.url)
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

// repeat runs a statement repeatedly. It ignores errors of the server. At the end it
// waits until the running statement is cancelled, so that the statement does not
// disturb the next measurement.
func repeat(sql string) attack {
	return session(func(ctx context.Context, conn *pgconn.PgConn) error {
		for {
			_, err := conn.Exec(ctx, sql).ReadAll()
			if _, refused := errors.AsType[*pgconn.PgError](err); err == nil || refused {
				continue
			}
			_ = conn.Close(ctx) // also of a ctx that ended between two statements
			<-conn.CleanupDone()
			if ctx.Err() != nil {
				return nil //nolint:nilerr // its context ended
			}
			return err
		}
	})
}

// misbehave runs random bad clients, one after the other, until ctx ends. It ignores
// their errors: the server may be down.
func (p *place) misbehave(ctx context.Context) {
	all := slices.DeleteFunc(slices.Clone(badClients), func(b bad) bool { return b.attackers > 0 })
	for ; ctx.Err() == nil; load.Rest(ctx, time.Duration(rand.IntN(400))*time.Millisecond) {
		b, n := all[rand.IntN(len(all))], p.nodes[rand.IntN(len(p.nodes))]
		addresses := [...]string{filepath.Join(n.Dir, dbtest.PGSocket), filepath.Join(n.Dir, dbtest.MySQLSocket), n.HTTP}
		_ = b.do(ctx, &victim{n.URL, addresses, p.names[0]})
		p.run.mu.Lock()
		p.run.bad[b.name]++
		p.run.mu.Unlock()
	}
}
