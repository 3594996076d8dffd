package pgfunc

import (
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var arrayFunctions = []engine.Function{
	{Name: "array_length", Args: engine.Args(datum.AnyArray, datum.Int4), Result: datum.Int4, Eval: arrayBound(func(n int) int { return n }), Help: "length of one dimension of an array"},
	{Name: "array_upper", Args: engine.Args(datum.AnyArray, datum.Int4), Result: datum.Int4, Eval: arrayBound(func(n int) int { return n }), Help: "last index of one dimension of an array"},
	{Name: "array_lower", Args: engine.Args(datum.AnyArray, datum.Int4), Result: datum.Int4, Eval: arrayBound(func(int) int { return 1 }), Help: "first index of one dimension of an array"},
	{Name: "cardinality", Args: engine.Args(datum.AnyArray), Result: datum.Int4, Eval: cardinality, Help: "number of elements of an array"},
	{Name: "array_position", Args: engine.Args(datum.AnyArray, engine.AnyElement), Result: datum.Int4, Nullable: true, Typed: arrayElementCall("array_position", 0, positionOf), Help: "index of the first element that equals a value"},
	{Name: "array_position", Args: engine.Args(datum.AnyArray, engine.AnyElement, datum.Int4), Result: datum.Int4, Nullable: true, Typed: arrayElementCall("array_position", 0, positionOf), Help: "index of the first such element from an index on"},
	{Name: "array_remove", Args: engine.Args(datum.AnyArray, engine.AnyElement), Result: datum.AnyArray, Nullable: true, Typed: arrayElementCall("array_remove", 0, removeElement), Help: "an array without the elements that equal a value"},
	{Name: "unnest", Args: engine.Args(datum.AnyArray), Result: engine.AnyElement, Set: true, Rows: unnest, Help: "the elements of an array, as rows"},
	{Name: "generate_subscripts", Args: engine.Optional(2, datum.AnyArray, datum.Int4, datum.Bool), Result: datum.Int4, Set: true, Rows: generateSubscripts, Help: "the indexes of an array, as rows"},
	{
		Name: "_pg_expandarray", Schema: "information_schema", Args: engine.Args(datum.AnyArray), Result: datum.Record, Set: true, Rows: expandArray,
		Columns: []engine.FromColumn{{Name: "x", Type: engine.AnyElement, TypeMod: -1}, {Name: "n", Type: datum.Int4, TypeMod: -1}}, Help: "the elements of an array with their indexes",
	},
}

func checkArraySize(n int) error {
	if n > datum.MaxArrayElements {
		return datum.ErrArrayTooLong
	}
	return nil
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

func arrayBound(f func(length int) int) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		dims := engine.Dimensions(a[0])
		if a[1].Int < 1 || a[1].Int > int64(len(dims)) {
			return datum.Null(datum.Int4), nil
		}
		return datum.MakeInt4(int64(f(dims[a[1].Int-1]))), nil
	}
}

func cardinality(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	return datum.MakeInt4(int64(len(engine.Leaves(a[0])))), nil
}

// arrayOp computes with an array and the other arguments, all of the types
// that belong together.
type arrayOp func(array datum.Value, rest []datum.Value) (datum.Value, error)

// arrayElementCall types a call with an array at index at; elements and
// array get a common type, other arguments keep theirs.
func arrayElementCall(name string, at int, op arrayOp) func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	result := datum.AnyArray
	switch name {
	case "array_position":
		result = datum.Int4
	case "array_positions":
		result = datum.Int4Array
	}
	return func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
		rest := slices.Delete(slices.Clone(args), at, at+1)
		elems := rest
		if name == "array_position" {
			elems = rest[:1] // the start is no element
		}
		array, err := matchElements(p, name, args[at], elems)
		if err != nil {
			return nil, err
		}
		if len(rest) > len(elems) {
			if rest[1], err = p.Coerce(rest[1], datum.Int4, datum.ImplicitCast); err != nil {
				return nil, err
			}
		}
		t := result
		if t == datum.AnyArray {
			t = array.Type
		}
		return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
			v, err := array.Eval(x)
			if err != nil {
				return v, err
			}
			values, err := engine.EvalAll(x, rest)
			if err != nil {
				return v, err
			}
			return op(v, values)
		}, args...), nil
	}
}

// matchElements converts an array and values to a common element type, for
// the function of that name.
func matchElements(p *engine.Planner, name string, array *engine.Expr, elems []*engine.Expr) (*engine.Expr, error) {
	info, _ := datum.TypeInfo(array.Type)
	types := []datum.OID{info.Elem}
	if array.Type == datum.Unknown {
		types[0] = datum.Unknown
	}
	for _, e := range elems {
		types = append(types, e.Type)
	}
	t, err := datum.CommonType(types)
	if err != nil {
		return nil, noArrayFunction(name, array, elems[0])
	}
	for i, e := range elems {
		if elems[i], err = p.Coerce(e, t, datum.ImplicitCast); err != nil {
			return nil, err
		}
	}
	if t == info.Elem {
		return array, nil
	}
	want, _ := datum.TypeInfo(t)
	return p.Coerce(array, want.Array, datum.ImplicitCast)
}

func noArrayFunction(name string, l, r *engine.Expr) error {
	return sqlstate.New(sqlstate.UndefinedFunction, "function %s(%s, %s) does not exist",
		name, datum.FormatType(l.Type, -1), datum.FormatType(r.Type, -1)).
		WithHint("The function is there for other types: cast the arguments to them.")
}

// sameElement compares as IS NOT DISTINCT FROM does.
func sameElement(a, b datum.Value) (bool, error) {
	if !a.Valid || !b.Valid {
		return a.Valid == b.Valid, nil
	}
	c, err := datum.Compare(a, b)
	return c == 0, err
}

// errManyDimensions is what the searching functions say to nested arrays.
var errManyDimensions = sqlstate.New(sqlstate.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")

// found lists the indexes, from 0, of the elements that equal a value.
func found(array, value datum.Value) ([]int, error) {
	if len(engine.Dimensions(array)) > 1 {
		return nil, errManyDimensions
	}
	var out []int
	for i, e := range array.Elems {
		same, err := sameElement(e, value)
		if err != nil {
			return nil, err
		}
		if same {
			out = append(out, i)
		}
	}
	return out, nil
}

func positionOf(array datum.Value, rest []datum.Value) (datum.Value, error) {
	start := int64(1)
	if len(rest) > 1 {
		if !rest[1].Valid {
			return array, sqlstate.New(sqlstate.NullNotAllowed, "initial position must not be null")
		}
		start = rest[1].Int
	}
	at, err := found(array, rest[0])
	for _, i := range at {
		if int64(i)+1 >= start {
			return datum.MakeInt4(int64(i) + 1), nil
		}
	}
	return datum.Null(datum.Int4), err
}

func removeElement(array datum.Value, rest []datum.Value) (datum.Value, error) {
	if !array.Valid {
		return array, nil
	}
	at, err := found(array, rest[0])
	var out []datum.Value
	for i, e := range array.Elems {
		if !slices.Contains(at, i) {
			out = append(out, e)
		}
	}
	return datum.MakeArray(array.Type, out), err
}

func unnest(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	return valueRows(engine.Leaves(a[0])), nil
}

// firstIndex is 0 for the vectors of the system catalogues, else 1.
func firstIndex(array datum.Value) int64 {
	if array.Type == datum.Int2Vector || array.Type == datum.OidVector {
		return 0
	}
	return 1
}

func generateSubscripts(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	dims := engine.Dimensions(a[0])
	if a[1].Int < 1 || a[1].Int > int64(len(dims)) {
		return &engine.SliceRows{}, nil
	}
	first := firstIndex(a[0])
	s := integerSeries{row: []datum.Value{datum.MakeInt4(first)}, stop: first + int64(dims[a[1].Int-1]) - 1, step: 1}
	if len(a) > 2 && a[2].Int == 1 {
		s.row[0].Int, s.stop, s.step = s.stop, first, -1
	}
	return &s, nil
}

// expandArray counts from 1, also in vectors.
func expandArray(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
	elems := engine.Leaves(a[0])
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
