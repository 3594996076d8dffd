package pgfunc

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// castFunctions lists the types that are called as functions: int8('5') is
// '5'::int8.
var castFunctions = append(castsTo(
	datum.Bool, datum.Int2, datum.Int4, datum.Int8, datum.Float4, datum.Float8, datum.Numeric, datum.Oid,
	datum.Text, datum.Varchar, datum.BPChar, datum.Name, datum.Date, datum.Time, datum.Timestamp, datum.TimestampTZ,
	datum.Interval, datum.UUID, datum.JSON, datum.JSONB, datum.RegClass, datum.RegType,
), engine.Function{Name: "pg_typeof", Args: engine.Args(engine.AnyType), Result: datum.RegType, Nullable: true, Volatile: engine.Stable, Does: engine.Typed(typeOf), Help: "type of a value"})

// typeOf implements pg_typeof. It computes its argument only to report the
// argument's errors.
func typeOf(_ *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	t := datum.Value{Type: datum.RegType, Valid: true, Int: int64(args[0].Type)}
	return engine.Derive(datum.RegType, func(x *engine.Exec) (datum.Value, error) {
		_, err := args[0].Eval(x)
		return t, err
	}, args[0]), nil
}

// castsTo makes a function for each type.
func castsTo(types ...datum.OID) []engine.Function {
	out := make([]engine.Function, len(types))
	for i, t := range types {
		info, _ := datum.TypeInfo(t)
		out[i] = engine.Function{
			Name: info.Name, Args: engine.Args(engine.AnyElement), Result: t, Volatile: engine.Stable, Does: engine.Typed(castCall(info.Name, t)),
			Help: "converts to " + datum.FormatType(t, -1),
		}
	}
	return out
}

// castCall plans a call of a type. It accepts the arguments that an explicit cast
// does.
func castCall(name string, t datum.OID) func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
		from := args[0].Type
		if from != datum.Unknown && from != t && datum.CastAllowed(from, t) == datum.NoCast {
			return nil, sqlstate.New(sqlstate.UndefinedFunction, "function %s(%s) does not exist", name, datum.FormatType(from, -1)).
				WithHint("The function is there for other types: cast the arguments to them.")
		}
		return p.Coerce(args[0], t, datum.ExplicitCast)
	}
}
