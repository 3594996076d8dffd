package datum

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// Values of bit and bit varying are their binary digits in Str.

// parseBits reads binary digits.
func parseBits(t OID, s string) (Value, error) {
	if i := strings.IndexFunc(s, func(r rune) bool { return r != '0' && r != '1' }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return Value{}, sqlstate.New(sqlstate.InvalidText, `"%c" is not a valid binary digit`, r)
	}
	return MakeString(t, s), nil
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

// intOfBits is the cast of bit(n) to an integer, whose lowest bits they are.
func intOfBits(v Value, to OID) (Value, error) {
	n, err := strconv.ParseUint("0"+v.Str, 2, 64)
	switch {
	case to == Int4 && len(v.Str) > 32:
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "integer out of range")
	case err != nil:
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "bigint out of range")
	case to == Int4:
		n = uint64(int32(n)) // the first of 32 bits is the sign
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

// AndBits returns a & b of two bit strings. Different lengths are an error (22026).
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
