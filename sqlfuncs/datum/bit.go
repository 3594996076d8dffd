package datum

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// Values of bit and bit varying are their binary digits in Str.

// parseBits reads binary digits, with a b before them or not, or hexadecimal
// ones behind an x.
func parseBits(t OID, s string) (Value, error) {
	digits, hexadecimal := s, false
	if s != "" {
		switch s[0] {
		case 'b', 'B':
			digits = s[1:]
		case 'x', 'X':
			digits, hexadecimal = s[1:], true
		}
	}
	if !hexadecimal {
		if i := strings.IndexFunc(digits, func(r rune) bool { return r != '0' && r != '1' }); i >= 0 {
			r, _ := utf8.DecodeRuneInString(digits[i:])
			return Value{}, sqlstate.New(sqlstate.InvalidText, `"%c" is not a valid binary digit`, r)
		}
		return MakeString(t, digits), nil
	}
	var b strings.Builder
	for i := range len(digits) {
		v, err := hexDigit(digits[i:])
		if err != nil {
			r, _ := utf8.DecodeRuneInString(digits[i:])
			return Value{}, sqlstate.New(sqlstate.InvalidText, `"%c" is not a valid hexadecimal digit`, r)
		}
		appendDigits(&b, uint64(v), 4)
	}
	return MakeString(t, b.String()), nil
}

func appendDigits(b *strings.Builder, v uint64, n int) {
	for n--; n >= 0; n-- {
		b.WriteByte('0' + byte(v>>n&1))
	}
}

// BitsOfInt is the cast of an integer of so many bits to bit(n): its lowest n
// bits, with its sign in front of them where n is larger.
func BitsOfInt(v int64, n int32) Value {
	var b strings.Builder
	for ; n > 64; n-- {
		b.WriteByte('0' + byte(uint64(v)>>63))
	}
	appendDigits(&b, uint64(v), int(n))
	return MakeString(Bit, b.String())
}

// intOfBits is the cast of a bit string to an integer type.
func intOfBits(v Value, to OID) (Value, error) {
	width := 32
	if to == Int8 {
		width = 64
	}
	if len(v.Str) > width {
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "%s out of range", display(to))
	}
	n := uint64(0)
	for _, c := range []byte(v.Str) {
		n = n<<1 | uint64(c-'0')
	}
	if to == Int4 {
		n = uint64(int64(int32(n)))
	}
	return Value{Type: to, Valid: true, Int: int64(n)}, nil
}

// fitBits is the explicit cast to bit(n), which cuts or adds zeros on the
// right, or to bit varying(n), which cuts.
func fitBits(v Value, n int) Value {
	switch {
	case len(v.Str) > n:
		v.Str = v.Str[:n]
	case v.Type == Bit:
		v.Str += strings.Repeat("0", min(n-len(v.Str), maxPadding))
	}
	return v
}

// AndBits is a & b of two bit strings. Error: 22026 when their lengths differ.
func AndBits(a, b Value) (Value, error) {
	if len(a.Str) != len(b.Str) {
		return Value{}, sqlstate.New(sqlstate.StringLengthMismatch, "cannot AND bit strings of different sizes")
	}
	out := []byte(a.Str)
	for i := range out {
		out[i] &= b.Str[i]
	}
	a.Str = string(out)
	return a, nil
}

// decodeBits reads the binary form: the number of bits, and them in bytes
// from the highest bit on.
func decodeBits(t OID, b []byte) (Value, error) {
	if len(b) < 4 {
		return Value{}, insufficientData()
	}
	n := int64(binary.BigEndian.Uint32(b))
	if b = b[4:]; n > math.MaxInt32 || int64(len(b)) != (n+7)/8 {
		return Value{}, badBinary("invalid length in external bit string")
	}
	var s strings.Builder
	for _, c := range b {
		appendDigits(&s, uint64(c), 8)
	}
	return MakeString(t, s.String()[:n]), nil
}

func appendBitsBinary(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	for i := 0; i < len(s); i += 8 {
		var c byte
		for j, digit := range []byte(s[i:min(i+8, len(s))]) {
			c |= (digit - '0') << (7 - j)
		}
		dst = append(dst, c)
	}
	return dst
}
