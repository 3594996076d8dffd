package engine

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// ctePlan is one WITH item. It is computed once per execution, when it is
// first read.
type ctePlan struct {
	index  int // in exec.ctes
	names  []string
	plan   *QueryPlan // the item, or the first branch of a recursive one
	repeat *QueryPlan // the recursive branch
	all    bool       // UNION ALL between them
	folds  folds      // of the columns, where they are compared
}

// cteRows is a WITH item's rows in one execution.
type cteRows struct {
	done    bool
	rows    [][]datum.Value
	working [][]datum.Value // last step of a recursion
	inside  bool            // the recursive branch is running
}

func (c *ctePlan) columns() []FromColumn {
	out := make([]FromColumn, len(c.plan.Columns))
	for i, col := range c.plan.Columns {
		name := col.Name
		if i < len(c.names) {
			name = c.names[i]
		}
		out[i] = FromColumn{Name: name, Type: col.Type, TypeMod: col.TypeMod, fields: col.fields, letters: col.letters}
	}
	return out
}

// with analyses WITH.
func (p *Planner) with(s *Scope, t *syntax.Select) error {
	for _, item := range t.With {
		if s.ctes == nil {
			s.ctes = map[string]*ctePlan{}
		}
		if s.ctes[item.Name] != nil {
			return sqlstate.New(sqlstate.DuplicateAlias, "WITH query name %q specified more than once", sqlstate.Cut(item.Name, 64))
		}
		c := &ctePlan{index: p.ctes, names: item.Columns}
		p.ctes++
		if err := p.cteQuery(s, &item, c); err != nil {
			return err
		}
		if len(item.Columns) > len(c.plan.Columns) {
			return sqlstate.New(sqlstate.InvalidColumnReference, "WITH query %q has %d columns available but %d columns specified",
				sqlstate.Cut(item.Name, 64), len(c.plan.Columns), len(item.Columns))
		}
		s.ctes[item.Name] = c
	}
	return nil
}

func (p *Planner) cteQuery(s *Scope, item *syntax.CTE, c *ctePlan) error {
	inner := &Scope{parent: s.parent, ctes: s.ctes, Frame: -1}
	set, recursive := item.Query.Body.(*syntax.SetOp)
	if !item.Recursive || !recursive {
		q, err := p.Query(item.Query, inner)
		if err != nil {
			return err
		}
		c.plan = p.settledCopy(q)
		return nil
	}
	first, err := p.Query(set.Left, inner)
	if err != nil {
		return err
	}
	c.plan, c.all = p.settledCopy(first), set.All
	self := &Scope{parent: inner, Frame: -1, ctes: map[string]*ctePlan{item.Name: c}}
	repeat, err := p.Query(set.Right, self)
	if err != nil {
		return err
	}
	if len(repeat.Columns) != len(c.plan.Columns) {
		return At(set.Pos, errUnionColumns)
	}
	c.folds = p.columnFolds(c.plan.Columns)
	c.repeat = &QueryPlan{Columns: c.plan.Columns, Open: converted(repeat, c.plan.Columns)}
	return nil
}

// settledCopy is q with untyped columns turned into text.
func (p *Planner) settledCopy(q *QueryPlan) *QueryPlan {
	raw := slices.Clone(q.Columns)
	p.Settle(q)
	return &QueryPlan{Columns: q.Columns, Open: converted(&QueryPlan{Columns: raw, Open: q.Open}, q.Columns)}
}

// open reads the item's rows, computing them first where needed.
func (c *ctePlan) open(x *Exec) (Rows, error) {
	for len(x.ctes) <= c.index {
		x.ctes = append(x.ctes, &cteRows{})
	}
	state := x.ctes[c.index]
	switch {
	case state.inside:
		return &SliceRows{Rows: state.working}, nil
	case !state.done:
		held, lasting := x.held, x.lasting
		if err := c.compute(x, state); err != nil {
			return nil, err
		}
		x.lasts(held, lasting)
		state.done = true
	}
	return &SliceRows{Rows: state.rows}, nil
}

// compute runs the item; a recursive one until a step yields nothing new.
func (c *ctePlan) compute(x *Exec, state *cteRows) error {
	rows, err := c.plan.all(x)
	if err != nil || c.repeat == nil {
		state.rows = rows
		return err
	}
	seen := map[string]bool{}
	fresh := func(rows [][]datum.Value) [][]datum.Value {
		if c.all {
			return rows
		}
		out := rows[:0]
		for _, r := range rows {
			if key := string(rowKey(nil, r, c.folds)); !seen[key] {
				seen[key] = true
				out = append(out, r)
			}
		}
		return out
	}
	state.inside = true
	defer func() { state.inside, state.working = false, nil }()
	for rows = fresh(rows); len(rows) > 0; rows = fresh(rows) {
		state.rows = append(state.rows, rows...)
		state.working = rows
		if rows, err = c.repeat.all(x); err != nil {
			return err
		}
		if err := x.Ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// withCTEs lets the items of a WITH below a correlated query be computed
// anew each time the query runs.
func (p *Planner) withCTEs(q *QueryPlan, s *Scope) *QueryPlan {
	if len(s.ctes) == 0 || s.parent == nil {
		return q
	}
	inner := q.Open
	q.Open = func(x *Exec) (Rows, error) {
		for _, c := range s.ctes {
			if c.index < len(x.ctes) {
				x.ctes[c.index] = &cteRows{}
			}
		}
		return inner(x)
	}
	return q
}
