package pgwire

import (
	"bytes"
	"encoding/binary"
)

// reader decodes one message. It keeps the first failure: callers read a whole
// structure and call ok once. The byte slices that it returns are parts of the
// message.
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

// bytes reads n bytes; n < 0 is a failure.
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

// count reads an int16 that is a number of items of at least size bytes each. A
// number that the rest of the message cannot hold is a failure: nothing is
// allocated for it.
func (r *reader) count(size int) int {
	n := int(uint16(r.int16()))
	if n*size > len(r.b) {
		r.fail()
		return 0
	}
	return n
}
