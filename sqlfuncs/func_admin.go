package sqlfuncs

import (
	"encoding/json"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// adminFunctions create, change and drop generators. Options are a JSON
// object, or named arguments: create_generator('a', 'segment', step => 1000).
var adminFunctions = []function{
	{
		name: "create_generator", schema: nextidSchema, result: datum.Text, volatile: isVolatile, admin: true,
		args: []argument{{name: "name", typ: datum.Text}, {name: "kind", typ: datum.Text}, {name: "options", typ: datum.JSONB, optional: true}},
		help: "creates a generator; returns its name", namedOptions: 2,
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 2)
			if err != nil {
				return datum.Value{}, err
			}
			if err := x.registry().Create(x.ctx, a[0].Str, a[1].Str, options); err != nil {
				return a[0], err
			}
			x.warnOfEnd(a[0].Str, x.registry().EndsOf(x.ctx, a[0].Str))
			return a[0], nil
		},
	},
	{
		name: "alter_generator", schema: nextidSchema, result: datum.Text, volatile: isVolatile, admin: true,
		args: []argument{{name: "name", typ: datum.Text}, {name: "options", typ: datum.JSONB, optional: true}},
		help: "changes options of a generator; returns its name", namedOptions: 1,
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 1)
			if err != nil {
				return datum.Value{}, err
			}
			return a[0], x.registry().Alter(x.ctx, a[0].Str, options)
		},
	},
	{
		name: "drop_generator", schema: nextidSchema, result: datum.Text, volatile: isVolatile, admin: true,
		args: nameArg, help: "drops a generator; its ids stay used",
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			return a[0], x.registry().Drop(x.ctx, a[0].Str)
		},
	},
	{
		name: "recover_generator", schema: nextidSchema, result: datum.Text, volatile: isVolatile, admin: true,
		args: []argument{{name: "name", typ: datum.Text}, {name: "at_least", typ: datum.Int8}},
		help: "starts a generator again that stopped because the shared store went back; its ids go on at at_least or above",
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			return a[0], x.registry().Recover(x.ctx, a[0].Str, a[1].Int)
		},
	},
}

// optionsArg is the options argument, which must be a JSON object.
func optionsArg(a []datum.Value, i int) (json.RawMessage, error) {
	if len(a) <= i || !a[i].Valid {
		return nil, nil
	}
	if !strings.HasPrefix(a[i].Str, "{") {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "options must be a JSON object, not %s", sqlstate.Cut(a[i].Str, 64)).
			WithHint(`Write: '{"step": 1000}'.`)
	}
	return json.RawMessage(a[i].Str), nil
}

// sequenceOptionsJSON writes the options of CREATE and ALTER SEQUENCE as
// options of the kind segment.
type sequenceOptionsJSON struct{ b strings.Builder }

func (o *sequenceOptionsJSON) add(key string, n *int64) {
	if n == nil {
		return
	}
	o.raw(key, strconv.FormatInt(*n, 10))
}

func (o *sequenceOptionsJSON) raw(key, value string) {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	o.b.WriteString(`"` + key + `":` + value)
}

func (o *sequenceOptionsJSON) text(key, value string) {
	if quoted, err := json.Marshal(value); err == nil && value != "" { // a text has a form
		o.raw(key, string(quoted))
	}
}

func (o *sequenceOptionsJSON) json() json.RawMessage {
	return json.RawMessage("{" + o.b.String() + "}")
}
