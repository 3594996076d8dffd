package pgfunc

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

var jsonAggregates = []engine.Function{
	{Name: "json_agg", Args: engine.Args(engine.AnyElement), Result: datum.JSON, Volatile: engine.Stable, Aggregate: newJSONAgg(datum.JSON), Help: "the values as a JSON array, NULLs too"},
	{Name: "json_object_agg", Args: engine.Args(engine.AnyType, engine.AnyType), Result: datum.JSON, Volatile: engine.Stable, Aggregate: newJSONObjectAgg(datum.JSON), Help: "a JSON object of keys and values"},
}

// jsonAgg collects values as the text of an array or object.
type jsonAgg struct {
	jsonReader
	object bool
	text   []byte
	fields []engine.FromColumn // of the rows that are collected
}

func newJSONAgg(t datum.OID) func(datum.OID) engine.Aggregate {
	return func(datum.OID) engine.Aggregate { return &jsonAgg{jsonReader: jsonReader{typ: t}} }
}

func newJSONObjectAgg(t datum.OID) func(datum.OID) engine.Aggregate {
	return func(datum.OID) engine.Aggregate { return &jsonAgg{jsonReader: jsonReader{typ: t}, object: true} }
}

func (g *jsonAgg) OfRows(columns []engine.FromColumn) { g.fields = columns }

func (g *jsonAgg) Add(x *engine.Exec, a []datum.Value) error {
	e := newJSONEncoder(x)
	before := len(g.text)
	if g.object {
		if err := g.addMember(e, a); err != nil {
			return err
		}
	} else {
		g.addElement(e, a[0])
	}
	if len(g.text) > engine.MaxTextBytes {
		return engine.ErrTextTooLong
	}
	return x.Hold(2 * (len(g.text) - before)) // twice: it grows
}

func (g *jsonAgg) addElement(e jsonEncoder, v datum.Value) {
	info, _ := datum.TypeInfo(v.Type)
	switch {
	case g.text == nil:
		g.text = append(g.text, '[')
	case v.Valid && (v.Type == datum.Record || (info.Elem != 0 && info.Category == 'A')):
		g.text = append(g.text, ", \n "...)
	default:
		g.text = append(g.text, ", "...)
	}
	g.text = e.append(g.text, v, g.fields)
}

func (g *jsonAgg) addMember(e jsonEncoder, a []datum.Value) error {
	if !a[0].Valid {
		return jsonError("field name must not be null")
	}
	if g.text == nil {
		g.text = append(g.text, "{ "...)
	} else {
		g.text = append(g.text, ", "...)
	}
	var err error
	if g.text, err = e.appendKey(g.text, a[0]); err != nil {
		return err
	}
	g.text = e.append(append(g.text, " : "...), a[1], nil)
	return nil
}

func (g *jsonAgg) Result() (datum.Value, error) {
	switch {
	case g.text == nil:
		return datum.Null(g.typ), nil
	case g.object:
		return g.parse(append(g.text, " }"...))
	}
	return g.parse(append(g.text, ']'))
}
