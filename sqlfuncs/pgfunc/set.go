package pgfunc

import (
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// setFunctions lists the functions on series and arrays.
var setFunctions = slices.Concat(seriesFunctions, arrayFunctions)

var seriesFunctions = []engine.Function{
	{Name: "generate_series", Args: engine.Optional(2, datum.Int4, datum.Int4, datum.Int4), Result: datum.Int4, Does: engine.Set(countUp), Help: "numbers from start to stop, as rows"},
	{Name: "generate_series", Args: engine.Optional(2, datum.Int8, datum.Int8, datum.Int8), Result: datum.Int8, Does: engine.Set(countUp), Help: "numbers from start to stop, as rows"},
}

var errZeroStep = sqlstate.New(sqlstate.InvalidParameterValue, "step size cannot equal zero")

// integerSeries yields integers in constant memory and without allocations: clients
// draw ids with SELECT next_id('orders') FROM generate_series(1, n).
type integerSeries struct {
	row        []datum.Value // holds the next number
	stop, step int64
	started    bool
	done       bool
}

// Next implements engine.Rows.
func (s *integerSeries) Next(x *engine.Exec) ([]datum.Value, error) {
	now := &s.row[0].Int
	if s.started && !s.done {
		before := *now
		*now += s.step
		s.done = (*now > before) != (s.step > 0) // beyond int64
	}
	s.started = true
	if s.done || (s.step > 0 && *now > s.stop) || (s.step < 0 && *now < s.stop) {
		s.done = true
		return nil, io.EOF
	}
	return s.row, x.Tick()
}

// Close implements engine.Rows.
func (s *integerSeries) Close() {}

// countUp implements generate_series. A step of 0 is an error (22023).
func countUp(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	s := &integerSeries{row: []datum.Value{a[0]}, stop: a[1].Int, step: 1}
	if len(a) > 2 {
		s.step = a[2].Int
	}
	if s.step == 0 {
		return nil, errZeroStep
	}
	return s, nil
}
