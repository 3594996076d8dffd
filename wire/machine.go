package wire

import (
	"context"
	"errors"
	"time"

	"nextid/sqlfuncs/account"
)

// Machine implements a protocol for one connection, without input and output.
// One goroutine at a time uses it; only Lost may be called by others.
type Machine interface {
	// Feed consumes the complete messages at the beginning of in and appends the
	// answers to out. It returns the number of bytes consumed. The next call gets
	// the rest again, with more behind it. in is valid during the call only.
	// Conn.Skip announces a message that is consumed in pieces.
	//
	// A call that ends a login leaves the input behind the login for the next call.
	// The event loop makes the next call, and it notices a client that hangs up. The
	// first call, and the first after a TLS handshake, have an empty in: in some
	// protocols the server sends first.
	//
	// An error ends the connection after out was sent, and is logged. io.EOF is an
	// end that the client requested. ErrClosed is an end that the log has already.
	// ctx ends with the cause ErrShutdown when Shutdown gives up.
	Feed(ctx context.Context, in []byte, out *Out) (consumed int, err error)

	// Drop discards a message for which the account has no memory. held is its
	// beginning; the next Feed gets the rest. The client gets an error. An error of
	// Drop ends the connection, as an error of Feed does.
	Drop(held []byte, out *Out) error

	// IdleTimeout returns how long to wait for the next message, 0 for ever.
	// Limits.Idle bounds it.
	IdleTimeout() time.Duration

	// Lost ends the running statement and all later ones with ErrLost: the client
	// has closed the connection. Any goroutine may call it, also after Close.
	Lost()

	// Busy reports whether the client would lose something if the connection
	// ended now: it is in a transaction.
	Busy() bool

	// Refuse appends the error that tells the client why the server ends the
	// connection.
	Refuse(out *Out, why Reason)

	// Rest gives back the CPU slot. It is called before the connection waits for
	// its client.
	Rest()

	// Memory returns the account on which incomplete messages are counted. It is nil
	// before the login, when they are not counted.
	Memory() *account.Session

	// Close closes the session and its statements.
	Close()
}

// Reason is a cause for which the server ends a connection.
type Reason uint8

// The reasons.
const (
	Shutdown Reason = iota // the server is stopping
	TooMany                // a limit on connections
	Failed                 // a panic
	HungUp                 // Conn.HangUp, for another client or an operator
	Slow                   // the login or a message took too long
	Idle                   // no message within IdleTimeout
	Silent                 // no byte within Limits.FirstByte
)

// ErrClosed is returned by Feed to end a connection. The client has the error
// already, and the log has a line.
var ErrClosed = errors.New("connection ended")

// Skip notes that Feed discards a message in pieces: it has begun (true) or has
// arrived whole (false). Each message that is discarded has its own deadline.
func (c *Conn) Skip(begun bool) {
	c.skipping = begun
	c.partial = c.partial && !begun
}

// HangUp ends the connection after its running statement, with Refuse(HungUp). A
// client that does not read its answers gets no more than cutGrace for that. Any
// goroutine may call it.
func (c *Conn) HangUp() {
	if c.server == nil {
		return
	}
	c.hungUp.Store(true)
	c.server.mu.Lock() // for c.socket
	defer c.server.mu.Unlock()
	c.cutOff()
}

// PeerUID returns the system's user at the other end of a Unix socket. ok is false
// over TCP, and on systems other than Linux.
func (c *Conn) PeerUID() (uid uint32, ok bool) { return c.peerUID, c.peerKnown }

// Wait notes that the statement in Feed is about to block: another goroutine
// takes over the event loop.
func (c *Conn) Wait() { c.loop.handOver() }

// CanTLS reports whether StartTLS may be called: the server has a certificate, and
// the connection is not inside TLS.
func (c *Conn) CanTLS() bool { return c.server != nil && c.server.TLS != nil && c.TLS == nil }

// StartTLS begins a TLS handshake after this Feed, which must return its error. The
// answers so far are sent in plaintext. The input that Feed leaves is the beginning
// of the handshake, so that plaintext is never served as if it had come through TLS.
// The first Feed after the handshake has no input.
func (c *Conn) StartTLS() error {
	c.startTLS = true
	return errTLSBegins
}

var errTLSBegins = errors.New("TLS begins")

// Admit counts the connection as logged in. The error is an *sqlstate.Error for the
// client: a limit is reached, or the server shuts down. Admit has logged it.
func (c *Conn) Admit() error {
	if c.server == nil {
		return nil
	}
	if err, why := c.server.count(c); err != nil {
		c.server.refused(c, why, err.Message)
		return err
	}
	return nil
}

// Other returns the Machine of a connection of the same server that has logged in, nil
// if there is none with the id.
func (c *Conn) Other(id int32) Machine {
	if c.server == nil {
		return nil
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if other := c.server.conns[id]; other != nil && other.admitted {
		return other.machine
	}
	return nil
}
