package mysqlwire

import (
	"net"

	"nextid/wire"
)

// RefuseStarting sends an error in the place of the greeting while the server has no
// SQL yet. The caller sets a deadline and closes the connection.
func RefuseStarting(client net.Conn, why error) {
	c := &conn{Session: wire.Session{Conn: &wire.Conn{}}}
	_, _ = client.Write(c.appendError(nil, why)) // the client may have hung up
}
