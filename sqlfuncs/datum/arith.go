package datum

import (
	"math"
	"math/bits"

	"nextid/sqlfuncs/sqlstate"
)

// operator is an arithmetic operator.
type operator byte

const (
	opAdd operator = '+'
	opSub operator = '-'
	opMul operator = '*'
	opDiv operator = '/'
	opMod operator = '%'
)

// Add is a + b: numbers; date + integer or interval; timestamp or interval +
// interval. NULL operands give NULL. Days and months are added
// to a timestamptz in UTC; AddIn does it in the session's time zone.
func Add(a, b Value) (Value, error) { return compute(opAdd, a, b, nil) }

// Sub is a - b: numbers; date - integer, date or interval; the difference of
// two timestamps; timestamp or interval - interval. See Add about time zones.
func Sub(a, b Value) (Value, error) { return compute(opSub, a, b, nil) }

// AddIn is Add with the time zone of env.
func AddIn(a, b Value, env *Env) (Value, error) { return compute(opAdd, a, b, env) }

// SubIn is Sub with the time zone of env.
func SubIn(a, b Value, env *Env) (Value, error) { return compute(opSub, a, b, env) }

// Mul is a * b on numbers.
func Mul(a, b Value) (Value, error) { return compute(opMul, a, b, nil) }

// Div is a / b on numbers. Integers divide towards zero.
func Div(a, b Value) (Value, error) { return compute(opDiv, a, b, nil) }

// Mod is a % b on integers and numeric; the sign is the dividend's.
func Mod(a, b Value) (Value, error) { return compute(opMod, a, b, nil) }

// Neg is -v on numbers and intervals.
func Neg(v Value) (Value, error) {
	if !v.Valid {
		return v, nil
	}
	switch v.Type {
	case Int2, Int4, Int8:
		return intArithmetic(opSub, Value{Type: v.Type, Valid: true}, v)
	case Float4, Float8:
		v.Float = -v.Float
		return v, nil
	case Numeric:
		v.Str = negateNumeric(v.Str)
		return v, nil
	case Interval:
		i, err := parseIntervalValue(v).times(-1)
		return i.value(), err
	}
	return Value{}, sqlstate.New(sqlstate.UndefinedFunction, "operator does not exist: - %s", display(v.Type))
}

func negateNumeric(s string) string {
	switch {
	case s == numericNaN || numericSign(s) == 0:
		return s
	case s[0] == '-':
		return s[1:]
	}
	return "-" + s
}

func compute(op operator, a, b Value, env *Env) (Value, error) {
	t, ok := numberType(a.Type, b.Type)
	if !ok {
		return computeTime(op, a, b, env)
	}
	if !a.Valid || !b.Valid {
		return Null(t), nil
	}
	switch t {
	case Int2, Int4, Int8:
		a.Type = t
		return intArithmetic(op, a, b)
	case Numeric:
		s, err := numericArithmetic(op, numericText(a), numericText(b))
		return makeNumeric(s), err
	}
	if op == opMod {
		return Value{}, noOperator(op, a, b)
	}
	return floatArithmetic(op, t, floatOf(a), floatOf(b))
}

func noOperator(op operator, a, b Value) error {
	return sqlstate.New(sqlstate.UndefinedFunction, "operator does not exist: %s %c %s", display(a.Type), op, display(b.Type)).
		WithHint("Cast one side to the type of the other, or both to a type that has this operator.")
}

// numberRank orders numbers by the direction of PostgreSQL's implicit casts.
func numberRank(t OID) int {
	switch t {
	case Int2:
		return 1
	case Int4:
		return 2
	case Int8:
		return 3
	case Numeric:
		return 4
	case Float4:
		return 5
	case Float8:
		return 6
	}
	return 0
}

// numberType returns the type in which two numbers are computed; false when
// one is no number.
func numberType(a, b OID) (OID, bool) {
	ra, rb := numberRank(a), numberRank(b)
	switch {
	case ra == 0 || rb == 0:
		return Invalid, false
	case a == b:
		return a, true
	case max(ra, rb) == numberRank(Float4): // there is no real + integer
		return Float8, true
	case ra > rb:
		return a, true
	}
	return b, true
}

// numericText returns an integer or a numeric as canonical numeric text.
func numericText(v Value) string {
	if v.Type == Numeric {
		return v.Str
	}
	return formatInt(v.Int)
}

// floatOf converts a number to floating point.
func floatOf(v Value) float64 {
	switch v.Type {
	case Float4, Float8:
		return v.Float
	case Numeric:
		return numericFloat(v.Str)
	}
	return float64(v.Int)
}

func intArithmetic(op operator, a, b Value) (Value, error) {
	x, y := a.Int, b.Int
	if y == 0 && (op == opDiv || op == opMod) {
		return Value{}, divisionByZero()
	}
	overflow := false
	switch op {
	case opAdd:
		a.Int = x + y
		overflow = (x < 0) == (y < 0) && (a.Int < 0) != (x < 0)
	case opSub:
		a.Int = x - y
		overflow = (x < 0) != (y < 0) && (a.Int < 0) != (x < 0)
	case opMul:
		a.Int, overflow = multiply(x, y)
	case opDiv:
		overflow = x == math.MinInt64 && y == -1
		if !overflow {
			a.Int = x / y
		}
	case opMod:
		if a.Int = 0; y != -1 {
			a.Int = x % y
		}
	}
	if overflow {
		return Value{}, outOfRange(a.Type)
	}
	n, err := checkInt(a.Type, a.Int)
	a.Int = n
	return a, err
}

// multiply returns x × y and whether it overflowed.
func multiply(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	if (x < 0) != (y < 0) {
		return -int64(lo), hi != 0 || lo > 1<<63
	}
	return int64(lo), hi != 0 || lo > math.MaxInt64
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// checkInt checks the range of an integer type.
func checkInt(t OID, n int64) (int64, error) {
	if t == Int4 && n != int64(int32(n)) || t == Int2 && n != int64(int16(n)) {
		return 0, outOfRange(t)
	}
	return n, nil
}

func floatArithmetic(op operator, t OID, x, y float64) (Value, error) {
	var f float64
	switch op {
	case opAdd:
		f = x + y
	case opSub:
		f = x - y
	case opMul:
		f = x * y
	case opDiv:
		if y == 0 && !math.IsNaN(x) {
			return Value{}, divisionByZero()
		}
		f = x / y
	case opMod: // there is none
	}
	if t == Float4 {
		f = float64(float32(f))
	}
	if math.IsInf(f, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return Value{}, floatOverflow()
	}
	if f == 0 && x != 0 && (op == opMul && y != 0 || op == opDiv && !math.IsInf(y, 0)) {
		return Value{}, floatUnderflow()
	}
	return Value{Type: t, Valid: true, Float: f}, nil
}

func floatOverflow() error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "value out of range: overflow")
}

func floatUnderflow() error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "value out of range: underflow")
}
