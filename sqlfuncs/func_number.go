package sqlfuncs

import (
	"math"
	"math/big"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// numberFunctions are PostgreSQL's mathematical functions (9.3), and the
// names of types called as functions.
var numberFunctions = slices.Concat(integerFunctions, numericFunctions, floatFunctions, castFunctions)

var integerFunctions = []function{
	{name: "abs", args: args(datum.Int2), result: datum.Int2, eval: absNumber, help: "absolute value"},
	{name: "abs", args: args(datum.Int4), result: datum.Int4, eval: absNumber, help: "absolute value"},
	{name: "abs", args: args(datum.Int8), result: datum.Int8, eval: absNumber, help: "absolute value"},
	{name: "mod", args: args(datum.Int2, datum.Int2), result: datum.Int2, eval: modNumber, help: "remainder of a division"},
	{name: "mod", args: args(datum.Int4, datum.Int4), result: datum.Int4, eval: modNumber, help: "remainder of a division"},
	{name: "mod", args: args(datum.Int8, datum.Int8), result: datum.Int8, eval: modNumber, help: "remainder of a division"},
	{name: "gcd", args: args(datum.Int4, datum.Int4), result: datum.Int4, eval: integerGCD, help: "greatest common divisor"},
	{name: "gcd", args: args(datum.Int8, datum.Int8), result: datum.Int8, eval: integerGCD, help: "greatest common divisor"},
	{name: "lcm", args: args(datum.Int4, datum.Int4), result: datum.Int4, eval: integerLCM, help: "least common multiple"},
	{name: "lcm", args: args(datum.Int8, datum.Int8), result: datum.Int8, eval: integerLCM, help: "least common multiple"},
}

func absNumber(_ *exec, a []datum.Value) (datum.Value, error) {
	if a[0].Int < 0 {
		return datum.Neg(a[0])
	}
	return a[0], nil
}

func modNumber(_ *exec, a []datum.Value) (datum.Value, error) { return datum.Mod(a[0], a[1]) }

// fitInteger makes an integer of type t, if it holds n.
func fitInteger(t datum.OID, n *big.Int) (datum.Value, error) {
	switch {
	case t == datum.Int4 && (!n.IsInt64() || n.Int64() != int64(int32(n.Int64()))):
		return datum.Value{}, errIntegerRange
	case !n.IsInt64():
		return datum.Value{}, errBigintRange
	}
	return datum.Value{Type: t, Valid: true, Int: n.Int64()}, nil
}

func integerGCD(_ *exec, a []datum.Value) (datum.Value, error) {
	x, y := big.NewInt(a[0].Int), big.NewInt(a[1].Int)
	return fitInteger(a[0].Type, new(big.Int).GCD(nil, nil, x.Abs(x), y.Abs(y)))
}

func integerLCM(_ *exec, a []datum.Value) (datum.Value, error) {
	return fitInteger(a[0].Type, lcm(big.NewInt(a[0].Int), big.NewInt(a[1].Int)))
}

// lcm is the least common multiple, 0 if one of the numbers is 0.
func lcm(x, y *big.Int) *big.Int {
	x, y = new(big.Int).Abs(x), new(big.Int).Abs(y)
	if x.Sign() == 0 || y.Sign() == 0 {
		return new(big.Int)
	}
	gcd := new(big.Int).GCD(nil, nil, x, y)
	return x.Mul(x, y.Quo(y, gcd))
}

var floatFunctions = []function{
	{name: "abs", args: args(datum.Float4), result: datum.Float4, eval: floatFunc(math.Abs), help: "absolute value"},
	{name: "abs", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(math.Abs), help: "absolute value"},
	{name: "ceil", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(math.Ceil), help: "nearest whole number that is not less"},
	{name: "ceiling", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(math.Ceil), help: "nearest whole number that is not less"},
	{name: "floor", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(math.Floor), help: "nearest whole number that is not greater"},
	{name: "round", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(math.RoundToEven), help: "nearest whole number, the even one of two"},
	{name: "trunc", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(math.Trunc), help: "whole part"},
	{name: "sign", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(signOf), help: "-1, 0 or 1"},
	{name: "sqrt", args: args(datum.Float8), result: datum.Float8, eval: floatRoot, help: "square root"},
	{name: "cbrt", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(cubeRoot), help: "cube root"},
	{name: "exp", args: args(datum.Float8), result: datum.Float8, eval: floatExp, help: "e to a power"},
	{name: "ln", args: args(datum.Float8), result: datum.Float8, eval: floatLog(logE), help: "natural logarithm"},
	{name: "log", args: args(datum.Float8), result: datum.Float8, eval: floatLog(log10), help: "logarithm to base 10"},
	{name: "log10", args: args(datum.Float8), result: datum.Float8, eval: floatLog(log10), help: "logarithm to base 10"},
	{name: "power", args: args(datum.Float8, datum.Float8), result: datum.Float8, eval: floatPower, help: "the first number to the power of the second"},
	{name: "pow", args: args(datum.Float8, datum.Float8), result: datum.Float8, eval: floatPower, help: "the first number to the power of the second"},
	{name: "degrees", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(func(x float64) float64 { return x / (math.Pi / 180) }), help: "radians as degrees"},
	{name: "radians", args: args(datum.Float8), result: datum.Float8, eval: floatFunc(func(x float64) float64 { return x * (math.Pi / 180) }), help: "degrees as radians"},
	{name: "pi", result: datum.Float8, eval: piValue, help: "the number π"},
	{name: "random", result: datum.Float8, volatile: isVolatile, eval: randomNumber, help: "a random number from 0 up to 1"},
	{name: "setseed", args: args(datum.Float8), result: datum.Void, volatile: isVolatile, eval: setSeed, help: "makes random() repeatable"},
}

func makeFloat(f float64) datum.Value { return datum.Value{Type: datum.Float8, Valid: true, Float: f} }

func floatFunc(f func(float64) float64) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		a[0].Float = f(a[0].Float)
		return a[0], nil
	}
}

func piValue(*exec, []datum.Value) (datum.Value, error) { return makeFloat(math.Pi), nil }

// signOf is 0 for NaN, as in PostgreSQL.
func signOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

var errNegativeRoot = sqlstate.New(codePowerArgument, "cannot take square root of a negative number")

func floatRoot(_ *exec, a []datum.Value) (datum.Value, error) {
	if a[0].Float < 0 {
		return a[0], errNegativeRoot
	}
	return makeFloat(math.Sqrt(a[0].Float)), nil
}

// checkFloat refuses results that float8 cannot hold.
func checkFloat(f float64, exactZero bool, from ...float64) (datum.Value, error) {
	infinite := slices.ContainsFunc(from, func(x float64) bool { return math.IsInf(x, 0) })
	switch {
	case math.IsInf(f, 0) && !infinite:
		return datum.Value{}, errFloatOverflow
	case f == 0 && !exactZero && !infinite:
		return datum.Value{}, errFloatUnderflow
	}
	return makeFloat(f), nil
}

func floatExp(_ *exec, a []datum.Value) (datum.Value, error) {
	return checkFloat(expE(a[0].Float), false, a[0].Float)
}

func floatLog(f func(float64) float64) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		if err := checkLogArgument(signOrNaN(a[0].Float)); err != nil {
			return a[0], err
		}
		return makeFloat(f(a[0].Float)), nil
	}
}

func checkLogArgument(sign float64) error {
	switch sign {
	case 0:
		return sqlstate.New(codeLogArgument, "cannot take logarithm of zero")
	case -1:
		return sqlstate.New(codeLogArgument, "cannot take logarithm of a negative number")
	}
	return nil
}

var (
	errZeroPower    = sqlstate.New(codePowerArgument, "zero raised to a negative power is undefined")
	errComplexPower = sqlstate.New(codePowerArgument, "a negative number raised to a non-integer power yields a complex result")
)

func isFloat(t datum.OID) bool { return t == datum.Float4 || t == datum.Float8 }

// power is a to the power of b, both double precision or both numeric. Out
// of range is 22003, what has no real result 2201F.
func power(x *exec, a, b datum.Value) (datum.Value, error) {
	if a.Type == datum.Numeric {
		return numericPower(x, []datum.Value{a, b})
	}
	return floatPower(x, []datum.Value{a, b})
}

func floatPower(_ *exec, a []datum.Value) (datum.Value, error) {
	x, y := a[0].Float, a[1].Float
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return makeFloat(math.Pow(x, y)), nil // 1 and 0 to the power of NaN are 1, as in PostgreSQL
	case x == 0 && y < 0:
		return a[0], errZeroPower
	case x < 0 && y != math.Floor(y):
		return a[0], errComplexPower
	}
	return checkFloat(powFloat(x, y), x == 0, x, y)
}
