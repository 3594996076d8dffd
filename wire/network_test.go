package wire

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bufferBytes bounds the unread bytes of one direction. Then Write waits, as it does
// when the buffers of a socket are full.
const bufferBytes = 64 << 10

// memoryListener is a net.Listener in memory, without addresses. Its connections have
// buffers, unlike those of net.Pipe. testing/synctest knows all their waits.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// listenMemory returns a memoryListener.
func listenMemory() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects. It waits until the connection is accepted.
func (l *memoryListener) Dial() (net.Conn, error) {
	up, down := newMemoryStream(), newMemoryStream()
	select {
	case l.conns <- &memoryConn{in: up, out: down}:
		return &memoryConn{in: down, out: up}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *memoryListener) Addr() net.Addr { return nil }

// memoryConn is one end of a connection in memory.
type memoryConn struct {
	net.Conn // nil: only the methods below are called
	in, out  *memoryStream
}

func (c *memoryConn) RemoteAddr() net.Addr { return nil }

func (c *memoryConn) Read(p []byte) (n int, err error) {
	s := c.in
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.data) == 0 {
		if s.ended != nil {
			return 0, s.ended
		}
		if err := s.wait(s.readBy); err != nil {
			return 0, err
		}
	}
	n = copy(p, s.data)
	s.data = s.data[:copy(s.data, s.data[n:])]
	s.changed.Broadcast()
	return n, nil
}

// Write waits while the buffer is full.
func (c *memoryConn) Write(p []byte) (n int, err error) {
	s := c.out
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.ended == nil {
		part := p[n:min(len(p), n+bufferBytes-len(s.data))]
		s.data = append(s.data, part...)
		s.changed.Broadcast()
		if n += len(part); n == len(p) {
			return n, nil
		}
		if err := s.wait(s.writeBy); err != nil {
			return n, err
		}
	}
	return n, io.ErrClosedPipe
}

// CloseWrite ends the output; the input goes on.
func (c *memoryConn) CloseWrite() error { return c.out.end(io.EOF) }

func (c *memoryConn) Close() error { return errors.Join(c.out.end(io.EOF), c.in.end(net.ErrClosed)) }

func (c *memoryConn) SetReadDeadline(t time.Time) error { return c.in.setDeadline(&c.in.readBy, t) }

func (c *memoryConn) SetWriteDeadline(t time.Time) error { return c.out.setDeadline(&c.out.writeBy, t) }

// memoryStream is one direction. changed wakes all waiters after a change, and at a
// deadline.
type memoryStream struct {
	mu              sync.Mutex
	changed         sync.Cond // L is mu
	data            []byte
	ended           error // nil while it is open; unread data can still be read
	readBy, writeBy time.Time
}

func newMemoryStream() *memoryStream {
	s := &memoryStream{}
	s.changed.L = &s.mu
	return s
}

// change changes the stream. It never fails.
func (s *memoryStream) change(f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
	return nil
}

func (s *memoryStream) end(why error) error {
	return s.change(func() { s.ended = cmp.Or(s.ended, why) })
}

func (s *memoryStream) setDeadline(deadline *time.Time, t time.Time) error {
	err := s.change(func() { *deadline = t })
	if left := time.Until(t); left > 0 {
		time.AfterFunc(left, func() { _ = s.change(func() {}) })
	}
	return err
}

// wait waits for a change, with mu held. It returns an error after the deadline.
func (s *memoryStream) wait(deadline time.Time) error {
	if !deadline.IsZero() && time.Until(deadline) <= 0 {
		return os.ErrDeadlineExceeded
	}
	s.changed.Wait()
	return nil
}

func connectMemory(t *testing.T) (client, server *memoryConn) {
	t.Helper()
	l := listenMemory()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	dialed, err := l.Dial()
	if err != nil {
		t.Fatal(err)
	}
	return dialed.(*memoryConn), (<-accepted).(*memoryConn)
}

func TestWriteWaitsOnlyWhenTheBufferIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connectMemory(t)
		sent := bytes.Repeat([]byte("x"), bufferBytes+1)
		if n, err := client.Write(sent[:bufferBytes]); n != bufferBytes || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		_ = client.SetWriteDeadline(time.Now().Add(time.Second))
		start := time.Now()
		if _, err := client.Write(sent[:1]); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
			t.Fatalf("a full buffer took a byte more after %v: %v", time.Since(start), err)
		}
		_ = client.SetWriteDeadline(time.Time{})
		go func() {
			_, _ = client.Write(sent[:1])
			_ = client.CloseWrite()
		}()
		got, err := io.ReadAll(server)
		if err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	})
}

func TestDeadlineInThePastWakesAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := connectMemory(t)
		done := make(chan error)
		go func() {
			_, err := client.Read(make([]byte, 1))
			done <- err
		}()
		synctest.Wait()
		_ = client.SetReadDeadline(time.Unix(1, 0))
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestCloseEndsBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connectMemory(t)
		_, _ = server.Write([]byte("bye"))
		_ = server.Close()
		if got, err := io.ReadAll(client); string(got) != "bye" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		if _, err := client.Write([]byte("x")); err == nil {
			t.Fatal("wrote to a closed connection")
		}
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	})
}

func TestDialAfterCloseFails(t *testing.T) {
	l := listenMemory()
	_ = l.Close()
	if _, err := l.Dial(); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
}
