package pgfunc

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

var jsonAggregates = []engine.Function{
	{
		Name: "json_agg", Args: engine.Args(engine.AnyElement), Result: datum.JSON, Volatile: engine.Stable, Help: "the values as a JSON array, NULLs too",
		Does: engine.NewAggregate(func(datum.OID) engine.Aggregate { return &jsonAgg{} }),
	},
	{
		Name: "jsonb_agg", Args: engine.Args(engine.AnyElement), Result: datum.JSONB, Volatile: engine.Stable, Help: "the values as a JSON array, NULLs too",
		Does: engine.NewAggregate(func(datum.OID) engine.Aggregate { return &jsonbAgg{} }),
	},
	{
		Name: "json_object_agg", Args: engine.Args(engine.AnyType, engine.AnyType), Result: datum.JSON, Volatile: engine.Stable, Help: "an object of keys and values",
		Does: engine.NewAggregate(func(datum.OID) engine.Aggregate { return &jsonObjectAgg{} }),
	},
}

// jsonbAgg is jsonAgg with a result of type jsonb.
type jsonbAgg struct{ jsonAgg }

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

// OfRows implements engine.RowAggregate.
func (g *jsonAgg) OfRows(columns []engine.FromColumn) { g.fields = columns }

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
