package mysqlwire

import (
	"bytes"
	"encoding/binary"
)

// reader decodes one message. After a failure it returns zero values only, so that
// callers read a whole structure and call ok once. The byte slices that it returns
// are parts of the message. Integers are little-endian.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.b, r.bad = nil, true }

// ok reports whether everything was read and nothing is left.
func (r *reader) ok() bool { return !r.bad && len(r.b) == 0 }

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// bytes reads n bytes. It returns nil after a failure.
func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) || r.bad {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// rest reads everything that is left.
func (r *reader) rest() []byte { return r.bytes(len(r.b)) }

// cstring reads up to a zero byte.
func (r *reader) cstring() []byte {
	i := bytes.IndexByte(r.b, 0)
	if i < 0 {
		r.fail()
		return nil
	}
	v := r.bytes(i)
	r.b = r.b[1:]
	return v
}

// cstringOrRest reads up to a zero byte, or all if there is none: some clients leave
// out the zero byte of the last field.
func (r *reader) cstringOrRest() []byte {
	if bytes.IndexByte(r.b, 0) < 0 {
		return r.rest()
	}
	return r.cstring()
}

// lenenc reads a length-encoded integer ("Integer Types"). NULL (0xFB) and the
// reserved 0xFF are failures.
func (r *reader) lenenc() uint64 {
	switch b := r.byte(); b {
	case 0xfc:
		return uint64(r.uint16())
	case 0xfd:
		if b := r.bytes(3); b != nil {
			return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
		}
		return 0
	case 0xfe:
		return r.uint64()
	case 0xfb, 0xff:
		r.fail()
		return 0
	default:
		return uint64(b)
	}
}

// lenencBytes reads a length-encoded string. A length beyond the end of the message
// is a failure.
func (r *reader) lenencBytes() []byte {
	n := r.lenenc()
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	return r.bytes(int(n))
}
