package sqlfuncs

import (
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

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

func jsonError(format string, args ...any) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, format, args...)
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
