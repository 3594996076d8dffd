package pgfunc

import (
	"math"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// numberFunctions are PostgreSQL's mathematical functions (9.3), and the
// names of types called as functions.
var numberFunctions = slices.Concat(numericFunctions, castFunctions)

var numericFunctions = []engine.Function{
	{Name: "round", Args: engine.Args(datum.Float8), Result: datum.Float8, Does: engine.Eval(roundFloat), Help: "nearest whole number, the even one of two"},
	{Name: "round", Args: engine.Optional(1, datum.Numeric, datum.Int4), Result: datum.Numeric, Does: numericDigits(datum.Decimal.Round), Help: "rounds to a number of digits behind the point"},
	{Name: "ceil", Args: engine.Args(datum.Numeric), Result: datum.Numeric, Does: numericDigits(ceil), Help: "the next whole number"},
}

func roundFloat(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	return datum.MakeFloat8(math.RoundToEven(a[0].Float)), nil
}

// ceil is the least whole number that is not below d. check_postgres asks for it.
func ceil(d datum.Decimal, _ int) datum.Decimal {
	whole := d.Rescale(0)
	if d.Cmp(whole) > 0 {
		return whole.Plus(datum.DecimalOf(1))
	}
	return whole
}

// maxRoundScale is where round stops counting digits.
const maxRoundScale = 1000

func numericDigits(f func(d datum.Decimal, scale int) datum.Decimal) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		d, err := datum.ParseDecimal(a[0].Str)
		if err != nil {
			return a[0], err
		}
		scale := 0
		if len(a) > 1 {
			scale = int(min(max(a[1].Int, -maxRoundScale), maxRoundScale))
		}
		return f(d, scale).Value()
	}
}
