package wire

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/wire/wiretest"
)

// sockets runs a test over TCP and over a Unix socket. write is the server's
// Limits.Write.
func sockets(t *testing.T, write time.Duration, body func(t *testing.T, s *Server, dial func() *peer)) {
	t.Helper()
	for name, listen := range map[string]func(t *testing.T) net.Listener{
		"tcp": func(t *testing.T) net.Listener { return listenTCP(t) },
		"unix": func(t *testing.T) net.Listener {
			l, err := Listen(socketPath(t), "")
			if err != nil {
				t.Fatal(err)
			}
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := linesServer(Limits{Write: write})
			l := listen(t)
			serve(t, s, l)
			body(t, s, func() *peer { return dialTCP(t, l) })
		})
	}
}

// waitGone waits until the server has no connection left.
func waitGone(t *testing.T, s *Server) {
	t.Helper()
	deadline := time.Now().Add(waitLimit)
	for s.Connections() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are still there", s.Connections())
		}
		<-time.After(5 * time.Millisecond)
	}
}

// A client may send its last statements together with the end of its input. It gets
// its answers, and the server notices the end.
func TestHalfClosedClientGetsItsAnswers(t *testing.T) {
	sockets(t, waitLimit, func(t *testing.T, s *Server, dial func() *peer) {
		var clients sync.WaitGroup
		for range 20 {
			p := dial().login()
			clients.Go(func() {
				p.send("echo one\necho two\n")
				if err := p.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
					t.Error(err)
				}
				if got, err := io.ReadAll(p.r); string(got) != "one\ntwo\n" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
		clients.Wait()
		waitGone(t, s)
	})
}

func TestByteByByte(t *testing.T) {
	sockets(t, waitLimit, func(t *testing.T, _ *Server, dial func() *peer) {
		p := dial().login()
		for range 3 {
			for _, b := range []byte("echo drip\necho drop\n") {
				p.send(string(b))
			}
			p.want("drip")
			p.want("drop")
		}
	})
}

func TestMessageLargerThanTheReadBuffer(t *testing.T) {
	sockets(t, waitLimit, func(t *testing.T, _ *Server, dial func() *peer) {
		p := dial().login()
		long := strings.Repeat("y", 5*readSize+17)
		for range 2 {
			go p.send("echo short\necho " + long + "\necho after\n")
			p.want("short")
			p.want(long)
			p.want("after")
		}
	})
}

// A client that does not read is served no more, costs little memory and is closed.
// Others are served meanwhile.
func TestClientsThatDoNotReadAreClosed(t *testing.T) {
	const count, each = 16, 1 << 20
	sockets(t, 200*time.Millisecond, func(t *testing.T, s *Server, dial func() *peer) {
		other := dial().login()
		before := wiretest.MemoryInUse()
		for range count {
			dial().login().send("big 2000000000\n")
		}
		other.send("echo prompt\n")
		other.want("prompt")
		if held := (wiretest.MemoryInUse() - before) / count; held > each {
			t.Errorf("a client that does not read costs %d bytes, want at most %d", held, each)
		}
		_ = other.Close()
		waitGone(t, s)
	})
}

// An administrator ends a connection at once whose client does not read.
func TestHangUpEndsAWriteThatWaits(t *testing.T) {
	sockets(t, time.Hour, func(t *testing.T, s *Server, dial func() *peer) {
		dial().login().send("big 2000000000\n")
		<-time.After(100 * time.Millisecond) // it waits, or will be cut off before
		s.eachConn(func(c *Conn) { go c.HangUp() })
		waitGone(t, s)
	})
}

func TestSlowReaderGetsAllOfALargeAnswer(t *testing.T) {
	sockets(t, waitLimit, func(t *testing.T, _ *Server, dial func() *peer) {
		p := dial().login()
		p.send("big 30000000\necho end\n")
		<-time.After(50 * time.Millisecond) // less than the write limit: the socket fills up
		if n, err := io.CopyN(io.Discard, p.r, 30_000_000); err != nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		p.want("end")
	})
}

// The last answer arrives, although the client has sent more than the server has
// read.
func TestTheLastAnswerArrives(t *testing.T) {
	sockets(t, waitLimit, func(t *testing.T, s *Server, dial func() *peer) {
		for range 20 {
			p := dial().login()
			if _, err := p.Write(append([]byte("nonsense\n"), bytes.Repeat([]byte("z"), 3*readSize)...)); err != nil {
				t.Fatal(err)
			}
			p.want("bad")
			p.wantEnd()
			_ = p.Close()
		}
		waitGone(t, s)
	})
}

func TestVanishedClientsAreForgotten(t *testing.T) {
	s, _ := linesServer(Limits{})
	l := listenTCP(t)
	serve(t, s, l)
	for range 10 {
		p := dialTCP(t, l).login()
		p.send("echo a\n")
		_ = p.Conn.(*net.TCPConn).SetLinger(0) // a reset instead of an orderly end
		_ = p.Close()
	}
	waitGone(t, s)
}

// TestOneWriteForABatch counts writes with a socket that keeps them apart.
func TestOneWriteForABatch(t *testing.T) {
	l, err := net.Listen("unixpacket", socketPath(t))
	if err != nil {
		t.Skipf("no sequenced packets here: %v", err)
	}
	s, _ := linesServer(Limits{})
	serve(t, s, l)
	p := dialTCP(t, l)
	packet := make([]byte, 1<<20)
	exchange := func(request string) (answer string) {
		p.send(request)
		n, err := p.Read(packet)
		if err != nil {
			t.Fatal(err)
		}
		return string(packet[:n])
	}
	if got := exchange("hello\n"); got != "welcome\n" {
		t.Fatalf("got %q", got)
	}
	if got, want := exchange(strings.Repeat("echo some text\n", 1000)), strings.Repeat("some text\n", 1000); got != want {
		t.Errorf("the first write has %d of %d bytes", len(got), len(want))
	}
	// A longer answer comes in pieces of the flush limit.
	got := exchange("big 100000\n")
	if len(got) != 66_000 { // the first whole thousand at or above 64 KiB
		t.Errorf("the first write has %d bytes", len(got))
	}
}

// TestRoundTripAllocatesNothing covers the loop itself: buffers come from a
// pool, deadlines are not touched.
func TestRoundTripAllocatesNothing(t *testing.T) {
	s := &Server{NewMachine: func(c *Conn) Machine { return &echo{conn: c} }}
	l := listenTCP(t)
	serve(t, s, l)
	allocatesNothing(t, dialTCP(t, l), 0)
}

// allocatesNothing counts the allocations of a round trip. others is the number of
// allocations by packages outside this module.
func allocatesNothing(t *testing.T, p *peer, others float64) {
	t.Helper()
	buf := make([]byte, 64)
	trip := func() {
		if _, err := p.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(p.Conn, buf); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		trip()
	}
	if n := testing.AllocsPerRun(1000, trip); n > others && !raceEnabled {
		t.Errorf("%v allocations a round trip", n)
	}
}

// echo is a machine that sends its input back. After a first line "tls" it begins
// TLS.
type echo struct {
	lines
	conn *Conn
	in   bool
}

func (e *echo) Feed(_ context.Context, in []byte, out *Out) (int, error) {
	if !e.in && len(in) > 0 {
		if string(in) == "tls\n" {
			out.B = append(out.B, "go\n"...)
			_ = e.conn.StartTLS() // Feed has no other error
			return len(in), nil
		}
		e.in = true
		if err := e.conn.Admit(); err != nil {
			return 0, err
		}
	}
	out.B = append(out.B, in...)
	return len(in), nil
}
