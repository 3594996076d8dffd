package pgwire

import (
	"cmp"
	"crypto/subtle"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"sync"

	"nextid/sqlfuncs"
	"nextid/wire"
)

// Config configures New. SQL is required.
type Config struct {
	SQL    *sqlfuncs.Server
	TLS    *wire.TLS // nil: plaintext only
	Limits wire.Limits
	Logger *slog.Logger // nil: slog.Default()

	// Auth begins the login of a user. It must treat unknown users like known ones,
	// so that a client cannot find out which users exist. It must be safe for
	// concurrent use. nil: no proof is needed, and every user is an administrator.
	Auth func(user string, c *wire.Conn) Exchange
}

// New returns a server for the PostgreSQL protocol.
func New(cfg Config) *wire.Server {
	cfg.Limits, cfg.Logger = cfg.Limits.WithDefaults(), cmp.Or(cfg.Logger, slog.Default())
	p := &protocol{Config: cfg, conns: map[int32]*conn{}}
	machine := func(c *wire.Conn) wire.Machine {
		return &conn{protocol: p, Session: wire.Session{Conn: c, Statement: wire.Statement{Took: c.Took()}}}
	}
	return &wire.Server{NewMachine: machine, Limits: cfg.Limits, Logger: cfg.Logger, TLS: cfg.TLS, ALPN: alpn}
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

// longestStart bounds a discarded start-up packet (MAX_STARTUP_PACKET_LENGTH).
const longestStart = 10_000

// RefuseStarting answers the start-up packet of a client with an error while the
// server has no SQL yet. The caller sets a deadline and closes the connection. It
// refuses encryption: neither side sends a secret.
func RefuseStarting(client net.Conn, why error) {
	var head [8]byte // length and code
	for range 3 {    // one request for TLS and one for GSSAPI may come before
		if _, err := io.ReadFull(client, head[:]); err != nil {
			return
		}
		if code := binary.BigEndian.Uint32(head[4:]); code != sslRequest && code != gssRequest {
			break
		}
		if _, err := client.Write([]byte{'N'}); err != nil {
			return
		}
	}
	// Unread input would reset the connection, and the answer could be lost.
	rest := int64(binary.BigEndian.Uint32(head[:])) - int64(len(head))
	_, _ = io.CopyN(io.Discard, client, min(rest, longestStart))
	_, _ = client.Write(appendError(nil, 'E', "FATAL", why)) // the client may have hung up
}
