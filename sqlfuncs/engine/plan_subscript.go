package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// subscript is one [i] or [from:to]; bounds that are left out are nil.
type subscript struct{ from, to *Expr }

// subscript analyses x[i][j] and x[a:b] (8.15.3). One slice makes all
// subscripts slices; i stands for 1:i then.
func (p *Planner) subscript(s *Scope, e *syntax.Subscript) (*Expr, error) {
	var list []*syntax.Subscript
	slice := false
	for {
		list = append(list, e)
		slice = slice || e.Slice
		inner, ok := e.X.(*syntax.Subscript)
		if !ok {
			break
		}
		e = inner
	}
	array, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	info, _ := datum.TypeInfo(array.Type)
	if array.Type == datum.Name { // its characters
		info.Elem = datum.Char
		if slice || len(list) > 1 {
			return nil, Unsupported(e.Pos, "a slice of a name")
		}
	}
	if info.Elem == 0 {
		return nil, At(array.pos, sqlstate.New(sqlstate.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting",
			datum.FormatType(array.Type, -1)))
	}
	parts := []*Expr{array}
	subs := make([]subscript, len(list))
	for i := range list {
		e := list[len(list)-1-i] // the innermost came last
		from, err := p.bound(s, e, e.Index)
		if err != nil {
			return nil, err
		}
		to, err := p.bound(s, e, e.Upper)
		if err != nil {
			return nil, err
		}
		if subs[i] = (subscript{from, to}); slice && !e.Slice {
			subs[i] = subscript{nil, from}
		}
		parts = append(parts, from, to)
	}
	base := int64(1)
	if array.Type == datum.Int2Vector || array.Type == datum.OidVector || array.Type == datum.Name {
		base = 0
	}
	t := info.Elem
	if slice { // of a vector, too, it is an array
		elem, _ := datum.TypeInfo(info.Elem)
		t = elem.Array
	}
	r := Derive(t, func(x *Exec) (datum.Value, error) {
		a, err := array.Eval(x)
		if err != nil || !a.Valid {
			return datum.Null(t), err
		}
		switch {
		case array.Type == datum.Name:
			return character(x, a, subs[0].from)
		case slice:
			return sliceArray(x, a, t, subs, base)
		}
		return element(x, a, subs, base)
	}, parts...)
	r.name = array.name
	return r, nil
}

// bound analyses one bound of a subscript, nil where it is left out.
func (p *Planner) bound(s *Scope, e *syntax.Subscript, bound syntax.Expr) (*Expr, error) {
	if bound == nil {
		return nil, nil
	}
	x, err := p.Expr(s, bound)
	if err == nil {
		x, err = p.Coerce(x, datum.Int4, datum.AssignmentCast)
	}
	return x, At(e.Pos, err)
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
func element(x *Exec, a datum.Value, subs []subscript, base int64) (datum.Value, error) {
	info, _ := datum.TypeInfo(a.Type)
	null := datum.Null(info.Elem)
	if len(Dimensions(a)) != len(subs) {
		return null, nil
	}
	for _, s := range subs {
		i, err := s.from.Eval(x)
		if err != nil || !i.Valid || i.Int < base || i.Int-base >= int64(len(a.Elems)) {
			return null, err
		}
		a = a.Elems[i.Int-base]
	}
	return a, nil
}

// sliceArray is x[a:b]: what lies inside of the bounds, in all dimensions.
func sliceArray(x *Exec, a datum.Value, t datum.OID, subs []subscript, base int64) (datum.Value, error) {
	dims := Dimensions(a)
	empty := datum.MakeArray(t, nil)
	ranges := make([][2]int64, len(dims))
	for i, n := range dims {
		ranges[i] = [2]int64{0, int64(n)}
	}
	for i, s := range subs {
		for side, b := range []*Expr{s.from, s.to} {
			if b == nil {
				continue
			}
			v, err := b.Eval(x)
			if err != nil || !v.Valid {
				return datum.Null(t), err
			}
			if i >= len(dims) {
				continue
			}
			if side == 0 {
				ranges[i][0] = max(ranges[i][0], v.Int-base)
			} else {
				ranges[i][1] = min(ranges[i][1], v.Int-base+1)
			}
		}
	}
	if len(subs) > len(dims) {
		return empty, nil
	}
	for _, r := range ranges {
		if r[0] >= r[1] {
			return empty, nil
		}
	}
	return cutArray(a, t, ranges), nil
}

func cutArray(a datum.Value, t datum.OID, ranges [][2]int64) datum.Value {
	rows := a.Elems[ranges[0][0]:ranges[0][1]]
	if len(ranges) == 1 {
		return datum.MakeArray(t, rows)
	}
	out := make([]datum.Value, len(rows))
	for i, r := range rows {
		out[i] = cutArray(r, t, ranges[1:])
	}
	return datum.MakeArray(t, out)
}
