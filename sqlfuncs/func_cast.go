package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// castFunctions are types called as functions: int8('5') is '5'::int8.
var castFunctions = castsTo(
	datum.Bool, datum.Int2, datum.Int4, datum.Int8, datum.Float4, datum.Float8, datum.Numeric, datum.Oid,
	datum.Text, datum.Varchar, datum.BPChar, datum.Name, datum.Date, datum.Time, datum.Timestamp, datum.TimestampTZ,
	datum.Interval, datum.UUID, datum.JSON, datum.JSONB, datum.RegClass, datum.RegType,
)

func castsTo(types ...datum.OID) []function {
	out := make([]function, len(types))
	for i, t := range types {
		info, _ := datum.TypeInfo(t)
		out[i] = function{name: info.Name, args: args(anyElement), result: t, volatile: stable, typed: castCall(info.Name, t),
			help: "converts to " + datum.FormatType(t, -1)}
	}
	return out
}

func castCall(name string, t datum.OID) func(p *planner, args []*expr) (*expr, error) {
	return func(p *planner, args []*expr) (*expr, error) {
		from := args[0].typ
		if from != datum.Unknown && from != t && datum.CastAllowed(from, t) == datum.NoCast {
			return nil, sqlstate.New(sqlstate.UndefinedFunction, "function %s(%s) does not exist", name, datum.FormatType(from, -1)).
				WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
		}
		return p.coerce(args[0], t, datum.ExplicitCast)
	}
}
