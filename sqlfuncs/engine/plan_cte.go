package engine

import (
	"errors"
	"io"
	"maps"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// ctePlan plans one WITH item. Its rows are computed once per execution, and only
// as far as they are read.
type ctePlan struct {
	index   int // in Exec.ctes
	names   []string
	plan    *QueryPlan  // the item, or its non-recursive term
	repeat  *QueryPlan  // the recursive term, nil for an ordinary query
	working bool        // this is the working table, which the recursive term reads
	reads   int         // how often queries read the item
	all     bool        // UNION ALL between the terms
	folds   folds       // of the columns, where they are compared
	steps   int         // how often the recursive term may run, 0: no limit
	inner   *selectPlan // the item as a plain subquery, nil for others
	tests   []cteTest   // conditions on its rows, see passKeys
}

// cteTest is a condition on the rows that a query reads of an item.
type cteTest struct {
	sp   span
	cond *Expr
}

// cteRows are a WITH item's rows in one execution.
type cteRows struct {
	in       Rows            // source of further rows, nil before the first
	rows     [][]datum.Value // rows read so far
	done     bool            // all rows have been read
	from, to int             // the working table, a part of rows
	seen     keySet          // of a UNION
	steps    int             // how often the recursive term ran
	bytes    int64           // bytes that all of this holds
	term     int64           // bytes that the running term holds, part of bytes
}

// set makes q the item's plan, or its non-recursive term, under the item's names.
func (c *ctePlan) set(p *Planner, q *QueryPlan) {
	c.plan = p.settledCopy(q)
	for i := range min(len(c.names), len(c.plan.Columns)) {
		c.plan.Columns[i].Name = c.names[i]
	}
}

// with analyses WITH.
func (p *Planner) with(s *Scope, t *syntax.Select) error {
	for i := range t.With {
		item := &t.With[i]
		if s.ctes == nil {
			s.ctes = map[string]*ctePlan{}
		}
		if s.ctes[item.Name] != nil {
			return sqlstate.New(sqlstate.DuplicateAlias, "WITH query name %q specified more than once", sqlstate.Cut(item.Name, 64))
		}
		c := &ctePlan{index: p.ctes, names: item.Columns}
		p.ctes++
		if err := p.cteQuery(s, item, c); err != nil {
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

// cteQuery plans the query of an item. After RECURSIVE, a UNION is recursive if its
// second part reads the item.
func (p *Planner) cteQuery(s *Scope, item *syntax.CTE, c *ctePlan) error {
	inner := &Scope{parent: s.parent, ctes: s.ctes, Frame: -1}
	if item.Recursive { // its name is no table's
		inner = &Scope{parent: inner, ctes: map[string]*ctePlan{item.Name: {}}, Frame: -1}
	}
	query := item.Query
	union, ok := query.Body.(*syntax.SetOp)
	if !ok || !item.Recursive || query.With != nil || query.OrderBy != nil || query.Limit != nil || query.Offset != nil {
		q, err := p.Query(query, inner)
		if err != nil {
			return err
		}
		c.set(p, q)
		c.inner = q.plain
		return nil
	}
	first, err := p.Query(union.Left, inner)
	if err != nil {
		return err
	}
	c.set(p, first)
	for i := range c.plan.Columns {
		c.plan.Columns[i].Table, c.plan.Columns[i].Attr, c.plan.Columns[i].fields = 0, 0, nil // as in union
	}
	self := *c
	self.working = true
	p.recursive = append(p.recursive, &self)
	repeat, err := p.Query(union.Right, &Scope{parent: inner, Frame: -1, ctes: map[string]*ctePlan{item.Name: &self}})
	p.recursive = p.recursive[:len(p.recursive)-1]
	if err != nil {
		return err
	}
	if self.reads == 0 {
		q, err := p.union(union, first, repeat)
		if err != nil {
			return err
		}
		c.set(p, q)
		return nil
	}
	c.all = union.All
	c.folds = p.columnFolds(c.plan.Columns)
	if len(repeat.Columns) != len(c.plan.Columns) {
		return At(targetPos(union.Right, 0, union.Pos), errUnionColumns)
	}
	c.steps = p.Traits.Recursions
	if !p.Traits.Lenient {
		if err := p.sameAsFirst(union, item.Name, c.plan.Columns, repeat.Columns); err != nil {
			return err
		}
	}
	c.repeat = &QueryPlan{Columns: c.plan.Columns, Open: converted(repeat, c.plan.Columns)}
	return nil
}

// recursiveReads counts how often the recursive terms being planned read their
// items. Forms that PostgreSQL refuses are refused here, since their rows would
// differ.
func (p *Planner) recursiveReads() (n int) {
	for _, c := range p.recursive {
		n += c.reads
	}
	return n
}

func errRecursion(where string) error {
	return sqlstate.New(sqlstate.InvalidRecursion, "a recursive reference must not appear %s", where)
}

// sameAsFirst checks that the columns of the recursive term have the types of the
// non-recursive term.
func (p *Planner) sameAsFirst(union *syntax.SetOp, name string, first, repeat []Column) error {
	for i, c := range first {
		t, err := p.Dialect.Common([]datum.OID{c.Type, repeat[i].Type})
		if err != nil {
			return At(targetPos(union.Right, i, union.Pos), errUnionTypes(c, repeat[i]))
		}
		mod := c.TypeMod
		if t != c.Type || repeat[i].Type != datum.Unknown && repeat[i].TypeMod != mod {
			mod = -1
		}
		if t != c.Type || mod != c.TypeMod {
			return At(targetPos(union.Left, i, union.Pos), sqlstate.New(sqlstate.DatatypeMismatch,
				"recursive query %q column %d has type %s in non-recursive term but type %s overall",
				sqlstate.Cut(name, 64), i+1, datum.FormatType(c.Type, c.TypeMod), datum.FormatType(t, mod)).
				WithHint("Cast the output of the non-recursive term to the correct type."))
		}
	}
	return nil
}

// settledCopy returns q with untyped columns turned into text.
func (p *Planner) settledCopy(q *QueryPlan) *QueryPlan {
	settled := &QueryPlan{Columns: slices.Clone(q.Columns)}
	p.Settle(settled)
	settled.Open = converted(q, settled.Columns)
	return settled
}

// open reads the item's rows. A row is computed when the first reader needs it.
func (c *ctePlan) open(x *Exec) (Rows, error) {
	for len(x.ctes) <= c.index {
		x.ctes = append(x.ctes, &cteRows{})
	}
	state := x.ctes[c.index]
	if c.working {
		return &SliceRows{Rows: state.rows[state.from:state.to]}, nil
	}
	read := 0
	return RowsFunc(func(x *Exec) ([]datum.Value, error) {
		if read == len(state.rows) {
			if err := c.pull(x, state); err != nil {
				return nil, err
			}
		}
		read++
		return state.rows[read-1], nil
	}), nil
}

// pull computes the item's next row; it returns io.EOF after the last. The row
// stays in memory until the statement ends.
func (c *ctePlan) pull(x *Exec, state *cteRows) error {
	if state.done {
		return io.EOF
	}
	held, lasting, values := x.held, x.lasting, x.values
	x.values = 0 // the values of the reader are not this query's
	defer func() {
		x.rowDone(0)
		x.values = values
		state.bytes += x.held - held - (x.lasting - lasting)
		x.lasts(held, lasting)
	}()
	for {
		row, err := c.next(x, state)
		if err != nil {
			return err
		}
		if c.repeat != nil && !c.all {
			added, err := state.seen.add(x, rowKey(nil, row, c.folds))
			if err != nil {
				return err
			}
			if !added {
				continue
			}
		}
		if err := x.HoldRow(row); err != nil {
			return err
		}
		state.rows = append(state.rows, slices.Clone(row))
		return nil
	}
}

// next returns the next row of the terms. The recursive term runs over the rows
// that its last run added, until a run adds none.
func (c *ctePlan) next(x *Exec, state *cteRows) (row []datum.Value, err error) {
	of := c.plan // the term to open, nil while one is open
	if state.in != nil {
		of = nil
	}
	for {
		held, lasting := x.held, x.lasting
		if of != nil {
			if state.in, err = of.Open(x); err != nil {
				return nil, err
			}
		}
		if row, err = state.in.Next(x); errors.Is(err, io.EOF) {
			state.in.Close()
		}
		if state.term += x.held - held - (x.lasting - lasting); !errors.Is(err, io.EOF) {
			return row, err
		}
		x.giveBack(state.term)
		state.term = 0
		state.from, state.to = state.to, len(state.rows)
		if c.repeat == nil || state.from == state.to {
			state.done = true
			return nil, io.EOF
		}
		if state.steps++; c.steps > 0 && state.steps > c.steps {
			return nil, sqlstate.New(sqlstate.LimitExceeded, "Recursive query aborted after %d iterations", c.steps).
				WithHint("A recursion ends when its last step finds no row. Add a condition to its second SELECT.").WithMySQL(3636, "HY000")
		}
		if err := x.Tick(); err != nil {
			return nil, err
		}
		of = c.repeat
	}
}

// passKeys passes conditions on the rows of an item that is read once to the tables in
// it, as for a subquery in FROM. An item may read one before it.
func passKeys(ctes map[string]*ctePlan) {
	last := slices.SortedFunc(maps.Values(ctes), func(a, b *ctePlan) int { return b.index - a.index })
	for _, c := range last {
		if c.reads != 1 || c.inner == nil {
			continue
		}
		for _, t := range c.tests {
			c.inner.addKeys(t.sp, []*Expr{t.cond})
		}
	}
}

// withCTEs recomputes the items of a WITH below a correlated query each time the
// query runs.
func (p *Planner) withCTEs(q *QueryPlan, s *Scope) *QueryPlan {
	if len(s.ctes) == 0 || s.parent == nil {
		return q
	}
	inner := q.Open
	q.Open = func(x *Exec) (Rows, error) {
		for _, c := range s.ctes {
			if c.index < len(x.ctes) {
				x.ctes[c.index].drop(x)
				x.ctes[c.index] = &cteRows{}
			}
		}
		return inner(x)
	}
	return q
}

// drop stops counting the memory of the rows.
func (r *cteRows) drop(x *Exec) {
	if r.in != nil && !r.done {
		r.in.Close()
	}
	x.lasting -= r.bytes
	x.giveBack(r.bytes)
}
