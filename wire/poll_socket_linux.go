//go:build !goroutines

package wire

import (
	"cmp"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// States of a socket.
const (
	waiting = iota // for input
	working        // claimed: a goroutine serves it
	again          // claimed, and another event has arrived
)

// socket is a connection's socket in the event loop. It is a net.Conn, but at its
// read deadline it runs the connection instead of ending a Read. The goroutine that
// has claimed the socket owns the connection.
type socket struct {
	net.Conn // nil: only the methods below are called
	poller   *poller
	conn     *Conn
	fd       int
	serial   uint32 // distinguishes sockets that have had the same descriptor
	state    atomic.Uint32
	hangup   atomic.Bool // no more input will come
	expired  atomic.Bool // the read deadline is over

	mu     sync.Mutex
	closed bool
	timer  *time.Timer   // of the read deadline
	wake   chan struct{} // wakes a blocked writer; nil until the first one blocks
}

// adopt moves the socket of a connection that has logged in from the Go runtime's
// poller to this one. The caller holds the claim.
func (p *poller) adopt(c *Conn) (*socket, error) {
	raw, err := c.nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &c.storage
	s.poller, s.conn, s.serial = p, c, p.serial.Add(1)
	s.state.Store(working)
	// Go's poller has the original descriptor, until c.nc.Close below. It never has
	// the copy.
	var dupErr error
	err = raw.Control(func(fd uintptr) { s.fd, dupErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err := cmp.Or(err, dupErr); err != nil {
		return nil, err
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

// arm registers for input, the end of input, and more events. EPOLLOUT is
// registered only while a writer waits: a Unix socket would report it after every
// answer that its client has read.
func (s *socket) arm(op int, more uint32) error {
	return syscall.EpollCtl(s.poller.epfd, op, s.fd, &syscall.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET | more, Fd: int32(s.fd), Pad: int32(s.serial),
	})
}

// claim makes the caller the owner of the connection. If there is an owner already,
// claim returns false, and the owner's release will return false.
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

// lost ends the statements of a client that has closed the connection.
func (s *socket) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conn.machine.Lost()
	}
}

// release ends a claim. It returns false if another event has arrived: then the
// claim goes on.
func (s *socket) release() bool {
	if s.state.CompareAndSwap(working, waiting) {
		return true
	}
	s.state.Store(working)
	return false
}

// call runs the connection at its read deadline.
func (s *socket) call() {
	s.expired.Store(true)
	if s.claim() {
		s.conn.serveReady(loop{})
	}
}

// SetReadDeadline implements net.Conn. call runs at t, or at once if t has passed.
// The zero time stops it.
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

// SetWriteDeadline implements net.Conn. Only cutOff calls it, to wake the running
// write. Conn.cut limits that write and all later ones to cutGrace.
func (s *socket) SetWriteDeadline(time.Time) error {
	s.wakeWriter()
	return nil
}

// wakeWriter wakes the goroutine that is blocked in Write, if there is one.
func (s *socket) wakeWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // no writer waits, or it has not received the last one
	}
}

// waker returns the channel on which a writer waits. The writer must arm the socket
// only after that, so that no event is lost.
func (s *socket) waker() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		s.wake = make(chan struct{}, 1)
	}
	return s.wake
}

// Write implements net.Conn. It waits for a slow client up to Limits.Write.
func (s *socket) Write(b []byte) (int, error) {
	timer, cut := time.NewTimer(s.conn.server.Limits.Write), false
	defer timer.Stop()
	wake := s.waker()
	if err := s.arm(syscall.EPOLL_CTL_MOD, syscall.EPOLLOUT); err != nil {
		return 0, err
	}
	defer func() { _ = s.arm(syscall.EPOLL_CTL_MOD, 0) }() // the same call has just succeeded
	for rest := b; ; {
		var err error
		if rest, err = writeSome(s.fd, rest); err != nil || len(rest) == 0 {
			return len(b) - len(rest), err
		}
		if s.conn.cut.Load() && !cut {
			cut = true
			timer.Reset(cutGrace)
		}
		select {
		case <-wake:
		case <-timer.C:
			return len(b) - len(rest), os.ErrDeadlineExceeded
		}
	}
}

// Read implements net.Conn for linger: it polls for a short time.
func (s *socket) Read(p []byte) (int, error) {
	for until := time.Now().Add(lingerTime); time.Now().Before(until); {
		if n, err := readSome(s.fd, p); !errors.Is(err, errNoInput) {
			return n, err
		}
		time.Sleep(lingerTime / 25) //nolint:forbidigo // the loop has a deadline
	}
	return 0, os.ErrDeadlineExceeded
}

// CloseWrite ends the output.
func (s *socket) CloseWrite() error { return syscall.Shutdown(s.fd, syscall.SHUT_WR) }

// abandon ends blocked reads and writes.
func (s *socket) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		_ = syscall.Shutdown(s.fd, syscall.SHUT_RDWR) // fails only if it is not connected any more
	}
}

// Close implements net.Conn. The caller must hold the claim.
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

// rawRead and rawWrite read and write sockets of the event loop. These sockets are
// non-blocking, so that a raw system call never blocks the thread. A raw call saves
// the scheduler's bookkeeping. recvfrom and sendto save the file system's part of
// read and write. On 386 and s390x Linux has them since version 4.3.
func rawRead(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	return int(n), errno
}

func rawWrite(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}
