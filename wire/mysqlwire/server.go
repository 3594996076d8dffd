package mysqlwire

import (
	"sync"
	"time"

	"nextid/wire"
)

// Config configures New.
type Config = wire.Protocol[Exchange]

// New returns a server for the MySQL protocol.
func New(cfg Config) *wire.Server {
	p := &protocol{Config: cfg, started: time.Now(), key: sync.OnceValue(newPasswordKey)}
	return p.Server("", func(c *wire.Conn) wire.Machine { return &conn{protocol: p, Session: wire.Session{Conn: c}} })
}

// protocol holds the common state of a server's connections.
type protocol struct {
	Config
	started time.Time
	key     func() *passwordKey // makes it for the first client that requests it
}

// method returns the authentication method of the greeting, which is sent before the
// user is known. If no proof is needed, it is NativePassword, which all clients have.
func (c *conn) method() string {
	if begin := c.protocol.Auth; begin == nil || begin("", c.Conn).Method() == "" {
		return NativePassword
	}
	return CachingSHA2
}
