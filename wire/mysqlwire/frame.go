package mysqlwire

import (
	"bytes"
	"encoding/binary"
	"math"

	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

const (
	// headerSize is a packet's length and sequence number.
	headerSize = 4

	// maxPayload is the longest payload of a packet. The next packet continues a
	// packet of this length.
	maxPayload = 1<<24 - 1

	// maxHandshake bounds a client's packet before the login, and COM_CHANGE_USER, in
	// bytes.
	maxHandshake = 16 << 10
)

// errOutOfOrder is returned for a packet with a wrong sequence number: the framing
// is lost.
var errOutOfOrder = sqlstate.New(sqlstate.ProtocolViolation, "Got packets out of order").WithMySQL(1156, "08S01")

// errTooLong is returned for a message over its limit.
var errTooLong = sqlstate.New(sqlstate.ProtocolViolation, "Got a packet bigger than limits.statement_bytes of the server's configuration allows").WithMySQL(1153, "08S01")

// errMalformed is returned for a message with a wrong content. Its length was right,
// so the framing is intact, and after the login the connection goes on.
var errMalformed = sqlstate.New(sqlstate.ProtocolViolation, "Malformed communication packet").WithMySQL(1835, "HY000")

// frame is the first message of the input.
type frame struct {
	payload []byte // a part of the input, unless it came in several packets
	size    int    // bytes of input
	tooLong bool   // over its limit: size is the part seen so far, payload is nil
	more    bool   // tooLong: the last packet of size bytes is continued
	next    byte   // sequence number after its packets
}

// readFrame returns the first message of in. Its first packet must have the sequence
// number seq. limit is called with the first byte of the payload, before the rest
// has arrived. ok is false while the message has not arrived whole.
func readFrame(in []byte, seq byte, limit func(first byte) int) (f frame, ok bool, err error) {
	most, total := 0, 0
	for {
		if len(in)-f.size < headerSize {
			return f, false, nil
		}
		h := in[f.size:]
		n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		if h[3] != seq {
			return f, false, errOutOfOrder
		}
		if total == 0 && n > 0 {
			if len(h) == headerSize {
				return f, false, nil // the type decides on the limit
			}
			most = limit(h[headerSize])
		}
		seq++
		total += n
		f.size += headerSize + n
		f.next = seq
		more := n == maxPayload
		switch {
		case total > most && total > 0:
			f.tooLong, f.more = true, more
			return f, true, nil
		case len(in) < f.size:
			f.more = more
			return f, false, nil
		case !more:
			f.payload = payload(in[:f.size], total)
			return f, true, nil
		}
	}
}

// payload joins the payloads of the packets in b, total bytes. A single packet is
// not copied.
func payload(b []byte, total int) []byte {
	if len(b) == headerSize+total {
		return b[headerSize:len(b):len(b)]
	}
	joined := make([]byte, 0, total)
	for len(b) > 0 {
		n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		joined = append(joined, b[headerSize:headerSize+n]...)
		b = b[headerSize+n:]
	}
	return joined
}

// limit returns the limit of a command, its type byte included, or of a packet of
// the login.
func (c *conn) limit(command byte) int {
	if c.state != ready {
		return maxHandshake
	}
	switch command {
	case comQuery, comStmtPrepare, comStmtExecute, comStmtLongData, comStmtBulkExecute:
		return 1 + c.protocol.Limits.Statement
	case comChangeUser:
		return maxHandshake
	}
	return c.protocol.Limits.Small
}

// hasAnswer reports whether a command has an answer. An error in answer to another
// command would be taken by the client for the answer to its next command.
func hasAnswer(command byte) bool { return command != comStmtLongData && command != comStmtClose }

// skipping is the rest of a message that is discarded.
type skipping struct {
	left int   // bytes of the packet
	more bool  // another packet of the message follows
	on   bool  // false: no message is being discarded
	why  error // for the client, at the end of the message
}

// skipMessage discards a message. gone of its bytes have been consumed.
func (c *conn) skipMessage(f frame, gone int, why error) {
	c.skipped = skipping{left: f.size - gone, more: f.more, on: true, why: why}
	c.Conn.Skip(true)
}

// skip discards the beginning of in. After the last byte of the message it appends
// the error.
func (c *conn) skip(in []byte) (n int, err error) {
	s := &c.skipped
	for {
		k := min(len(in)-n, s.left)
		n += k
		s.left -= k
		if s.left > 0 {
			return n, nil
		}
		if !s.more {
			s.on = false
			c.Conn.Skip(false)
			c.Out.B = c.appendError(c.Out.B, s.why)
			return n, nil
		}
		if len(in)-n < headerSize {
			return n, nil
		}
		h := in[n:]
		if h[3] != c.seq {
			return n, c.fatal(c.Out, errOutOfOrder)
		}
		c.seq++
		s.left = int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		s.more = s.left == maxPayload
		n += headerSize
	}
}

// reader decodes one message. Integers are little-endian.
type reader struct{ wire.Reader }

func read(message []byte) reader { return reader{wire.Reader{B: message}} }

func (r *reader) uint16() uint16 { return binary.LittleEndian.Uint16(r.Fixed(2)) }
func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.Fixed(4)) }
func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.Fixed(8)) }

// rest reads everything that is left.
func (r *reader) rest() []byte { return r.Bytes(len(r.B)) }

// cstringOrRest reads up to a zero byte, or all if there is none: some clients leave
// out the zero byte of the last field.
func (r *reader) cstringOrRest() []byte {
	if bytes.IndexByte(r.B, 0) < 0 {
		return r.rest()
	}
	return r.CString()
}

// lenenc reads a length-encoded integer ("Integer Types"). NULL (0xFB) and the
// reserved 0xFF are failures.
func (r *reader) lenenc() uint64 {
	switch b := r.Byte(); b {
	case 0xfc:
		return uint64(r.uint16())
	case 0xfd:
		return uint64(r.uint16()) | uint64(r.Byte())<<16
	case 0xfe:
		return r.uint64()
	case 0xfb, 0xff:
		r.Fail()
		return 0
	default:
		return uint64(b)
	}
}

// lenencBytes reads a length-encoded string. A length beyond the end of the message
// is a failure.
func (r *reader) lenencBytes() []byte { return r.Bytes(int(min(r.lenenc(), math.MaxInt32))) }
