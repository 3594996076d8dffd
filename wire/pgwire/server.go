package pgwire

import (
	"crypto/subtle"
	"encoding/binary"
	"sync"

	"nextid/wire"
)

// Config configures New.
type Config = wire.Protocol[Exchange]

// New returns a server for the PostgreSQL protocol.
func New(cfg Config) *wire.Server {
	p := &protocol{Config: cfg, conns: map[int32]*conn{}}
	return p.Server(alpn, func(c *wire.Conn) wire.Machine { return &conn{protocol: p, Session: wire.Session{Conn: c}} })
}

// protocol holds the common state of a server's connections.
type protocol struct {
	Config

	// conns holds the connections by process id, for CancelRequest. A CancelRequest
	// comes over a connection of its own, without a login ("Canceling Requests in
	// Progress").
	mu    sync.Mutex
	conns map[int32]*conn
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

// cancel serves a CancelRequest: process id, secret. It interrupts the statement of
// the connection if the secret is right. The client does not learn whether it was.
func (p *protocol) cancel(body []byte) {
	p.mu.Lock()
	c := p.conns[int32(binary.BigEndian.Uint32(body))]
	p.mu.Unlock()
	if c != nil && subtle.ConstantTimeCompare(c.cancelSecret(), body[4:]) == 1 {
		c.Statement.Interrupt(errCanceled)
	}
}
