package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// readSize is how much is read at once: about a thousand pipelined
	// queries.
	readSize = 32 << 10

	// keepOut is the largest answer buffer that goes back to the pool.
	keepOut = 128 << 10

	// userTimeout is for how long a peer may leave data unacknowledged, and
	// keepAlive when a silent one is asked whether it is still there.
	userTimeout   = time.Minute
	keepAliveIdle = 30 * time.Second
	keepAliveSkip = 10 * time.Second
	keepAliveTry  = 3

	// lingerTime and lingerBytes bound how much input is thrown away after
	// the last answer.
	lingerTime  = 250 * time.Millisecond
	lingerBytes = 1 << 20
)

// workspace is the memory that a connection needs while it works. While it
// waits for its client it has none.
type workspace struct {
	in  [readSize]byte
	out []byte
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// conn is one connection: the loop between a socket and a Machine. One
// goroutine runs it; nudge, cutOff, abandon and checkHangup are called by
// others.
type conn struct {
	server   *Server
	info     Conn
	nc       net.Conn
	raw      syscall.RawConn // nil: use nc's Read and Write
	tls      *tls.Conn       // nil: plaintext
	machine  Machine
	accepted time.Time
	base     context.Context // of the statements

	work     *workspace // nil while waiting
	out      Out
	pending  []byte    // the beginning of a message that has not arrived whole
	partial  bool      // pending has its deadline
	heard    bool      // the first byte has arrived
	admitted bool      // logged in; under server.mu, and read by the connection's goroutine
	deadline time.Time // of the read, as far as the connection itself wants one
	fd       uintptr   // the socket, while inRead
	inRead   bool      // inside the callback of raw.Read, which holds the descriptor
	dry      bool      // inRead: the socket has been emptied
	upgrade  bool      // the loop ended for a TLS handshake
	hello    []byte    // what of the handshake arrived before it began
	err      error     // why the loop ended
	impolite bool      // the server ends it while the client may still be sending

	unsure atomic.Bool // the last read left it open whether the client hung up, see checkHangup
	cut    atomic.Bool // the server has given up waiting
	hungUp atomic.Bool // see Conn.HangUp
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s, nc: nc, accepted: time.Now(), base: s.base}
	c.out = Out{flush: c.write, limit: s.Limits.FlushAt}
	c.info.admit = func() error { return s.admit(c) }
	c.info.hangUp = func() { c.hungUp.Store(true); c.nudge() }
	c.info.canTLS = s.TLS != nil
	switch a := nc.RemoteAddr().(type) {
	case *net.TCPAddr:
		c.info.Remote = a.String()
		c.info.IP = a.AddrPort().Addr().Unmap()
	case *net.UnixAddr:
		c.info.Local = true
		c.info.peer = func() (uint32, bool) { return peerUID(rawConn(nc)) }
	}
	if rawInput {
		c.raw = rawConn(nc)
	}
	return c
}

// rawConn returns the socket behind a connection, nil when it is none: TLS
// and tests' connections have their own Read and Write.
func rawConn(nc net.Conn) syscall.RawConn {
	var raw syscall.RawConn
	switch s := nc.(type) {
	case *net.TCPConn:
		raw, _ = s.SyscallConn() // nil when it is closed already: the plain read will tell
	case *net.UnixConn:
		raw, _ = s.SyscallConn()
	}
	return raw
}

// serve runs the connection to its end.
func (c *conn) serve() {
	defer c.close()
	defer c.survive()
	c.tune()
	c.waitUntil(c.accepted.Add(c.server.Limits.FirstByte))
	if !c.feed(nil) {
		return
	}
	for goOn := true; goOn; goOn = c.upgrade && c.secure() {
		if c.raw != nil {
			c.serveRaw()
		} else {
			c.servePlain()
		}
	}
	if c.impolite {
		c.linger()
	}
}

// survive turns a panic, which is a bug of ours, into the end of this
// connection only.
func (c *conn) survive() {
	p := recover()
	if p == nil {
		return
	}
	c.server.Logger.Error("panic while serving a connection", "connection", c.info.ID, "panic", p, "stack", string(debug.Stack()))
	c.inRead = false
	c.out.B = nil // half an answer, perhaps
	c.err = nil
	defer func() { _ = recover() }() // the machine may be beyond saying goodbye
	c.goodbye(func() { c.machine.Refuse(&c.out, Failed) })
}

// close releases everything.
func (c *conn) close() {
	if c.err != nil && !errors.Is(c.err, io.EOF) {
		c.server.Logger.Debug("connection ended", "connection", c.info.ID, "error", c.err)
	}
	c.release()
	defer func() {
		c.sayEnd()
		_ = c.nc.Close() // nothing is left to be sent
		if p := recover(); p != nil {
			c.server.Logger.Error("panic while closing a connection", "connection", c.info.ID, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	c.machine.Close()
}

// tune sets socket options.
func (c *conn) tune() {
	tcp, ok := c.nc.(*net.TCPConn)
	if !ok {
		return
	}
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveSkip, Count: keepAliveTry}) // best effort
	if c.raw != nil {
		setUserTimeout(c.raw, userTimeout)
	}
}

// servePlain is the loop over net.Conn: tests, and systems without raw
// input.
func (c *conn) servePlain() {
	var from io.Reader = c.nc
	if c.tls != nil {
		from = c.tls
	}
	for {
		c.acquire()
		n, err := from.Read(c.work.in[:])
		if n > 0 && !c.feed(c.work.in[:n]) {
			return
		}
		c.release()
		if err != nil && !c.readFailed(err) {
			return
		}
	}
}

// serveRaw is the loop over the socket itself: it saves the system call that
// would only say that the socket is empty, and needs no buffer to wait.
func (c *conn) serveRaw() {
	for {
		done := false
		err := c.raw.Read(func(fd uintptr) bool {
			c.fd, c.inRead, c.dry = fd, true, false
			c.acquire()
			more := false
			if c.tls != nil {
				more = c.drainTLS()
			} else {
				more = c.drain()
			}
			c.inRead = false
			if more {
				c.release()
			}
			done = !more
			return done // false: wait until there is something to read
		})
		if done || !c.readFailed(err) {
			return
		}
	}
}

// drain reads and serves what the socket has. It reports whether the
// connection goes on.
//
// A read that did not fill the buffer took all there was, so nothing is
// asked again: what arrives later wakes raw.Read up (the runtime's poller is
// edge-triggered and remembers an event that comes while nobody waits). Only
// the end of the input can have arrived unnoticed together with the last
// bytes; checkHangup looks for that.
func (c *conn) drain() bool {
	for {
		n, errno := rawRead(c.fd, c.work.in[:])
		switch {
		case errno == syscall.EAGAIN:
			return true
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			c.err = errno
			return false
		case n == 0:
			c.err = io.EOF
			return false
		}
		if !c.feed(c.work.in[:n]) {
			return false
		}
		if n < readSize {
			if !c.unsure.Load() {
				c.unsure.Store(true)
			}
			return true
		}
		if c.server.draining.Load() || c.hungUp.Load() {
			return true // raw.Read finds that the deadline is over
		}
	}
}

// checkHangup wakes the connection up if its client hung up in the instant
// of its last message.
func (c *conn) checkHangup() {
	if !c.unsure.Swap(false) {
		return
	}
	_ = c.raw.Control(func(fd uintptr) { // fails only on a closed connection
		if hungUp(fd) {
			c.nudge()
		}
	})
}

// nudge ends the wait for the client, so that the connection's goroutine
// looks around.
func (c *conn) nudge() { _ = c.nc.SetReadDeadline(past) } // fails only on a closed connection

// cutOff ends waits in both directions, soon.
func (c *conn) cutOff() {
	c.cut.Store(true)
	_ = c.nc.SetWriteDeadline(time.Now().Add(cutGrace)) // fails only on a closed connection
	c.nudge()
}

// abandon closes the socket under the connection.
func (c *conn) abandon() { _ = c.nc.Close() } // whoever is blocked on it learns why

// past is a deadline that is over.
var past = time.Unix(1, 0)

// readFailed decides what the end of a wait means; an expired deadline may
// be the client's silence, our shutdown or a nudge. It reports whether the
// connection goes on.
func (c *conn) readFailed(err error) bool {
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		c.err = err
		return false
	case c.server.draining.Load():
		c.goodbye(func() { c.machine.Refuse(&c.out, Shutdown) })
		return false
	case c.hungUp.Load():
		c.goodbye(func() { c.machine.Refuse(&c.out, HungUp) })
		return false
	case c.deadline.IsZero(), time.Now().Before(c.deadline): // nudged
		_ = c.nc.SetReadDeadline(c.deadline) // fails only on a closed connection: the read will tell
		return true
	case !c.admitted, c.partial:
		c.server.refused(c.info.Remote, "too slow")
		return false
	}
	c.goodbye(func() { c.machine.IdleExpired(&c.out) })
	return false
}

// feed gives the machine what arrived and sends its answers. It reports
// whether the connection goes on.
func (c *conn) feed(in []byte) bool {
	c.acquire()
	data := in
	if len(c.pending) > 0 {
		c.pending = append(c.pending, in...)
		data = c.pending
	}
	n, err := c.machine.Feed(c.base, data, &c.out)
	if flushErr := c.out.Flush(); flushErr != nil {
		c.err = flushErr
		return false
	}
	if err != nil {
		c.err = err
		c.impolite = !errors.Is(err, io.EOF)
		return false
	}
	if c.info.startTLS {
		c.upgrade, c.hello, c.pending = true, bytes.Clone(data[n:]), nil
		return false
	}
	c.keep(data[n:])
	c.setTimers(len(in) > 0)
	return true
}

// keep stores the beginning of a message for the next read.
func (c *conn) keep(rest []byte) {
	switch {
	case len(rest) == 0:
		c.pending = nil
	case len(c.pending) > 0:
		c.pending = c.pending[:copy(c.pending, rest)]
	default:
		c.pending = append([]byte(nil), rest...)
	}
}

// setTimers sets the deadline of the next read. The common case, an idle
// client without timeouts, does nothing.
func (c *conn) setTimers(heard bool) {
	limits := &c.server.Limits
	if !c.admitted {
		if heard && !c.heard {
			c.heard = true
			c.waitUntil(c.accepted.Add(limits.Login))
		}
		return
	}
	if len(c.pending) > 0 {
		if !c.partial {
			c.partial = true
			c.waitUntil(time.Now().Add(limits.Message))
		}
		return
	}
	c.partial = false
	idle := c.machine.IdleTimeout()
	if idle <= 0 {
		idle = limits.Idle
	}
	switch {
	case idle > 0:
		c.waitUntil(time.Now().Add(idle))
	case !c.deadline.IsZero():
		c.waitUntil(time.Time{})
	}
}

// waitUntil sets the read deadline. The nudge of a shutdown or of HangUp
// stays.
func (c *conn) waitUntil(t time.Time) {
	c.deadline = t
	_ = c.nc.SetReadDeadline(t) // fails only on a closed connection: the read will tell
	if c.server.draining.Load() || c.hungUp.Load() {
		c.nudge()
	}
}

// goodbye sends a last message.
func (c *conn) goodbye(say func()) {
	c.acquire()
	say()
	_ = c.out.Flush() // the connection ends anyway
	c.err = io.EOF
}

// linger lets the last answer arrive: to close a socket with unread input
// would reset the connection, and the client might lose the answer.
func (c *conn) linger() {
	c.sayEnd()
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.acquire()
	c.waitUntil(time.Now().Add(lingerTime))
	for left := lingerBytes; left > 0; {
		n, err := c.nc.Read(c.work.in[:])
		if err != nil {
			return
		}
		left -= n
	}
}

// turnAway tells a client that there is no room, without waiting for it:
// this runs in the accept loop.
func (c *conn) turnAway() {
	why := NoRoom
	if c.server.draining.Load() {
		why = Shutdown
	}
	c.cutOff()
	c.goodbye(func() { c.machine.Refuse(&c.out, why) })
	c.close()
}

func (c *conn) acquire() {
	if c.work == nil {
		c.work = workspaces.Get().(*workspace)
		c.out.B = c.work.out[:0]
	}
}

func (c *conn) release() {
	if c.work == nil {
		return
	}
	if cap(c.out.B) <= keepOut {
		c.work.out = c.out.B[:0]
	}
	c.out.B = nil
	workspaces.Put(c.work)
	c.work = nil
}
