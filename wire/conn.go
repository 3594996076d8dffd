package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqlstate"
)

const (
	// readSize is how much is read at once: about a thousand pipelined
	// queries.
	readSize = 32 << 10

	// smallRest is how much of an unfinished message no account counts: most
	// are cut anywhere by the end of a read.
	smallRest = 4 << 10

	// keepOut is the largest answer buffer that goes back to the pool.
	keepOut = 128 << 10

	// userTimeout is for how long a peer may leave data unacknowledged, and
	// keepAlive when a silent one is asked whether it is still there.
	userTimeout   = time.Minute
	keepAliveIdle = 30 * time.Second
	keepAliveSkip = 10 * time.Second
	keepAliveTry  = 3

	// freshTime is how long a client that has just connected may take for its
	// first statement when the server stops.
	freshTime = time.Second

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

// conn is one connection: the loop between a socket and a Machine. Until it
// has logged in, a goroutine runs it; then the poller does, where there is one.
// nudge, cutOff and abandon are called by others, with server.mu held.
//
// Thousands of them may wait for their clients: what is needed only before the
// login, or only while the connection works, lies elsewhere, and what all hold
// lies in one object. Small ones would share the heap's pages with what logins
// leave behind, and keep them.
type conn struct {
	server   *Server
	info     Conn
	nc       net.Conn
	socket   *socket   // nc in the poller, nil: it has a goroutine; changes under server.mu
	place    socket    // where socket lies
	tls      *tls.Conn // nil: plaintext
	machine  Machine
	stranger *stranger     // until the login, then nil
	accepted time.Duration // by monotonic
	deadline time.Duration // of the read, as far as the connection itself wants one, by monotonic; 0: none

	work    *workspace // nil while waiting
	out     Out
	pending []byte // the beginning of a message that has not arrived whole; of a TLS handshake, when upgrade
	counted int64  // bytes of pending that account has counted
	account *account.Session
	loop    loop  // the poller's, while it serves this connection
	err     error // why the loop ended

	partial  bool // pending has its deadline
	heard    bool // the first byte has arrived
	admitted bool // logged in; under server.mu, and read by the connection's goroutine
	staying  bool // although the server is stopping, see mayStay
	draining bool // inside drain: TLS must not wait for input
	dry      bool // draining: the socket has been emptied
	upgrade  bool // the loop ended for a TLS handshake
	impolite bool // the server ends it while the client may still be sending

	cut    atomic.Bool // the server has given up waiting
	hungUp atomic.Bool // see Conn.HangUp
	gone   atomic.Bool // it had to yield, see Places
}

// stranger is what a connection needs until it has logged in: it may have to
// give up what it is doing then, see Places.
type stranger struct {
	ctx    context.Context
	giveUp context.CancelCauseFunc
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s, nc: nc, accepted: monotonic()}
	c.out = Out{to: c, limit: s.Limits.FlushAt}
	c.info.conn, c.info.canTLS = c, s.TLS != nil
	switch a := nc.RemoteAddr().(type) {
	case *net.TCPAddr:
		c.info.Remote = a.String()
		c.info.IP = ClientAddress(a.AddrPort().Addr())
	case *net.UnixAddr:
		c.info.Local = true
		c.info.peerUID, c.info.peerKnown = peerUID(nc)
	}
	return c
}

// hangUp is Conn.HangUp.
func (c *conn) hangUp() {
	c.hungUp.Store(true)
	c.server.mu.Lock() // for c.socket
	defer c.server.mu.Unlock()
	c.nudge()
}

// serve runs the connection to its end, or until the poller takes it.
func (c *conn) serve() {
	if c.begin() {
		c.serveReady(loop{})
		return
	}
	c.end()
}

// begin serves the connection until it can be left to the poller; false says
// that it has ended.
func (c *conn) begin() (adopted bool) {
	defer c.survive()
	c.tune()
	c.waitUntil(c.accepted + c.server.Limits.FirstByte)
	if !c.feed(nil) {
		return false
	}
	for {
		if adopted = c.servePlain(); adopted || !c.upgrade || !c.secure() {
			return adopted
		}
	}
}

// end says goodbye to the client and releases everything.
func (c *conn) end() {
	defer c.server.work.Done()
	defer c.server.forget(c)
	defer c.close()
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
	c.server.panics.note(c.server.Logger, "panic while serving a connection", c.info.ID, p)
	c.draining = false
	c.out.B = nil // half an answer, perhaps
	c.err = nil
	defer func() { _ = recover() }() // the machine may be beyond saying goodbye
	c.dismiss(Failed)
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
			c.server.panics.note(c.server.Logger, "panic while closing a connection", c.info.ID, p)
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
	if raw, err := tcp.SyscallConn(); err == nil {                                                                                   // else it is closed already: the read will tell
		setUserTimeout(raw, userTimeout)
		if c.info.IP.IsLoopback() {
			setNearby(raw)
		}
	}
}

// servePlain is the loop over net.Conn: logins, tests, and systems without a
// poller. It reports whether the poller has adopted the connection.
func (c *conn) servePlain() (adopted bool) {
	var from io.Reader = c.nc
	if c.tls != nil {
		from = c.tls
	}
	for {
		if c.admitted && c.stranger != nil {
			c.stranger.giveUp(nil)
			c.stranger = nil
			adopted = c.server.adopt(c)
			if len(c.pending) > 0 && !c.feed(nil) { // what came together with the login
				return false
			}
			if adopted {
				return true
			}
		}
		c.acquire()
		n, err := from.Read(c.work.in[:])
		if n > 0 && !c.feed(c.work.in[:n]) {
			return false
		}
		c.release()
		if err != nil && !c.readFailed(err) {
			return false
		}
	}
}

// serveReady serves a connection that the caller has claimed, until there is
// nothing to do for it.
func (c *conn) serveReady(l loop) {
	c.loop = l
	for c.serveInput() {
		if c.socket.rest() {
			return
		}
	}
	go c.end() // that may wait
}

// serveInput serves what has arrived. It reports whether the connection goes on.
func (c *conn) serveInput() (more bool) {
	defer c.survive()
	if c.socket.expired.Load() && c.socket.expired.Swap(false) && !c.readFailed(os.ErrDeadlineExceeded) {
		return false
	}
	c.acquire()
	c.draining, c.dry = true, false
	if c.tls != nil {
		more = c.drainTLS()
	} else {
		more = c.drain()
	}
	c.draining = false
	if more {
		c.release()
	}
	return more
}

// drain reads and serves what the socket has. It reports whether the
// connection goes on.
//
// A read that did not fill the buffer took all there was, so nothing is asked
// again: what arrives later is reported later, since the poller is
// edge-triggered. But the end of the input is reported once, perhaps together
// with the last bytes.
func (c *conn) drain() bool {
	for {
		n, errno := rawRead(c.socket.fd, c.work.in[:])
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
		if n < readSize && !c.socket.hangup.Load() {
			return true
		}
		c.loop.handOver() // this client has much to ask
		runtime.Gosched() // and others are first
		if c.called() {
			return true
		}
	}
}

// nudge ends the wait for the client, so that the connection looks around.
func (c *conn) nudge() { _ = c.nc.SetReadDeadline(past) } // fails only on a closed connection

// cutOff ends waits in both directions, soon.
func (c *conn) cutOff() {
	c.cut.Store(true)
	_ = c.nc.SetWriteDeadline(time.Now().Add(cutGrace)) // fails only on a closed connection
	c.nudge()
}

// abandon closes the socket under the connection.
func (c *conn) abandon() {
	if c.socket != nil {
		c.socket.abandon()
		return
	}
	_ = c.nc.Close() // whoever is blocked on it learns why
}

// yield ends a connection on its way to a login, which gives its place to
// another. Called with server.mu held.
func (c *conn) yield() {
	c.gone.Store(true)
	c.stranger.giveUp(errYielded)
	c.cutOff()
}

// errYielded is what the client of such a connection is told.
var errYielded = sqlstate.New(sqlstate.TooManyConnections, "too many connections that have not logged in")

// called reports whether the connection was told to look around.
func (c *conn) called() bool { return c.server.draining.Load() || c.hungUp.Load() || c.gone.Load() }

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
	case c.server.draining.Load() && c.mayStay():
		c.staying = true
		return true
	case c.server.draining.Load():
		c.dismiss(Shutdown)
		return false
	case c.gone.Load():
		c.server.refused(c.info.Remote, RefusedBeforeLogin, "others needed its place before it had logged in")
		c.dismiss(NoRoom)
		return false
	case c.hungUp.Load():
		c.server.closed(c, "an administrator, KILL or a change of the users ended it")
		c.dismiss(HungUp)
		return false
	case c.deadline == 0, monotonic() < c.deadline: // nudged
		_ = c.nc.SetReadDeadline(at(c.deadline)) // fails only on a closed connection: the read will tell
		return true
	case !c.admitted, c.partial:
		c.server.refused(c.info.Remote, RefusedSlow, "too slow")
		c.dismiss(Slow)
		return false
	}
	c.server.closed(c, "the client was silent for too long")
	c.dismiss(Idle)
	return false
}

// feed gives the machine what arrived and sends its answers. It reports
// whether the connection goes on.
func (c *conn) feed(in []byte) bool {
	c.acquire()
	c.info.counters.received.Add(int64(len(in)))
	data := in
	if len(c.pending) > 0 {
		switch {
		case c.join(in):
			data = c.pending
		case !c.drop(c.pending):
			return false
		}
	}
	skipped, skipping := c.info.skips, c.info.skipping
	c.info.expected = 0
	ctx := c.server.base
	if c.stranger != nil {
		ctx = c.stranger.ctx
	}
	served := c.info.Served
	n, err := c.machine.Feed(ctx, data, &c.out)
	if c.info.Served != served {
		c.info.counters.commands.Store(c.info.Served)
	}
	c.machine.Rest()
	if n > 0 && !(skipping && c.info.skipping && skipped == c.info.skips) {
		c.partial = false // what is incomplete now began with this read
	}
	if err := c.out.Flush(); err != nil {
		c.err = err
		if errors.Is(err, os.ErrDeadlineExceeded) && !c.cut.Load() {
			c.server.closed(c, "the client does not read its answers")
		}
		return false
	}
	if err != nil {
		c.failed(err)
		return false
	}
	if c.info.startTLS {
		c.upgrade, c.pending = true, bytes.Clone(data[n:])
		return false
	}
	if rest := data[n:]; (len(rest) > 0 || c.pending != nil) && !c.keep(rest) && !c.drop(rest) {
		return false
	}
	c.setTimers(len(in) > 0)
	if c.staying {
		c.nudge() // what it stays for may be done
	}
	return true
}

// failed ends the connection for an error of the machine.
func (c *conn) failed(err error) {
	c.err, c.impolite = err, !errors.Is(err, io.EOF)
	if shutdown := errors.Is(err, ErrShutdown) && !c.hungUp.Load(); c.impolite && !shutdown && !errors.Is(err, ErrClosed) {
		c.server.closed(c, err.Error())
	}
}

// mayStay reports whether a connection stays for a moment although the server
// is stopping: until its transaction ends, or, if it has just logged in, until
// its first statement has been answered. It sets the deadline for that.
func (c *conn) mayStay() bool {
	if !c.admitted || c.cut.Load() {
		return false
	}
	until := c.deadline
	if !c.machine.Busy() {
		if c.info.counters.commands.Load() > 0 || c.staying {
			return false
		}
		until = c.accepted + freshTime
	}
	if until != 0 && monotonic() >= until {
		return false
	}
	_ = c.nc.SetReadDeadline(at(until)) // fails only on a closed connection: the read will tell
	return true
}

// setTimers sets the deadline of the next read. The common case, an idle
// client without timeouts, does nothing.
func (c *conn) setTimers(heard bool) {
	limits := &c.server.Limits
	if !c.admitted {
		if heard && !c.heard {
			c.heard = true
			c.waitUntil(c.accepted + limits.Login)
		}
		return
	}
	if len(c.pending) > 0 || c.info.skipping {
		if !c.partial {
			c.partial = true
			c.waitUntil(monotonic() + limits.Message)
		}
		return
	}
	c.partial = false
	idle := c.machine.IdleTimeout()
	if limits.Idle > 0 && (idle <= 0 || idle > limits.Idle) {
		idle = limits.Idle
	}
	switch {
	case idle > 0:
		c.waitUntil(monotonic() + idle)
	case c.deadline != 0:
		c.waitUntil(0)
	}
}

// waitUntil sets the read deadline, by monotonic. The nudge of a shutdown or
// of HangUp stays.
func (c *conn) waitUntil(deadline time.Duration) {
	c.deadline = deadline
	_ = c.nc.SetReadDeadline(at(deadline)) // fails only on a closed connection: the read will tell
	if c.called() {
		c.nudge()
	}
}

// dismiss tells the client why the server ends the connection. While the server
// stops it does not wait for what the client is still sending: there may be thousands.
func (c *conn) dismiss(why Reason) {
	c.acquire()
	c.impolite = why != Shutdown && why != Idle
	c.machine.Refuse(&c.out, why)
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
	until := monotonic() + lingerTime
	c.waitUntil(until)
	for left := lingerBytes; left > 0 && monotonic() < until; {
		n, err := c.nc.Read(c.work.in[:])
		if err != nil {
			return
		}
		left -= n
	}
}

// turnAway tells a client that the server is stopping, without waiting for it:
// this runs in the accept loop.
func (c *conn) turnAway() {
	c.cutOff()
	c.dismiss(Shutdown)
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
