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
		return p.inQuery(s, e)
	}
	es, err := p.InList(s, e)
	if err != nil {
		return nil, err
	}
	// Two items or more that read no columns become a list of one type, if there is one.
	// The others are compared as with =.
	list := es[:1:1]
	for _, item := range es[1:] {
		if len(item.Refs) == 0 {
			list = append(list, item)
		}
	}
	asList := len(list) > 2
	if asList {
		_, err = p.common(e.Pos, "IN", list)
		asList = err == nil
	}
	pairs, values, oneOf := make([]Pair, len(es)-1), make([]*Expr, len(es)-1), !e.Not
	listed := 0
	for i, item := range es[1:] {
		if asList && len(item.Refs) == 0 {
			listed++
			pairs[i] = Pair{list[0], list[listed]}
		} else if pairs[i].Left, pairs[i].Right, err = p.Dialect.Comparable(p, "=", es[0], item); err != nil {
			return nil, At(e.Pos, err)
		}
		values[i], oneOf = pairs[i].Right, oneOf && pairs[i].Left.Column
	}
	in := In(pairs, e.Not, es)
	if oneOf {
		in.IsOneOf(es[0], values)
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
	return p.Exprs(s, append([]syntax.Expr{e.X}, e.List...))
}

// quantified plans x op ANY/ALL (array).
func (p *Planner) quantified(s *Scope, e *syntax.Quantified) (*Expr, error) {
	es, err := p.Exprs(s, []syntax.Expr{e.X, e.Array})
	if err != nil {
		return nil, err
	}
	l, array := es[0], es[1]
	if array.Type == datum.Unknown {
		want := datum.TextArray
		if info, _ := datum.TypeInfo(l.Type); l.Type != datum.Unknown && l.Type != datum.Varchar && info.Array != 0 {
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
		null := false
		for _, v := range a.Elems {
			if v, err = slot.with(x, v, test); err == nil {
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

// subplan is a subquery in an expression. It runs once for the whole statement if
// it reads no columns of the queries around it, as in PostgreSQL. A subquery that
// may draw ids runs each time: the same id must not appear twice.
type subplan struct {
	*QueryPlan
	firstFrame int   // first frame of its own
	firstCTE   int   // first WITH item of its own
	refs       []ref // columns of outer queries that it reads
	outerCTE   bool  // it reads a WITH item of an outer query
	volatile   bool  // it may draw ids, see isVolatile
}

// outer records that the subqueries being analysed read e.
func (p *Planner) outer(e *Expr) *Expr {
	if e == nil {
		return nil
	}
	for _, sub := range p.inside {
		for _, r := range e.Refs {
			if r.frame < sub.firstFrame && !slices.Contains(sub.refs, r) {
				sub.refs = append(sub.refs, r)
			}
		}
	}
	return e
}

// usesCTE records that a WITH item is read.
func (p *Planner) usesCTE(c *ctePlan) {
	c.reads++
	for _, sub := range p.inside {
		sub.outerCTE = sub.outerCTE || c.index < sub.firstCTE
	}
}

// MarkVolatile records that the value of e may differ from call to call: the subqueries
// being analysed run each time.
func (p *Planner) MarkVolatile(e *Expr) *Expr {
	e.Volatile = true
	p.isVolatile()
	return e
}

// isVolatile records that the subqueries being analysed may draw ids, or differ from
// run to run for another reason.
func (p *Planner) isVolatile() {
	for _, sub := range p.inside {
		sub.volatile = true
	}
}

// subplan analyses a subquery of an expression.
func (p *Planner) subplan(s *Scope, t *syntax.Select) (*subplan, error) {
	sub := &subplan{firstFrame: p.frames, firstCTE: p.ctes}
	p.inside = append(p.inside, sub)
	reads := p.recursiveReads()
	var err error
	sub.QueryPlan, err = p.Query(t, s)
	p.inside = p.inside[:len(p.inside)-1]
	if err == nil && p.recursiveReads() > reads {
		err = At(p.readAt, errRecursion("within a subquery"))
	}
	return sub, err
}

// once reports whether the rows are the same for the whole statement.
func (s *subplan) once() bool { return len(s.refs) == 0 && !s.outerCTE && !s.volatile }

// expr makes an expression of the subquery's value. A value that cannot change is
// kept until the statement ends.
func (s *subplan) expr(typ datum.OID, mod int32, name string, eval func(x *Exec) (datum.Value, error)) *Expr {
	e := &Expr{Type: typ, TypeMod: mod, name: name, Refs: s.refs, Volatile: s.volatile || s.outerCTE}
	e.compute = func(x *Exec) (datum.Value, error) { return x.passing(eval) }
	if s.once() {
		e.compute = func(x *Exec) (datum.Value, error) {
			if v, ok := x.subplans[s].(datum.Value); ok {
				return v, nil
			}
			held, lasting := x.held, x.lasting
			v, err := eval(x)
			if err == nil {
				x.keep(s, v)
			}
			x.lasts(held, lasting)
			return v, err
		}
	}
	return e
}

// keep stores the result of a subquery that runs once.
func (x *Exec) keep(s *subplan, v any) {
	if x.subplans == nil {
		x.subplans = map[*subplan]any{}
	}
	x.subplans[s] = v
}

func (p *Planner) exists(s *Scope, e *syntax.Exists) (*Expr, error) {
	q, err := p.subplan(s, e.Query)
	if err != nil {
		return nil, err
	}
	return q.expr(datum.Bool, -1, "exists", func(x *Exec) (datum.Value, error) {
		it, err := q.Open(x)
		if err != nil {
			return datum.Value{}, err
		}
		defer it.Close()
		_, err = it.Next(x)
		if errors.Is(err, io.EOF) {
			return datum.MakeBool(false), nil
		}
		return datum.MakeBool(true), err
	}), nil
}

// subquery plans a scalar subquery or ARRAY(SELECT …).
func (p *Planner) subquery(s *Scope, e *syntax.Subquery) (*Expr, error) {
	q, err := p.subplan(s, e.Query)
	if err != nil {
		return nil, err
	}
	if len(q.Columns) != 1 {
		return nil, At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "subquery must return only one column").WithMySQL(1241, "21000"))
	}
	p.Settle(q.QueryPlan)
	t := q.Columns[0].Type
	if e.Array {
		info, _ := datum.TypeInfo(t)
		if info.Array == 0 {
			return nil, At(e.Pos, sqlstate.New(sqlstate.UndefinedObject, "could not find array type for data type %s", datum.FormatType(t, -1)))
		}
		return q.expr(info.Array, -1, "array", func(x *Exec) (datum.Value, error) {
			rows, err := q.all(x)
			elems := make([]datum.Value, len(rows))
			for i, r := range rows {
				elems[i] = r[0]
			}
			x.dropRows(rows)
			return datum.MakeArray(info.Array, elems), err
		}), nil
	}
	r := q.expr(t, q.Columns[0].TypeMod, q.Columns[0].Name, func(x *Exec) (datum.Value, error) { return q.single(x, t) })
	r.known, r.Letters = columnOf(Known{Fields: q.Columns[0].fields}), q.Columns[0].letters
	return r, nil
}

// single returns the value of a scalar subquery, NULL if it has no row.
func (s *subplan) single(x *Exec, t datum.OID) (datum.Value, error) {
	it, err := s.Open(x)
	if err != nil {
		return datum.Value{}, err
	}
	defer it.Close()
	row, err := it.Next(x)
	if errors.Is(err, io.EOF) {
		return datum.Null(t), nil
	}
	if err != nil {
		return datum.Value{}, err
	}
	v := row[0]
	if _, err = it.Next(x); err == nil {
		return v, sqlstate.New(sqlstate.Cardinality, "more than one row returned by a subquery used as an expression")
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return v, err
}

// inQuery plans x [NOT] IN (SELECT …).
func (p *Planner) inQuery(s *Scope, e *syntax.In) (*Expr, error) {
	q, err := p.subplan(s, e.Query)
	if err != nil {
		return nil, err
	}
	if len(q.Columns) != 1 {
		return nil, At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "subquery has too many columns"))
	}
	x, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	c := &inRows{sub: q, slot: new(slotExpr), not: e.Not}
	if c.left, c.right, err = p.Dialect.Comparable(p, "=", x, c.slot.expr(q.Columns[0].Type, q.Columns[0].letters)); err != nil {
		return nil, At(e.Pos, err)
	}
	r := Derive(datum.Bool, c.eval, x)
	r.Refs = append(r.Refs, q.refs...)
	r.Volatile = r.Volatile || q.volatile || q.outerCTE
	return r, nil
}

// inRows compares a value with the rows of a subquery.
type inRows struct {
	sub         *subplan
	slot        *slotExpr // the subquery's value
	left, right *Expr     // the value and that in slot, in one type
	not         bool
}

// valueSet holds the values of a subquery's rows.
type valueSet struct {
	keys map[string]struct{} // of the values that are not NULL
	null bool                // there is a NULL
}

func (c *inRows) eval(x *Exec) (datum.Value, error) {
	if !c.sub.once() {
		return x.passing(func(x *Exec) (datum.Value, error) {
			set, err := c.read(x)
			if err != nil {
				return datum.Value{}, err
			}
			return c.find(x, set)
		})
	}
	set, ok := x.subplans[c.sub].(*valueSet)
	if !ok {
		held, lasting := x.held, x.lasting
		var err error
		if set, err = c.read(x); err != nil {
			return datum.Value{}, err
		}
		x.keep(c.sub, set)
		x.lasts(held, lasting)
	}
	return c.find(x, set)
}

// find computes the three-valued [NOT] IN.
func (c *inRows) find(x *Exec, set *valueSet) (datum.Value, error) {
	key, valid, err := joinKey(x, []*Expr{c.left})
	_, found := set.keys[key]
	switch {
	case err != nil || len(set.keys) == 0 && !set.null:
		return datum.MakeBool(c.not), err
	case !valid || !found && set.null:
		return datum.Null(datum.Bool), nil
	}
	return datum.MakeBool(found != c.not), nil
}

func (c *inRows) read(x *Exec) (*valueSet, error) {
	rows, err := c.sub.all(x)
	if err != nil {
		return nil, err
	}
	set := &valueSet{keys: make(map[string]struct{}, len(rows))}
	for _, row := range rows {
		v, err := c.slot.with(x, row[0], c.right)
		if err != nil {
			return nil, err
		}
		if set.null = set.null || !v.Valid; v.Valid {
			set.keys[string(rowKey(nil, []datum.Value{v}, nil))] = struct{}{}
		}
	}
	return set, nil
}
