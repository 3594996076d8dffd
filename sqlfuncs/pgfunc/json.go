package pgfunc

import (
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var jsonBuildFunctions = slices.Concat(
	jsonReader{"json", datum.JSON}.objectBuilders(), jsonReader{"jsonb", datum.JSONB}.objectBuilders(), jsonReader{"json", datum.JSON}.arrayBuilders(),
	[]engine.Function{
		{Name: "to_json", Args: engine.Args(engine.AnyElement), Result: datum.JSON, Volatile: engine.Stable, Typed: jsonCall(datum.JSON), Help: "a value as JSON"},
		{Name: "row_to_json", Args: engine.Optional(1, datum.Record, datum.Bool), Result: datum.JSON, Volatile: engine.Stable, Typed: jsonCall(datum.JSON), Help: "a row as a JSON object"},
	},
)

func (r jsonReader) objectBuilders() []engine.Function {
	name := r.prefix + "_build_object"
	return []engine.Function{
		{Name: name, Result: r.typ, Volatile: engine.Stable, Typed: r.buildCall(r.object), Help: "an empty object"},
		{Name: name, Args: engine.Args(engine.AnyType), Variadic: true, Result: r.typ, Nullable: true, Volatile: engine.Stable, Typed: r.buildCall(r.object), Help: "an object of keys and values in turn"},
	}
}

func (r jsonReader) arrayBuilders() []engine.Function {
	name := r.prefix + "_build_array"
	return []engine.Function{
		{Name: name, Result: r.typ, Volatile: engine.Stable, Typed: r.buildCall(r.array), Help: "an empty array"},
		{Name: name, Args: engine.Args(engine.AnyType), Variadic: true, Result: r.typ, Nullable: true, Volatile: engine.Stable, Typed: r.buildCall(r.array), Help: "an array of the arguments"},
	}
}

// jsonEncoder writes values as JSON.
type jsonEncoder struct {
	env   *datum.Env
	lines bool // line breaks between the outermost elements
}

func newJSONEncoder(x *engine.Exec) jsonEncoder {
	env := *x.Env()
	env.DateStyle = datum.ISO
	return jsonEncoder{env: &env}
}

// append writes v. fields names the columns of a record, where they are known.
func (e jsonEncoder) append(dst []byte, v datum.Value, fields []engine.FromColumn) []byte {
	if !v.Valid {
		return append(dst, "null"...)
	}
	info, _ := datum.TypeInfo(v.Type)
	if v.Type == datum.Record {
		return e.appendRecord(dst, v, fields)
	}
	if info.Elem != 0 && info.Category == 'A' {
		return e.appendArray(dst, v)
	}
	switch v.Type {
	case datum.Bool:
		if v.Int == 1 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case datum.JSON, datum.JSONB:
		return append(dst, v.Str...)
	}
	text := string(datum.AppendText(nil, v, e.env))
	switch {
	case engine.IsNumber(v.Type) && !strings.ContainsAny(text, "NI"): // NaN, Infinity
		return append(dst, text...)
	case v.Type == datum.Timestamp || v.Type == datum.TimestampTZ:
		text = isoTime(text, v.Type == datum.TimestampTZ)
	}
	return datum.AppendJSONString(dst, text)
}

// isoTime turns PostgreSQL's ISO style into that of ISO 8601.
func isoTime(text string, zone bool) string {
	day, clock, ok := strings.Cut(text, " ")
	if !ok {
		return text // infinity
	}
	clock, era, bc := strings.Cut(clock, " ")
	if sign := strings.LastIndexAny(clock, "+-"); zone && sign >= 0 && len(clock)-sign == len("+00") {
		clock += ":00"
	}
	if bc {
		clock += " " + era
	}
	return day + "T" + clock
}

func (e jsonEncoder) separator() string {
	if e.lines {
		return ",\n "
	}
	return ","
}

func (e jsonEncoder) appendRecord(dst []byte, v datum.Value, fields []engine.FromColumn) []byte {
	inner := jsonEncoder{env: e.env}
	dst = append(dst, '{')
	for i, c := range v.Elems {
		if i > 0 {
			dst = append(dst, e.separator()...)
		}
		name := "f" + strconv.Itoa(i+1)
		if i < len(fields) {
			name = fields[i].Name
		}
		dst = append(datum.AppendJSONString(dst, name), ':')
		dst = inner.append(dst, c, nil)
	}
	return append(dst, '}')
}

func (e jsonEncoder) appendArray(dst []byte, v datum.Value) []byte {
	inner := jsonEncoder{env: e.env}
	dst = append(dst, '[')
	for i, c := range v.Elems {
		if i > 0 {
			dst = append(dst, e.separator()...)
		}
		dst = inner.append(dst, c, nil)
	}
	return append(dst, ']')
}

// jsonCall builds to_json and its like, which need to know the names of a
// row's columns.
func jsonCall(t datum.OID) func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	r := jsonReader{typ: t}
	return func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
		if args[0].Type == datum.Unknown && args[0].Literal != nil && args[0].Literal.Valid {
			return nil, engine.ErrUnknownPolymorphic
		}
		arg, err := p.ResolveUnknown(args[0])
		if err != nil {
			return nil, err
		}
		pretty := engine.Constant(datum.MakeBool(false))
		if len(args) > 1 {
			if pretty, err = p.Coerce(args[1], datum.Bool, datum.ImplicitCast); err != nil {
				return nil, err
			}
		}
		return engine.Strict2(t, arg, pretty, func(x *engine.Exec, v, lines datum.Value) (datum.Value, error) {
			e := newJSONEncoder(x)
			e.lines = lines.Int == 1
			return r.parse(e.append(nil, v, arg.Fields))
		}), nil
	}
}

// buildCall builds json_build_object and its like.
func (r jsonReader) buildCall(build func(e jsonEncoder, values []datum.Value, args []*engine.Expr) ([]byte, error)) func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
		for i := range args {
			var err error
			if args[i], err = p.ResolveUnknown(args[i]); err != nil {
				return nil, err
			}
		}
		return engine.Derive(r.typ, func(x *engine.Exec) (datum.Value, error) {
			values, err := engine.EvalAll(x, args)
			if err != nil {
				return datum.Value{}, err
			}
			text, err := build(newJSONEncoder(x), values, args)
			if err != nil {
				return datum.Value{}, err
			}
			return r.parse(text)
		}, args...), nil
	}
}

func (r jsonReader) object(e jsonEncoder, values []datum.Value, args []*engine.Expr) ([]byte, error) {
	if len(values)%2 != 0 {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "argument list must have even number of elements").
			WithHint("The arguments of %s_build_object() must consist of alternating keys and values.", r.prefix)
	}
	out := []byte{'{'}
	for i := 0; i < len(values); i += 2 {
		if i > 0 {
			out = append(out, ", "...)
		}
		if !values[i].Valid {
			if r.typ == datum.JSONB {
				return nil, jsonError("argument %d: key must not be null", i+1)
			}
			return nil, sqlstate.New(sqlstate.InvalidParameterValue, "argument %d cannot be null", i+1).WithHint("Object keys should be text.")
		}
		var err error
		if out, err = e.appendKey(out, values[i]); err != nil {
			return nil, err
		}
		out = e.append(append(out, " : "...), values[i+1], args[i+1].Fields)
		if len(out) > engine.MaxTextBytes {
			return nil, engine.ErrTextTooLong
		}
	}
	return append(out, '}'), nil
}

// appendKey writes a scalar as the key of an object.
func (e jsonEncoder) appendKey(dst []byte, v datum.Value) ([]byte, error) {
	info, _ := datum.TypeInfo(v.Type)
	if v.Type == datum.Record || v.Type == datum.JSON || v.Type == datum.JSONB || (info.Elem != 0 && info.Category == 'A') {
		return nil, jsonError("key value must be scalar, not array, composite, or json")
	}
	key := e.append(nil, v, nil)
	if key[0] == '"' {
		return append(dst, key...), nil
	}
	return append(append(append(dst, '"'), key...), '"'), nil
}

func (r jsonReader) array(e jsonEncoder, values []datum.Value, args []*engine.Expr) ([]byte, error) {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ", "...)
		}
		if out = e.append(out, v, args[i].Fields); len(out) > engine.MaxTextBytes {
			return nil, engine.ErrTextTooLong
		}
	}
	return append(out, ']'), nil
}

// jsonReader holds what differs between json and jsonb.
type jsonReader struct {
	prefix string
	typ    datum.OID
}

func jsonError(format string, args ...any) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, format, args...)
}

// parse makes a value of JSON that we wrote; jsonb has a form of its own.
func (r jsonReader) parse(text []byte) (datum.Value, error) {
	if len(text) > engine.MaxTextBytes {
		return datum.Value{}, engine.ErrTextTooLong
	}
	if r.typ == datum.JSONB {
		return datum.ParseText(datum.JSONB, string(text), nil)
	}
	return datum.MakeString(datum.JSON, string(text)), nil
}
