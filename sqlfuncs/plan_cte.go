package sqlfuncs

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
	plan   *queryPlan // the item, or the first branch of a recursive one
	repeat *queryPlan // the recursive branch
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

func (c *ctePlan) columns() []fromColumn {
	out := make([]fromColumn, len(c.plan.columns))
	for i, col := range c.plan.columns {
		name := col.Name
		if i < len(c.names) {
			name = c.names[i]
		}
		out[i] = fromColumn{name: name, typ: col.Type, mod: col.TypeMod, fields: col.fields, collation: collation{col.collation.name, implicit}}
	}
	return out
}

// with analyses WITH.
func (p *planner) with(s *scope, t *syntax.Select) error {
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
		if len(item.Columns) > len(c.plan.columns) {
			return sqlstate.New(sqlstate.InvalidColumnReference, "WITH query %q has %d columns available but %d columns specified",
				sqlstate.Cut(item.Name, 64), len(c.plan.columns), len(item.Columns))
		}
		s.ctes[item.Name] = c
	}
	return nil
}

func (p *planner) cteQuery(s *scope, item *syntax.CTE, c *ctePlan) error {
	inner := &scope{parent: s.parent, ctes: s.ctes, frame: -1}
	set, recursive := item.Query.Body.(*syntax.SetOp)
	if !item.Recursive || !recursive || set.Op != "UNION" {
		q, err := p.query(item.Query, inner)
		if err != nil {
			return err
		}
		c.plan = p.settledCopy(q)
		return nil
	}
	first, err := p.query(set.Left, inner)
	if err != nil {
		return err
	}
	c.plan, c.all = p.settledCopy(first), set.All
	self := &scope{parent: inner, frame: -1, ctes: map[string]*ctePlan{item.Name: c}}
	repeat, err := p.query(set.Right, self)
	if err != nil {
		return err
	}
	if len(repeat.columns) != len(c.plan.columns) {
		return at(set.Pos, sqlstate.New(sqlstate.SyntaxError, "each UNION query must have the same number of columns"))
	}
	c.folds = p.columnFolds(c.plan.columns)
	c.repeat = &queryPlan{columns: c.plan.columns, open: converted(repeat, c.plan.columns)}
	return nil
}

// settledCopy is q with untyped columns turned into text.
func (p *planner) settledCopy(q *queryPlan) *queryPlan {
	raw := slices.Clone(q.columns)
	p.settle(q)
	return &queryPlan{columns: q.columns, open: converted(&queryPlan{columns: raw, open: q.open}, q.columns)}
}

// open reads the item's rows, computing them first where needed.
func (c *ctePlan) open(x *exec) (rowIter, error) {
	for len(x.ctes) <= c.index {
		x.ctes = append(x.ctes, &cteRows{})
	}
	state := x.ctes[c.index]
	switch {
	case state.inside:
		return &sliceRows{rows: state.working}, nil
	case !state.done:
		if err := c.compute(x, state); err != nil {
			return nil, err
		}
		state.done = true
	}
	return &sliceRows{rows: state.rows}, nil
}

// compute runs the item; a recursive one until a step yields nothing new.
func (c *ctePlan) compute(x *exec, state *cteRows) error {
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
		if err := x.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// withCTEs lets the items of a WITH below a correlated query be computed
// anew each time the query runs.
func (p *planner) withCTEs(q *queryPlan, s *scope) *queryPlan {
	if len(s.ctes) == 0 || s.parent == nil {
		return q
	}
	inner := q.open
	q.open = func(x *exec) (rowIter, error) {
		for _, c := range s.ctes {
			if c.index < len(x.ctes) {
				x.ctes[c.index] = &cteRows{}
			}
		}
		return inner(x)
	}
	return q
}
