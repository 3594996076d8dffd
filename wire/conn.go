package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqlstate"
)

const (
	// smallRest is the size up to which the beginning of a message is not counted on
	// the account of memory: a read may end anywhere in a message.
	smallRest = 4 << 10

	// userTimeout bounds how long data may stay unacknowledged, on Linux. The
	// keepAlive constants set when TCP probes a silent peer.
	userTimeout   = time.Minute
	keepAliveIdle = 30 * time.Second
	keepAliveSkip = 10 * time.Second
	keepAliveTry  = 3

	// firstStatementTime is the time that a new connection gets for its first
	// statement while the server shuts down.
	firstStatementTime = time.Second

	// lingerTime and lingerBytes bound the input that is discarded after the
	// last answer.
	lingerTime  = 250 * time.Millisecond
	lingerBytes = 1 << 20
)

// Conn carries bytes between a socket and a Machine. A goroutine runs it until the
// client has logged in. After that the event loop runs it, where there is one. Other
// goroutines call interrupt, cutOff, evict and abandon, with server.mu held. The
// exported fields and methods are for the Machine.
//
// Thousands of connections may wait for their clients. So memory that is needed only
// before the login, or only while a statement runs, is allocated apart. The rest is
// one object: small objects would keep the heap pages that logins have used.
type Conn struct {
	ID    int32 // positive, and unique among the open connections of a Server
	Local bool  // over a Unix socket

	peerKnown     bool
	skipping      bool // the end of a skipped message has not arrived
	startTLS      bool // see StartTLS
	partial       bool // pending has its deadline
	heard         bool // the first byte has arrived
	admitted      bool // logged in; under server.mu, and read by the connection's goroutine
	staying       bool // see mayStay
	draining      bool // inside drain: TLS must not wait for input
	drained       bool // draining: the socket has been emptied
	upgrade       bool // the loop ended for a TLS handshake
	lingerOnClose bool // the client may still be sending: see linger

	cut     atomic.Bool // see cutOff
	hungUp  atomic.Bool // see HangUp
	evicted atomic.Bool // see evict

	Remote  string     // the client's address, "" over a Unix socket
	IP      netip.Addr // the client's, as ClientAddress returns it; invalid over a Unix socket
	peerUID uint32     // see PeerUID

	// TLS describes the encryption, nil without. A connection is secure if and only
	// if TLS is not nil: claims of the client do not count.
	TLS *Secured

	// Served counts queries, executions and commands. The Machine adds to it in
	// Feed.
	Served int64

	counters counters

	server   *Server // nil: a machine without a server
	nc       net.Conn
	socket   *socket   // nc in the event loop; nil: a goroutine serves nc. Changes under server.mu
	storage  socket    // memory of socket
	tls      *tls.Conn // nil: plaintext
	machine  Machine
	preLogin *preLogin     // until the login, then nil
	accepted time.Duration // by monotonic
	deadline time.Duration // of the read, by monotonic; 0: none. interrupt leaves it as it is

	work    *workspace // nil while waiting
	out     Out
	pending []byte // the beginning of a message that has not arrived whole, or of a TLS handshake (upgrade)
	record  int    // bytes of a record of TLS that has arrived in part, 0: none
	counted int64  // bytes of pending and record that account has counted
	account *account.Session
	loop    loop  // the event loop, while it serves this connection
	err     error // that ended the connection
}

// preLogin holds the context of a connection that has not logged in. The context
// ends when the connection is evicted, see Places.
type preLogin struct {
	ctx    context.Context
	giveUp context.CancelCauseFunc
}

// newConn makes a connection without id and machine. Server.register adds both.
func newConn(s *Server, nc net.Conn) *Conn {
	c := &Conn{server: s, nc: nc, accepted: monotonic()}
	c.out = Out{flush: c.flush, limit: s.Limits.FlushAt}
	switch a := nc.RemoteAddr().(type) {
	case *net.TCPAddr:
		c.Remote = a.String()
		c.IP = ClientAddress(a.AddrPort().Addr())
	case *net.UnixAddr:
		c.Local = true
		if socket, ok := nc.(*net.UnixConn); ok { // not in tests
			c.peerUID, c.peerKnown = peerUID(socket)
		}
	}
	return c
}

// serve runs the connection to its end, or until the event loop adopts it.
func (c *Conn) serve() {
	if c.begin() {
		c.serveReady(loop{})
		return
	}
	c.end()
}

// begin serves the connection until the event loop adopts it. It returns false
// when the connection has ended.
func (c *Conn) begin() (adopted bool) {
	defer c.recoverPanic()
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

// end closes the connection.
func (c *Conn) end() {
	defer c.server.work.Done()
	defer c.server.forget(c)
	defer c.close()
	if c.lingerOnClose {
		c.linger()
	}
}

// recoverPanic ends the connection after a panic, with an error for the client.
func (c *Conn) recoverPanic() {
	p := recover()
	if p == nil {
		return
	}
	c.server.panicked(c, "serving", p)
	c.draining = false
	c.out.B = nil // half an answer, perhaps
	c.err = nil
	defer func() { _ = recover() }() // the Machine may panic again
	c.dismiss(Failed)
}

// close closes the Machine and the socket, and returns the buffers.
func (c *Conn) close() {
	if c.err != nil && !errors.Is(c.err, io.EOF) {
		c.server.Logger.Debug("connection ended", "connection", c.ID, "error", c.err)
	}
	c.release()
	defer func() {
		c.closeTLS()
		_ = c.nc.Close() // nothing is left to be sent
		if p := recover(); p != nil {
			c.server.panicked(c, "closing", p)
		}
	}()
	c.machine.Close()
}

// tune sets socket options.
func (c *Conn) tune() {
	tcp, ok := c.nc.(*net.TCPConn)
	if !ok {
		return
	}
	// Both fail on a closed connection, as the read will.
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveSkip, Count: keepAliveTry})
	if raw, err := tcp.SyscallConn(); err == nil {
		tuneTCP(raw, c.IP.IsLoopback())
	}
}

// servePlain serves the connection with blocking reads: before the login, in
// tests, and on systems without an event loop. It reports whether the event loop
// has adopted the connection.
func (c *Conn) servePlain() (adopted bool) {
	var from io.Reader = c.nc
	if c.tls != nil {
		from = c.tls
	}
	for {
		if c.admitted && c.preLogin != nil {
			c.preLogin.giveUp(nil)
			c.preLogin = nil
			adopted = c.server.adopt(c)
			if len(c.pending) > 0 && !c.feed(nil) { // input that came with the login
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

// serveReady serves a connection until no input is left. The caller has claimed its
// socket.
func (c *Conn) serveReady(l loop) {
	c.loop = l
	for c.serveInput() {
		if c.socket.release() {
			return
		}
	}
	go c.end() // which may block
}

// serveInput serves the input that has arrived, and an expired deadline. It reports
// whether the connection goes on.
func (c *Conn) serveInput() (more bool) {
	defer c.recoverPanic()
	if c.socket.expired.Load() && c.socket.expired.Swap(false) && !c.readFailed(os.ErrDeadlineExceeded) {
		return false
	}
	c.acquire()
	c.draining, c.drained = true, false
	more = c.drain()
	c.draining = false
	if more {
		c.release()
	}
	return more
}

// drain reads and serves all input of the socket. It reports whether the
// connection goes on.
//
// Inside TLS the socket may have been emptied into the buffer of crypto/tls.
func (c *Conn) drain() bool {
	for {
		var n int
		var err error
		if c.tls != nil {
			n, err = c.tls.Read(c.work.in[:])
		} else {
			n, err = c.poll(c.work.in[:])
		}
		switch {
		case errors.Is(err, errNoInput):
			return c.keepRecord()
		case err != nil:
			c.err = err
			return false
		case !c.feed(c.work.in[:n]):
			return false
		case c.drained && c.tls == nil:
			return true
		case !c.drained:
			c.loop.handOver() // more input: other connections must not wait for it
			runtime.Gosched()
			if c.interrupted() {
				return true
			}
		}
	}
}

// poll reads from a socket of the event loop: errNoInput if nothing has arrived.
//
// A read that does not fill the buffer has emptied the socket. epoll is
// edge-triggered and reports later input again. It reports the end of the input
// once, perhaps together with the last bytes: then drain reads on.
func (c *Conn) poll(p []byte) (n int, err error) {
	if c.drained {
		return 0, errNoInput
	}
	n, err = readSome(c.socket.fd, p)
	c.drained = err == nil && n < len(p) && !c.socket.hangup.Load()
	return n, err
}

// interrupt ends the wait for the client. readFailed then finds the reason.
func (c *Conn) interrupt() { _ = c.nc.SetReadDeadline(past) } // fails only on a closed connection

// cutOff ends the wait for the client, and writes after cutGrace.
func (c *Conn) cutOff() {
	c.cut.Store(true)
	_ = c.nc.SetWriteDeadline(time.Now().Add(cutGrace)) // fails only on a closed connection
	c.interrupt()
}

// abandon closes the socket under the connection.
func (c *Conn) abandon() {
	if c.socket != nil {
		c.socket.abandon()
		return
	}
	_ = c.nc.Close() // ends blocked reads and writes
}

// evict ends a connection that has not logged in, so that another one fits in, see
// Places. The caller holds server.mu.
func (c *Conn) evict() {
	c.evicted.Store(true)
	c.preLogin.giveUp(errEvicted)
	c.cutOff()
}

// errEvicted is sent to the client of an evicted connection.
var errEvicted = sqlstate.New(sqlstate.TooManyConnections, "too many connections that have not logged in")

// interrupted reports whether interrupt was called for a reason that lasts.
func (c *Conn) interrupted() bool {
	return c.server.draining.Load() || c.hungUp.Load() || c.evicted.Load()
}

// hungUpReason is logged for HangUp.
const hungUpReason = "ended by an administrator, KILL or a change of the users"

// past is a deadline that has expired.
var past = time.Unix(1, 0)

// readFailed handles the error of a read. An expired deadline may be the
// client's silence or a call of interrupt. It reports whether the connection
// goes on.
func (c *Conn) readFailed(err error) bool {
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		c.err = err
		return false
	case c.server.draining.Load() && c.mayStay():
		c.staying = true
		return true
	case c.server.draining.Load():
		return c.dismiss(Shutdown)
	case c.evicted.Load():
		c.server.refused(c, RefusedBeforeLogin, "evicted: too many connections that have not logged in")
		return c.dismiss(TooMany)
	case c.hungUp.Load():
		c.server.closed(c, hungUpReason)
		return c.dismiss(HungUp)
	case c.deadline == 0, monotonic() < c.deadline: // interrupted before
		_ = c.nc.SetReadDeadline(at(c.deadline)) // fails only on a closed connection, as the read will
		return true
	case !c.admitted && !c.heard:
		c.server.refused(c, RefusedSlow, "timeout of the first byte")
		return c.dismiss(Silent)
	case !c.admitted, c.partial:
		c.server.refused(c, RefusedSlow, "timeout of the login or of a message")
		return c.dismiss(Slow)
	}
	c.server.closed(c, "idle timeout")
	return c.dismiss(Idle)
}

// feed gives input to the Machine and sends the answers. It reports whether the
// connection goes on.
func (c *Conn) feed(in []byte) bool {
	c.acquire()
	c.counters.received.Add(int64(len(in)))
	data := in
	if len(c.pending) > 0 {
		switch {
		case c.grow(len(c.pending) + len(in)):
			c.pending = append(c.pending, in...)
			data = c.pending
		case !c.drop(c.pending):
			return false
		}
	}
	ctx := c.server.base
	if c.preLogin != nil {
		ctx = c.preLogin.ctx
	}
	served := c.Served
	n, err := c.machine.Feed(ctx, data, &c.out)
	if c.Served != served {
		c.counters.commands.Store(c.Served)
	}
	c.machine.Rest()
	if n > 0 && !c.skipping {
		c.partial = false // the incomplete message began with this read
	}
	if err := c.out.Flush(); err != nil {
		c.err = err
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
		case c.hungUp.Load():
			c.server.closed(c, hungUpReason)
		case !c.cut.Load():
			c.server.closed(c, "write timeout: the client does not read its answers")
		}
		return false
	}
	if c.startTLS {
		c.upgrade, c.pending = true, bytes.Clone(data[n:])
		return false
	}
	if err != nil {
		c.failed(err)
		return false
	}
	if rest := data[n:]; (len(rest) > 0 || c.pending != nil) && !c.keep(rest) && !c.drop(rest) {
		return false
	}
	c.setTimers(len(in) > 0)
	if c.staying {
		c.interrupt() // mayStay decides again
	}
	return true
}

// failed ends the connection after an error of the Machine.
func (c *Conn) failed(err error) {
	c.err, c.lingerOnClose = err, !errors.Is(err, io.EOF)
	if shutdown := errors.Is(err, ErrShutdown) && !c.hungUp.Load(); c.lingerOnClose && !shutdown && !errors.Is(err, ErrClosed) {
		c.server.closed(c, err.Error())
	}
}

// mayStay reports whether a connection goes on for a while during a shutdown: until
// its transaction ends, or, if it is new, until its first statement is answered.
// mayStay sets the deadline for that.
func (c *Conn) mayStay() bool {
	if !c.admitted || c.cut.Load() {
		return false
	}
	until := c.deadline
	if !c.machine.Busy() {
		if c.counters.commands.Load() > 0 || c.staying {
			return false
		}
		until = c.accepted + firstStatementTime
	}
	if until != 0 && monotonic() >= until {
		return false
	}
	_ = c.nc.SetReadDeadline(at(until)) // fails only on a closed connection, as the read will
	return true
}

// setTimers sets the deadline of the next read. heard: a byte has arrived. Without
// timeouts setTimers makes no system call and takes no lock.
func (c *Conn) setTimers(heard bool) {
	limits := &c.server.Limits
	if !c.admitted {
		if heard && !c.heard {
			c.heard = true
			c.waitUntil(c.accepted + limits.Login)
		}
		return
	}
	if len(c.pending) > 0 || c.skipping || c.record > 0 {
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

// waitUntil sets the read deadline, by monotonic. An interrupt of a shutdown or of
// HangUp stays in force.
func (c *Conn) waitUntil(deadline time.Duration) {
	c.deadline = deadline
	_ = c.nc.SetReadDeadline(at(deadline)) // fails only on a closed connection, as the read will
	if c.interrupted() {
		c.interrupt()
	}
}

// dismiss sends the reason for which the server ends the connection. It sets
// lingerOnClose, but not for Shutdown and Idle: there may be thousands at once. It
// returns false: the connection does not go on.
func (c *Conn) dismiss(why Reason) bool {
	c.acquire()
	c.lingerOnClose = why != Shutdown && why != Idle
	c.machine.Refuse(&c.out, why)
	_ = c.out.Flush() // the connection ends anyway
	c.err = io.EOF
	return false
}

// linger discards input for up to lingerTime. Closing a socket with unread input
// resets the connection (RFC 1122, section 4.2.2.13), and the client can lose the
// last answer.
func (c *Conn) linger() {
	c.closeTLS()
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
