package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
)

var jsonAggregates = []function{
	{name: "json_agg", args: args(anyElement), result: datum.JSON, volatile: stable, agg: newJSONAgg(datum.JSON), help: "the values as a JSON array, NULLs too"},
	{name: "json_object_agg", args: args(anyType, anyType), result: datum.JSON, volatile: stable, agg: newJSONObjectAgg(datum.JSON), help: "a JSON object of keys and values"},
}

// jsonAgg collects values as the text of an array or object.
type jsonAgg struct {
	jsonReader
	object bool
	text   []byte
	fields []fromColumn // of the rows that are collected
}

func newJSONAgg(t datum.OID) func(datum.OID) aggregate {
	return func(datum.OID) aggregate { return &jsonAgg{jsonReader: jsonReader{typ: t}} }
}

func newJSONObjectAgg(t datum.OID) func(datum.OID) aggregate {
	return func(datum.OID) aggregate { return &jsonAgg{jsonReader: jsonReader{typ: t}, object: true} }
}

func (g *jsonAgg) ofRows(columns []fromColumn) { g.fields = columns }

func (g *jsonAgg) add(x *exec, a []datum.Value) error {
	e := newJSONEncoder(x)
	before := len(g.text)
	if g.object {
		if err := g.addMember(e, a); err != nil {
			return err
		}
	} else {
		g.addElement(e, a[0])
	}
	if len(g.text) > maxTextBytes {
		return errTextTooLong
	}
	return x.hold(2 * (len(g.text) - before)) // twice: it grows
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

func (g *jsonAgg) result() (datum.Value, error) {
	switch {
	case g.text == nil:
		return datum.Null(g.typ), nil
	case g.object:
		return g.parse(append(g.text, " }"...))
	}
	return g.parse(append(g.text, ']'))
}
