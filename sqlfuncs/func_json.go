package sqlfuncs

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// jsonFunctions are PostgreSQL's functions on JSON (9.16).
var jsonFunctions = slices.Concat(jsonReadFunctions, jsonBuildFunctions)

var jsonReadFunctions = slices.Concat(jsonReaders("json", datum.JSON), jsonReaders("jsonb", datum.JSONB), []function{
	{name: "jsonb_pretty", args: args(datum.JSONB), result: datum.Text, eval: jsonPretty, help: "a JSON value with line breaks"},
})

// jsonReaders are the functions that exist for both types.
func jsonReaders(prefix string, t datum.OID) []function {
	from := []argument{{name: "from_json", typ: t}}
	path := []argument{from[0], {name: "path_elems", typ: datum.Text}}
	value := []fromColumn{{name: "value", typ: t, mod: -1}}
	textValue := []fromColumn{{name: "value", typ: datum.Text, mod: -1}}
	key := fromColumn{name: "key", typ: datum.Text, mod: -1}
	r := jsonReader{prefix, t}
	return []function{
		{name: prefix + "_typeof", args: args(t), result: datum.Text, eval: jsonTypeOf, help: "object, array, string, number, boolean or null"},
		{name: prefix + "_array_length", args: args(t), result: datum.Int4, eval: r.arrayLength, help: "number of elements"},
		{name: prefix + "_extract_path", args: path, variadic: true, result: t, eval: r.extract(false), help: "the value at a path of keys and indexes"},
		{name: prefix + "_extract_path_text", args: path, variadic: true, result: datum.Text, eval: r.extract(true), help: "the value at a path, as text"},
		{name: prefix + "_each", args: from, result: datum.Record, columns: []fromColumn{key, value[0]}, set: true, rows: r.each("_each", false), help: "the keys and values of an object"},
		{name: prefix + "_each_text", args: from, result: datum.Record, columns: []fromColumn{key, textValue[0]}, set: true, rows: r.each("_each_text", true), help: "the keys and values of an object, as text"},
		{name: prefix + "_object_keys", args: args(t), result: datum.Text, set: true, rows: r.keys, help: "the keys of an object"},
		{name: prefix + "_array_elements", args: from, result: t, columns: value, set: true, rows: r.elements("_array_elements", false), help: "the elements of an array"},
		{name: prefix + "_array_elements_text", args: from, result: datum.Text, columns: textValue, set: true, rows: r.elements("_array_elements_text", true), help: "the elements of an array, as text"},
		{name: prefix + "_strip_nulls", args: args(t), result: t, eval: r.stripNulls, help: "without the members that are null"},
	}
}

// jsonReader holds what differs between json and jsonb.
type jsonReader struct {
	prefix string
	typ    datum.OID
}

// value makes the result of an accessor: the value, or its text (NULL for
// JSON's null).
func (r jsonReader) value(j jsonText, ok, asText bool) (datum.Value, error) {
	switch {
	case !asText && !ok:
		return datum.Null(r.typ), nil
	case !asText:
		return datum.MakeString(r.typ, string(j)), nil
	case !ok || j.kind() == 'n':
		return datum.Null(datum.Text), nil
	case j.kind() == '"':
		s, err := j.unquote()
		return datum.MakeText(s), err
	}
	return datum.MakeText(string(j)), nil
}

// step goes one step down a path.
func (j jsonText) step(name string) (jsonText, bool) {
	switch j.kind() {
	case '{':
		return j.member(name)
	case '[':
		n, err := strconv.ParseInt(strings.TrimLeft(name, " \t\n\v\f\r"), 10, 32)
		if err != nil {
			return "", false
		}
		return j.element(n)
	}
	return "", false
}

// walk follows a path; a NULL step leads nowhere.
func (j jsonText) walk(path []datum.Value) (jsonText, bool) {
	for _, name := range path {
		ok := name.Valid
		if ok {
			j, ok = j.step(name.Str)
		}
		if !ok {
			return "", false
		}
	}
	return j, true
}

// jsonOperator is -> ->> #> #>> on json and jsonb.
func (p *planner) jsonOperator(op string, l, r *expr) (*expr, error) {
	if l.typ == datum.Unknown && r.typ == datum.Unknown {
		return nil, sqlstate.New(sqlstate.AmbiguousFunction, "operator is not unique: unknown %s unknown", op).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.")
	}
	if l.typ != datum.JSON && l.typ != datum.JSONB {
		return nil, noOperator(op, l, r)
	}
	want := datum.Text
	switch {
	case op[0] == '#':
		want = datum.TextArray
	case r.typ == datum.Int2 || r.typ == datum.Int4:
		want = datum.Int4
	}
	path, err := p.coerce(r, want, datum.ImplicitCast)
	if err != nil {
		if r.typ == datum.Unknown {
			return nil, err
		}
		return nil, noOperator(op, l, r)
	}
	reader := jsonReader{typ: l.typ}
	asText := strings.HasSuffix(op, ">>")
	result := l.typ
	if asText {
		result = datum.Text
	}
	return strict2(result, l, path, func(_ *exec, a, b datum.Value) (datum.Value, error) {
		j := jsonOf(a.Str)
		var ok bool
		switch {
		case want == datum.TextArray:
			j, ok = j.walk(b.Elems)
		case want == datum.Int4 && j.kind() == '[':
			j, ok = j.element(b.Int)
		case want == datum.Int4 && l.typ == datum.JSONB && j.kind() != '{':
			ok = b.Int == 0 || b.Int == -1 // a jsonb scalar is an array of itself
		case want == datum.Text && j.kind() == '{':
			j, ok = j.member(b.Str)
		}
		return reader.value(j, ok, asText)
	}), nil
}

func (r jsonReader) extract(asText bool) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		j, ok := jsonOf(a[0].Str).walk(a[1:])
		return r.value(j, ok, asText)
	}
}

func jsonTypeOf(_ *exec, a []datum.Value) (datum.Value, error) {
	names := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null", 0: "number"}
	return datum.MakeText(names[jsonOf(a[0].Str).kind()]), nil
}

func jsonError(format string, args ...any) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, format, args...)
}

func (r jsonReader) arrayLength(_ *exec, a []datum.Value) (datum.Value, error) {
	j := jsonOf(a[0].Str)
	switch j.kind() {
	case '[':
	case '{':
		return a[0], jsonError("cannot get array length of a non-array")
	default:
		return a[0], jsonError("cannot get array length of a scalar")
	}
	n := int64(0)
	for range j.items() {
		n++
	}
	return datum.MakeInt4(n), nil
}

// rows yields a row for each item of an array or object.
func (r jsonReader) rows(j jsonText, width int, fill func(row []datum.Value, key, value jsonText) error) rowIter {
	cursor := j.open()
	row := make([]datum.Value, width)
	return funcRows(func(x *exec) ([]datum.Value, error) {
		key, value, ok := cursor.next()
		if !ok {
			return nil, io.EOF
		}
		if err := fill(row, key, value); err != nil {
			return nil, err
		}
		return row, x.tick()
	})
}

type rowsFunc = func(x *exec, a []datum.Value) (rowIter, error)

func (r jsonReader) each(name string, asText bool) rowsFunc {
	return func(_ *exec, a []datum.Value) (rowIter, error) {
		j := jsonOf(a[0].Str)
		switch kind := j.kind(); {
		case kind == '{':
		case r.typ == datum.JSONB:
			return nil, jsonError("cannot call %s on a non-object", r.prefix+name)
		case kind == '[':
			return nil, jsonError("cannot deconstruct an array as an object")
		default:
			return nil, jsonError("cannot deconstruct a scalar")
		}
		return r.rows(j, 2, func(row []datum.Value, key, value jsonText) error {
			s, err := key.unquote()
			if err != nil {
				return err
			}
			row[0] = datum.MakeText(s)
			row[1], err = r.value(value, true, asText)
			return err
		}), nil
	}
}

func (r jsonReader) keys(_ *exec, a []datum.Value) (rowIter, error) {
	j := jsonOf(a[0].Str)
	switch j.kind() {
	case '{':
	case '[':
		return nil, jsonError("cannot call %s_object_keys on an array", r.prefix)
	default:
		return nil, jsonError("cannot call %s_object_keys on a scalar", r.prefix)
	}
	return r.rows(j, 1, func(row []datum.Value, key, _ jsonText) error {
		s, err := key.unquote()
		row[0] = datum.MakeText(s)
		return err
	}), nil
}

func (r jsonReader) elements(name string, asText bool) rowsFunc {
	return func(_ *exec, a []datum.Value) (rowIter, error) {
		j := jsonOf(a[0].Str)
		switch kind := j.kind(); {
		case kind == '[':
		case kind == '{' && r.typ == datum.JSONB:
			return nil, jsonError("cannot extract elements from an object")
		case kind == '{':
			return nil, jsonError("cannot call %s on a non-array", r.prefix+name)
		case r.typ == datum.JSONB:
			return nil, jsonError("cannot extract elements from a scalar")
		default:
			return nil, jsonError("cannot call %s on a scalar", r.prefix+name)
		}
		return r.rows(j, 1, func(row []datum.Value, _, value jsonText) error {
			var err error
			row[0], err = r.value(value, true, asText)
			return err
		}), nil
	}
}

// stripNulls drops the members that are null, at every level.
func (r jsonReader) stripNulls(_ *exec, a []datum.Value) (datum.Value, error) {
	return r.parse(stripNulls(nil, jsonOf(a[0].Str)))
}

func stripNulls(dst []byte, j jsonText) []byte {
	kind := j.kind()
	if kind != '{' && kind != '[' {
		return append(dst, j...)
	}
	dst = append(dst, kind)
	first := true
	for key, value := range j.items() {
		if kind == '{' && value.kind() == 'n' {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if kind == '{' {
			dst = append(append(dst, key...), ':')
		}
		dst = stripNulls(dst, value)
	}
	return append(dst, kind+2) // ] and } come two behind [ and {
}

// parse makes a value of JSON that we wrote; jsonb has a form of its own.
func (r jsonReader) parse(text []byte) (datum.Value, error) {
	if len(text) > maxTextBytes {
		return datum.Value{}, errTextTooLong
	}
	if r.typ == datum.JSONB {
		return datum.ParseText(datum.JSONB, string(text), nil)
	}
	return datum.MakeString(datum.JSON, string(text)), nil
}

func jsonPretty(_ *exec, a []datum.Value) (datum.Value, error) {
	out, err := appendPretty(nil, jsonOf(a[0].Str), 0)
	if err != nil {
		return a[0], err
	}
	return boundedText(string(out))
}

// appendPretty indents by four spaces a level.
func appendPretty(dst []byte, j jsonText, depth int) ([]byte, error) {
	kind := j.kind()
	if kind != '{' && kind != '[' {
		return append(dst, j...), nil
	}
	line := func(depth int) {
		dst = append(append(dst, '\n'), strings.Repeat("    ", depth)...)
	}
	dst = append(dst, kind)
	first := true
	for key, value := range j.items() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		line(depth + 1)
		if kind == '{' {
			dst = append(append(dst, key...), ": "...)
		}
		var err error
		if dst, err = appendPretty(dst, value, depth+1); err != nil {
			return nil, err
		}
		if len(dst) > maxTextBytes {
			return nil, errTextTooLong
		}
	}
	line(depth)
	return append(dst, kind+2), nil
}
