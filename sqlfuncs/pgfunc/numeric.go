package pgfunc

import (
	"math/big"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/engine"
)

var numericFunctions = []engine.Function{
	{Name: "round", Args: engine.Optional(1, datum.Numeric, datum.Int4), Result: datum.Numeric, Eval: numericDigits(decimal.Number.Round), Help: "rounds to a number of digits behind the point"},
	{Name: "ceil", Args: engine.Args(datum.Numeric), Result: datum.Numeric, Eval: numericDigits(ceil), Help: "the next whole number"},
}

// ceil is the least whole number that is not below d. check_postgres asks for it.
func ceil(d decimal.Number, _ int) decimal.Number {
	whole := d.Rescale(0)
	if rest := d.Plus(decimal.New(new(big.Int).Neg(whole.Coef), 0)); rest.Sign() > 0 {
		return whole.Plus(decimal.Of(1))
	}
	return whole
}

// maxRoundScale is where round and trunc stop counting digits.
const maxRoundScale = 2000

func numericDigits(f func(d decimal.Number, scale int) decimal.Number) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
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

// numericOf is d as numeric.
func numericOf(d decimal.Number) (datum.Value, error) {
	s := d.String()
	if whole, _, _ := strings.Cut(s, "."); len(whole) > decimal.MaxWholeDigits+1 {
		return datum.Value{}, errNumericOverflow
	}
	return datum.MakeString(datum.Numeric, s), nil
}
