package pgfunc

import (
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var arrayFunctions = []engine.Function{
	{Name: "array_upper", Args: engine.Args(datum.AnyArray, datum.Int4), Result: datum.Int4, Does: arrayBound(func(n int) int { return n }), Help: "last index of one dimension of an array"},
	{Name: "array_lower", Args: engine.Args(datum.AnyArray, datum.Int4), Result: datum.Int4, Does: arrayBound(func(int) int { return 1 }), Help: "first index of one dimension of an array"},
	{Name: "array_position", Args: engine.Args(datum.AnyArray, engine.AnyElement), Result: datum.Int4, Nullable: true, Does: engine.Typed(arrayElementCall("array_position", datum.Int4, positionOf)), Help: "index of the first element that equals a value"},
	{Name: "array_remove", Args: engine.Args(datum.AnyArray, engine.AnyElement), Result: datum.AnyArray, Nullable: true, Does: engine.Typed(arrayElementCall("array_remove", datum.AnyArray, removeElement)), Help: "an array without the elements that equal a value"},
	{Name: "array_to_string", Args: engine.Optional(2, datum.AnyArray, datum.Text, datum.Text), Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(arrayToString), Help: "the elements of an array as one text; the third argument stands for NULL"},
	{Name: "unnest", Args: engine.Args(datum.AnyArray), Result: engine.AnyElement, Does: engine.Set(unnest), Help: "the elements of an array, as rows"},
	{Name: "generate_subscripts", Args: engine.Args(datum.AnyArray, datum.Int4), Result: datum.Int4, Does: engine.Set(generateSubscripts), Help: "the indexes of an array, as rows"},
	{
		Name: "_pg_expandarray", Schema: "information_schema", Args: engine.Args(datum.AnyArray), Result: datum.Record, Does: engine.Set(expandArray),
		Columns: []engine.FromColumn{{Name: "x", Type: engine.AnyElement, TypeMod: -1}, {Name: "n", Type: datum.Int4, TypeMod: -1}}, Help: "the elements of an array with their indexes",
	},
}

// valueRows yields values as rows of one column.
func valueRows(values []datum.Value) engine.Rows {
	row := make([]datum.Value, 1)
	i := 0
	return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		if i >= len(values) {
			return nil, io.EOF
		}
		row[0] = values[i]
		i++
		return row, x.Tick()
	})
}

// arrayBound makes array_lower and array_upper. Arrays have one dimension; others
// give NULL.
func arrayBound(f func(length int) int) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		if a[1].Int != 1 || len(a[0].Elems) == 0 {
			return datum.Null(datum.Int4), nil
		}
		return datum.MakeInt4(int64(f(len(a[0].Elems)))), nil
	}
}

// arrayElementCall plans a call with an array and an element, which it converts to a
// common type. result is AnyArray if the call has the array's type.
func arrayElementCall(name string, result datum.OID, op func(array, element datum.Value) (datum.Value, error)) func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
		array, element, err := matchElement(p, name, args[0], args[1])
		if err != nil {
			return nil, err
		}
		t := result
		if t == datum.AnyArray {
			t = array.Type
		}
		return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
			v, err := array.Eval(x)
			if err != nil || !v.Valid {
				return datum.Null(t), err
			}
			e, err := element.Eval(x)
			if err != nil {
				return v, err
			}
			return op(v, e)
		}, array, element), nil
	}
}

// matchElement converts an array and a value to a common element type. name is the
// function's, for the error.
func matchElement(p *engine.Planner, name string, array, e *engine.Expr) (*engine.Expr, *engine.Expr, error) {
	info, _ := datum.TypeInfo(array.Type)
	elem := info.Elem
	if array.Type == datum.Unknown {
		elem = datum.Unknown
	}
	t, err := datum.CommonType([]datum.OID{elem, e.Type})
	if err != nil {
		return nil, nil, sqlstate.New(sqlstate.UndefinedFunction, "function %s(%s, %s) does not exist",
			name, datum.FormatType(array.Type, -1), datum.FormatType(e.Type, -1)).
			WithHint("The function is there for other types: cast the arguments to them.")
	}
	if e, err = p.Coerce(e, t, datum.ImplicitCast); err != nil || t == info.Elem {
		return array, e, err
	}
	want, _ := datum.TypeInfo(t)
	array, err = p.Coerce(array, want.Array, datum.ImplicitCast)
	return array, e, err
}

// sameElement compares as IS NOT DISTINCT FROM does.
func sameElement(a, b datum.Value) (bool, error) {
	if !a.Valid || !b.Valid {
		return a.Valid == b.Valid, nil
	}
	c, err := datum.Compare(a, b)
	return c == 0, err
}

// positionOf implements array_position.
func positionOf(array, element datum.Value) (datum.Value, error) {
	for i, e := range array.Elems {
		if same, err := sameElement(e, element); err != nil || same {
			return datum.MakeInt4(int64(i) + 1), err
		}
	}
	return datum.Null(datum.Int4), nil
}

// removeElement implements array_remove.
func removeElement(array, element datum.Value) (datum.Value, error) {
	var out []datum.Value
	for _, e := range array.Elems {
		same, err := sameElement(e, element)
		if err != nil {
			return array, err
		}
		if !same {
			out = append(out, e)
		}
	}
	return datum.MakeArray(array.Type, out), nil
}

func unnest(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	return valueRows(a[0].Elems), nil
}

// firstIndex returns the index of the first element: 0 for int2vector and oidvector,
// otherwise 1.
func firstIndex(array datum.Value) int64 {
	if array.Type == datum.Int2Vector || array.Type == datum.OidVector {
		return 0
	}
	return 1
}

// generateSubscripts implements generate_subscripts. A dimension other than 1 has no
// rows.
func generateSubscripts(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	if a[1].Int != 1 {
		return &engine.SliceRows{}, nil
	}
	first := firstIndex(a[0])
	s := integerSeries{row: []datum.Value{datum.MakeInt4(first)}, stop: first + int64(len(a[0].Elems)) - 1, step: 1}
	return &s, nil
}

// expandArray implements _pg_expandarray. It counts from 1, also in vectors.
func expandArray(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	elems := a[0].Elems
	row := make([]datum.Value, 2)
	i := 0
	return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		if i >= len(elems) {
			return nil, io.EOF
		}
		row[0], row[1] = elems[i], datum.MakeInt4(int64(i)+1)
		i++
		return row, x.Tick()
	}), nil
}

// arrayToString implements array_to_string.
func arrayToString(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid || !a[1].Valid {
		return datum.Null(datum.Text), nil
	}
	elems := a[0].Elems
	if len(a) > 2 && a[2].Valid {
		elems = slices.Clone(elems)
		for i, e := range elems {
			if !e.Valid {
				elems[i] = a[2]
			}
		}
	}
	return joinValues(x, a[1].Str, elems)
}

// setFunctions lists the functions on series and arrays.
var setFunctions = slices.Concat(seriesFunctions, arrayFunctions)

var seriesFunctions = []engine.Function{
	{Name: "generate_series", Args: engine.Optional(2, datum.Int4, datum.Int4, datum.Int4), Result: datum.Int4, Counts: true, Does: engine.Set(countUp), Help: "numbers from start to stop, as rows"},
	{Name: "generate_series", Args: engine.Optional(2, datum.Int8, datum.Int8, datum.Int8), Result: datum.Int8, Counts: true, Does: engine.Set(countUp), Help: "numbers from start to stop, as rows"},
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
