package pgfunc

import (
	"math/big"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// sumAggregates lists sum. As in PostgreSQL, the sum of int4 is int8 and that of
// int8 is numeric.
var sumAggregates = []engine.Function{
	{Name: "sum", Args: engine.Args(datum.Int2), Result: datum.Int8, Does: newIntegerSum(datum.Int8), Help: "sum of the values"},
	{Name: "sum", Args: engine.Args(datum.Int4), Result: datum.Int8, Does: newIntegerSum(datum.Int8), Help: "sum of the values"},
	{Name: "sum", Args: engine.Args(datum.Int8), Result: datum.Numeric, Does: newIntegerSum(datum.Numeric), Help: "sum of the values"},
	{Name: "sum", Args: engine.Args(datum.Numeric), Result: datum.Numeric, Does: newFold(add), Help: "sum of the values"},
	{Name: "sum", Args: engine.Args(datum.Float4), Result: datum.Float4, Does: newFold(add), Help: "sum of the values"},
	{Name: "sum", Args: engine.Args(datum.Float8), Result: datum.Float8, Does: newFold(add), Help: "sum of the values"},
}

func add(a, b datum.Value) (datum.Value, error) { return datum.Compute('+', a, b, nil) }

// integerSum adds integers. Only the result may overflow, not a partial sum.
type integerSum struct {
	typ   datum.OID
	sum   big.Int
	step  big.Int
	count int64
}

func newIntegerSum(t datum.OID) engine.NewAggregate {
	return func(datum.OID) engine.Aggregate { return &integerSum{typ: t} }
}

func (s *integerSum) Add(_ *engine.Exec, a []datum.Value) error {
	if a[0].Valid {
		s.sum.Add(&s.sum, s.step.SetInt64(a[0].Int))
		s.count++
	}
	return nil
}

func (s *integerSum) Result() (datum.Value, error) {
	switch {
	case s.count == 0:
		return datum.Null(s.typ), nil
	case s.typ == datum.Numeric:
		return datum.MakeString(datum.Numeric, s.sum.String()), nil
	}
	if !s.sum.IsInt64() {
		return datum.Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "bigint out of range")
	}
	return datum.MakeInt8(s.sum.Int64()), nil
}
