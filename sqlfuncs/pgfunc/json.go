package pgfunc

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var jsonBuildFunctions = []engine.Function{
	{Name: "json_build_object", Args: engine.Args(engine.AnyType), Variadic: true, Result: datum.JSON, Nullable: true, Volatile: engine.Stable, Does: engine.Typed(buildObject), Help: "an object of keys and values in turn"},
	{Name: "jsonb_build_object", Args: engine.Args(engine.AnyType), Variadic: true, Result: datum.JSONB, Nullable: true, Volatile: engine.Stable, Does: asJSONB(buildObject), Help: "an object of keys and values in turn"},
	{Name: "to_jsonb", Args: engine.Args(engine.AnyElement), Result: datum.JSONB, Volatile: engine.Stable, Does: asJSONB(toJSON), Help: "a value as JSON"},
	{Name: "to_json", Args: engine.Args(engine.AnyElement), Result: datum.JSON, Volatile: engine.Stable, Does: engine.Typed(toJSON), Help: "a value as JSON"},
	{Name: "row_to_json", Args: engine.Args(datum.Record), Result: datum.JSON, Volatile: engine.Stable, Does: engine.Typed(toJSON), Help: "a row as a JSON object"},
}

// appendJSON appends a value as JSON. fields names the columns of a record; without
// them the columns are f1, f2, ….
func appendJSON(dst []byte, v datum.Value, fields []engine.FromColumn, env *datum.Env) []byte {
	if !v.Valid || v.Type != datum.Record || len(fields) != len(v.Elems) {
		return datum.AppendJSON(dst, v, env)
	}
	dst = append(dst, '{')
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(datum.AppendJSONString(dst, fields[i].Name), ':')
		dst = datum.AppendJSON(dst, e, env)
	}
	return append(dst, '}')
}

// toJSON plans to_json and row_to_json. The names of a row's columns are known only
// to the planner.
func toJSON(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	if args[0].Type == datum.Unknown && args[0].Literal != nil && args[0].Literal.Valid {
		return nil, engine.ErrUnknownPolymorphic
	}
	arg, err := p.ResolveUnknown(args[0])
	if err != nil {
		return nil, err
	}
	return engine.Strict1(datum.JSON, arg, func(x *engine.Exec, v datum.Value) (datum.Value, error) {
		return jsonValue(appendJSON(nil, v, arg.Known().Fields, x.Env()))
	}), nil
}

// asJSONB makes a function that returns jsonb from one that returns json.
func asJSONB(does engine.Typed) engine.Typed {
	return func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
		e, err := does(p, args)
		if err != nil {
			return nil, err
		}
		return p.Coerce(e, datum.JSONB, datum.ExplicitCast)
	}
}

// buildObject plans json_build_object.
func buildObject(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	for i := range args {
		var err error
		if args[i], err = p.ResolveUnknown(args[i]); err != nil {
			return nil, err
		}
	}
	return engine.Derive(datum.JSON, func(x *engine.Exec) (datum.Value, error) {
		values, err := engine.EvalAll(x, args)
		if err != nil {
			return datum.Value{}, err
		}
		text, err := objectOf(x.Env(), values, args)
		if err != nil {
			return datum.Value{}, err
		}
		return jsonValue(text)
	}, args...), nil
}

// objectOf returns the JSON object of keys and values in turn.
func objectOf(env *datum.Env, values []datum.Value, args []*engine.Expr) ([]byte, error) {
	if len(values)%2 != 0 {
		return nil, jsonError("argument list must have even number of elements")
	}
	out := []byte{'{'}
	for i := 0; i < len(values); i += 2 {
		if i > 0 {
			out = append(out, ", "...)
		}
		var err error
		if out, err = appendKey(out, values[i], env); err != nil {
			return nil, err
		}
		out = appendJSON(append(out, " : "...), values[i+1], args[i+1].Known().Fields, env)
		if len(out) > engine.MaxTextBytes {
			return nil, engine.ErrTextTooLong
		}
	}
	return append(out, '}'), nil
}

// appendKey writes a scalar as the key of an object.
func appendKey(dst []byte, v datum.Value, env *datum.Env) ([]byte, error) {
	if !v.Valid {
		return nil, jsonError("field name must not be null")
	}
	if v.Elems != nil || v.Type == datum.JSON || v.Type == datum.JSONB {
		return nil, jsonError("key value must be scalar, not array, composite, or json")
	}
	return datum.AppendJSONString(dst, string(datum.AppendText(nil, v, env))), nil
}

func jsonError(message string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "%s", message)
}

// jsonValue makes a value of JSON text that this package wrote.
func jsonValue(text []byte) (datum.Value, error) {
	if len(text) > engine.MaxTextBytes {
		return datum.Value{}, engine.ErrTextTooLong
	}
	return datum.MakeString(datum.JSON, string(text)), nil
}
