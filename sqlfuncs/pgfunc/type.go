package pgfunc

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

var typeFunctions = []engine.Function{
	{Name: "pg_typeof", Args: engine.Args(engine.AnyType), Result: datum.RegType, Nullable: true, Volatile: engine.Stable, Does: engine.Typed(typeOf), Help: "type of a value"},
}

// typeOf implements pg_typeof. It computes its argument only to report the
// argument's errors.
func typeOf(_ *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	t := datum.Value{Type: datum.RegType, Valid: true, Int: int64(args[0].Type)}
	return engine.Derive(datum.RegType, func(x *engine.Exec) (datum.Value, error) {
		_, err := args[0].Eval(x)
		return t, err
	}, args[0]), nil
}
