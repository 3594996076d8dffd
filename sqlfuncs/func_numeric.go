package sqlfuncs

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/decimal"
)

var numericFunctions = []function{
	{name: "abs", args: args(datum.Numeric), result: datum.Numeric, eval: numericFunc(absDecimal, math.Abs), help: "absolute value"},
	{name: "ceil", args: args(datum.Numeric), result: datum.Numeric, eval: numericFunc(ceilDecimal, math.Ceil), help: "nearest whole number that is not less"},
	{name: "ceiling", args: args(datum.Numeric), result: datum.Numeric, eval: numericFunc(ceilDecimal, math.Ceil), help: "nearest whole number that is not less"},
	{name: "floor", args: args(datum.Numeric), result: datum.Numeric, eval: numericFunc(floorDecimal, math.Floor), help: "nearest whole number that is not greater"},
	{name: "round", args: optional(1, datum.Numeric, datum.Int4), result: datum.Numeric, eval: numericDigits(decimal.Number.Round), help: "rounds to a number of digits behind the point"},
	{name: "trunc", args: optional(1, datum.Numeric, datum.Int4), result: datum.Numeric, eval: numericDigits(decimal.Number.Trunc), help: "cuts to a number of digits behind the point"},
	{name: "sign", args: args(datum.Numeric), result: datum.Numeric, eval: numericFunc(signDecimal, signOrNaN), help: "-1, 0 or 1"},
	{name: "sqrt", args: args(datum.Numeric), result: datum.Numeric, eval: numericRoot, help: "square root"},
	{name: "exp", args: args(datum.Numeric), result: datum.Numeric, eval: numericFunc(decimal.Number.Exp, math.Exp), help: "e to a power"},
	{name: "ln", args: args(datum.Numeric), result: datum.Numeric, eval: numericLog(lnDecimal, math.Log), help: "natural logarithm"},
	{name: "log", args: args(datum.Numeric), result: datum.Numeric, eval: numericLog(log10Decimal, math.Log10), help: "logarithm to base 10"},
	{name: "log10", args: args(datum.Numeric), result: datum.Numeric, eval: numericLog(log10Decimal, math.Log10), help: "logarithm to base 10"},
	{name: "log", args: args(datum.Numeric, datum.Numeric), result: datum.Numeric, eval: numericLogBase, help: "logarithm of the second number to the base of the first"},
	{name: "power", args: args(datum.Numeric, datum.Numeric), result: datum.Numeric, eval: numericPower, help: "the first number to the power of the second"},
	{name: "pow", args: args(datum.Numeric, datum.Numeric), result: datum.Numeric, eval: numericPower, help: "the first number to the power of the second"},
	{name: "mod", args: args(datum.Numeric, datum.Numeric), result: datum.Numeric, eval: modNumber, help: "remainder of a division"},
	{name: "div", args: args(datum.Numeric, datum.Numeric), result: datum.Numeric, eval: numericDiv, help: "whole part of a quotient"},
	{name: "gcd", args: args(datum.Numeric, datum.Numeric), result: datum.Numeric, eval: numericPair(gcdBig), help: "greatest common divisor"},
	{name: "lcm", args: args(datum.Numeric, datum.Numeric), result: datum.Numeric, eval: numericPair(lcm), help: "least common multiple"},
	{name: "scale", args: args(datum.Numeric), result: datum.Int4, eval: numericScale(false), help: "digits behind the point"},
	{name: "min_scale", args: args(datum.Numeric), result: datum.Int4, eval: numericScale(true), help: "digits behind the point that are needed"},
	{name: "trim_scale", args: args(datum.Numeric), result: datum.Numeric, eval: numericFunc(trimDecimal, keepFloat), help: "without zeros at the end"},
}

// numericFunc computes with a decimal; NaN and the infinities behave as
// floats do.
func numericFunc(exact func(decimal.Number) (decimal.Number, error), special func(float64) float64) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		d, ok := decimal.Parse(a[0].Str)
		if !ok {
			return specialNumeric(special(floatOf(a[0]))), nil
		}
		d, err := exact(d)
		if err != nil {
			return a[0], err
		}
		return numericOf(d)
	}
}

// floatOf is about a numeric; exactly where it is NaN or infinite.
func floatOf(v datum.Value) float64 {
	f, _ := strconv.ParseFloat(v.Str, 64) // out of range gives an infinity
	return f
}

// specialNumeric is a float that came of NaN or an infinity as numeric.
func specialNumeric(f float64) datum.Value {
	switch {
	case math.IsNaN(f):
		return datum.MakeString(datum.Numeric, "NaN")
	case math.IsInf(f, 1):
		return datum.MakeString(datum.Numeric, "Infinity")
	case math.IsInf(f, -1):
		return datum.MakeString(datum.Numeric, "-Infinity")
	}
	return datum.MakeString(datum.Numeric, strconv.FormatFloat(f+0, 'f', 0, 64))
}

func keepFloat(f float64) float64 { return f }

func signOrNaN(f float64) float64 {
	if math.IsNaN(f) {
		return f
	}
	return signOf(f)
}

func absDecimal(d decimal.Number) (decimal.Number, error) {
	return decimal.New(new(big.Int).Abs(d.Coef), d.Scale), nil
}

func ceilDecimal(d decimal.Number) (decimal.Number, error)  { return d.Towards(1), nil }
func floorDecimal(d decimal.Number) (decimal.Number, error) { return d.Towards(-1), nil }
func signDecimal(d decimal.Number) (decimal.Number, error)  { return decimal.Of(int64(d.Sign())), nil }
func trimDecimal(d decimal.Number) (decimal.Number, error)  { return d.Trimmed(), nil }

// maxRoundScale is where round and trunc stop counting digits.
const maxRoundScale = 2000

func numericDigits(f func(d decimal.Number, scale int) decimal.Number) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		d, ok := decimal.Parse(a[0].Str)
		if !ok {
			return a[0], nil
		}
		scale := 0
		if len(a) > 1 {
			scale = int(min(max(a[1].Int, -maxRoundScale), maxRoundScale))
		}
		return numericOf(f(d, scale))
	}
}

func numericRoot(_ *exec, a []datum.Value) (datum.Value, error) {
	d, ok := decimal.Parse(a[0].Str)
	switch {
	case !ok && a[0].Str != "-Infinity":
		return a[0], nil
	case !ok || d.Sign() < 0:
		return a[0], errNegativeRoot
	}
	// PostgreSQL counts digits in groups of four.
	group := int(math.Floor(float64(d.Weight()) / 4))
	return numericOf(d.Sqrt(decimal.ResultScale((group+1)*4/2-1, d.Scale)))
}

func lnDecimal(d decimal.Number) (decimal.Number, error) {
	return d.Ln(decimal.ResultScale(d.LnWeight(), d.Scale)), nil
}

func log10Decimal(d decimal.Number) (decimal.Number, error) { return d.Log(decimal.Of(10)) }

func numericLog(exact func(decimal.Number) (decimal.Number, error), special func(float64) float64) evalFunc {
	eval := numericFunc(exact, special)
	return func(x *exec, a []datum.Value) (datum.Value, error) {
		if err := checkLogArgument(numericSign(a[0])); err != nil {
			return a[0], err
		}
		return eval(x, a)
	}
}

// numericSign is -1, 0 or 1, or NaN.
func numericSign(v datum.Value) float64 {
	if d, ok := decimal.Parse(v.Str); ok {
		return float64(d.Sign())
	}
	return signOrNaN(floatOf(v))
}

func numericLogBase(_ *exec, a []datum.Value) (datum.Value, error) {
	base, ok1 := decimal.Parse(a[0].Str)
	d, ok2 := decimal.Parse(a[1].Str)
	if math.IsNaN(floatOf(a[0])) || math.IsNaN(floatOf(a[1])) {
		return specialNumeric(math.NaN()), nil
	}
	for _, v := range a {
		if err := checkLogArgument(numericSign(v)); err != nil {
			return v, err
		}
	}
	if !ok1 || !ok2 {
		return specialNumeric(math.Log(floatOf(a[1])) / math.Log(floatOf(a[0]))), nil
	}
	r, err := d.Log(base)
	if err != nil {
		return a[0], err
	}
	return numericOf(r)
}

// numericPower may take a while where the result is long, so it looks at the
// context each time.
func numericPower(x *exec, a []datum.Value) (datum.Value, error) {
	if err := x.ctx.Err(); err != nil {
		return a[0], err
	}
	d, ok1 := decimal.Parse(a[0].Str)
	e, ok2 := decimal.Parse(a[1].Str)
	f, g := floatOf(a[0]), floatOf(a[1])
	whole := !ok2 || e.Rescale(0).Cmp(e) == 0
	switch {
	case math.IsNaN(f) || math.IsNaN(g):
		return specialNumeric(math.Pow(f, g)), nil
	case numericSign(a[0]) == 0 && numericSign(a[1]) < 0:
		return a[0], errZeroPower
	case numericSign(a[0]) < 0 && !whole:
		return a[0], errComplexPower
	case !ok1 || !ok2:
		return specialNumeric(math.Pow(f, g)), nil
	}
	r, err := d.Pow(e)
	if err != nil {
		return a[0], err
	}
	return numericOf(r)
}

func numericDiv(_ *exec, a []datum.Value) (datum.Value, error) {
	d, ok1 := decimal.Parse(a[0].Str)
	e, ok2 := decimal.Parse(a[1].Str)
	switch {
	case math.IsNaN(floatOf(a[0])) || math.IsNaN(floatOf(a[1])):
		return specialNumeric(math.NaN()), nil
	case ok2 && e.Sign() == 0:
		return a[0], errDivisionByZero
	case !ok1 && !ok2:
		return specialNumeric(math.NaN()), nil
	case !ok1:
		return specialNumeric(floatOf(a[0]) * numericSign(a[1])), nil
	case !ok2:
		return specialNumeric(0), nil
	}
	x, y, _ := decimal.Align(d, e)
	return numericOf(decimal.New(new(big.Int).Quo(x, y), 0))
}

func gcdBig(x, y *big.Int) *big.Int {
	return new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))
}

func numericPair(f func(x, y *big.Int) *big.Int) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		d, ok1 := decimal.Parse(a[0].Str)
		e, ok2 := decimal.Parse(a[1].Str)
		if !ok1 || !ok2 {
			return specialNumeric(math.NaN()), nil
		}
		x, y, scale := decimal.Align(d, e)
		return numericOf(decimal.New(f(x, y), scale))
	}
}

func numericScale(needed bool) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		d, ok := decimal.Parse(a[0].Str)
		if !ok {
			return datum.Null(datum.Int4), nil
		}
		if needed {
			d = d.Trimmed()
		}
		return datum.MakeInt4(int64(d.Scale)), nil
	}
}

// numericOf is d as numeric.
func numericOf(d decimal.Number) (datum.Value, error) {
	s := d.String()
	if whole, _, _ := strings.Cut(s, "."); len(whole) > decimal.MaxWholeDigits+1 {
		return datum.Value{}, errNumericOverflow
	}
	return datum.MakeString(datum.Numeric, s), nil
}
