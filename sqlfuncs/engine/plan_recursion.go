package engine

import (
	"slices"

	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// inOrder puts the items of WITH into the order in which they are analysed. After
// RECURSIVE an item may read those behind it.
func inOrder(with []syntax.CTE) ([]*syntax.CTE, error) {
	var order, begun []*syntax.CTE
	var visit func(item *syntax.CTE) error
	visit = func(item *syntax.CTE) (err error) {
		if slices.Contains(order, item) {
			return nil
		}
		if slices.Contains(begun, item) {
			return At(item.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "mutual recursion between WITH items is not implemented"))
		}
		begun = append(begun, item)
		if item.Recursive {
			reads := tablesIn(item.Query)
			for i := range with {
				if err == nil && &with[i] != item && slices.ContainsFunc(reads, func(r tableRead) bool { return r.Name.Last() == with[i].Name }) {
					err = visit(&with[i])
				}
			}
		}
		order = append(order, item)
		return err
	}
	for i := range with {
		if err := visit(&with[i]); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// recursion returns the union of the two terms of an item that reads itself, nil
// for another one. What it refuses PostgreSQL refuses, too.
func recursion(item *syntax.CTE) (*syntax.SetOp, error) {
	if !item.Recursive {
		return nil, nil
	}
	name := sqlstate.Cut(item.Name, 64)
	self := func(q *syntax.Select) []tableRead {
		return slices.DeleteFunc(tablesIn(q), func(r tableRead) bool { return r.Name.Last() != item.Name })
	}
	if len(self(item.Query)) == 0 {
		return nil, nil
	}
	union, ok := item.Query.Body.(*syntax.SetOp)
	if !ok {
		return nil, At(item.Pos, sqlstate.New(sqlstate.InvalidRecursion,
			"recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", name))
	}
	refuse := func(r tableRead, where string) error {
		return At(r.Pos, sqlstate.New(sqlstate.InvalidRecursion, "recursive reference to query %q must not appear %s", name, where))
	}
	for _, inner := range item.Query.With {
		if reads := self(inner.Query); len(reads) > 0 {
			return nil, refuse(reads[0], "within a subquery")
		}
	}
	if reads := self(union.Left); len(reads) > 0 {
		return nil, refuse(reads[0], "within its non-recursive term")
	}
	reads := self(union.Right)
	for i, r := range reads {
		switch {
		case r.where != "":
			return nil, refuse(r, r.where)
		case i > 0:
			return nil, refuse(r, "more than once")
		}
	}
	q, clause, pos := item.Query, "", syntax.Pos(-1)
	switch {
	case len(q.OrderBy) > 0:
		clause, pos = "ORDER BY", q.OrderBy[0].Expr.Position()
	case q.Offset != nil:
		clause, pos = "OFFSET", q.Offset.Position()
	case q.Limit != nil:
		clause, pos = "LIMIT", q.Limit.Position()
	case q.Locking:
		clause = "FOR UPDATE/SHARE"
	case len(reads) == 0: // it stands in one of these clauses
		clause = "a recursive reference outside of the recursive term"
	default:
		return union, nil
	}
	return nil, At(pos, sqlstate.New(sqlstate.FeatureNotSupported, "%s in a recursive query is not implemented", clause))
}

// tableRead is an unqualified table name in a query that no WITH item in the query
// has.
type tableRead struct {
	*syntax.Table
	where string // "", or what keeps a recursive reference from standing there
}

// tablesIn lists the table names that a query reads from outside of itself.
func tablesIn(q *syntax.Select) []tableRead {
	w := &tableWalk{}
	w.query(q)
	return w.reads
}

// tableWalk walks through a query.
type tableWalk struct {
	reads  []tableRead
	hidden []string // names of the WITH items around
	where  string   // as in tableRead
}

// at walks with f through what stands in a place. The outermost place counts.
func (w *tableWalk) at(where string, f func()) {
	if outer := w.where; outer == "" {
		w.where = where
		defer func() { w.where = outer }()
	}
	f()
}

func (w *tableWalk) query(q *syntax.Select) {
	defer func(n int) { w.hidden = w.hidden[:n] }(len(w.hidden))
	for _, item := range q.With {
		if item.Recursive {
			w.hidden = append(w.hidden, item.Name)
		}
	}
	for _, item := range q.With {
		w.query(item.Query)
		w.hidden = append(w.hidden, item.Name)
	}
	switch body := q.Body.(type) {
	case *syntax.SetOp:
		w.query(body.Left)
		w.query(body.Right)
	case *syntax.Values:
		for _, row := range body.Rows {
			w.exprs(row...)
		}
	case *syntax.SelectCore:
		for _, t := range body.Targets {
			w.exprs(t.Expr)
		}
		for _, t := range body.From {
			w.from(t)
		}
		w.exprs(body.DistinctOn...)
		w.exprs(body.Where, body.Having)
		w.exprs(body.GroupBy...)
	}
	for _, o := range q.OrderBy {
		w.exprs(o.Expr)
	}
	w.exprs(q.Limit, q.Offset)
}

func (w *tableWalk) from(t syntax.TableRef) {
	const outerJoin = "within an outer join"
	switch t := t.(type) {
	case *syntax.Table:
		if len(t.Name) == 1 && !slices.Contains(w.hidden, t.Name[0]) {
			w.reads = append(w.reads, tableRead{t, w.where})
		}
	case *syntax.TableFunc:
		w.exprs(t.Func)
	case *syntax.Derived:
		w.query(t.Query)
	case *syntax.Join:
		left, right := "", ""
		switch t.Kind {
		case syntax.LeftJoin:
			right = outerJoin
		case syntax.RightJoin:
			left = outerJoin
		}
		w.at(left, func() { w.from(t.Left) })
		w.at(right, func() { w.from(t.Right) })
		w.exprs(t.On)
	}
}

func (w *tableWalk) exprs(list ...syntax.Expr) {
	for _, e := range list {
		walkExpr(e, func(e syntax.Expr) bool {
			var q *syntax.Select
			switch e := e.(type) {
			case *syntax.Subquery:
				q = e.Query
			case *syntax.Exists:
				q = e.Query
			case *syntax.In:
				q = e.Query
			case *syntax.Quantified:
				q = e.Query
			}
			if q != nil {
				w.at("within a subquery", func() { w.query(q) })
			}
			return true
		})
	}
}
