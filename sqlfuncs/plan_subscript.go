package sqlfuncs

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// subscript is a[i] and a[i:j]. A name has subscripts, too: its characters.
func (p *planner) subscript(s *scope, e *syntax.Subscript) (*expr, error) {
	array, err := p.expr(s, e.X)
	if err != nil {
		return nil, err
	}
	info, _ := datum.TypeInfo(array.typ)
	if info.Elem == 0 && array.typ != datum.Name {
		return nil, at(unparen(e.X).Position(), sqlstate.New(sqlstate.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting",
			datum.FormatType(array.typ, -1)))
	}
	base := int64(1)
	if array.typ == datum.Int2Vector || array.typ == datum.OidVector || array.typ == datum.Name {
		base = 0
	}
	index, err := p.bound(s, e.Index)
	if err != nil {
		return nil, at(e.Pos, err)
	}
	var r *expr
	switch {
	case e.Slice && array.typ == datum.Name:
		return nil, unsupported(e.Pos, "a slice of a name")
	case e.Slice:
		upper, err := p.bound(s, e.Upper)
		if err != nil {
			return nil, at(e.Pos, err)
		}
		r = slice(array, index, upper, base)
	case array.typ == datum.Name:
		r = derive(datum.Char, func(x *exec) (datum.Value, error) {
			a, i, err := element(x, array, index)
			if err != nil || !i.Valid || i.Int < 0 || i.Int >= int64(len(a.Str)) {
				return datum.Null(datum.Char), err
			}
			return datum.MakeString(datum.Char, a.Str[i.Int:i.Int+1]), nil
		}, array, index)
	default:
		r = derive(info.Elem, func(x *exec) (datum.Value, error) {
			a, i, err := element(x, array, index)
			if err != nil || !a.Valid || !i.Valid || i.Int < base || i.Int-base >= int64(len(a.Elems)) {
				return datum.Null(info.Elem), err
			}
			return a.Elems[i.Int-base], nil
		}, array, index)
	}
	r.name = array.name
	return r, nil
}

// bound is a subscript; nil when it was left out of a slice.
func (p *planner) bound(s *scope, e syntax.Expr) (*expr, error) {
	if e == nil {
		return nil, nil
	}
	x, err := p.expr(s, e)
	if err != nil {
		return nil, err
	}
	return p.coerce(x, datum.Int4, datum.AssignmentCast)
}

func element(x *exec, array, index *expr) (a, i datum.Value, err error) {
	if a, err = array.eval(x); err == nil {
		i, err = index.eval(x)
	}
	return a, i, err
}

// slice is a[lower:upper]: the elements that are there, NULL for NULL. A
// slice of a vector is an array.
func slice(array, lower, upper *expr, base int64) *expr {
	info, _ := datum.TypeInfo(array.typ)
	elem, _ := datum.TypeInfo(info.Elem)
	return derive(elem.Array, func(x *exec) (datum.Value, error) {
		a, err := array.eval(x)
		if err != nil || !a.Valid {
			return datum.Null(elem.Array), err
		}
		from, to := base, base+int64(len(a.Elems))-1
		for _, b := range []struct {
			e  *expr
			at *int64
		}{{lower, &from}, {upper, &to}} {
			if b.e == nil {
				continue
			}
			v, err := b.e.eval(x)
			if err != nil || !v.Valid {
				return datum.Null(elem.Array), err
			}
			*b.at = v.Int
		}
		from, to = max(from, base)-base, min(to-base+1, int64(len(a.Elems)))
		if from >= to {
			return datum.MakeArray(elem.Array, nil), nil
		}
		return datum.MakeArray(elem.Array, slices.Clone(a.Elems[from:to])), nil
	}, array, lower, upper)
}
