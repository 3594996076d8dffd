package pgfunc

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// aggregateFunctions lists PostgreSQL's aggregate functions (9.21).
var aggregateFunctions = slices.Concat(
	countAggregates, sumAggregates,
	extremes("min", "smallest value", -1), extremes("max", "largest value", 1),
	collectAggregates, jsonAggregates,
)

var countAggregates = []engine.Function{
	{Name: "count", Result: datum.Int8, Does: engine.NewAggregate(newCount), Help: "number of rows"},
	{Name: "count", Args: engine.Args(engine.AnyType), Result: datum.Int8, Does: engine.NewAggregate(newCount), Help: "number of rows with a value"},
}

// count counts rows, or values that are not NULL.
type count struct{ n int64 }

func newCount(*engine.Expr, engine.TextFold) engine.Aggregate { return new(count) }

func (c *count) Add(_ *engine.Exec, a []datum.Value) error {
	if len(a) == 0 || a[0].Valid {
		c.n++
	}
	return nil
}

func (c *count) Result() (datum.Value, error) { return datum.MakeInt8(c.n), nil }

// orderedTypes lists the types for which PostgreSQL has min and max.
var orderedTypes = []datum.OID{
	datum.Int2, datum.Int4, datum.Int8, datum.Oid, datum.Float4, datum.Float8, datum.Numeric, datum.Text, datum.BPChar, datum.Bytea,
	datum.Date, datum.Timestamp, datum.TimestampTZ, datum.Interval, datum.AnyArray,
}

// extremes makes min (sign -1) or max (sign 1) for all orderedTypes.
func extremes(name, help string, sign int) []engine.Function {
	var out []engine.Function
	for _, t := range orderedTypes {
		out = append(out, engine.Function{
			Name: name, Args: engine.Args(t), Result: t, Help: help,
			Does: engine.NewAggregate(func(arg *engine.Expr, fold engine.TextFold) engine.Aggregate {
				return &extremeAgg{value: datum.Null(arg.Type), sign: sign, fold: fold}
			}),
		})
	}
	return out
}

// extremeAgg keeps the largest value, or with sign -1 the smallest.
type extremeAgg struct {
	value datum.Value
	sign  int
	fold  engine.TextFold // of texts, before they are compared
	held  int             // bytes counted: the size of the largest value so far
}

func (e *extremeAgg) Add(x *engine.Exec, a []datum.Value) error {
	if !a[0].Valid {
		return nil
	}
	if n := engine.SizeOf(a[0]) - e.held; n > 0 {
		if err := x.Hold(n); err != nil {
			return err
		}
		e.held += n
	}
	if !e.value.Valid {
		e.value = a[0]
		return nil
	}
	c, err := datum.Compare(e.fold.Apply(a[0]), e.fold.Apply(e.value))
	if c*e.sign > 0 {
		e.value = a[0]
	}
	return err
}

func (e *extremeAgg) Result() (datum.Value, error) { return e.value, nil }

var collectAggregates = []engine.Function{
	{Name: "string_agg", Args: engine.Args(datum.Text, datum.Text), Result: datum.Text, Does: engine.NewAggregate(newStringAgg), Help: "the values as one text, with a separator"},
	{Name: "array_agg", Args: engine.Args(engine.AnyElement), Result: datum.AnyArray, Does: engine.NewAggregate(newArrayAgg), Help: "the values as an array, NULLs too"},
}

// stringAgg joins texts.
type stringAgg struct {
	text  []byte
	valid bool
}

func newStringAgg(*engine.Expr, engine.TextFold) engine.Aggregate { return new(stringAgg) }

// Add implements engine.Aggregate. It counts the memory of the text before it grows.
func (s *stringAgg) Add(x *engine.Exec, a []datum.Value) error {
	if !a[0].Valid {
		return nil
	}
	if err := x.Hold(2 * (len(a[0].Str) + len(a[1].Str))); err != nil { // twice: append doubles the capacity
		return err
	}
	if s.valid {
		s.text = append(s.text, a[1].Str...) // a NULL separator has no text
	}
	s.valid = true
	if s.text = append(s.text, a[0].Str...); len(s.text) > engine.MaxTextBytes {
		return engine.ErrTextTooLong
	}
	return nil
}

func (s *stringAgg) Result() (datum.Value, error) {
	if !s.valid {
		return datum.Null(datum.Text), nil
	}
	return datum.MakeText(string(s.text)), nil
}

// arrayAgg collects values.
type arrayAgg struct {
	array datum.OID
	elems []datum.Value
	bytes int
}

func newArrayAgg(arg *engine.Expr, _ engine.TextFold) engine.Aggregate {
	info, _ := datum.TypeInfo(arg.Type)
	return &arrayAgg{array: info.Array}
}

// Add implements engine.Aggregate. The values may be arrays, which have no array
// type: that is an error.
func (g *arrayAgg) Add(x *engine.Exec, a []datum.Value) error {
	if g.array == 0 {
		return datum.SeveralDimensions()
	}
	if g.bytes += len(a[0].Str); g.bytes > engine.MaxTextBytes {
		return engine.ErrTextTooLong
	}
	if g.elems = append(g.elems, a[0]); len(g.elems) > datum.MaxArrayElements {
		return datum.ErrArrayTooLong
	}
	return x.HoldRow([]datum.Value{a[0]})
}

func (g *arrayAgg) Result() (datum.Value, error) {
	if len(g.elems) == 0 {
		return datum.Null(g.array), nil
	}
	return datum.MakeArray(g.array, g.elems), nil
}

var jsonAggregates = []engine.Function{
	{
		Name: "json_agg", Args: engine.Args(engine.AnyElement), Result: datum.JSON, Volatile: engine.Stable, Help: "the values as a JSON array, NULLs too",
		Does: engine.NewAggregate(func(arg *engine.Expr, _ engine.TextFold) engine.Aggregate { return newJSONAgg(arg) }),
	},
	{
		Name: "jsonb_agg", Args: engine.Args(engine.AnyElement), Result: datum.JSONB, Volatile: engine.Stable, Help: "the values as a JSON array, NULLs too",
		Does: engine.NewAggregate(func(arg *engine.Expr, _ engine.TextFold) engine.Aggregate { return &jsonbAgg{newJSONAgg(arg)} }),
	},
	{
		Name: "json_object_agg", Args: engine.Args(engine.AnyType, engine.AnyType), Result: datum.JSON, Volatile: engine.Stable, Help: "an object of keys and values",
		Does: engine.NewAggregate(func(*engine.Expr, engine.TextFold) engine.Aggregate { return &jsonObjectAgg{} }),
	},
}

// jsonbAgg is jsonAgg with a result of type jsonb.
type jsonbAgg struct{ *jsonAgg }

// Result implements engine.Aggregate.
func (g *jsonbAgg) Result() (datum.Value, error) {
	v, err := g.jsonAgg.Result()
	if err != nil || !v.Valid {
		return datum.Null(datum.JSONB), err
	}
	return datum.ParseText(datum.JSONB, v.Str, nil)
}

// jsonObjectAgg collects keys and values as the text of an object.
type jsonObjectAgg struct{ text []byte }

// Add implements engine.Aggregate.
func (g *jsonObjectAgg) Add(x *engine.Exec, a []datum.Value) (err error) {
	before := len(g.text)
	if g.text == nil {
		g.text = append(g.text, "{ "...)
	} else {
		g.text = append(g.text, ", "...)
	}
	if g.text, err = appendKey(g.text, a[0], x.Env()); err != nil {
		return err
	}
	if g.text = datum.AppendJSON(append(g.text, " : "...), a[1], x.Env()); len(g.text) > engine.MaxTextBytes {
		return engine.ErrTextTooLong
	}
	return x.Hold(2 * (len(g.text) - before)) // twice: append doubles the capacity
}

// Result implements engine.Aggregate.
func (g *jsonObjectAgg) Result() (datum.Value, error) {
	if g.text == nil {
		return datum.Null(datum.JSON), nil
	}
	return jsonValue(append(g.text, " }"...))
}

// jsonAgg collects values as the text of an array.
type jsonAgg struct {
	text   []byte
	fields []engine.FromColumn // columns of the collected rows, nil for other values
}

func newJSONAgg(arg *engine.Expr) *jsonAgg { return &jsonAgg{fields: arg.Known().Fields} }

// Add implements engine.Aggregate.
func (g *jsonAgg) Add(x *engine.Exec, a []datum.Value) error {
	before := len(g.text)
	switch {
	case g.text == nil:
		g.text = append(g.text, '[')
	case a[0].Elems != nil:
		g.text = append(g.text, ", \n "...)
	default:
		g.text = append(g.text, ", "...)
	}
	if g.text = appendJSON(g.text, a[0], g.fields, x.Env()); len(g.text) > engine.MaxTextBytes {
		return engine.ErrTextTooLong
	}
	return x.Hold(2 * (len(g.text) - before)) // twice: append doubles the capacity
}

// Result implements engine.Aggregate.
func (g *jsonAgg) Result() (datum.Value, error) {
	if g.text == nil {
		return datum.Null(datum.JSON), nil
	}
	return jsonValue(append(g.text, ']'))
}

// sumAggregates lists sum. As in PostgreSQL, the sum of int4 is int8 and that of
// int8 is numeric.
var sumAggregates = []engine.Function{
	sumOf(datum.Int2, datum.Int8), sumOf(datum.Int4, datum.Int8), sumOf(datum.Int8, datum.Numeric),
	sumOf(datum.Numeric, datum.Numeric), sumOf(datum.Float4, datum.Float4), sumOf(datum.Float8, datum.Float8),
}

func sumOf(arg, result datum.OID) engine.Function {
	return engine.Function{
		Name: "sum", Args: engine.Args(arg), Result: result, Help: "sum of the values",
		Does: engine.NewAggregate(func(*engine.Expr, engine.TextFold) engine.Aggregate { return &sum{datum.Null(result)} }),
	}
}

// sum adds the values. It leaves out NULLs.
type sum struct{ so datum.Value }

func (s *sum) Add(_ *engine.Exec, a []datum.Value) error {
	if !a[0].Valid {
		return nil
	}
	v, err := datum.Cast(a[0], s.so.Type, nil)
	if err == nil && s.so.Valid {
		v, err = datum.Compute('+', s.so, v, nil)
	}
	if err == nil {
		s.so = v
	}
	return err
}

func (s *sum) Result() (datum.Value, error) { return s.so, nil }
