package pgwire

import (
	"crypto/subtle"
	"encoding/binary"

	"nextid/wire"
)

// Config configures New.
type Config = wire.Protocol[Exchange]

// New returns a server for the PostgreSQL protocol.
func New(cfg Config) *wire.Server {
	return cfg.Server(alpn, func(c *wire.Conn) wire.Machine { return &conn{protocol: &cfg, Session: wire.Session{Conn: c}} })
}

// secretSize is the length of the secret of protocol 3.2; 3.0 has 4 bytes.
const secretSize = 32

// cancelSecret returns the secret of a CancelRequest.
func (c *conn) cancelSecret() []byte {
	if c.minor >= 2 {
		return c.secret[:]
	}
	return c.secret[:4]
}

// cancel serves a CancelRequest: process id, secret. It comes over a connection of its
// own, without a login ("Canceling Requests in Progress"). It interrupts the statement
// of the connection if the secret is right. The client does not learn whether it was.
func (c *conn) cancel(body []byte) {
	other, _ := c.Conn.Other(int32(binary.BigEndian.Uint32(body))).(*conn)
	if other != nil && subtle.ConstantTimeCompare(other.cancelSecret(), body[4:]) == 1 {
		other.Statement.Interrupt(errCanceled)
	}
}
