package engine

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// subscript analyses x[i], and x[i][j] (8.15.3).
func (p *Planner) subscript(s *Scope, e *syntax.Subscript) (*Expr, error) {
	var list []*syntax.Subscript
	for inner, ok := e, true; ok; inner, ok = e.X.(*syntax.Subscript) {
		e = inner
		list = append(list, e)
	}
	array, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	info, _ := datum.TypeInfo(array.Type)
	if array.Type == datum.Name && len(list) == 1 { // its characters
		info.Elem = datum.Char
	}
	if info.Elem == 0 {
		return nil, At(array.pos, sqlstate.New(sqlstate.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting",
			datum.FormatType(array.Type, -1)))
	}
	subs := make([]*Expr, len(list))
	for i, e := range slices.Backward(list) { // the innermost came last
		x, err := p.Expr(s, e.Index)
		if err == nil {
			x, err = p.Coerce(x, datum.Int4, datum.AssignmentCast)
		}
		if err != nil {
			return nil, At(e.Pos, err)
		}
		subs[len(list)-1-i] = x
	}
	base := int64(1)
	if array.Type == datum.Int2Vector || array.Type == datum.OidVector {
		base = 0
	}
	r := Derive(info.Elem, func(x *Exec) (datum.Value, error) {
		a, err := array.Eval(x)
		switch {
		case err != nil || !a.Valid:
			return datum.Null(info.Elem), err
		case array.Type == datum.Name:
			return character(x, a, subs[0])
		}
		return element(x, a, subs, base)
	}, append(subs, array)...)
	r.name = array.name
	return r, nil
}

// character is n[i] of a name, counted from 0.
func character(x *Exec, name datum.Value, index *Expr) (datum.Value, error) {
	i, err := index.Eval(x)
	if err != nil || !i.Valid || i.Int < 0 || i.Int >= int64(len(name.Str)) {
		return datum.Null(datum.Char), err
	}
	return datum.MakeString(datum.Char, name.Str[i.Int:i.Int+1]), nil
}

// element is x[i][j]: NULL outside, or where the number of dimensions is
// another one.
func element(x *Exec, a datum.Value, subs []*Expr, base int64) (datum.Value, error) {
	info, _ := datum.TypeInfo(a.Type)
	null := datum.Null(info.Elem)
	if len(Dimensions(a)) != len(subs) {
		return null, nil
	}
	for _, s := range subs {
		i, err := s.Eval(x)
		if err != nil || !i.Valid || i.Int < base || i.Int-base >= int64(len(a.Elems)) {
			return null, err
		}
		a = a.Elems[i.Int-base]
	}
	return a, nil
}
