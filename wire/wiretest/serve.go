// Package wiretest has helpers for tests of the protocols:
//
//	Transcripts     conversations as text
//	SQL             an SQL layer on a memory store
//	CheckPipelines  pipelined requests against single ones
//	Main            a check that no goroutine is left when the tests end
package wiretest

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// WaitLimit bounds every wait of a test.
const WaitLimit = 20 * time.Second

// Server is a wire.Server.
type Server interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
}

// Serve serves on l until the test ends. It checks that s.Serve then returns closed.
func Serve(t testing.TB, s Server, l net.Listener, closed error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), WaitLimit)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-done; !errors.Is(err, closed) {
			t.Errorf("Serve ended with %v", err)
		}
	})
}

// lostWithin bounds the time from the client's Close to the end of its statement.
const lostWithin = time.Second

// CloseWhileRunning sends an endless statement over the server's only connection,
// closes the connection, and waits until the server has none. That must take
// lostWithin at most.
func CloseWhileRunning(t *testing.T, connections func() int, conn net.Conn, statement []byte) {
	t.Helper()
	if _, err := conn.Write(statement); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) //nolint:forbidigo // it is running, and nothing shows that
	if connections() != 1 {
		t.Fatalf("%d connections, want the one", connections())
	}
	closed := time.Now()
	_ = conn.Close() // closed once is enough
	for connections() > 0 && time.Since(closed) < WaitLimit {
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // as above
	}
	if took := time.Since(closed); took > lostWithin {
		t.Errorf("the statement went on for %v", took)
	}
}

// MemoryInUse returns the bytes of the heap and the stacks after a collection.
func MemoryInUse() int64 {
	for range 3 { // pools are emptied, stacks are shrunk
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// CountWrites returns a listener with connections that count the server's calls of
// Write.
func CountWrites(l net.Listener) (net.Listener, *atomic.Int64) {
	writes := new(atomic.Int64)
	return countingListener{l, writes}, writes
}

type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}
