package mysql

import (
	"math"
	"math/big"
	"strconv"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/decimal"
)

// divPrecisionIncrement is MySQL's div_precision_increment: the digits that
// a division adds to the scale of its left operand.
const divPrecisionIncrement = 4

// maxScale is the greatest scale of a DECIMAL.
const maxScale = 38

// decimalOf reads a DECIMAL's text; what is none counts as 0.
func decimalOf(text string) decimal.Number {
	n, ok := decimal.Parse(text)
	if !ok {
		return decimal.Of(0)
	}
	return n
}

func decimalValue(n decimal.Number) datum.Value { return datum.MakeString(datum.Numeric, n.String()) }

// divideDecimal is a/b; b is not zero.
func divideDecimal(a, b datum.Value) (datum.Value, error) {
	x := decimalOf(a.Str)
	return decimalValue(x.Quo(decimalOf(b.Str), min(x.Scale+divPrecisionIncrement, maxScale))), nil
}

// divideInt is DIV: the quotient without its fraction.
func divideInt(a, b datum.Value) (datum.Value, error) {
	if a.Type == datum.Int8 {
		if b.Int == -1 && a.Int == -1<<63 {
			return a, outOfRange("DIV")
		}
		return datum.MakeInt8(a.Int / b.Int), nil
	}
	if a.Type == datum.Float8 {
		q := math.Trunc(a.Float / b.Float)
		if math.Abs(q) >= 1<<63 {
			return a, outOfRange("DIV")
		}
		return datum.MakeInt8(int64(q)), nil
	}
	x, y, _ := decimal.Align(decimalOf(a.Str), decimalOf(b.Str))
	q := new(big.Int).Quo(x, y)
	if !q.IsInt64() {
		return a, outOfRange("DIV")
	}
	return datum.MakeInt8(q.Int64()), nil
}

func modDouble(a, b datum.Value) (datum.Value, error) {
	return datum.Value{Type: datum.Float8, Valid: true, Float: math.Mod(a.Float, b.Float)}, nil
}

// roundDecimal rounds to a scale, half away from zero.
func roundDecimal(text string, scale int) datum.Value {
	n := decimalOf(text)
	if scale = min(scale, maxScale); scale >= n.Scale {
		return datum.MakeString(datum.Numeric, text)
	}
	return decimalValue(n.Round(scale))
}

func unsignedDecimal(u uint64) datum.Value {
	return datum.MakeString(datum.Numeric, strconv.FormatUint(u, 10))
}
