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
	err = s.wait(&s.readBy, func() (done bool, err error) {
		if len(s.data) == 0 {
			return s.ended != nil, s.ended
		}
		n = copy(p, s.data)
		s.data = s.data[:copy(s.data, s.data[n:])]
		return true, nil
	})
	return n, err
}

// Write implements net.Conn. It waits while the buffer is full.
func (c *Conn) Write(p []byte) (n int, err error) {
	s := c.out
	err = s.wait(&s.writeBy, func() (done bool, err error) {
		if s.ended != nil {
			return true, io.ErrClosedPipe
		}
		part := p[n:min(len(p), n+BufferBytes-len(s.data))]
		if len(part) > 0 {
			s.data = append(s.data, part...)
			n += len(part)
			s.changedLocked()
		}
		return n == len(p), nil
	})
	return n, err
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
	c.in.change(func(s *stream) { s.readBy = t })
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.change(func(s *stream) { s.writeBy = t })
	return nil
}

// stream is one direction. Every change closes the channel changed and replaces it,
// which wakes all waiters.
type stream struct {
	mu              sync.Mutex
	data            []byte
	ended           error // nil while it is open; unread data can still be read
	readBy, writeBy time.Time
	changed         chan struct{}
}

func newStream() *stream { return &stream{changed: make(chan struct{})} }

func (s *stream) changedLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) change(f func(*stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
	s.changedLocked()
}

func (s *stream) end(why error) {
	s.change(func(s *stream) { s.ended = cmp.Or(s.ended, why) })
}

// wait calls try, with mu held, until it is done: at once, and after each change. A
// deadline is an error only while try is not done.
func (s *stream) wait(deadline *time.Time, try func() (done bool, err error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if done, err := try(); done {
			s.changedLocked()
			return err
		}
		changed := s.changed
		var expired <-chan time.Time
		if !deadline.IsZero() {
			left := time.Until(*deadline)
			if left <= 0 {
				return os.ErrDeadlineExceeded
			}
			expired = time.After(left)
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-expired:
		}
		s.mu.Lock()
	}
}
