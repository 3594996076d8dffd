package wire

import "bytes"

// Reader decodes one message. After a failure it returns zero values only, so that
// callers read a whole structure and call OK once. The byte slices that it returns
// are parts of the message.
type Reader struct {
	B   []byte // what is left
	Bad bool   // a read has failed
}

// Fail makes this read and all later ones fail.
func (r *Reader) Fail() { r.B, r.Bad = nil, true }

// OK reports whether everything was read and nothing is left.
func (r *Reader) OK() bool { return !r.Bad && len(r.B) == 0 }

// Bytes reads n bytes. It returns nil after a failure. n < 0, which a message may
// hold as a length, is a failure.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(r.B) || r.Bad {
		r.Fail()
		return nil
	}
	v := r.B[:n:n]
	r.B = r.B[n:]
	return v
}

var zeros [8]byte

// Fixed reads n bytes, 8 at most. They are zeros after a failure.
func (r *Reader) Fixed(n int) []byte {
	if b := r.Bytes(n); b != nil {
		return b
	}
	return zeros[:n]
}

// Byte reads one byte.
func (r *Reader) Byte() byte { return r.Fixed(1)[0] }

// CString reads up to a zero byte.
func (r *Reader) CString() []byte {
	i := bytes.IndexByte(r.B, 0)
	if i < 0 {
		r.Fail()
		return nil
	}
	v := r.Bytes(i)
	r.B = r.B[1:]
	return v
}
