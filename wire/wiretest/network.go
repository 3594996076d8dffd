// Package wiretest has helpers for tests of the protocols:
//
//	Listen          a network in memory
//	Transcripts     conversations as text
//	SQL             an SQL layer on a memory store
//	CheckPipelines  pipelined requests against single ones
//	Main            a check that no goroutine is left when the tests end
package wiretest

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// BufferBytes bounds the unread bytes of one direction. Then Write waits, as it does
// when the buffers of a socket are full.
const BufferBytes = 64 << 10

// Listener is a net.Listener in memory, without addresses. Its connections have
// buffers, unlike those of net.Pipe. testing/synctest knows all their waits.
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
func (l *Listener) Dial() (net.Conn, error) {
	up, down := newStream(), newStream()
	select {
	case l.conns <- &conn{in: up, out: down}:
		return &conn{in: down, out: up}, nil
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

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return nil }

// conn is one end of a connection in memory.
type conn struct {
	net.Conn // nil: only the methods below are called
	in, out  *stream
}

func (c *conn) RemoteAddr() net.Addr { return nil }

func (c *conn) Read(p []byte) (n int, err error) {
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
func (c *conn) Write(p []byte) (n int, err error) {
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
func (c *conn) CloseWrite() error { return c.out.end(io.EOF) }

func (c *conn) Close() error { return errors.Join(c.out.end(io.EOF), c.in.end(net.ErrClosed)) }

func (c *conn) SetReadDeadline(t time.Time) error { return c.in.setDeadline(&c.in.readBy, t) }

func (c *conn) SetWriteDeadline(t time.Time) error { return c.out.setDeadline(&c.out.writeBy, t) }

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

// change changes the stream. It never fails.
func (s *stream) change(f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
	return nil
}

func (s *stream) end(why error) error { return s.change(func() { s.ended = cmp.Or(s.ended, why) }) }

func (s *stream) setDeadline(deadline *time.Time, t time.Time) error {
	err := s.change(func() { *deadline = t })
	if left := time.Until(t); left > 0 {
		time.AfterFunc(left, func() { _ = s.change(func() {}) })
	}
	return err
}

// wait waits for a change, with mu held. It returns an error after the deadline.
func (s *stream) wait(deadline time.Time) error {
	if !deadline.IsZero() && time.Until(deadline) <= 0 {
		return os.ErrDeadlineExceeded
	}
	s.changed.Wait()
	return nil
}
