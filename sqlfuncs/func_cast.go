package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// castFunctions are types called as functions: int8('5') is '5'::int8.
var castFunctions = append(castsTo(
	datum.Bool, datum.Int2, datum.Int4, datum.Int8, datum.Float4, datum.Float8, datum.Numeric, datum.Oid,
	datum.Text, datum.Varchar, datum.BPChar, datum.Name, datum.Date, datum.Time, datum.Timestamp, datum.TimestampTZ,
	datum.Interval, datum.UUID, datum.JSON, datum.JSONB, datum.RegClass, datum.RegType,
), function{name: "pg_typeof", args: args(anyType), result: datum.RegType, nullable: true, volatile: stable, typed: typeOf, help: "type of a value"})

// typeOf is pg_typeof. It computes its argument only for the errors.
func typeOf(_ *planner, args []*expr) (*expr, error) {
	t := datum.Value{Type: datum.RegType, Valid: true, Int: int64(args[0].typ)}
	return derive(datum.RegType, func(x *exec) (datum.Value, error) {
		_, err := args[0].eval(x)
		return t, err
	}, args[0]), nil
}

func castsTo(types ...datum.OID) []function {
	out := make([]function, len(types))
	for i, t := range types {
		info, _ := datum.TypeInfo(t)
		out[i] = function{
			name: info.Name, args: args(anyElement), result: t, volatile: stable, typed: castCall(info.Name, t),
			help: "converts to " + datum.FormatType(t, -1),
		}
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
