package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// bubble runs a test in virtual time, on a server on a network in memory.
func bubble(t *testing.T, l Limits, body func(t *testing.T, dial func() *peer, s *Server, m *lines)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, m := linesServer(l)
		listener := listenMemory()
		serve(t, s, listener)
		body(t, func() *peer { return dialMemory(t, listener) }, s, m)
	})
}

// elapsed expects that something took exactly so long.
func elapsed(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); got != want {
		t.Errorf("it took %v, want %v", got, want)
	}
}

// drip sends one byte after the other until the server hangs up.
func drip(t *testing.T, p *peer, every time.Duration) {
	var work sync.WaitGroup
	work.Go(func() {
		for {
			if _, err := p.Write([]byte("x")); err != nil {
				return
			}
			<-time.After(every)
		}
	})
	t.Cleanup(work.Wait)
}

func TestSilentClientIsClosedBeforeTheLogin(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p, start := dial(), time.Now()
		p.want("go away: 6")
		p.wantEnd()
		elapsed(t, start, 5*time.Second)
	})
}

func TestLoginTimeIsAbsolute(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p, start := dial(), time.Now()
		drip(t, p, time.Second) // does not buy more time
		p.want("go away: 4")
		p.wantEnd()
		elapsed(t, start, 10*time.Second)
	})
}

func TestIdleClientMayStay(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p := dial().login()
		<-time.After(1000 * time.Hour)
		p.send("echo still here\n")
		p.want("still here")
	})
}

func TestIdleLimit(t *testing.T) {
	bubble(t, Limits{Idle: time.Hour}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p := dial().login()
		<-time.After(59 * time.Minute)
		p.send("echo x\n") // begins a new hour
		p.want("x")
		start := time.Now()
		p.want("go away: 5")
		p.wantEnd()
		elapsed(t, start, time.Hour)
	})
}

func TestMachinesIdleTimeout(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p := dial().login()
		p.send("begin 500\n")
		p.want("begun")
		start := time.Now()
		p.want("go away: 5")
		p.wantEnd()
		elapsed(t, start, 500*time.Millisecond)

		p = dial().login()
		p.send("begin 500\nbegin 0\n")
		p.want("begun")
		p.want("begun")
		<-time.After(time.Hour)
		p.send("echo x\n")
		p.want("x")
	})
}

func TestTheShorterIdleTimeout(t *testing.T) {
	for _, tc := range []struct {
		limit, machine, want time.Duration
	}{
		{time.Hour, 500 * time.Millisecond, 500 * time.Millisecond},
		{time.Second, 5 * time.Second, time.Second},
	} {
		bubble(t, Limits{Idle: tc.limit}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
			p := dial().login()
			p.send(fmt.Sprintf("begin %d\n", tc.machine.Milliseconds()))
			p.want("begun")
			start := time.Now()
			p.want("go away: 5")
			p.wantEnd()
			elapsed(t, start, tc.want)
		})
	}
}

func TestMessageTimeIsAbsolute(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p := dial().login()
		start := time.Now()
		drip(t, p, 7*time.Second)
		p.want("go away: 4")
		p.wantEnd()
		elapsed(t, start, time.Minute)
	})
}

func TestSlowMessageWithinItsTimeIsServed(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p := dial().login()
		for range 3 { // each message has its own minute
			for _, b := range "echo slow\n" {
				p.send(string(b))
				<-time.After(5 * time.Second)
			}
			p.want("slow")
		}
	})
}

// A client that pipelines through a fixed buffer ends each write in the middle
// of a message. It is not slow: the time counts for each message.
func TestPipelineCutAnywhereIsServed(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p := dial().login()
		p.send("echo 0\nec")
		for i := range 30 {
			p.want(strconv.Itoa(i))
			<-time.After(10 * time.Second)
			p.send(fmt.Sprintf("ho %d\nec", i+1))
		}
		start := time.Now()
		p.want("30")
		p.want("go away: 4")
		p.wantEnd()
		elapsed(t, start, time.Minute)
	})
}

// The same holds for messages that are too long and thrown away.
func TestSkippedMessageHasItsTime(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		p := dial().login()
		for range 3 {
			p.send("skip 100\n")
			<-time.After(50 * time.Second)
			p.send(strings.Repeat("x", 100))
		}
		p.send("echo x\n")
		p.want("x")
		start := time.Now()
		p.send("skip 1000000\n")
		drip(t, p, 7*time.Second)
		p.want("go away: 4")
		p.wantEnd()
		elapsed(t, start, time.Minute)
	})
}

// The log has a line with the reason for every connection that the server ends. It
// has none for the connections that a shutdown ends.
func TestEndsAreLogged(t *testing.T) {
	for reason, end := range map[string]func(p *peer, s *Server){
		"bad line": func(p *peer, _ *Server) { p.send("bad\n") },
		"an administrator, KILL": func(_ *peer, s *Server) {
			s.eachConn(func(c *Conn) { go c.HangUp() })
		},
		"idle timeout":                         func(p *peer, _ *Server) { p.send("begin 500\n") },
		"does not read its answers":            func(p *peer, _ *Server) { p.send("big 1000000000\n") },
		"timeout of the login or of a message": func(p *peer, _ *Server) { p.send("half") },
		"":                                     func(p *peer, _ *Server) { p.send("bye\n") },
	} {
		synctest.Test(t, func(t *testing.T) {
			var log logBuffer
			s, _ := loggingServer(Limits{}, &log)
			listener := listenMemory()
			serve(t, s, listener)
			end(dialMemory(t, listener).login(), s)
			<-time.After(2 * time.Minute)
			if n := s.Connections(); n != 0 {
				t.Errorf("%q: %d connections", reason, n)
			}
			if text := log.String(); strings.Count(text, "reason=") != min(1, len(reason)) || !strings.Contains(text, reason) {
				t.Errorf("%q: the log has %q", reason, text)
			}
		})
	}
}

func TestClientThatNeverReadsIsClosed(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, s *Server, _ *lines) {
		p := dial().login()
		start := time.Now()
		p.send("big 1000000000\n")
		<-time.After(29 * time.Second)
		if s.Connections() != 1 {
			t.Error("gave up before the write limit")
		}
		<-time.After(2 * time.Second)
		if s.Connections() != 0 {
			t.Errorf("still there after %v", time.Since(start))
		}
	})
}

func TestSlowReaderGetsEverything(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, _ *Server, _ *lines) {
		const size = 3_000_000
		p := dial().login()
		p.send("big 3000000\necho end\n")
		buf := make([]byte, 10_000)
		for got := 0; got < size; {
			n, err := p.r.Read(buf[:min(len(buf), size-got)])
			if err != nil {
				t.Fatalf("after %d bytes: %v", got, err)
			}
			got += n
			<-time.After(time.Second)
		}
		p.want("end")
	})
}

// brokenListener fails some times before it works.
type brokenListener struct {
	*memoryListener
	failures int
	err      error
}

func (l *brokenListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", l.err)}
	}
	return l.memoryListener.Accept()
}

func TestAcceptSurvivesFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logBuffer
		s, _ := loggingServer(Limits{}, &log)
		l := &brokenListener{listenMemory(), 10, syscall.EMFILE}
		start := time.Now()
		serve(t, s, l)
		dialMemory(t, l.memoryListener).login()
		pauses := 5 + 10 + 20 + 40 + 80 + 160 + 320 + 640 + 1000 + 1000
		elapsed(t, start, time.Duration(pauses)*time.Millisecond)
		if n := strings.Count(log.String(), "too many open files"); n != 10 {
			t.Errorf("logged %d of 10 failures:\n%s", n, log.String())
		}
	})
}

func TestServeEndsWhenItsListenerIsClosed(t *testing.T) {
	s, _ := linesServer(Limits{})
	l := listenMemory()
	_ = l.Close()
	if err := s.Serve(l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestShutdownEndsThePauseOfAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := linesServer(Limits{})
		done := make(chan error, 1)
		go func() { done <- s.Serve(&brokenListener{listenMemory(), 1 << 30, syscall.ENFILE}) }()
		<-time.After(time.Minute)
		start := time.Now()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, ErrServerClosed) {
			t.Error(err)
		}
		elapsed(t, start, 0)
	})
}

func TestRefusalsAreLoggedOnceASecond(t *testing.T) {
	var th Throttle
	now := time.Unix(1_000_000, 0)
	for i, step := range []struct {
		after   time.Duration
		skipped int
		ok      bool
	}{
		{0, 0, true},
		{1, 0, false},
		{-2, 0, false}, // of a goroutine that was overtaken
		{time.Second/2 + 1, 0, false},
		{time.Second / 2, 3, true},
		{time.Second, 0, true},
	} {
		now = now.Add(step.after)
		if skipped, ok := th.Next(now); skipped != step.skipped || ok != step.ok {
			t.Errorf("step %d: %d, %v", i, skipped, ok)
		}
	}
}
