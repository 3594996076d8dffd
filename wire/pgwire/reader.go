package pgwire

import (
	"bytes"
	"encoding/binary"
)

// reader decodes one message. After a failure it returns zero values only, so that
// callers read a whole structure and call ok once. The byte slices that it returns
// are parts of the message. Integers are big-endian.
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

func (r *reader) int16() int16 {
	if b := r.bytes(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// bytes reads n bytes. n < 0, which a message may hold as a length, is a failure.
func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// cstring reads up to a zero byte.
func (r *reader) cstring() []byte {
	i := bytes.IndexByte(r.b, 0)
	if i < 0 {
		r.fail()
		return nil
	}
	v := r.b[:i:i]
	r.b = r.b[i+1:]
	return v
}

// count reads the number of items that follow, an unsigned 16-bit integer. Each item
// has at least size bytes. A number that the rest of the message cannot hold is a
// failure, so that callers may allocate for the items.
func (r *reader) count(size int) int {
	n := int(uint16(r.int16()))
	if n*size > len(r.b) {
		r.fail()
		return 0
	}
	return n
}
