package pgfunc

import (
	"math"
	"math/big"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// numberFunctions are PostgreSQL's mathematical functions (9.3), and the
// names of types called as functions.
var numberFunctions = slices.Concat(numericFunctions, floatFunctions, castFunctions)

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

var floatFunctions = []engine.Function{
	{Name: "round", Args: engine.Args(datum.Float8), Result: datum.Float8, Eval: floatFunc(math.RoundToEven), Help: "nearest whole number, the even one of two"},
}

func floatFunc(f func(float64) float64) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		a[0].Float = f(a[0].Float)
		return a[0], nil
	}
}
