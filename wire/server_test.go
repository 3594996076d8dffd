package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/sqlfuncs/account"
)

func TestConnectionsAreLimitedAtTheirLogin(t *testing.T) {
	bubble(t, Limits{Connections: 3, ReservedForSocket: 1}, func(t *testing.T, dial func() *peer, s *Server, _ *lines) {
		first := dial().login()
		dial().login()
		third := dial()
		third.send("hello\n")
		third.want("53300")
		third.wantEnd()
		_ = third.Close()
		first.send("bye\n")
		first.wantEnd()
		synctest.Wait()
		dial().login()
		if n := s.Connections(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
}

func TestConnectionsBeforeTheLoginAreLimited(t *testing.T) {
	bubble(t, Limits{PreAuth: 2}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		one, two := dial(), dial()
		three := dial()
		one.want("go away: 1") // the oldest is evicted
		one.wantEnd()
		two.login()
		dial().login()
		three.login()
	})
}

// A client with many connections does not keep others out: neither clients from
// other addresses, nor a client from the same address that logs in at once.
func TestConnectionsBeforeTheLoginKeepNoUserOut(t *testing.T) {
	s, _ := linesServer(Limits{PreAuth: 4})
	l := listenTCP(t)
	serve(t, s, l)
	socket, err := Listen(socketPath(t), "")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, socket)
	slow := dialTCP(t, socket)
	for range 20 {
		dialTCP(t, l)
	}
	dialTCP(t, l).login()
	dialTCP(t, socket).login()
	slow.login()
	// Each evicted connection is counted when it ends, which may be later.
	n := int64(0)
	for deadline := time.Now().Add(10 * time.Second); n < 10 && time.Now().Before(deadline); time.Sleep(time.Millisecond) { //nolint:forbidigo // a bounded look
		n = s.Traffic().Refused[RefusedBeforeLogin]
	}
	if n < 10 {
		t.Errorf("%d connections were evicted, want those of the flood", n)
	}
}

// A /64 may be one host. It has four times the connections of an address.
func TestConnectionsFromOneNetworkAreLimited(t *testing.T) {
	s, _ := linesServer(Limits{PerIP: 2})
	s.init()
	admit := func(ip string) error {
		c := newConn(s, nowhere{ip: ip})
		if !s.register(c) {
			t.Fatal("the server is stopping")
		}
		return c.Admit()
	}
	for i := range 8 {
		if err := admit(fmt.Sprintf("2001:db8::%d", i)); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := admit("2001:db8::ffff"); err == nil || !strings.Contains(err.Error(), "2001:db8::/64") {
		t.Errorf("a ninth connection from a /64: %v", err)
	}
	for _, ip := range []string{"2001:db8:0:1::1", "192.0.2.1"} {
		if err := admit(ip); err != nil {
			t.Error(ip, err)
		}
	}
}

// nowhere is a connection from an address.
type nowhere struct {
	net.Conn
	ip string
}

func (n nowhere) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(n.ip), 1000))
}

func TestConnectionsFromOneAddressAreLimited(t *testing.T) {
	s, _ := linesServer(Limits{PerIP: 2})
	l := listenTCP(t)
	serve(t, s, l)
	dialTCP(t, l).login()
	second := dialTCP(t, l).login()
	third := dialTCP(t, l)
	third.send("hello\n")
	third.want("53300")
	third.wantEnd()

	socket, err := Listen(socketPath(t), "")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, socket)
	for range 3 { // Unix sockets do not count
		dialTCP(t, socket).login()
	}

	second.send("bye\n")
	second.wantEnd()
	for { // the server counts it out a moment later
		p := dialTCP(t, l)
		p.send("hello\n")
		if line, _ := p.r.ReadString('\n'); line == "welcome\n" {
			break
		}
	}
}

func TestSomeConnectionsAreKeptForTheUnixSocket(t *testing.T) {
	s, _ := linesServer(Limits{Connections: 3, ReservedForSocket: 2})
	l := listenTCP(t)
	serve(t, s, l)
	dialTCP(t, l).login()
	refused := dialTCP(t, l)
	refused.send("hello\n")
	refused.want("53300")
	socket, err := Listen(socketPath(t), "")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, socket)
	dialTCP(t, socket).login()
	dialTCP(t, socket).login()
	full := dialTCP(t, socket)
	full.send("hello\n")
	full.want("53300")
}

func TestShutdownTellsIdleClientsAndReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := linesServer(Limits{})
		l := listenMemory()
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		idle, preLogin := dialMemory(t, l).login(), dialMemory(t, l)
		half := dialMemory(t, l).login()
		half.send("echo no end of line")
		<-time.After(firstStatementTime)
		start := time.Now()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		elapsed(t, start, 0)
		for _, p := range []*peer{idle, preLogin, half} {
			p.want("go away: 0")
			p.wantEnd()
		}
		if err := <-done; !errors.Is(err, ErrServerClosed) {
			t.Error(err)
		}
		if _, err := l.Dial(); err == nil {
			t.Error("still accepts")
		}
		if err := s.Serve(listenMemory()); !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve after Shutdown: %v", err)
		}
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("a second Shutdown: %v", err)
		}
	})
}

func TestShutdownWaitsForRunningStatements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := linesServer(Limits{})
		l := listenMemory()
		go func() { _ = s.Serve(l) }()
		p := dialMemory(t, l).login()
		p.send("block\necho after\n")
		<-m.blocked
		go func() {
			<-time.After(time.Minute)
			close(m.gate)
		}()
		start := time.Now()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		elapsed(t, start, time.Minute)
		for _, line := range []string{"done", "after", "go away: 0"} {
			p.want(line)
		}
		p.wantEnd()
	})
}

func TestShutdownCutsOffWhatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := linesServer(Limits{})
		l := listenMemory()
		go func() { _ = s.Serve(l) }()
		waiting := dialMemory(t, l).login()
		waiting.send("block\n")
		<-m.blocked
		unread := dialMemory(t, l).login()
		unread.send("big 10000000\n")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		start := time.Now()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		elapsed(t, start, 10*time.Second+cutGrace)
		waiting.want("cut off: 57P01")
		waiting.wantEnd()
	})
}

// When the server gives up, an answer that the client does not read gets cutGrace,
// not the write limit.
func TestCutOffAnswersAreNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := linesServer(Limits{FlushAt: 1 << 20})
		l := listenMemory()
		go func() { _ = s.Serve(l) }()
		unread := dialMemory(t, l).login()
		unread.send("big 200000\nblock\n")
		<-m.blocked
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		elapsed(t, start, time.Second+cutGrace)
	})
}

// The rest of a message that was under way is not waited for either.
func TestShutdownWhileAMessageArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := linesServer(Limits{})
		l := listenMemory()
		go func() { _ = s.Serve(l) }()
		p := dialMemory(t, l).login()
		p.send("block\necho unfinis")
		<-m.blocked
		<-time.After(firstStatementTime)
		done := make(chan error, 1)
		go func() { done <- s.Shutdown(context.Background()) }()
		synctest.Wait()
		start := time.Now()
		close(m.gate)
		if err := <-done; err != nil {
			t.Error(err)
		}
		elapsed(t, start, 0)
		p.want("done")
		p.want("go away: 0")
		p.wantEnd()
	})
}

// A client that never stops sending cannot keep the server from stopping.
func TestShutdownUnderAFlood(t *testing.T) {
	sockets(t, 200*time.Millisecond, func(t *testing.T, s *Server, dial func() *peer) {
		p := dial().login()
		flood := bytes.Repeat([]byte("echo x\n"), 50_000)
		var work sync.WaitGroup
		work.Go(func() {
			for {
				if _, err := p.Write(flood); err != nil {
					return
				}
			}
		})
		warm := make(chan struct{})
		work.Go(func() {
			_, _ = io.CopyN(io.Discard, p.r, 1<<20)
			close(warm)
			_, _ = io.Copy(io.Discard, p.r)
		})
		<-warm
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		_ = p.Close()
		work.Wait()
	})
}

// A shutdown waits for the end of a client's transaction. A client that has just
// logged in gets the answer to its first statement.
func TestShutdownLetsTransactionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := linesServer(Limits{})
		l := listenMemory()
		go func() { _ = s.Serve(l) }()
		working, quiet := dialMemory(t, l).login(), dialMemory(t, l).login()
		working.send("begin 60000\n")
		working.want("begun")
		<-time.After(firstStatementTime / 2)
		fresh := dialMemory(t, l).login()
		<-time.After(firstStatementTime / 2)
		done := make(chan error, 1)
		start := time.Now()
		go func() { done <- s.Shutdown(context.Background()) }()
		quiet.want("go away: 0")
		quiet.wantEnd()
		elapsed(t, start, 0)
		fresh.want("go away: 0")
		elapsed(t, start, firstStatementTime/2)
		<-time.After(3 * time.Second)
		working.send("echo still here\n")
		working.want("still here")
		working.send("begin 0\n") // the end of the transaction
		working.want("begun")
		working.want("go away: 0")
		working.wantEnd()
		if err := <-done; err != nil {
			t.Error(err)
		}
		elapsed(t, start, firstStatementTime/2+3*time.Second)
	})
}

// The caller's context bounds the wait for transactions, too.
func TestShutdownCutsTransactionsOff(t *testing.T) {
	sockets(t, waitLimit, func(t *testing.T, s *Server, dial func() *peer) {
		working := dial().login()
		working.send("begin 60000\n")
		working.want("begun")
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		working.want("go away: 0")
		working.wantEnd()
	})
}

func TestShutdownBeforeServe(t *testing.T) {
	s, _ := linesServer(Limits{})
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	l := listenMemory()
	if err := s.Serve(l); !errors.Is(err, ErrServerClosed) {
		t.Error(err)
	}
	if _, err := l.Dial(); err == nil {
		t.Error("Serve left the listener open")
	}
}

// TestShutdownUnderLoad stops a busy server from several goroutines: every
// client gets whole lines, and then the end.
func TestShutdownUnderLoad(t *testing.T) {
	s, _ := linesServer(Limits{})
	l := listenTCP(t)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	var clients sync.WaitGroup
	warm := make(chan struct{}, 1000)
	for range 16 {
		p := dialTCP(t, l).login()
		clients.Go(func() {
			batch := strings.Repeat("echo some text\n", 20)
			for {
				if _, err := p.Write([]byte(batch)); err != nil {
					return
				}
				for range 20 {
					line, err := p.r.ReadString('\n')
					if line == "go away: 0\n" || (line == "" && err != nil) {
						return
					}
					if line != "some text\n" {
						t.Errorf("got %q, %v", line, err)
						return
					}
				}
				select {
				case warm <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 100 {
		<-warm
	}
	var stops sync.WaitGroup
	for range 3 {
		stops.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
			defer cancel()
			if err := s.Shutdown(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	stops.Wait()
	clients.Wait()
	if err := <-done; !errors.Is(err, ErrServerClosed) {
		t.Error(err)
	}
	if n := s.Connections(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

func TestPanicEndsOneConnection(t *testing.T) {
	for _, network := range []string{"tcp", "memory"} {
		t.Run(network, func(t *testing.T) {
			var log logBuffer
			s, _ := loggingServer(Limits{}, &log)
			var dial func() *peer
			if network == "tcp" {
				l := listenTCP(t)
				serve(t, s, l)
				dial = func() *peer { return dialTCP(t, l) }
			} else {
				l := listenMemory()
				serve(t, s, l)
				dial = func() *peer { return dialMemory(t, l) }
			}
			bystander, p := dial().login(), dial().login()
			p.send("echo before\n")
			p.want("before")
			p.send("panic\n")
			p.want("go away: 2") // and not half an answer
			p.wantEnd()
			bystander.send("echo alive\n")
			bystander.want("alive")
			if text := log.String(); !strings.Contains(text, "on purpose") || !strings.Contains(text, "machine_test.go") {
				t.Errorf("the log lacks the panic or its place:\n%s", text)
			}
		})
	}
}

// brokenMachine panics in every method.
type brokenMachine struct{}

func (brokenMachine) Feed(context.Context, []byte, *Out) (int, error) { panic("feed") }
func (brokenMachine) IdleTimeout() time.Duration                      { panic("idle") }
func (brokenMachine) Lost()                                           { panic("lost") }
func (brokenMachine) Busy() bool                                      { panic("busy") }
func (brokenMachine) Drop([]byte, *Out) error                         { panic("drop") }
func (brokenMachine) Refuse(*Out, Reason)                             { panic("refuse") }
func (brokenMachine) Rest()                                           { panic("rest") }
func (brokenMachine) Memory() *account.Session                        { panic("memory") }
func (brokenMachine) Close()                                          { panic("close") }

func TestPanicsWhileEndingAreSurvived(t *testing.T) {
	s := &Server{NewMachine: func(*Conn) Machine { return brokenMachine{} }, Logger: quiet(io.Discard)}
	l := listenTCP(t)
	serve(t, s, l)
	for range 3 {
		dialTCP(t, l).wantEnd()
	}
}

func TestIDsAreUnique(t *testing.T) {
	seen := map[int32]bool{}
	got := make(chan int32, 100)
	s := &Server{NewMachine: func(c *Conn) Machine { got <- c.ID; return &lines{conn: c} }}
	l := listenTCP(t)
	serve(t, s, l)
	lastID.Store(1<<31 - 3) // the counter wraps around during the test
	for range 10 {
		dialTCP(t, l).login()
		id := <-got
		if id <= 0 || seen[id] {
			t.Errorf("id %d was given twice or is not positive", id)
		}
		seen[id] = true
	}
}

func TestRemoteAddressIsKnown(t *testing.T) {
	got := make(chan *Conn, 1)
	s := &Server{NewMachine: func(c *Conn) Machine { got <- c; return &lines{conn: c} }}
	l := listenTCP(t)
	serve(t, s, l)
	p := dialTCP(t, l)
	if c := <-got; c.Remote != p.LocalAddr().String() || c.Local {
		t.Errorf("over TCP: %+v", c)
	}
	socket, err := Listen(socketPath(t), "")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, socket)
	dialTCP(t, socket)
	if c := <-got; c.Remote != "" || !c.Local {
		t.Errorf("over a Unix socket: %+v", c)
	}
}

var _ net.Listener = (*memoryListener)(nil)
