package ids

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// templateFunctions say what the first use of a name makes.
var templateFunctions = []engine.Function{
	administering("create_template(pattern text, kind text, options jsonb?) text",
		"names that begin as the pattern, such as inv:*, are made by first use with this kind and these options",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			options, err := optionsArg(a, 2)
			if err != nil {
				return datum.Value{}, err
			}
			return a[0], Registry(x).CreateTemplate(x.Ctx, a[0].Str, a[1].Str, options)
		}),
	administering("drop_template(pattern text) text", "drops a template; generators that it made stay",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			return a[0], Registry(x).DropTemplate(x.Ctx, a[0].Str)
		}),
}

// templateRows are nextid.templates.
func templateRows(x *engine.Exec) (rows [][]any, err error) {
	list, err := Registry(x).Templates(x.Ctx)
	for _, d := range list {
		rows = append(rows, []any{d.Name, d.Kind, string(d.Options)})
	}
	return rows, err
}
