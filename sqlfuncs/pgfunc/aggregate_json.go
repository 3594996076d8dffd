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
}

// jsonAgg collects values as the text of an array.
type jsonAgg struct {
	text   []byte
	fields []engine.FromColumn // of the rows that are collected
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
	return x.Hold(2 * (len(g.text) - before)) // twice: it grows
}

// Result implements engine.Aggregate.
func (g *jsonAgg) Result() (datum.Value, error) {
	if g.text == nil {
		return datum.Null(datum.JSON), nil
	}
	return jsonValue(append(g.text, ']'))
}
