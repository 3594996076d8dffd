package datum

import "encoding/hex"

// uuidBytes is the size of a uuid.
const uuidBytes = 16

// MakeUUID returns a uuid of its bytes.
func MakeUUID(b [uuidBytes]byte) Value { return MakeString(UUID, string(b[:])) }

// parseUUID reads 32 hexadecimal digits, in braces or not, with a hyphen
// after any group of four.
func parseUUID(s string) (Value, error) {
	text := s
	if len(text) > 1 && text[0] == '{' {
		if text[len(text)-1] != '}' {
			return Value{}, badSyntax(UUID, s)
		}
		text = text[1 : len(text)-1]
	}
	var b [uuidBytes]byte
	for i := range b {
		if len(text) < 2 {
			return Value{}, badSyntax(UUID, s)
		}
		high, err1 := hexDigit(text)
		low, err2 := hexDigit(text[1:])
		if err1 != nil || err2 != nil {
			return Value{}, badSyntax(UUID, s)
		}
		b[i] = high<<4 | low
		text = text[2:]
		if i%2 == 1 && i < uuidBytes-1 && text != "" && text[0] == '-' {
			text = text[1:]
		}
	}
	if text != "" {
		return Value{}, badSyntax(UUID, s)
	}
	return MakeUUID(b), nil
}

// appendUUID prints 8-4-4-4-12 digits.
func appendUUID(dst []byte, s string) []byte {
	var b [uuidBytes]byte
	copy(b[:], s)
	dst = append(hex.AppendEncode(dst, b[:4]), '-')
	dst = append(hex.AppendEncode(dst, b[4:6]), '-')
	dst = append(hex.AppendEncode(dst, b[6:8]), '-')
	dst = append(hex.AppendEncode(dst, b[8:10]), '-')
	return hex.AppendEncode(dst, b[10:])
}
