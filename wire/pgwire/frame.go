package pgwire

import (
	"encoding/binary"

	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// headerSize is a message's type byte and length.
const headerSize = 5

// maxMessage bounds the length of a message: 1 GB, PostgreSQL's limit. A greater
// length means that the framing is lost.
const maxMessage = 1 << 30

// header is the beginning of a message.
type header struct {
	typ     byte
	size    int  // of the body
	tooLong bool // over its limit: to be skipped and answered with an error
}

// readHeader reads the header of the first message of in. ok is false while the
// header has not arrived whole. The type is checked before the length, and the
// length before the body has arrived. After an error the framing is lost.
func readHeader(in []byte, l *wire.Limits) (h header, ok bool, err error) {
	if len(in) == 0 {
		return h, false, nil
	}
	limit, canSkip := messageLimit(in[0], l)
	if limit < 0 {
		return h, false, sqlstate.New(sqlstate.ProtocolViolation, "invalid frontend message type %d", in[0])
	}
	if len(in) < headerSize {
		return h, false, nil
	}
	length := binary.BigEndian.Uint32(in[1:])
	if length < 4 || length > maxMessage {
		return h, false, sqlstate.New(sqlstate.ProtocolViolation, "invalid message length")
	}
	h = header{typ: in[0], size: int(length) - 4}
	if h.size > limit {
		if !canSkip {
			return h, false, sqlstate.New(sqlstate.ProtocolViolation, "message of type %q is longer than %d bytes", string(h.typ), limit)
		}
		h.tooLong = true
	}
	return h, true, nil
}

// messageLimit returns the limit of the body of a message, -1 for types that no
// client sends. canSkip reports that a longer message is skipped; otherwise it ends
// the connection.
func messageLimit(typ byte, l *wire.Limits) (limit int, canSkip bool) {
	switch typ {
	case 'Q', 'P', 'B', 'F', 'd':
		return l.Statement, true
	case 'C', 'D', 'E', 'H', 'S', 'X', 'c', 'f', 'p':
		return l.Small, false
	}
	return -1, false
}

// reader decodes one message. Integers are big-endian.
type reader struct{ wire.Reader }

func read(message []byte) reader { return reader{wire.Reader{B: message}} }

func (r *reader) int16() int16 { return int16(binary.BigEndian.Uint16(r.Fixed(2))) }
func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.Fixed(4))) }

// count reads the number of items that follow, an unsigned 16-bit integer. Each item
// has at least size bytes. A number that the rest of the message cannot hold is a
// failure, so that callers may allocate for the items.
func (r *reader) count(size int) int {
	n := int(uint16(r.int16()))
	if n*size > len(r.B) {
		r.Fail()
		return 0
	}
	return n
}
