package pgfunc

import (
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// setFunctions are series and arrays.
var setFunctions = slices.Concat(seriesFunctions, arrayFunctions)

var seriesFunctions = []engine.Function{
	{Name: "generate_series", Args: engine.Optional(2, datum.Int4, datum.Int4, datum.Int4), Result: datum.Int4, Set: true, Rows: countUp, Help: "numbers from start to stop, as rows"},
	{Name: "generate_series", Args: engine.Optional(2, datum.Int8, datum.Int8, datum.Int8), Result: datum.Int8, Set: true, Rows: countUp, Help: "numbers from start to stop, as rows"},
	{Name: "generate_series", Args: engine.Optional(2, datum.Numeric, datum.Numeric, datum.Numeric), Result: datum.Numeric, Set: true, Rows: numericSeries, Help: "numbers from start to stop, as rows"},
	{Name: "generate_series", Args: engine.Args(datum.Timestamp, datum.Timestamp, datum.Interval), Result: datum.Timestamp, Set: true, Rows: timeSeries, Help: "times from start to stop, as rows"},
	{Name: "generate_series", Args: engine.Args(datum.TimestampTZ, datum.TimestampTZ, datum.Interval), Result: datum.TimestampTZ, Set: true, Volatile: engine.Stable, Rows: timeSeries, Help: "times from start to stop, as rows"},
}

var errZeroStep = sqlstate.New(sqlstate.InvalidParameterValue, "step size cannot equal zero")

// integerSeries yields integers in constant memory and without allocating:
// SELECT next_id('orders') FROM generate_series(1, n) is on the way of ids.
type integerSeries struct {
	row        []datum.Value // holds the next number
	stop, step int64
	started    bool
	done       bool
}

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

func (s *integerSeries) Close() {}

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

// checkSeries refuses what a numeric series cannot end at.
func checkSeries(what string, v datum.Value) error {
	switch v.Str {
	case "NaN":
		return sqlstate.New(sqlstate.InvalidParameterValue, "%s cannot be NaN", what)
	case "Infinity", "-Infinity":
		return sqlstate.New(sqlstate.InvalidParameterValue, "%s cannot be infinite", what)
	}
	return nil
}

// numericSeries names start, stop and step where one is no finite number.
func numericSeries(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	step := datum.MakeString(datum.Numeric, "1")
	if len(a) > 2 {
		step = a[2]
	}
	for i, what := range []string{"start value", "stop value", "step size"} {
		v := step
		if i < 2 {
			v = a[i]
		}
		if err := checkSeries(what, v); err != nil {
			return nil, err
		}
	}
	sign, err := datum.Compare(step, datum.MakeString(datum.Numeric, "0"))
	if err != nil {
		return nil, err
	}
	return anySeries(a[0], a[1], sign, func(_ *engine.Exec, v datum.Value) (datum.Value, error) { return datum.Add(v, step) })
}

func timeSeries(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	sign, err := datum.Compare(a[2], datum.MakeInterval(0, 0, 0))
	if err != nil {
		return nil, err
	}
	return anySeries(a[0], a[1], sign, func(x *engine.Exec, v datum.Value) (datum.Value, error) { return datum.AddIn(v, a[2], x.Env()) })
}

// anySeries steps from start to stop; sign is the direction of the steps.
func anySeries(start, stop datum.Value, sign int, step func(x *engine.Exec, v datum.Value) (datum.Value, error)) (engine.Rows, error) {
	if sign == 0 {
		return nil, errZeroStep
	}
	row := []datum.Value{start}
	started, done := false, false
	return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		if done {
			return nil, io.EOF
		}
		var err error
		if started {
			if row[0], err = step(x, row[0]); err != nil {
				return nil, err
			}
		}
		started = true
		c, err := datum.Compare(row[0], stop)
		if err != nil {
			return nil, err
		}
		if done = c*sign > 0; done {
			return nil, io.EOF
		}
		return row, x.Tick()
	}), nil
}
