package pgwire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"log/slog"
	"sync"

	"nextid/sqlfuncs"
	"nextid/wire"
)

// Config configures New. SQL is required.
type Config struct {
	SQL    *sqlfuncs.Server
	Auth   Authenticator // nil: no proof is needed, and every user is an administrator
	TLS    *wire.TLS     // nil: plaintext only
	Limits wire.Limits
	Logger *slog.Logger // nil: slog.Default()
}

// New returns a server for the PostgreSQL protocol.
func New(cfg Config) *wire.Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	p := &protocol{sql: cfg.SQL, auth: cfg.Auth, limits: cfg.Limits.WithDefaults(), log: cfg.Logger}
	return &wire.Server{NewMachine: p.newMachine, Limits: cfg.Limits, Logger: cfg.Logger, TLS: cfg.TLS, ALPN: alpn}
}

// protocol holds the common state of a server's connections.
type protocol struct {
	sql    *sqlfuncs.Server
	auth   Authenticator
	limits wire.Limits
	log    *slog.Logger
	keys   cancelKeys
}

func (p *protocol) newMachine(c *wire.Conn) wire.Machine {
	return &conn{protocol: p, Session: wire.Session{Conn: c, Statement: wire.Statement{Took: c.Took()}}}
}

// cancelKeys maps process ids to connections, for CancelRequest. A CancelRequest
// comes over a connection of its own, without a login ("Canceling Requests in
// Progress").
type cancelKeys struct {
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

// add makes the secret of a connection and stores the connection.
func (k *cancelKeys) add(c *conn) {
	_, _ = rand.Read(c.secret[:]) // never fails (crypto/rand)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conns == nil {
		k.conns = map[int32]*conn{}
	}
	k.conns[c.Conn.ID] = c
}

func (k *cancelKeys) remove(c *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, c.Conn.ID)
}

// cancel serves a CancelRequest: process id, secret. It interrupts the statement of
// the connection if the secret is right. The client does not learn whether it was.
func (k *cancelKeys) cancel(body []byte) {
	pid := int32(binary.BigEndian.Uint32(body))
	k.mu.Lock()
	c := k.conns[pid]
	k.mu.Unlock()
	if c != nil && subtle.ConstantTimeCompare(c.cancelSecret(), body[4:]) == 1 {
		c.Statement.Interrupt(errCanceled)
	}
}
