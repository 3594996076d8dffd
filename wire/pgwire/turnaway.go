package pgwire

import (
	"encoding/binary"
	"io"
	"net"
)

// longestStart bounds what is read of a start-up packet that is not looked at
// (MAX_STARTUP_PACKET_LENGTH).
const longestStart = 10_000

// TurnAway answers the start-up packet of a client with an error, without a
// server: one that has no SQL yet. The caller sets a deadline and closes the
// connection. Encryption is refused; nothing secret is sent.
func TurnAway(client net.Conn, why error) {
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
	// What is left unread would reset the connection, and the answer be lost.
	rest := int64(binary.BigEndian.Uint32(head[:])) - int64(len(head))
	_, _ = io.CopyN(io.Discard, client, min(rest, longestStart))
	_, _ = client.Write(appendError(nil, "FATAL", why)) // it may have gone
}
