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
	TLS    *wire.TLS // nil: plaintext only
	Limits wire.Limits
	Logger *slog.Logger // nil: slog.Default()

	// Auth begins the login of a user. It must treat unknown users like known ones,
	// so that a client cannot find out which users exist. It must be safe for
	// concurrent use. nil: no proof is needed, and every user is an administrator.
	Auth func(user string, c *wire.Conn) Exchange

	// Method returns the method for the greeting, CachingSHA2 or NativePassword. The
	// greeting is sent before the user is known. nil: CachingSHA2.
	Method func() string
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
	switch {
	case p.Auth == nil:
		return NativePassword
	case p.Method == nil:
		return CachingSHA2
	}
	return p.Method()
}

// RefuseStarting sends an error in the place of the greeting while the server has no
// SQL yet. The caller sets a deadline and closes the connection.
func RefuseStarting(client net.Conn, why error) {
	c := &conn{Session: wire.Session{Conn: &wire.Conn{}}}
	_, _ = client.Write(c.appendError(nil, why)) // the client may have hung up
}
