package mysqlwire

import (
	"bytes"
	"encoding/binary"
	"math"

	"nextid/wire"
)

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
