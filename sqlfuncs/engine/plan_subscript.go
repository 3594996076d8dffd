package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// subscript analyses x[i] (8.15.3). It is NULL outside the array. Slices and
// several dimensions are refused.
func (p *Planner) subscript(s *Scope, e *syntax.Subscript) (*Expr, error) {
	array, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	info, _ := datum.TypeInfo(array.Type)
	if array.Type == datum.Name { // name[i] is a character
		info.Elem = datum.Char
	}
	if info.Elem == 0 {
		return nil, At(array.pos, sqlstate.New(sqlstate.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting",
			datum.FormatType(array.Type, -1)))
	}
	index, err := p.Expr(s, e.Index)
	if err == nil {
		index, err = p.Coerce(index, datum.Int4, datum.AssignmentCast)
	}
	if err != nil {
		return nil, At(e.Pos, err)
	}
	base := int64(1)
	if array.Type == datum.Int2Vector || array.Type == datum.OidVector || array.Type == datum.Name {
		base = 0
	}
	r := Strict2(info.Elem, array, index, func(_ *Exec, a, n datum.Value) (datum.Value, error) {
		i, null := n.Int-base, datum.Null(info.Elem)
		switch {
		case i < 0:
			return null, nil
		case a.Type == datum.Name && i < int64(len(a.Str)):
			return datum.MakeString(datum.Char, a.Str[i:i+1]), nil
		case i < int64(len(a.Elems)):
			return a.Elems[i], nil
		}
		return null, nil
	})
	r.name = array.name
	return r, nil
}
