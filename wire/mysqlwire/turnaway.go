package mysqlwire

import (
	"net"

	"nextid/wire"
)

// TurnAway answers a client with an error instead of the first packet of the
// handshake, without a server: one that has no SQL yet. The caller sets a
// deadline and closes the connection.
func TurnAway(client net.Conn, why error) {
	c := &conn{Session: wire.Session{Conn: &wire.Conn{}}}
	_, _ = client.Write(c.appendError(nil, why)) // it may have gone
}
