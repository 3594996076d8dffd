package engine

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// in plans [NOT] IN (list) and [NOT] IN (subquery).
func (p *Planner) in(s *Scope, e *syntax.In) (*Expr, error) {
	if e.Query != nil {
		q := &syntax.Quantified{Pos: e.Pos, Op: "=", X: e.X, Query: e.Query}
		if e.Not {
			q.Op, q.All = "<>", true
		}
		return p.quantified(s, q)
	}
	es, err := p.InList(s, e)
	if err != nil {
		return nil, err
	}
	pairs := make([]Pair, len(es)-1)
	same := slices.Clone(es) // common may leave nil after an error
	_, several := p.common(e.Pos, "IN", same)
	if several == nil {
		es = same
	}
	for i := range pairs {
		pairs[i] = Pair{es[0], es[i+1]}
		if several != nil { // no common type
			if pairs[i].Left, pairs[i].Right, err = p.Dialect.Comparable(p, "=", es[0], es[i+1]); err != nil {
				return nil, At(e.Pos, err)
			}
		}
	}
	in := In(pairs, e.Not, es)
	if es[0].Column && !e.Not && several == nil {
		in.IsOneOf(es[0], es[1:])
	}
	return in, nil
}

// Pair is the left side of IN and one item of its list, converted to a common type.
// Items of one type share the left side.
type Pair struct{ Left, Right *Expr }

// In is the three-valued [NOT] IN over pairs made of es.
func In(pairs []Pair, not bool, es []*Expr) *Expr {
	return Derive(datum.Bool, func(x *Exec) (datum.Value, error) {
		var a datum.Value
		null := false
		for i := range pairs {
			var err error
			if i == 0 || pairs[i].Left != pairs[i-1].Left {
				if a, err = pairs[i].Left.Eval(x); err != nil {
					return a, err
				}
			}
			if !a.Valid {
				null = true
				continue
			}
			b, err := pairs[i].Right.Eval(x)
			if err == nil {
				err = x.Compared(a, b)
			}
			if err != nil {
				return b, err
			}
			if !b.Valid {
				null = true
			} else if c, err := datum.Compare(a, b); err != nil || c == 0 {
				return datum.MakeBool(!not), err
			}
		}
		if null {
			return datum.Null(datum.Bool), nil
		}
		return datum.MakeBool(not), nil
	}, es...)
}

// IsOneOf records that e is true if column has one of the values.
func (e *Expr) IsOneOf(column *Expr, values []*Expr) {
	if rest := Derive(0, nil, values...); !rest.Volatile {
		e.Know(Known{Keys: []*KeyTest{{
			Column: column.Refs[0], Refs: rest.Refs,
			Values: func(x *Exec) ([]datum.Value, error) { return EvalAll(x, values) },
		}}})
	}
}

// InList plans the left side of IN and its list.
func (p *Planner) InList(s *Scope, e *syntax.In) ([]*Expr, error) {
	out := make([]*Expr, 1+len(e.List))
	x, err := p.Expr(s, e.X)
	for i := range e.List {
		if out[i] = x; err != nil {
			return nil, err
		}
		x, err = p.Expr(s, e.List[i])
	}
	out[len(e.List)] = x
	return out, err
}

// quantified plans x op ANY/ALL (array or subquery).
func (p *Planner) quantified(s *Scope, e *syntax.Quantified) (*Expr, error) {
	if e.Query != nil {
		return p.quantifiedQuery(s, e)
	}
	l, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	array, err := p.Expr(s, e.Array)
	if err != nil {
		return nil, err
	}
	if array.Type == datum.Unknown {
		want := datum.TextArray
		if info, _ := datum.TypeInfo(l.Type); l.Type != datum.Unknown && info.Array != 0 {
			want = info.Array
		}
		if array, err = p.Coerce(array, want, datum.ImplicitCast); err != nil {
			return nil, At(e.Pos, err)
		}
	}
	info, _ := datum.TypeInfo(array.Type)
	if info.Elem == 0 {
		return nil, At(e.Pos, sqlstate.New(sqlstate.WrongObjectType, "op ANY/ALL (array) requires array on right side"))
	}
	slot := new(slotExpr)
	elem := slot.expr(info.Elem, array.Letters)
	read, finish := Once(l)
	test, err := p.Dialect.Operator(p, e.Op, read, elem)
	if err != nil {
		return nil, At(e.Pos, err)
	}
	all := e.All
	r := Derive(datum.Bool, func(x *Exec) (datum.Value, error) {
		a, err := array.Eval(x)
		if err != nil || !a.Valid {
			return datum.Null(datum.Bool), err
		}
		return quantify(x, all, len(a.Elems), func(i int) (datum.Value, error) {
			return slot.with(x, a.Elems[i], test)
		})
	}, read, array)
	if l.Column && e.Op == "=" && !e.All && !array.Volatile && l.Type == info.Elem {
		r.Know(Known{Keys: []*KeyTest{{Column: l.Refs[0], Refs: array.Refs, Values: func(x *Exec) ([]datum.Value, error) {
			v, err := array.Eval(x)
			return v.Elems, err
		}}}})
	}
	return finish(r), nil
}

// slotExpr is an expression whose value is set before each evaluation. The value is
// stored in the Exec, since executions share plans.
type slotExpr struct{ _ byte } // not empty, so that each has its own address

func (s *slotExpr) expr(t datum.OID, letters bool) *Expr {
	return &Expr{Type: t, TypeMod: -1, Letters: letters, compute: func(x *Exec) (datum.Value, error) {
		return x.slots[s], nil
	}}
}

func (s *slotExpr) with(x *Exec, v datum.Value, e *Expr) (datum.Value, error) {
	if x.slots == nil {
		x.slots = map[*slotExpr]datum.Value{}
	}
	x.slots[s] = v
	return e.Eval(x)
}

// quantify computes the three-valued ANY or ALL over n tests.
func quantify(x *Exec, all bool, n int, test func(i int) (datum.Value, error)) (datum.Value, error) {
	null := false
	for i := range n {
		v, err := test(i)
		if err == nil {
			err = x.Work(callWork)
		}
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
func (q *QueryPlan) all(x *Exec) ([][]datum.Value, error) {
	it, err := q.Open(x)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	return Drain(x, it)
}

// Drain reads the remaining rows into memory.
func Drain(x *Exec, it Rows) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for {
		row, err := it.Next(x)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if err := x.HoldRow(row); err != nil {
			return nil, err
		}
		rows = append(rows, slices.Clone(row))
	}
}

// arrayOperator plans @>, <@ and && on arrays.
func (p *Planner) arrayOperator(op string, l, r *Expr) (*Expr, error) {
	l, r, err := p.Dialect.Comparable(p, op, l, r)
	if err != nil {
		return nil, err
	}
	if info, _ := datum.TypeInfo(l.Type); info.Elem == 0 {
		return nil, noOperator(op, l, r)
	}
	return Strict2(datum.Bool, l, r, func(x *Exec, a, b datum.Value) (datum.Value, error) {
		if op == "<@" {
			a, b = b, a
		}
		defer x.rowDone(x.values)
		if err := x.working([]datum.Value{a}); err != nil {
			return a, err
		}
		set := SetOf(a.Elems)
		for _, v := range b.Elems {
			if found := set.Holds(v); found == (op == "&&") {
				return datum.MakeBool(found), nil
			}
		}
		return datum.MakeBool(op != "&&"), nil
	}), nil
}
