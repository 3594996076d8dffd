package datum

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// isSpace is C's isspace, which PostgreSQL's input functions skip.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c-'0' <= 9 }

func trimSpace(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, " \t\n\v\f\r"), " \t\n\v\f\r")
}

// parseInt reads a signed decimal number of a width in bits (pg_strtoint64).
func parseInt(t OID, s string, bits uint) (Value, error) {
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	negative := strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	if rest == "" || !isDigit(rest[0]) {
		return Value{}, badSyntax(t, s)
	}
	limit := uint64(1)<<(bits-1) - 1
	if negative {
		limit++
	}
	var n uint64
	for rest != "" && isDigit(rest[0]) {
		d := uint64(rest[0] - '0')
		if n > (limit-d)/10 {
			return Value{}, valueOutOfRange(t, s)
		}
		n = n*10 + d
		rest = rest[1:]
	}
	if trimSpace(rest) != "" {
		return Value{}, badSyntax(t, s)
	}
	if negative {
		n = -n
	}
	return Value{Type: t, Valid: true, Int: int64(n)}, nil
}

// parseOid reads an oid as PostgreSQL does, with C's strtoul: a sign is
// allowed, and -1 is the largest oid.
func parseOid(s string) (Value, error) {
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	digits := strings.TrimLeft(rest, "+-")
	negative := strings.HasPrefix(rest, "-")
	if len(rest)-len(digits) > 1 || digits == "" || !isDigit(digits[0]) {
		return Value{}, badSyntax(Oid, s)
	}
	end := 0
	for end < len(digits) && isDigit(digits[end]) {
		end++
	}
	n, err := strconv.ParseUint(digits[:end], 10, 64)
	if err != nil {
		return Value{}, valueOutOfRange(Oid, s)
	}
	if trimSpace(digits[end:]) != "" {
		return Value{}, badSyntax(Oid, s)
	}
	if negative {
		n = -n
	}
	if n != uint64(uint32(n)) && n != uint64(int64(int32(n))) {
		return Value{}, valueOutOfRange(Oid, s)
	}
	return makeUint32(Oid, uint32(n)), nil
}

// parseXid reads a transaction id; like PostgreSQL 15 it takes any C number
// and ignores what follows.
func parseXid(s string) Value {
	digits := trimSpace(s)
	end := 0
	for end < len(digits) && isDigit(digits[end]) {
		end++
	}
	n, err := strconv.ParseUint(digits[:end], 10, 64)
	if err != nil && end > 0 {
		n = math.MaxUint64
	}
	return makeUint32(Xid, uint32(n))
}

func makeUint32(t OID, n uint32) Value { return Value{Type: t, Valid: true, Int: int64(n)} }

// parseBool takes unique prefixes of true, false, yes, no, on, off, and 1, 0.
func parseBool(s string) (Value, error) {
	word := strings.ToLower(trimSpace(s))
	switch word {
	case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
		return MakeBool(true), nil
	case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
		return MakeBool(false), nil
	}
	return Value{}, badSyntax(Bool, s)
}

// parseFloat reads what C's strtod reads, with PostgreSQL's range checks.
func parseFloat(t OID, s string) (Value, error) {
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	n := floatLength(rest)
	number := rest[:n]
	if n == 0 {
		return Value{}, badSyntax(t, s)
	}
	if n >= 3 && strings.EqualFold(number[n-3:], "nan") {
		number = "nan" // strtod takes a sign, ParseFloat does not
	}
	bits := 64
	if t == Float4 {
		bits = 32
	}
	f, err := strconv.ParseFloat(number, bits)
	if err != nil || f == 0 && hasNonzeroDigit(number) {
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, `"%s" is out of range for type %s`, clip(number), display(t))
	}
	if trimSpace(rest[n:]) != "" {
		return Value{}, badSyntax(t, s)
	}
	return Value{Type: t, Valid: true, Float: f}, nil
}

// floatLength returns the length of the floating point number at the start
// of s: digits with point and exponent, or a name of infinity or NaN.
func floatLength(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	for _, word := range []string{"infinity", "inf", "nan"} {
		if len(s)-i >= len(word) && strings.EqualFold(s[i:i+len(word)], word) {
			return i + len(word)
		}
	}
	digits, points := 0, 0
	for ; i < len(s); i++ {
		switch {
		case isDigit(s[i]):
			digits++
			continue
		case s[i] == '.' && points == 0:
			points++
			continue
		}
		break
	}
	if digits == 0 {
		return 0
	}
	return i + exponentLength(s[i:])
}

// exponentLength returns the length of the exponent at the start of s, 0 for none.
func exponentLength(s string) int {
	if s == "" || s[0]|0x20 != 'e' {
		return 0
	}
	i := 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	start := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == start {
		return 0
	}
	return i
}

// hasNonzeroDigit reports whether the mantissa of a number is not zero.
func hasNonzeroDigit(number string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	return strings.ContainsAny(mantissa, "123456789")
}

// floatDigits are the digits that a binary format surely keeps (DBL_DIG, FLT_DIG).
const (
	doubleDigits = 15
	realDigits   = 6
)

// appendFloat prints a float8 (bits 64) or float4 (bits 32). extra is
// extra_float_digits: above 0 the shortest text that reads back the same.
func appendFloat(dst []byte, f float64, bits, extra int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	precision := doubleDigits
	if bits == 32 {
		precision = realDigits
	}
	if extra <= 0 {
		return strconv.AppendFloat(dst, f, 'g', max(precision+extra, 1), bits)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	exponent := 0
	e := bytes.LastIndexByte(dst, 'e')
	for _, c := range dst[e+2:] {
		exponent = exponent*10 + int(c-'0')
	}
	if dst[e+1] == '-' {
		exponent = -exponent
	}
	if exponent < -4 || exponent >= precision {
		return dst
	}
	return strconv.AppendFloat(dst[:start], f, 'f', -1, bits)
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
