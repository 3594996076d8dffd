package wire

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"nextid/sqlfuncs/account"
)

// Machine is one connection's side of a protocol, without input and output:
// bytes in, bytes out. One goroutine uses it.
type Machine interface {
	// Feed consumes the complete messages at the beginning of in and
	// appends the answers to out. It returns how many bytes it consumed;
	// the rest comes again, with more behind it. in is valid during the
	// call only. A message that is consumed in pieces is announced with
	// Conn.Skip. What follows a login in in is left for the next call: the
	// poller notices a client that is gone. The first call has an empty in, for protocols in which the
	// server speaks first, and so has the one after a TLS handshake.
	//
	// An error ends the connection after out was sent, and is logged. io.EOF says
	// that the client wanted it so, ErrClosed that the log has the reason. ctx ends when the server gives up waiting for
	// statements at shutdown, with ErrShutdown as its cause.
	Feed(ctx context.Context, in []byte, out *Out) (consumed int, err error)

	// Drop throws away the message that begins with held, for which there is no
	// memory: its rest comes with the next Feed. The client is told of it by an
	// error. An error of Drop ends the connection, as one of Feed does.
	Drop(held []byte, out *Out) error

	// IdleTimeout is for how long the client may be silent now, 0 for ever.
	IdleTimeout() time.Duration

	// Lost ends the statement that runs, and those behind it, with ErrLost: the
	// client has closed the connection. Any goroutine calls it, also after Close.
	Lost()

	// Busy reports whether the client would lose something if the connection
	// ended now: it is in a transaction.
	Busy() bool

	// Refuse appends what to tell a client that must go.
	Refuse(out *Out, why Reason)

	// Rest is called when the connection is about to wait for its client.
	Rest()

	// Memory is the account on which messages draw that have not arrived
	// whole. nil: they are not counted.
	Memory() *account.Session

	// Close releases what the connection held.
	Close()
}

// Reason is why the server ends a connection.
type Reason uint8

// The reasons.
const (
	Shutdown Reason = iota // the server is stopping
	NoRoom                 // a limit on connections
	Failed                 // a bug of ours
	HungUp                 // Conn.HangUp: another client, or an operator, wanted it
	Slow                   // the login or a message took too long
	Idle                   // the client was silent for longer than IdleTimeout
)

// ErrClosed ends a connection whose client was told why, and about which the log has
// a line already.
var ErrClosed = errors.New("connection ended")

// Conn is what a Machine knows of its connection and asks of it.
type Conn struct {
	ID        int32 // positive, and unique among the open connections of a Server
	Local     bool  // over a Unix socket
	peerKnown bool
	canTLS    bool
	startTLS  bool
	peerUID   uint32
	skipping  bool // the last message to be thrown away has not arrived whole

	Remote string     // the client's address, "" over a Unix socket
	IP     netip.Addr // the client's as ClientAddress gives it, invalid over a Unix socket

	// TLS is what is known of the connection's encryption, nil before there
	// is any. This, and not what the client claims, is what says whether a
	// connection is secure.
	TLS *Secured

	// Served counts messages that asked for something: queries, executions and
	// commands. A Machine adds those of a Feed.
	Served int64

	conn     *conn  // nil: a machine without a server
	expected int    // see Expect
	skips    uint64 // messages whose bytes were thrown away
	counters counters
}

// Took is the Server's, for the machine's Statement.
func (c *Conn) Took() func(time.Duration) {
	if c.conn == nil {
		return nil
	}
	return c.conn.server.Took
}

// Skip says that Feed consumes a message in pieces, to throw it away: it has
// begun (true) or has arrived whole (false).
func (c *Conn) Skip(begun bool) {
	if c.skipping = begun; begun {
		c.skips++
	}
}

// Expect says how many bytes the message will have that Feed leaves since it
// has not arrived whole, so that room for it need not be made again and again.
// It may be more than arrives.
func (c *Conn) Expect(size int) { c.expected = size }

// HangUp ends the connection when the statement that it runs is over, from
// any goroutine. The client is told: Refuse with HungUp.
func (c *Conn) HangUp() {
	if c.conn != nil {
		c.conn.hangUp()
	}
}

// PeerUID is the system's user who connected to a Unix socket. ok is false
// when that is not known: over TCP, and on other systems than Linux.
func (c *Conn) PeerUID() (uid uint32, ok bool) { return c.peerUID, c.peerKnown }

// Wait says that the statement in Feed is about to wait for something else
// than its client, so that other connections should not wait with it.
func (c *Conn) Wait() {
	if c.conn != nil {
		c.conn.loop.handOver()
	}
}

// CanTLS reports whether StartTLS may be called: the server has a
// certificate, and the connection is not inside TLS.
func (c *Conn) CanTLS() bool { return c.canTLS && c.TLS == nil }

// StartTLS asks for a TLS handshake. It is called during Feed: the answers up
// to here are sent in plaintext, and what Feed leaves of its input is taken
// as the client's part of the handshake. After it comes a Feed with no
// input. What arrived in plaintext is never seen as something that came
// through TLS.
func (c *Conn) StartTLS() { c.startTLS = true }

// Admit counts the client in at the end of its login. The error is an
// *sqlstate.Error for the client: there is no room, or the server is
// stopping.
func (c *Conn) Admit() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.server.admit(c.conn)
}
