package sqlfuncs

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// in is [NOT] IN (list) and [NOT] IN (subquery).
func (p *planner) in(s *scope, e *syntax.In) (*expr, error) {
	if e.Query != nil {
		q := &syntax.Quantified{Pos: e.Pos, Op: "=", X: e.X, Query: e.Query}
		if e.Not {
			q.Op, q.All = "<>", true
		}
		return p.quantified(s, q)
	}
	if row, ok := e.X.(*syntax.Row); ok {
		return p.rowIn(s, e, row)
	}
	es, err := p.exprs(s, append([]syntax.Expr{e.X}, e.List...))
	if err != nil {
		return nil, err
	}
	refused := noOperator("=", es[0], es[1])
	if _, err := p.common(e.Pos, "IN", es); err != nil {
		return nil, at(e.Pos, refused)
	}
	in := derive(datum.Bool, func(x *exec) (datum.Value, error) {
		v, err := es[0].eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Bool), err
		}
		null := false
		for _, item := range es[1:] {
			w, err := item.eval(x)
			if err != nil {
				return w, err
			}
			if !w.Valid {
				null = true
				continue
			}
			if c, err := datum.Compare(v, w); err != nil || c == 0 {
				return datum.MakeBool(!e.Not), err
			}
		}
		if null {
			return datum.Null(datum.Bool), nil
		}
		return datum.MakeBool(e.Not), nil
	}, es...)
	if rest := derive(0, nil, es[1:]...); es[0].column && !e.Not && !rest.volatile {
		in.keys = []*keyTest{{
			column: es[0].refs[0], refs: rest.refs,
			values: func(x *exec) ([]datum.Value, error) { return evalAll(x, es[1:]) },
		}}
	}
	return in, nil
}

// rowIn is (a, b) IN ((1, 2), …).
func (p *planner) rowIn(s *scope, e *syntax.In, row *syntax.Row) (*expr, error) {
	left, err := p.exprs(s, row.Elems)
	if err != nil {
		return nil, err
	}
	finish := make([]func(*expr) *expr, len(left))
	for i, l := range left {
		left[i], finish[i] = once(l)
	}
	var in *expr
	for _, item := range e.List {
		r, ok := unparen(item).(*syntax.Row)
		if !ok {
			return nil, unsupported(item.Position(), "IN that compares a row with another expression")
		}
		eq, err := p.rowComparison(s, e.Pos, "=", left, r)
		if err != nil {
			return nil, err
		}
		if in == nil {
			in = eq
		} else {
			in = logic("OR", in, eq)
		}
	}
	if e.Not {
		in = not(in)
	}
	for _, f := range finish {
		in = f(in)
	}
	return in, nil
}

// quantified is x op ANY/ALL (array or subquery).
func (p *planner) quantified(s *scope, e *syntax.Quantified) (*expr, error) {
	if e.Query != nil {
		return p.quantifiedQuery(s, e)
	}
	l, err := p.expr(s, e.X)
	if err != nil {
		return nil, err
	}
	array, err := p.expr(s, e.Array)
	if err != nil {
		return nil, err
	}
	if array.typ == datum.Unknown {
		want := datum.TextArray
		if info, _ := datum.TypeInfo(l.typ); l.typ != datum.Unknown && info.Array != 0 {
			want = info.Array
		}
		if array, err = p.coerce(array, want, datum.ImplicitCast); err != nil {
			return nil, at(e.Pos, err)
		}
	}
	info, _ := datum.TypeInfo(array.typ)
	if info.Elem == 0 {
		return nil, at(e.Pos, sqlstate.New(sqlstate.WrongObjectType, "op ANY/ALL (array) requires array on right side"))
	}
	slot := new(slotExpr)
	elem := slot.expr(info.Elem, array.collation)
	read, finish := once(l)
	test, err := p.operator(e.Op, read, elem)
	if err != nil {
		return nil, at(e.Pos, err)
	}
	r := derive(datum.Bool, func(x *exec) (datum.Value, error) {
		a, err := array.eval(x)
		if err != nil || !a.Valid {
			return datum.Null(datum.Bool), err
		}
		return quantify(e.All, len(a.Elems), func(i int) (datum.Value, error) {
			return slot.with(x, a.Elems[i], test)
		})
	}, read, array)
	if l.column && e.Op == "=" && !e.All && !array.volatile && l.typ == info.Elem {
		r.keys = []*keyTest{{column: l.refs[0], refs: array.refs, values: func(x *exec) ([]datum.Value, error) {
			v, err := array.eval(x)
			return v.Elems, err
		}}}
	}
	return finish(r), nil
}

// slotExpr is an expression whose value is set for one evaluation at a time.
// The value lives in the execution, since plans are shared.
type slotExpr struct{ _ byte } // not empty: each has an address of its own

func (s *slotExpr) expr(t datum.OID, c collation) *expr {
	return &expr{typ: t, mod: -1, collation: c, eval: func(x *exec) (datum.Value, error) {
		return x.slots[s], nil
	}}
}

func (s *slotExpr) with(x *exec, v datum.Value, e *expr) (datum.Value, error) {
	if x.slots == nil {
		x.slots = map[*slotExpr]datum.Value{}
	}
	x.slots[s] = v
	return e.eval(x)
}

// quantify is the three-valued ANY and ALL over n tests.
func quantify(all bool, n int, test func(i int) (datum.Value, error)) (datum.Value, error) {
	null := false
	for i := range n {
		v, err := test(i)
		if err != nil {
			return v, err
		}
		if !v.Valid {
			null = true
		} else if (v.Int == 1) != all {
			return datum.MakeBool(!all), nil
		}
	}
	if null {
		return datum.Null(datum.Bool), nil
	}
	return datum.MakeBool(all), nil
}

// all runs a query and keeps its rows.
func (q *queryPlan) all(x *exec) ([][]datum.Value, error) {
	it, err := q.open(x)
	if err != nil {
		return nil, err
	}
	defer it.close()
	return drain(x, it)
}

// drain reads the rest of it into memory.
func drain(x *exec, it rowIter) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for {
		row, err := it.next(x)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if err := x.holdRow(row); err != nil {
			return nil, err
		}
		rows = append(rows, slices.Clone(row))
	}
}

// arrayOperator is @>, <@ and && on arrays.
func (p *planner) arrayOperator(op string, l, r *expr) (*expr, error) {
	l, r, err := p.comparable(op, l, r)
	if err != nil {
		return nil, err
	}
	if info, _ := datum.TypeInfo(l.typ); info.Elem == 0 {
		return nil, noOperator(op, l, r)
	}
	contains := func(set []datum.Value, v datum.Value) bool {
		for _, e := range set {
			if c, err := datum.Compare(e, v); err == nil && e.Valid && v.Valid && c == 0 {
				return true
			}
		}
		return false
	}
	return strict2(datum.Bool, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
		if op == "<@" {
			a, b = b, a
		}
		for _, v := range b.Elems {
			if found := contains(a.Elems, v); found == (op == "&&") {
				return datum.MakeBool(found), nil
			}
		}
		return datum.MakeBool(op != "&&"), nil
	}), nil
}
