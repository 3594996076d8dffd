package sqlfuncs

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
)

// divPrecisionIncrement is MySQL's div_precision_increment: the digits that
// a division adds to the scale of its left operand.
const divPrecisionIncrement = 4

// maxScale is the greatest scale of a DECIMAL.
const maxScale = 38

func splitDecimal(s string) (*big.Int, int) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return new(big.Int), 0
	}
	return n, len(fraction)
}

func joinDecimal(n *big.Int, scale int) datum.Value {
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	text := digits
	if scale > 0 {
		text = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		text = "-" + text
	}
	return datum.MakeString(datum.Numeric, text)
}

func powerOf10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// roundQuotient is a/b, rounded half away from zero.
func roundQuotient(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(b) >= 0 {
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
	}
	return q
}

// divideDecimal is a/b; b is not zero.
func divideDecimal(a, b datum.Value) (datum.Value, error) {
	x, xs := splitDecimal(a.Str)
	y, ys := splitDecimal(b.Str)
	scale := min(xs+divPrecisionIncrement, maxScale)
	x.Mul(x, powerOf10(scale+ys))
	y.Mul(y, powerOf10(xs))
	return joinDecimal(roundQuotient(x, y), scale), nil
}

// divideInt is DIV: the quotient without its fraction.
func divideInt(a, b datum.Value) (datum.Value, error) {
	if a.Type == datum.Int8 {
		if b.Int == -1 && a.Int == -1<<63 {
			return a, outOfRangeMySQL("DIV")
		}
		return datum.MakeInt8(a.Int / b.Int), nil
	}
	if a.Type == datum.Float8 {
		q := math.Trunc(a.Float / b.Float)
		if math.Abs(q) >= 1<<63 {
			return a, outOfRangeMySQL("DIV")
		}
		return datum.MakeInt8(int64(q)), nil
	}
	x, xs := splitDecimal(a.Str)
	y, ys := splitDecimal(b.Str)
	x.Mul(x, powerOf10(ys))
	y.Mul(y, powerOf10(xs))
	q := x.Quo(x, y)
	if !q.IsInt64() {
		return a, outOfRangeMySQL("DIV")
	}
	return datum.MakeInt8(q.Int64()), nil
}

func modDouble(a, b datum.Value) (datum.Value, error) {
	return datum.Value{Type: datum.Float8, Valid: true, Float: math.Mod(a.Float, b.Float)}, nil
}

// roundDecimal rounds to a scale, half away from zero; cutOff drops the
// digits instead. A negative scale makes zeros before the point.
func roundDecimal(text string, scale int, cutOff bool) datum.Value {
	n, have := splitDecimal(text)
	scale = min(scale, maxScale)
	if scale >= have {
		return datum.MakeString(datum.Numeric, text)
	}
	if have-scale > 200 {
		return datum.MakeString(datum.Numeric, "0")
	}
	unit := powerOf10(have - scale)
	if cutOff {
		n.Quo(n, unit)
	} else {
		n = roundQuotient(n, unit)
	}
	if scale < 0 {
		return joinDecimal(n.Mul(n, powerOf10(-scale)), 0)
	}
	return joinDecimal(n, scale)
}

func unsignedDecimal(u uint64) datum.Value {
	return datum.MakeString(datum.Numeric, strconv.FormatUint(u, 10))
}
