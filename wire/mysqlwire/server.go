package mysqlwire

import (
	"cmp"
	"log/slog"
	"net"
	"sync"
	"time"

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

// New returns a server for the MySQL protocol.
func New(cfg Config) *wire.Server {
	cfg.Limits, cfg.Logger = cfg.Limits.WithDefaults(), cmp.Or(cfg.Logger, slog.Default())
	p := &protocol{Config: cfg, started: time.Now(), key: sync.OnceValue(newPasswordKey)}
	machine := func(c *wire.Conn) wire.Machine {
		return &conn{protocol: p, Session: wire.Session{Conn: c, Statement: wire.Statement{Took: c.Took()}}}
	}
	return &wire.Server{NewMachine: machine, Limits: cfg.Limits, Logger: cfg.Logger, TLS: cfg.TLS}
}

// protocol holds the common state of a server's connections.
type protocol struct {
	Config
	started time.Time
	key     func() *passwordKey // makes it for the first client that requests it
}

// method returns the authentication method of the greeting. If no proof is needed,
// it is NativePassword, which all clients have.
func (p *protocol) method() string {
	if p.Auth == nil {
		return NativePassword
	}
	return p.Auth.Method()
}

// RefuseStarting sends an error in the place of the greeting while the server has no
// SQL yet. The caller sets a deadline and closes the connection.
func RefuseStarting(client net.Conn, why error) {
	c := &conn{Session: wire.Session{Conn: &wire.Conn{}}}
	_, _ = client.Write(c.appendError(nil, why)) // the client may have hung up
}
