// Package wiretest has helpers for tests of the protocols:
//
//	Listen          a network in memory
//	Transcripts     conversations as text
//	SQL             an SQL layer on a memory store
//	NewAuthority    certificates
//	NewDecoder      two decoders of PostgreSQL's messages, compared with each other
//	CheckPipelines  pipelined requests against single ones
//	Main            a check that no goroutine is left when the tests end
package wiretest

import (
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
// net.Pipe. All waits are on channels, for testing/synctest.
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
	client, server := &Conn{in: down, out: up}, &Conn{in: up, out: down}
	select {
	case l.conns <- server:
		return client, nil
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
func (l *Listener) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "memory" }
func (addr) String() string  { return "memory" }

// Conn is one end of a connection in memory.
type Conn struct {
	in, out *stream
}

var _ net.Conn = (*Conn)(nil)

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) { return c.in.read(p) }

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) { return c.out.write(p) }

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

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return addr{} }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return addr{} }

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

// stream is one direction. Every change closes the channel changed and replaces it,
// which wakes all waiters.
type stream struct {
	mu      sync.Mutex
	data    []byte
	ended   error // nil while it is open
	readBy  time.Time
	writeBy time.Time
	changed chan struct{}
}

func newStream() *stream { return &stream{changed: make(chan struct{})} }

// changedLocked wakes all waiters.
func (s *stream) changedLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// end ends the stream. Unread data can still be read; then read returns why.
func (s *stream) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = why
		s.changedLocked()
	}
}

func (s *stream) setDeadline(which *time.Time, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*which = t
	s.changedLocked()
}

// waitLocked waits for a change or for a deadline, without mu. The caller looks
// again after it: only a deadline in the past is an error.
func (s *stream) waitLocked(deadline time.Time) error {
	changed := s.changed
	var expired <-chan time.Time
	if !deadline.IsZero() {
		left := time.Until(deadline)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		timer := time.NewTimer(left)
		defer timer.Stop()
		expired = timer.C
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-changed:
	case <-expired:
	}
	return nil
}

// read waits for data, the end, or the deadline.
func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.data) == 0 {
		if s.ended != nil {
			return 0, s.ended
		}
		if err := s.waitLocked(s.readBy); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.data)
	s.data = s.data[:copy(s.data, s.data[n:])]
	s.changedLocked()
	return n, nil
}

// write writes all of p. It waits while the buffer is full.
func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.ended != nil {
			return n, io.ErrClosedPipe
		}
		part := p[n:min(len(p), n+BufferBytes-len(s.data))]
		if len(part) > 0 {
			s.data = append(s.data, part...)
			n += len(part)
			s.changedLocked()
		}
		if n == len(p) {
			return n, nil
		}
		if err := s.waitLocked(s.writeBy); err != nil {
			return n, err
		}
	}
}
