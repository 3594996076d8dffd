package mysqlwire

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// begin appends a packet header and returns its index. end fills it in.
func begin(dst []byte) ([]byte, int) { return append(dst, 0, 0, 0, 0), len(dst) }

// end writes the header of the packet that begins at at, and counts the packet in
// c.seq.
func (c *conn) end(dst []byte, at int) []byte {
	n := len(dst) - at - headerSize
	if n >= maxPayload {
		return c.split(dst, at)
	}
	dst[at], dst[at+1], dst[at+2], dst[at+3] = byte(n), byte(n>>8), byte(n>>16), c.seq
	c.seq++
	return dst
}

// split cuts a payload that does not fit into one packet into several. The last
// packet is shorter than maxPayload, perhaps empty: that ends the message.
func (c *conn) split(dst []byte, at int) []byte {
	rest := slices.Clone(dst[at+headerSize:])
	dst = dst[:at]
	for {
		n := min(len(rest), maxPayload)
		dst = append(dst, byte(n), byte(n>>8), byte(n>>16), c.seq)
		dst = append(dst, rest[:n]...)
		c.seq++
		rest = rest[n:]
		if n < maxPayload {
			return dst
		}
	}
}

func appendUint16(dst []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(dst, v) }
func appendUint32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }
func appendUint64(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

// appendLenenc appends a length-encoded integer.
func appendLenenc(dst []byte, v uint64) []byte {
	switch {
	case v < 0xfb:
		return append(dst, byte(v))
	case v < 1<<16:
		return append(dst, 0xfc, byte(v), byte(v>>8))
	case v < 1<<24:
		return append(dst, 0xfd, byte(v), byte(v>>8), byte(v>>16))
	}
	return appendUint64(append(dst, 0xfe), v)
}

// appendString appends a length-encoded string.
func appendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	return append(appendLenenc(dst, uint64(len(s))), s...)
}

// prefixLength writes the length of the bytes behind dst[at]. dst[at] is reserved
// for it; a length of more than one byte moves the bytes.
func prefixLength(dst []byte, at int) []byte {
	n := len(dst) - at - 1
	if n < 0xfb {
		dst[at] = byte(n)
		return dst
	}
	var length [9]byte
	prefix := appendLenenc(length[:0], uint64(n))
	return slices.Replace(dst, at, at+1, prefix...)
}

// status returns the status flags of an answer.
func (c *conn) status() uint16 {
	var s uint16
	if c.SQL.Status() != 'I' {
		s |= statusInTransaction
		if c.SQL.ReadOnlyTransaction() {
			s |= statusReadOnly
		}
	}
	if c.SQL.Autocommit() {
		s |= statusAutocommit
	}
	mode := c.SQL.ReadingMode()
	if mode.NoBackslashEscapes {
		s |= statusNoBackslashEscapes
	}
	if mode.ANSIQuotes {
		s |= statusANSIQuotes
	}
	return s | c.more
}

// ok appends an OK packet that ends an answer.
func (c *conn) ok(dst []byte, affected, insertID uint64) []byte {
	dst = c.okPacket(dst, 0, affected, insertID)
	c.noteStatus()
	return dst
}

// noteStatus notes the status flags in the last packet of an answer. The fast path
// sends them again.
func (c *conn) noteStatus() {
	c.reported.status, c.SlowRan = c.status()&^c.more, false
}

// okPacket appends an OK packet, with the header 0, or 0xfe in the place of an EOF
// packet.
func (c *conn) okPacket(dst []byte, header byte, affected, insertID uint64) []byte {
	changes := c.changes()
	status := c.status()
	if len(changes) > 0 {
		status |= statusSessionChanged
	}
	dst, at := begin(dst)
	dst = append(dst, header)
	dst = appendLenenc(dst, affected)
	dst = appendLenenc(dst, insertID)
	dst = appendUint16(dst, status)
	dst = appendUint16(dst, c.warnings())
	if len(changes) > 0 {
		dst = append(dst, 0) // no message
		dst = appendString(dst, changes)
	}
	return c.end(dst, at)
}

// eof appends the end of a list with extra status flags: an OK packet in the place
// of an EOF packet for clients with CLIENT_DEPRECATE_EOF, else an EOF packet.
func (c *conn) eof(dst []byte, flags uint16) []byte {
	c.more |= flags
	if c.caps.has(clientDeprecateEOF) {
		dst = c.okPacket(dst, 0xfe, 0, 0)
	} else {
		dst = c.eofPacket(dst)
	}
	c.noteStatus()
	c.more &^= flags
	return dst
}

// eofPacket appends an EOF packet.
func (c *conn) eofPacket(dst []byte) []byte {
	dst, at := begin(dst)
	dst = append(dst, 0xfe)
	dst = appendUint16(dst, c.warnings())
	dst = appendUint16(dst, c.status())
	return c.end(dst, at)
}

// endDefinitions appends the EOF packet behind definitions, for clients without
// CLIENT_DEPRECATE_EOF.
func (c *conn) endDefinitions(dst []byte) []byte {
	if c.caps.has(clientDeprecateEOF) {
		return dst
	}
	return c.eofPacket(dst)
}

func (c *conn) warnings() uint16 { return uint16(c.SQL.Raised()) }

// maxMessageBytes bounds an error message. With an ellipsis behind it, it fits into
// the buffers of clients (MYSQL_ERRMSG_SIZE).
const maxMessageBytes = 512 - len("…")

// appendError appends an ERR packet and counts the error. The packet has no SQLSTATE
// before the client has sent its capabilities.
func (c *conn) appendError(dst []byte, err error) []byte {
	c.Conn.Answered(err)
	number, text := describe(err)
	dst, at := begin(dst)
	dst = appendUint16(append(dst, 0xff), number.Number)
	if c.caps.has(clientProtocol41) {
		dst = append(append(dst, '#'), number.State...)
	}
	return c.end(append(dst, sqlstate.Cut(strings.ToValidUTF8(text, "?"), maxMessageBytes)...), at)
}

// describe returns the number and the text of an error: message, detail and hint in
// one text.
func describe(err error) (number sqlstate.MySQLNumber, text string) {
	e := wire.ErrorFor(err)
	text = e.Message
	for _, more := range []string{e.Detail, e.Hint} {
		if more != "" {
			if !strings.HasSuffix(text, "?") {
				text = strings.TrimSuffix(text, ".") + "."
			}
			text += " " + more
		}
	}
	return e.MySQL(), text
}

// checkText returns an error for text that is not UTF-8, as MySQL does for utf8mb4.
// Package sqlfuncs relies on it.
func checkText(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	for r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(b) {
		b = b[n:]
	}
	return sqlstate.New(sqlstate.CharacterNotInRepert, "Invalid utf8mb4 character string: %+q", b[:min(6, len(b))])
}
