package sqlfuncs

import (
	"math"
	"math/big"
	"strconv"

	"nextid/sqlfuncs/datum"
)

var sumAggregates = []function{
	{name: "sum", args: args(datum.Int2), result: datum.Int8, agg: newIntegerSum(datum.Int8), help: "sum of the values"},
	{name: "sum", args: args(datum.Int4), result: datum.Int8, agg: newIntegerSum(datum.Int8), help: "sum of the values"},
	{name: "sum", args: args(datum.Int8), result: datum.Numeric, agg: newIntegerSum(datum.Numeric), help: "sum of the values"},
	{name: "sum", args: args(datum.Numeric), result: datum.Numeric, agg: newFold(datum.Add), help: "sum of the values"},
	{name: "sum", args: args(datum.Float4), result: datum.Float4, agg: newFold(datum.Add), help: "sum of the values"},
	{name: "sum", args: args(datum.Float8), result: datum.Float8, agg: newFold(datum.Add), help: "sum of the values"},
	{name: "sum", args: args(datum.Interval), result: datum.Interval, agg: newFold(datum.Add), help: "sum of the values"},
}

// integerSum adds integers without overflow on the way.
type integerSum struct {
	typ   datum.OID
	sum   big.Int
	step  big.Int
	count int64
}

func newIntegerSum(t datum.OID) func(datum.OID) aggregate {
	return func(datum.OID) aggregate { return &integerSum{typ: t} }
}

func (s *integerSum) add(_ *exec, a []datum.Value) error {
	if a[0].Valid {
		s.sum.Add(&s.sum, s.step.SetInt64(a[0].Int))
		s.count++
	}
	return nil
}

func (s *integerSum) result() (datum.Value, error) {
	switch {
	case s.count == 0:
		return datum.Null(s.typ), nil
	case s.typ == datum.Numeric:
		return datum.MakeString(datum.Numeric, s.sum.String()), nil
	}
	return fitInteger(s.typ, &s.sum)
}

var averageAggregates = []function{
	{name: "avg", args: args(datum.Int2), result: datum.Numeric, agg: newAverage(newIntegerSum(datum.Numeric)), help: "average of the values"},
	{name: "avg", args: args(datum.Int4), result: datum.Numeric, agg: newAverage(newIntegerSum(datum.Numeric)), help: "average of the values"},
	{name: "avg", args: args(datum.Int8), result: datum.Numeric, agg: newAverage(newIntegerSum(datum.Numeric)), help: "average of the values"},
	{name: "avg", args: args(datum.Numeric), result: datum.Numeric, agg: newAverage(newFold(datum.Add)), help: "average of the values"},
	{name: "avg", args: args(datum.Float4), result: datum.Float8, agg: newMoments((*moments).average), help: "average of the values"},
	{name: "avg", args: args(datum.Float8), result: datum.Float8, agg: newMoments((*moments).average), help: "average of the values"},
	{name: "avg", args: args(datum.Interval), result: datum.Interval, agg: newAverage(newFold(datum.Add)), help: "average of the values"},
}

// average divides a sum by the number of values.
type average struct {
	sum aggregate
	n   int64
}

func newAverage(sum func(datum.OID) aggregate) func(datum.OID) aggregate {
	return func(t datum.OID) aggregate { return &average{sum: sum(t)} }
}

func (g *average) add(x *exec, a []datum.Value) error {
	if a[0].Valid {
		g.n++
	}
	return g.sum.add(x, a)
}

func (g *average) result() (datum.Value, error) {
	sum, err := g.sum.result()
	switch {
	case err != nil || g.n == 0:
		return sum, err
	case sum.Type == datum.Interval:
		return datum.Div(sum, makeFloat(float64(g.n)))
	}
	return datum.Div(sum, datum.MakeString(datum.Numeric, strconv.FormatInt(g.n, 10)))
}

// moments are the count, sum and sum of squared differences from the mean of
// floats, updated by the algorithm of Youngs and Cramer (1971).
type moments struct {
	n, sum, squares float64
	finish          func(m *moments) (float64, bool)
}

func newMoments(finish func(m *moments) (float64, bool)) func(datum.OID) aggregate {
	return func(datum.OID) aggregate { return &moments{finish: finish} }
}

func (m *moments) add(_ *exec, a []datum.Value) error {
	if !a[0].Valid {
		return nil
	}
	v := a[0].Float
	before := m.sum
	m.n++
	m.sum += v
	switch {
	case m.n == 1:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			m.squares = math.NaN()
		}
		return nil
	case math.IsInf(m.sum, 0) && !math.IsInf(v, 0) && !math.IsInf(before, 0):
		return errFloatOverflow
	}
	d := v*m.n - m.sum
	if m.squares += d * d / (m.n * (m.n - 1)); math.IsInf(m.squares, 0) {
		if !math.IsInf(before, 0) && !math.IsInf(v, 0) {
			return errFloatOverflow
		}
		m.squares = math.NaN()
	}
	return nil
}

func (m *moments) result() (datum.Value, error) {
	f, ok := m.finish(m)
	if !ok {
		return datum.Null(datum.Float8), nil
	}
	return makeFloat(f), nil
}

func (m *moments) average() (float64, bool) { return m.sum / m.n, m.n > 0 }
