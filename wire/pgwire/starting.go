package pgwire

import (
	"encoding/binary"
	"io"
	"net"
)

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
	_, _ = client.Write(appendError(nil, "FATAL", why)) // the client may have hung up
}
