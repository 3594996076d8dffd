package ids

import (
	"encoding/json"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// adminFunctions create, change and drop generators. Options are a JSON object or
// named arguments: create_generator('a', 'segment', step => 1000).
var adminFunctions = []engine.Function{
	{
		Name: "create_generator", Result: datum.Text, Volatile: engine.Volatile, Admin: true,
		Args: []engine.Argument{{Name: "name", Type: datum.Text}, {Name: "kind", Type: datum.Text}, {Name: "options", Type: datum.JSONB, Optional: true}},
		Help: "creates a generator; returns its name",
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 2)
			if err != nil {
				return datum.Value{}, err
			}
			if err := Registry(x).Create(x.Ctx, a[0].Str, a[1].Str, options); err != nil {
				return a[0], err
			}
			warnOfOutlook(x, a[0].Str)
			return a[0], nil
		}),
	},
	{
		Name: "alter_generator", Result: datum.Text, Volatile: engine.Volatile, Admin: true,
		Args: []engine.Argument{{Name: "name", Type: datum.Text}, {Name: "options", Type: datum.JSONB, Optional: true}},
		Help: "changes options of a generator; returns its name",
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 1)
			if err != nil {
				return datum.Value{}, err
			}
			if err := Registry(x).Alter(x.Ctx, a[0].Str, options); err != nil {
				return a[0], err
			}
			warnOfOutlook(x, a[0].Str)
			return a[0], nil
		}),
	},
	{
		Name: "drop_generator", Result: datum.Text, Volatile: engine.Volatile, Admin: true,
		Args: nameArg, Help: "drops a generator; its ids stay used",
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			return a[0], Registry(x).Drop(x.Ctx, a[0].Str)
		}),
	},
	{
		Name: "recover_generator", Result: datum.Text, Volatile: engine.Volatile, Admin: true,
		Args: []engine.Argument{{Name: "name", Type: datum.Text}, {Name: "at_least", Type: datum.Int8}},
		Help: "starts a generator again that stopped because the shared store went back; its ids go on at at_least or above",
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			return a[0], Registry(x).Recover(x.Ctx, a[0].Str, a[1].Int)
		}),
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
