package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire/wiretest"
)

func TestMain(m *testing.M) { os.Exit(wiretest.Main(m)) }

// lines is a protocol of text lines, enough to drive the loop:
//
//	hello      log in
//	echo TEXT  answer TEXT
//	big N      answer N bytes
//	block      wait for gate, or for the context
//	skip N     throw N bytes away
//	limit N    hold at most N bytes from now on
//	begin N    expect something every N ms from now on
//	tls        answer go, and begin a TLS handshake
//	who        answer the TLS fields of Conn
//	panic, bad, bye
type lines struct {
	conn    *Conn
	gate    chan struct{} // lets block go on
	blocked chan struct{} // receives when block waits
	lost    chan struct{} // receives when the client is lost
	idle    time.Duration
	skip    int // bytes to be thrown away
	memory  *account.Session
}

var errBad = errors.New("bad line")

func (m *lines) Feed(ctx context.Context, in []byte, out *Out) (n int, err error) {
	for {
		if m.skip > 0 {
			k := min(m.skip, len(in)-n)
			n += k
			if m.skip -= k; m.skip > 0 {
				return n, nil
			}
			m.conn.Skip(false)
		}
		end := bytes.IndexByte(in[n:], '\n')
		if end < 0 {
			return n, nil
		}
		verb, arg, _ := strings.Cut(string(in[n:n+end]), " ")
		n += end + 1
		if err := m.line(ctx, verb, arg, out); err != nil || verb == "tls" {
			return n, err
		}
		if err := out.FlushFull(); err != nil {
			return n, err
		}
	}
}

func (m *lines) line(ctx context.Context, verb, arg string, out *Out) error {
	number, _ := strconv.Atoi(arg)
	switch verb {
	case "hello":
		if err := m.conn.Admit(); err != nil {
			m.say(out, "%s", code(err))
			return err
		}
		m.say(out, "welcome")
	case "echo":
		m.say(out, "%s", arg)
	case "big":
		for left := number; left > 0; left -= 1000 {
			out.B = append(out.B, bytes.Repeat([]byte("x"), min(left, 1000))...)
			if err := out.FlushFull(); err != nil {
				return err
			}
		}
	case "block":
		m.blocked <- struct{}{}
		select {
		case <-m.gate:
			m.say(out, "done")
		case <-ctx.Done():
			m.say(out, "cut off: %s", code(context.Cause(ctx)))
			return context.Cause(ctx)
		}
	case "limit":
		session := account.NewServer(account.Limits{Session: int64(number)}).Open("")
		m.memory = &session
		m.say(out, "limited")
	case "skip":
		m.skip = number
		m.conn.Skip(true)
	case "begin":
		m.idle = time.Duration(number) * time.Millisecond
		m.say(out, "begun")
	case "tls":
		if !m.conn.CanTLS() {
			m.say(out, "no")
			return errBad
		}
		m.say(out, "go")
		_ = m.conn.StartTLS() // Feed has no other error
	case "who":
		user := "nobody"
		if c := m.conn.TLS.Client; c != nil {
			user = c.Subject.CommonName
		}
		m.say(out, "%s %s %q", user, m.conn.TLS.Shown.Version, m.conn.TLS.ALPN)
	case "panic":
		out.B = append(out.B, "half an ans"...)
		panic("on purpose")
	case "bye":
		return io.EOF
	default:
		m.say(out, "bad")
		return errBad
	}
	return nil
}

// Lost notes the call, where a test waits for it. The caller holds the socket's lock.
func (m *lines) Lost() {
	select {
	case m.lost <- struct{}{}:
	default:
	}
}

func (m *lines) say(out *Out, format string, args ...any) {
	out.B = fmt.Appendf(out.B, format+"\n", args...)
}

func code(err error) string {
	if e, ok := errors.AsType[*sqlstate.Error](err); ok {
		return string(e.Code)
	}
	return err.Error()
}

func (m *lines) IdleTimeout() time.Duration  { return m.idle }
func (m *lines) Busy() bool                  { return m.idle > 0 }
func (m *lines) Drop([]byte, *Out) error     { return errors.New("no memory") }
func (m *lines) Refuse(out *Out, why Reason) { m.say(out, "go away: %d", why) }
func (m *lines) Rest()                       {}
func (m *lines) Memory() *account.Session    { return m.memory }
func (m *lines) Close()                      {}
func linesServer(l Limits) (*Server, *lines) { return loggingServer(l, io.Discard) }
func quiet(w io.Writer) *slog.Logger         { return slog.New(slog.NewTextHandler(w, nil)) }
func loggingServer(l Limits, w io.Writer) (*Server, *lines) {
	shared := &lines{gate: make(chan struct{}), blocked: make(chan struct{}, 100), lost: make(chan struct{}, 1000)}
	return &Server{Limits: l, Logger: quiet(w), TLS: &TLS{}, NewMachine: func(c *Conn) Machine {
		return &lines{conn: c, gate: shared.gate, blocked: shared.blocked, lost: shared.lost}
	}}, shared
}

// logBuffer is a log that tests read while the server writes.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// waitLimit bounds every wait of a test on real time.
const waitLimit = 20 * time.Second

// serve runs s on l until the test ends.
func serve(t testing.TB, s *Server, l net.Listener) {
	t.Helper()
	wiretest.Serve(t, s, l, ErrServerClosed)
}

func listenTCP(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// peer is the client's end of a connection.
type peer struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func newPeer(t testing.TB, c net.Conn, err error) *peer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &peer{t, c, bufio.NewReader(c)}
}

func dialTCP(t testing.TB, l net.Listener) *peer {
	t.Helper()
	c, err := net.DialTimeout(l.Addr().Network(), l.Addr().String(), waitLimit)
	p := newPeer(t, c, err)
	_ = c.SetReadDeadline(time.Now().Add(waitLimit))
	return p
}

func dialMemory(t testing.TB, l *memoryListener) *peer {
	t.Helper()
	c, err := l.Dial()
	return newPeer(t, c, err)
}

func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := p.Write([]byte(text)); err != nil {
		p.t.Fatalf("send %q: %v", text, err)
	}
}

// want reads one line.
func (p *peer) want(line string) {
	p.t.Helper()
	got, err := p.r.ReadString('\n')
	if err != nil || got != line+"\n" {
		p.t.Fatalf("got %q, %v; want %q", got, err, line)
	}
}

// wantEnd expects the server to hang up.
func (p *peer) wantEnd() {
	p.t.Helper()
	if b, err := p.r.ReadByte(); !errors.Is(err, io.EOF) {
		p.t.Fatalf("got %q, %v; want the end", b, err)
	}
}

func (p *peer) login() *peer {
	p.t.Helper()
	p.send("hello\n")
	p.want("welcome")
	return p
}

// The buffer of a message that arrives in pieces is allocated a few times, and is at
// most twice as long as the part that has arrived.
func TestMemoryOfLongMessages(t *testing.T) {
	const message, piece = 1 << 20, readSize
	c := &Conn{machine: &lines{}}
	total := 0
	for arrived := piece; arrived < message; arrived += piece {
		before := cap(c.pending)
		if !c.grow(arrived) {
			t.Fatal("refused")
		}
		c.pending = c.pending[:arrived]
		if n := cap(c.pending); n != before {
			total += n
			if n > 2*arrived {
				t.Errorf("%d bytes for %d that have arrived", n, arrived)
			}
		}
	}
	if total > 6*message {
		t.Errorf("%d bytes were allocated in all, want at most %d", total, 6*message)
	}
}
