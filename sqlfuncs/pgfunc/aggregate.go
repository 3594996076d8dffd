package pgfunc

import (
	"math/big"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
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

// fold combines the values one by one. It leaves out NULLs.
type fold struct {
	value datum.Value
	step  func(so, v datum.Value) (datum.Value, error)
}

// newFold makes an aggregate that combines values with step.
func newFold(step func(so, v datum.Value) (datum.Value, error)) engine.NewAggregate {
	return func(arg *engine.Expr, _ engine.TextFold) engine.Aggregate {
		return &fold{value: datum.Null(arg.Type), step: step}
	}
}

func (f *fold) Add(_ *engine.Exec, a []datum.Value) error {
	switch {
	case !a[0].Valid:
		return nil
	case !f.value.Valid:
		f.value = a[0]
		return nil
	}
	var err error
	f.value, err = f.step(f.value, a[0])
	return err
}

func (f *fold) Result() (datum.Value, error) { return f.value, nil }

// orderedTypes lists the types for which PostgreSQL has min and max.
var orderedTypes = []datum.OID{
	datum.Int2, datum.Int4, datum.Int8, datum.Oid, datum.Float4, datum.Float8, datum.Numeric, datum.Text, datum.BPChar, datum.Bytea,
	datum.Date, datum.Time, datum.Timestamp, datum.TimestampTZ, datum.Interval, datum.AnyArray,
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
	return func(*engine.Expr, engine.TextFold) engine.Aggregate { return &integerSum{typ: t} }
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
