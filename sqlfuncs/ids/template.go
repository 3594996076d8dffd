package ids

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

var patternArg = engine.Argument{Name: "pattern", Type: datum.Text}

// templateFunctions say what the first use of a name makes.
var templateFunctions = []engine.Function{
	{
		Name: "create_template", Result: datum.Text, Volatile: engine.Volatile, Admin: true,
		Args: []engine.Argument{patternArg, {Name: "kind", Type: datum.Text}, {Name: "options", Type: datum.JSONB, Optional: true}},
		Help: "names that begin as the pattern, such as inv:*, are made by first use with this kind and these options",
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 2)
			if err != nil {
				return datum.Value{}, err
			}
			return a[0], Registry(x).CreateTemplate(x.Ctx, a[0].Str, a[1].Str, options)
		}),
	},
	{
		Name: "drop_template", Result: datum.Text, Volatile: engine.Volatile, Admin: true,
		Args: []engine.Argument{patternArg}, Help: "drops a template; generators that it made stay",
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			return a[0], Registry(x).DropTemplate(x.Ctx, a[0].Str)
		}),
	},
}

// templateRows are nextid.templates.
func templateRows(x *engine.Exec) ([][]datum.Value, error) {
	list, err := Registry(x).Templates(x.Ctx)
	var rows [][]datum.Value
	for _, d := range list {
		options, err := datum.ParseText(datum.JSONB, string(d.Options), nil)
		if err != nil {
			return nil, err
		}
		rows = append(rows, []datum.Value{datum.MakeText(d.Name), datum.MakeText(d.Kind), options})
	}
	return rows, err
}
