// Package wiretest has helpers for tests of the protocols:
//
//	Listen          a network in memory
//	Transcripts     conversations as text
//	SQL             an SQL layer on a memory store
//	NewAuthority    certificates
//	CheckPipelines  pipelined requests against single ones
//	Main            a check that no goroutine is left when the tests end
package wiretest

import (
	"cmp"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// BufferBytes bounds the unread bytes of one direction. Then Write waits, as it does
// when the buffers of a socket are full.
const BufferBytes = 64 << 10

// Listener accepts connections in memory. They have buffers, unlike those of
// net.Pipe. testing/synctest knows all their waits.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns a Listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects. It waits until the connection is accepted.
func (l *Listener) Dial() (*Conn, error) {
	up, down := newStream(), newStream()
	select {
	case l.conns <- &Conn{in: up, out: down}:
		return &Conn{in: down, out: up}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener. The network has no addresses.
func (l *Listener) Addr() net.Addr { return nil }

// Conn is one end of a connection in memory.
type Conn struct{ in, out *stream }

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return nil }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return nil }

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (n int, err error) {
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

// Write implements net.Conn. It waits while the buffer is full.
func (c *Conn) Write(p []byte) (n int, err error) {
	s := c.out
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.ended == nil {
		part := p[n:min(len(p), n+BufferBytes-len(s.data))]
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
func (c *Conn) CloseWrite() error {
	c.out.end(io.EOF)
	return nil
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.out.end(io.EOF)
	c.in.end(net.ErrClosed)
	return nil
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t) // never fails
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

// stream is one direction. changed wakes all waiters after a change, and at a
// deadline.
type stream struct {
	mu              sync.Mutex
	changed         sync.Cond // L is mu
	data            []byte
	ended           error // nil while it is open; unread data can still be read
	readBy, writeBy time.Time
}

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
}

func (s *stream) end(why error) { s.change(func() { s.ended = cmp.Or(s.ended, why) }) }

func (s *stream) setDeadline(deadline *time.Time, t time.Time) {
	s.change(func() { *deadline = t })
	if left := time.Until(t); left > 0 {
		time.AfterFunc(left, func() { s.change(func() {}) })
	}
}

// wait waits for a change, with mu held. It returns an error after the deadline.
func (s *stream) wait(deadline time.Time) error {
	if !deadline.IsZero() && time.Until(deadline) <= 0 {
		return os.ErrDeadlineExceeded
	}
	s.changed.Wait()
	return nil
}
