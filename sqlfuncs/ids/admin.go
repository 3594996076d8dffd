package ids

import (
	"encoding/json"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// adminFunctions create, change and drop generators. Options are a JSON object or
// named arguments: create_generator('a', 'segment', step => 1000).
var adminFunctions = []engine.Function{
	administering("create_generator(name text, kind text, options jsonb?) text", "creates a generator; returns its name",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 2)
			if err == nil {
				err = Registry(x).Create(x.Ctx, a[0].Str, a[1].Str, options)
			}
			if err == nil {
				warnOfOutlook(x, a[0].Str)
			}
			return a[0], err
		}),
	administering("alter_generator(name text, options jsonb?) text", "changes options of a generator; returns its name",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 1)
			if err == nil {
				err = Registry(x).Alter(x.Ctx, a[0].Str, options)
			}
			if err == nil {
				warnOfOutlook(x, a[0].Str)
			}
			return a[0], err
		}),
	administering("drop_generator(name text) text", "drops a generator; its ids stay used",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			return a[0], Registry(x).Drop(x.Ctx, a[0].Str)
		}),
	administering("recover_generator(name text, at_least int8) text",
		"starts a generator again that stopped because the shared store went back; its ids go on at at_least or above",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			return a[0], Registry(x).Recover(x.Ctx, a[0].Str, a[1].Int)
		}),
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

// object returns options as a JSON object.
func object(options map[string]any) json.RawMessage {
	text, err := json.Marshal(options)
	if err != nil {
		panic(err) // texts, numbers and truth values have a form
	}
	return text
}
