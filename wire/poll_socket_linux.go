//go:build !goroutines

package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What a socket in the poller is doing.
const (
	waiting = iota // for its client
	working        // a goroutine serves it
	again          // likewise, and there is news for it
)

// socket is a connection's socket in the poller. It is a net.Conn whose
// deadlines call the connection instead of ending a Read.
type socket struct {
	poller  *poller
	conn    *conn
	fd      int
	serial  uint32 // tells it from others that had the same descriptor
	state   atomic.Uint32
	hangup  atomic.Bool // no more input will come
	expired atomic.Bool // the read deadline is over, or the connection is to look around
	hurried atomic.Bool // no patience with writes any more

	mu     sync.Mutex
	closed bool
	timer  *time.Timer   // of the read deadline
	wake   chan struct{} // to look again, for who writes: there may be room, or it is hurried; nil: nobody has waited yet
}

var _ net.Conn = (*socket)(nil)

// adopt takes the socket of a connection that has logged in out of the Go
// runtime's poller. The goroutine that calls it holds the socket (working).
func (p *poller) adopt(c *conn) (*socket, error) {
	raw, err := c.nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &c.place
	s.poller, s.conn, s.serial = p, c, p.serial.Add(1)
	s.state.Store(working)
	// The copy of the descriptor is ours alone; the original leaves the
	// runtime's poller when it is closed.
	var dupErr error
	if err := raw.Control(func(fd uintptr) {
		n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_DUPFD_CLOEXEC, 0)
		s.fd = int(n)
		if errno != 0 {
			dupErr = errno
		}
	}); err != nil || dupErr != nil {
		return nil, errors.Join(err, dupErr)
	}
	if s.fd >= maxFD {
		_ = syscall.Close(s.fd)
		return nil, errors.New("descriptor too large")
	}
	p.put(s.fd, s)
	if err := s.arm(syscall.EPOLL_CTL_ADD, 0); err != nil {
		p.put(s.fd, nil)
		_ = syscall.Close(s.fd)
		return nil, err
	}
	_ = c.nc.Close() // the copy keeps the connection open
	return s, nil
}

// arm asks for the end of input and for input, and for more events. Room to
// write is asked for only when it is waited for: a Unix socket would report it
// after every answer that its client has read.
func (s *socket) arm(op int, more uint32) error {
	return syscall.EpollCtl(s.poller.epfd, op, s.fd, &syscall.EpollEvent{
		Events: syscall.EPOLLIN | syscall.EPOLLRDHUP | epollET | more, Fd: int32(s.fd), Pad: int32(s.serial),
	})
}

// claim makes the caller the one that serves the connection, unless there is
// one: then that one hears that there is news.
func (s *socket) claim() bool {
	for {
		switch s.state.Load() {
		case waiting:
			if s.state.CompareAndSwap(waiting, working) {
				return true
			}
		case working:
			if s.state.CompareAndSwap(working, again) {
				return false
			}
		default:
			return false
		}
	}
}

// lost ends the statements of a client that is gone.
func (s *socket) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conn.machine.Lost()
	}
}

// rest ends a claim. It reports false when there was news.
func (s *socket) rest() bool {
	if s.state.CompareAndSwap(working, waiting) {
		return true
	}
	s.state.Store(working)
	return false
}

// call makes the connection look at its deadline and whether the server is
// draining.
func (s *socket) call() {
	s.expired.Store(true)
	if s.claim() {
		s.conn.serveReady(loop{})
	}
}

// SetReadDeadline implements net.Conn: at t the connection is called.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wait := time.Until(t); {
	case s.closed:
		return net.ErrClosed
	case t.IsZero():
		if s.timer != nil {
			s.timer.Stop()
		}
	case wait <= 0:
		go s.call()
	case s.timer == nil:
		s.timer = time.AfterFunc(wait, s.call)
	default:
		s.timer.Reset(wait)
	}
	return nil
}

// SetWriteDeadline implements net.Conn, for a server that gives up: whatever
// is being written gets cutGrace.
func (s *socket) SetWriteDeadline(time.Time) error {
	s.hurried.Store(true)
	s.wakeWriter()
	return nil
}

func (s *socket) wakeWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // nobody waits, or it is about to look
	}
}

// waker is what a writer waits for. What was said before somebody asked for it
// the writer sees without it.
func (s *socket) waker() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		s.wake = make(chan struct{}, 1)
	}
	return s.wake
}

// SetDeadline implements net.Conn.
func (s *socket) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// Write implements net.Conn. It waits for a slow client up to the write limit.
func (s *socket) Write(b []byte) (int, error) {
	hurried := s.conn.cut.Load()
	timer := time.NewTimer(s.conn.server.Limits.Write)
	if hurried {
		timer.Reset(cutGrace)
	}
	defer timer.Stop()
	wake := s.waker()
	if err := s.arm(syscall.EPOLL_CTL_MOD, syscall.EPOLLOUT); err != nil {
		return 0, err
	}
	defer func() { _ = s.arm(syscall.EPOLL_CTL_MOD, 0) }() // worked a moment ago
	for rest := b; ; {
		var err error
		if rest, err = writeSome(s.fd, rest); err != nil || len(rest) == 0 {
			return len(b) - len(rest), err
		}
		if s.hurried.Load() && !hurried {
			hurried = true
			timer.Reset(cutGrace)
		}
		select {
		case <-wake:
		case <-timer.C:
			return len(b) - len(rest), os.ErrDeadlineExceeded
		}
	}
}

// Read implements net.Conn, for what is thrown away after the last answer: it
// looks now and then, for a short time.
func (s *socket) Read(p []byte) (int, error) {
	for until := time.Now().Add(lingerTime); time.Now().Before(until); {
		n, errno := rawRead(s.fd, p)
		switch {
		case errno == syscall.EAGAIN:
			time.Sleep(lingerTime / 25) //nolint:forbidigo // the loop above has a deadline
		case errno == syscall.EINTR:
		case errno != 0:
			return 0, errno
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
	return 0, os.ErrDeadlineExceeded
}

// CloseWrite says that nothing more will be sent.
func (s *socket) CloseWrite() error { return syscall.Shutdown(s.fd, syscall.SHUT_WR) }

// abandon breaks the connection under the one that serves it.
func (s *socket) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		_ = syscall.Shutdown(s.fd, syscall.SHUT_RDWR) // not connected any more: as wanted
	}
}

// Close implements net.Conn. Only who serves the connection may call it.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.poller.put(s.fd, nil)
	return syscall.Close(s.fd)
}

// LocalAddr implements net.Conn. Nobody asks for it.
func (s *socket) LocalAddr() net.Addr { return nil }

// RemoteAddr implements net.Conn. Nobody asks for it: see Conn.Remote.
func (s *socket) RemoteAddr() net.Addr { return nil }
