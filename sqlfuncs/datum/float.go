package datum

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// parseFloat reads what C's strtod reads, with PostgreSQL's range checks.
func parseFloat(t OID, s string) (Value, error) {
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	n := floatLength(rest)
	number := rest[:n]
	if n == 0 {
		return Value{}, badSyntax(t, s)
	}
	if n >= 3 && strings.EqualFold(number[n-3:], "nan") {
		f := quietNaN
		if number[0] == '-' {
			f = -f
		}
		return floatValue(t, f, s, rest[n:])
	}
	width := 64
	if t == Float4 {
		width = 32
	}
	f, err := strconv.ParseFloat(number, width)
	if err != nil || f == 0 && hasNonzeroDigit(number) {
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, `"%s" is out of range for type %s`, clip(number), display(t))
	}
	return floatValue(t, f, s, rest[n:])
}

// quietNaN is the NaN of C, which Go's differs from in its last bit.
var quietNaN = math.Float64frombits(0x7ff8 << 48)

// floatValue returns f when only white space follows it.
func floatValue(t OID, f float64, s, after string) (Value, error) {
	if trimSpace(after) != "" {
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

// appendFloat prints a float8 (width 64) or float4 (32). extra is
// extra_float_digits: above 0 the shortest text that reads back the same.
func appendFloat(dst []byte, f float64, width, extra int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	precision := doubleDigits
	if width == 32 {
		precision = realDigits
	}
	if extra <= 0 {
		return strconv.AppendFloat(dst, f, 'g', max(precision+extra, 1), width)
	}
	start := len(dst)
	dst, n := appendShortest(dst, f, width)
	if n.exponent < -4 || n.exponent >= precision {
		return dst
	}
	return strconv.AppendFloat(dst[:start], f, 'f', max(n.count-1-n.exponent, 0), width)
}

// scientific is d.ddd × 10^exponent: its count digits as an integer.
type scientific struct {
	digits          uint64
	count, exponent int
}

// parseScientific reads strconv's format 'e'.
func parseScientific(b []byte) scientific {
	var n scientific
	for i, c := range b {
		switch {
		case isDigit(c):
			n.digits = n.digits*10 + uint64(c-'0')
			n.count++
		case c == 'e':
			for _, c := range b[i+2:] {
				n.exponent = n.exponent*10 + int(c-'0')
			}
			if b[i+1] == '-' {
				n.exponent = -n.exponent
			}
			return n
		}
	}
	return n
}

// appendShortest appends the shortest decimal strictly between f's
// neighbours' midpoints, in format 'e'. strconv also takes a midpoint itself
// when rounding to even makes f of it, which PostgreSQL's Ryu does not; then
// one more digit moves it off (1e23 is 9.999999999999999e+22).
func appendShortest(dst []byte, f float64, width int) ([]byte, scientific) {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, width)
	n := parseScientific(dst[start:])
	for isMidpoint(n, f, width) {
		dst = strconv.AppendFloat(dst[:start], f, 'e', n.count, width)
		n = parseScientific(dst[start:])
	}
	return dst, n
}

// isMidpoint reports whether the decimal n, which reads as f, lies exactly
// between f and a neighbour: it is then an odd multiple of half a unit in
// f's last place, so its power of two gives it away.
func isMidpoint(n scientific, f float64, width int) bool {
	if n.digits == 0 {
		return false
	}
	var unit int // power of two of f's last place
	if width == 32 {
		unit = max(int(math.Float32bits(float32(f))>>23&0xff), 1) - 150
	} else {
		unit = max(int(math.Float64bits(f)>>52&0x7ff), 1) - 1075
	}
	power := n.exponent - n.count + 1
	if bits.TrailingZeros64(n.digits)+power != unit-1 {
		return false
	}
	for ; power < 0; power++ { // a fraction that is no sum of powers of two is no midpoint
		if n.digits%5 != 0 {
			return false
		}
		n.digits /= 5
	}
	return true
}
