package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// jsonOperator is -> and ->> on json and jsonb: a member of an object by its
// key, or an element of an array by its number, as JSON or as text.
func (p *Planner) jsonOperator(op string, l, r *Expr) (*Expr, error) {
	if l.Type == datum.Unknown && r.Type == datum.Unknown {
		return nil, sqlstate.New(sqlstate.AmbiguousFunction, "operator is not unique: unknown %s unknown", op).
			WithHint("Several operators take such operands: cast them to the types of the one that you mean.")
	}
	if l.Type != datum.JSON && l.Type != datum.JSONB {
		return nil, noOperator(op, l, r)
	}
	want := datum.Text
	if r.Type == datum.Int2 || r.Type == datum.Int4 {
		want = datum.Int4
	}
	key, err := p.Coerce(r, want, datum.ImplicitCast)
	if err != nil {
		return nil, noOperator(op, l, r)
	}
	result := l.Type
	if op == "->>" {
		result = datum.Text
	}
	return Strict2(result, l, key, func(_ *Exec, a, b datum.Value) (datum.Value, error) {
		j := JSONOf(a.Str)
		var ok bool
		switch {
		case want == datum.Int4 && j.Kind() == '[':
			j, ok = j.element(b.Int)
		case want == datum.Text && j.Kind() == '{':
			j, ok = j.member(b.Str)
		}
		switch {
		case !ok:
			return datum.Null(result), nil
		case result == datum.Text:
			return j.asText()
		}
		return datum.MakeString(result, string(j)), nil
	}), nil
}
