package engine

import (
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// jsonResult makes the result of an accessor: the value, or its text (NULL for
// JSON's null).
func jsonResult(typ datum.OID, j JSONText, ok, asText bool) (datum.Value, error) {
	switch {
	case !asText && !ok:
		return datum.Null(typ), nil
	case !asText:
		return datum.MakeString(typ, string(j)), nil
	case !ok || j.Kind() == 'n':
		return datum.Null(datum.Text), nil
	case j.Kind() == '"':
		s, err := j.unquote()
		return datum.MakeText(s), err
	}
	return datum.MakeText(string(j)), nil
}

// step goes one step down a path.
func (j JSONText) step(name string) (JSONText, bool) {
	switch j.Kind() {
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
func (j JSONText) walk(path []datum.Value) (JSONText, bool) {
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
func (p *Planner) jsonOperator(op string, l, r *Expr) (*Expr, error) {
	if l.Type == datum.Unknown && r.Type == datum.Unknown {
		return nil, sqlstate.New(sqlstate.AmbiguousFunction, "operator is not unique: unknown %s unknown", op).
			WithHint("Several operators take such operands: cast them to the types of the one that you mean.")
	}
	if l.Type != datum.JSON && l.Type != datum.JSONB {
		return nil, noOperator(op, l, r)
	}
	want := datum.Text
	switch {
	case op[0] == '#':
		want = datum.TextArray
	case r.Type == datum.Int2 || r.Type == datum.Int4:
		want = datum.Int4
	}
	path, err := p.Coerce(r, want, datum.ImplicitCast)
	if err != nil {
		if r.Type == datum.Unknown {
			return nil, err
		}
		return nil, noOperator(op, l, r)
	}
	asText := strings.HasSuffix(op, ">>")
	result := l.Type
	if asText {
		result = datum.Text
	}
	return Strict2(result, l, path, func(_ *Exec, a, b datum.Value) (datum.Value, error) {
		j := JSONOf(a.Str)
		var ok bool
		switch {
		case want == datum.TextArray:
			j, ok = j.walk(b.Elems)
		case want == datum.Int4 && j.Kind() == '[':
			j, ok = j.element(b.Int)
		case want == datum.Int4 && l.Type == datum.JSONB && j.Kind() != '{':
			ok = b.Int == 0 || b.Int == -1 // a jsonb scalar is an array of itself
		case want == datum.Text && j.Kind() == '{':
			j, ok = j.member(b.Str)
		}
		return jsonResult(l.Type, j, ok, asText)
	}), nil
}
