package load

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// ID is an id of 64 or 128 bits.
type ID struct{ Hi, Lo uint64 }

// Compare orders ids as the databases do.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Hi, other.Hi), cmp.Compare(id.Lo, other.Lo))
}

// AppendText appends an id of 64 bits as a decimal number.
func (id ID) AppendText(dst []byte) []byte { return strconv.AppendUint(dst, id.Lo, 10) }

// parseID parses a decimal number or a UUID. ok is false for other texts.
func parseID(text []byte) (id ID, ok bool) {
	if len(text) == 36 && text[8] == '-' {
		var raw [16]byte
		digits := make([]byte, 0, 32) // on the stack
		for _, c := range text {
			if c != '-' {
				digits = append(digits, c)
			}
		}
		if n, err := hex.Decode(raw[:], digits); err != nil || n != 16 {
			return ID{}, false
		}
		return ID{binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])}, true
	}
	if len(text) == 0 || len(text) > 20 {
		return ID{}, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return ID{}, false
		}
		id.Lo = id.Lo*10 + uint64(c-'0')
	}
	return id, true
}
