package pgfunc

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var byteFunctions = []engine.Function{
	{Name: "convert_from", Args: engine.Args(datum.Bytea, datum.Name), Result: datum.Text, Volatile: engine.Stable, Does: engine.Eval(convertFrom), Help: "text from bytes in UTF-8"},
}

func convertFrom(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(a[1].Str)) {
	case "utf8", "sqlascii":
		return datum.ParseText(datum.Text, a[0].Str, nil)
	}
	return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "invalid source encoding name \"%s\"", sqlstate.Cut(a[1].Str, 64)).WithHint("Use UTF8.")
}
