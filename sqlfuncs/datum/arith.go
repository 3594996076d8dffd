package datum

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// Compute is a op b for + - * / and %: two numbers of one type; a date ± days;
// a date or timestamp ± an interval, where days and months are those of env's
// time zone; the difference of two dates or timestamps.
// Neither is NULL, and there is such an operator. Integers divide towards zero,
// the sign of % is the dividend's. Errors: 22012, 22003, 22008.
func Compute(op byte, a, b Value, env *Env) (Value, error) {
	switch {
	case b.Type == Interval:
		return addInterval(op, a, parseIntervalValue(b), env)
	case a.Type == Date && b.Type == Date:
		return MakeInt4(a.Int - b.Int), nil
	case a.Type == Date:
		return addDays(op, a, b.Int)
	case a.Type == Timestamp || a.Type == TimestampTZ:
		return subtractTimestamps(a, b)
	case a.Type == Numeric:
		return decimalArithmetic(op, decimalOf(a), decimalOf(b))
	case a.Type == Float4 || a.Type == Float8:
		return floatArithmetic(op, a.Type, a.Float, b.Float)
	}
	return intArithmetic(op, a, b)
}

// Neg returns -v for a number.
func Neg(v Value) (Value, error) {
	switch v.Type {
	case Float4, Float8:
		v.Float = -v.Float
		return v, nil
	case Numeric:
		return decimalOf(v).neg().Value()
	}
	return intArithmetic('-', Value{Type: v.Type, Valid: true}, v)
}

// NumberRank orders the types of numbers by the direction of PostgreSQL's implicit
// casts. It is 0 for other types.
var NumberRank = map[OID]int{Int2: 1, Int4: 2, Int8: 3, Numeric: 4, Float4: 5, Float8: 6}

// floatOf converts a number to floating point.
func floatOf(v Value) float64 {
	switch v.Type {
	case Float4, Float8:
		return v.Float
	case Numeric:
		f, _ := strconv.ParseFloat(v.Str, 64)
		return f
	}
	return float64(v.Int)
}

func intArithmetic(op byte, a, b Value) (Value, error) {
	x, y := big.NewInt(a.Int), big.NewInt(b.Int)
	switch {
	case op == '+':
		x.Add(x, y)
	case op == '-':
		x.Sub(x, y)
	case op == '*':
		x.Mul(x, y)
	case b.Int == 0:
		return Value{}, divisionByZero()
	case op == '/':
		x.Quo(x, y)
	default:
		x.Rem(x, y)
	}
	if !x.IsInt64() {
		return Value{}, outOfRange(a.Type)
	}
	n, err := checkInt(a.Type, x.Int64())
	return Value{Type: a.Type, Valid: true, Int: n}, err
}

// checkInt checks the range of an integer type.
func checkInt(t OID, n int64) (int64, error) {
	if t == Int4 && n != int64(int32(n)) || t == Int2 && n != int64(int16(n)) {
		return 0, outOfRange(t)
	}
	return n, nil
}

func floatArithmetic(op byte, t OID, x, y float64) (Value, error) {
	var f float64
	switch op {
	case '+':
		f = x + y
	case '-':
		f = x - y
	case '*':
		f = x * y
	default:
		if y == 0 {
			return Value{}, divisionByZero()
		}
		f = x / y
	}
	if t == Float4 {
		f = float64(float32(f))
	}
	if math.IsInf(f, 0) {
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "value out of range: overflow")
	}
	return Value{Type: t, Valid: true, Float: f}, nil
}

// isSpace is C's isspace, which PostgreSQL's input functions skip.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isLetter(c byte) bool { return c|0x20-'a' < 26 }

// scan returns the first index from i on whose byte is not accepted.
func scan(s string, i int, accept func(byte) bool) int {
	for i < len(s) && accept(s[i]) {
		i++
	}
	return i
}

func trimSpace(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, " \t\n\v\f\r"), " \t\n\v\f\r")
}

// parseInt reads a signed decimal number of a width in bits (pg_strtoint64).
func parseInt(t OID, s string, bits int) (Value, error) {
	n, err := strconv.ParseInt(trimSpace(s), 10, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return Value{}, valueOutOfRange(t, s)
	case err != nil:
		return Value{}, badSyntax(t, s)
	}
	return Value{Type: t, Valid: true, Int: n}, nil
}

// parseOid reads an oid as PostgreSQL does, with C's strtoul: a sign is
// allowed, and -1 is the largest oid.
func parseOid(s string) (Value, error) {
	n, err := strconv.ParseInt(trimSpace(s), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return Value{}, badSyntax(Oid, s)
	case err != nil || n < math.MinInt32 || n > math.MaxUint32:
		return Value{}, valueOutOfRange(Oid, s)
	}
	return makeUint32(Oid, uint32(n)), nil
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

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
