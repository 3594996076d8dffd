package pgwire

import (
	"encoding/binary"

	"nextid/wire"
)

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
