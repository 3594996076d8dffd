package engine

import (
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// grouping is set in a scope while the clauses after GROUP BY are analysed. They
// read columns only through the group.
type grouping struct {
	plan  *groupPlan
	trees []syntax.Expr // of GROUP BY
	exprs []*Expr
}

// groupPlan computes groups and aggregates. Its rows have a frame of their own: the
// GROUP BY expressions, then the aggregates.
type groupPlan struct {
	frame  int
	by     []*Expr
	folds  folds // of by
	calls  []*aggregateCall
	having []*Expr
}

// aggregateCall is one aggregate of a grouped query.
type aggregateCall struct {
	tree     *syntax.FuncCall
	f        *Function
	args     []*Expr
	distinct bool
	order    []sortKey // columns are those of the arguments, then of orderBy
	orderBy  []*Expr
	folds    folds // of args
}

// IsGrouped reports whether a query has GROUP BY, HAVING or aggregates. With the trait
// Lenient, HAVING alone filters rows.
func (p *Planner) IsGrouped(c *syntax.SelectCore, orderBy []syntax.OrderItem) bool {
	if len(c.GroupBy) > 0 || c.Having != nil && !p.Traits.Lenient {
		return true
	}
	found := false
	look := func(e syntax.Expr) bool {
		p.Yield()
		call, ok := e.(*syntax.FuncCall)
		if ok && call.Over == nil && p.Catalog.IsAggregate(call) {
			found = true
		}
		return !found
	}
	for _, t := range c.Targets {
		syntax.Walk(t.Expr, look)
	}
	for _, o := range orderBy {
		syntax.Walk(o.Expr, look)
	}
	syntax.Walk(c.Having, look)
	return found
}

// IsAggregate reports whether a call is of an aggregate function.
func (c *Catalog) IsAggregate(e *syntax.FuncCall) bool {
	for _, f := range c.Functions[e.Name.Last()] {
		if f.IsAggregate() && f.inSchema(e.Name) {
			return true
		}
	}
	return false
}

// group analyses GROUP BY and HAVING and switches the scope to the groups.
func (p *Planner) group(s *Scope, c *syntax.SelectCore, plan *selectPlan) error {
	g := &grouping{plan: &groupPlan{frame: p.NewFrame()}}
	for _, e := range c.GroupBy {
		tree, err := p.groupTarget(s, c, e)
		if err != nil {
			return err
		}
		x, err := p.Expr(s, tree)
		if err != nil {
			return err
		}
		if x, err = p.ResolveUnknown(x); err != nil {
			return err
		}
		g.trees, g.exprs = append(g.trees, tree), append(g.exprs, x)
	}
	g.plan.by, g.plan.folds = g.exprs, p.foldsOf(g.exprs)
	s.group = g
	plan.groups = g.plan
	var err error
	g.plan.having, err = p.conditions(s, c.Having, "HAVING")
	return err
}

// groupTarget resolves GROUP BY 1 and GROUP BY alias to an item of the select list.
func (p *Planner) groupTarget(s *Scope, c *syntax.SelectCore, e syntax.Expr) (syntax.Expr, error) {
	columns := make([]Column, len(c.Targets))
	for i, t := range c.Targets {
		columns[i].Name = t.Alias
	}
	if col, ok := e.(*syntax.Column); ok && len(col.Name) == 1 {
		for _, it := range s.items { // a column of FROM takes precedence over an alias
			if p.findColumn([]*FromItem{it}, col.Name[0]) != nil {
				return e, nil
			}
		}
	}
	same := func(i, j int) bool { return p.means(s, c.Targets[i].Expr, c.Targets[j].Expr) }
	if i, err := p.outputColumn("GROUP BY", e, columns, same); err != nil || i >= 0 {
		if err != nil {
			return nil, err
		}
		return c.Targets[i].Expr, nil
	}
	return e, nil
}

// groupedExpr returns the group's column for a GROUP BY expression or an aggregate,
// else nil.
func (p *Planner) groupedExpr(s *Scope, e syntax.Expr) *Expr {
	if s == nil || s.group == nil {
		return nil
	}
	switch e.(type) {
	case *syntax.Literal, *syntax.Param:
		return nil
	}
	g := s.group
	for i, t := range g.trees {
		if p.means(s, t, e) {
			return p.outer(groupSlot(g.plan.frame, i, g.exprs[i]))
		}
	}
	return nil
}

// means reports whether two expressions of a level are the same. Only one of them
// may qualify a column.
func (p *Planner) means(s *Scope, a, b syntax.Expr) bool {
	g := s.group
	s.group = nil // the columns are those of the rows
	defer func() { s.group = g }()
	return syntax.SameBy(a, b, func(a, b *syntax.Column) bool {
		if syntax.Same(a, b) {
			return true
		}
		x, err := p.resolveColumn(s, a)
		if err != nil || !x.Column {
			return false
		}
		y, err := p.resolveColumn(s, b)
		return err == nil && y.Column && x.Refs[0] == y.Refs[0]
	})
}

func groupSlot(frame, i int, of *Expr) *Expr {
	return &Expr{
		Type: of.Type, TypeMod: of.TypeMod, name: of.name, Letters: of.Letters, known: columnOf(of.Known()),
		Refs: []ref{{frame, i}},
	}
}

// grouped checks that GROUP BY has a column of a grouped level.
func (p *Planner) grouped(level *Scope, c *syntax.Column, found *Expr) (*Expr, error) {
	g := level.group
	if g == nil {
		return found, nil
	}
	for i, e := range g.exprs {
		if e.Column && found.Column && e.Refs[0] == found.Refs[0] {
			return groupSlot(g.plan.frame, i, e), nil
		}
	}
	label := sqlstate.Cut(columnLabel(level, found, c), 128)
	return nil, At(c.Pos, p.Dialect.NotGrouped(label))
}

// NotGrouped implements Dialect.
func (PostgreSQL) NotGrouped(label string) error {
	return sqlstate.New(sqlstate.Grouping, "column %q must appear in the GROUP BY clause or be used in an aggregate function", label)
}

func columnLabel(level *Scope, found *Expr, c *syntax.Column) string {
	for _, it := range level.items {
		if len(found.Refs) > 0 && found.Refs[0].index >= it.offset && found.Refs[0].index < it.offset+len(it.Columns) {
			return it.alias + "." + c.Name.Last()
		}
	}
	return c.Name.Last()
}

// grouped returns the nearest level that has groups, or nil.
func (s *Scope) grouped() *Scope {
	for s != nil && s.group == nil {
		s = s.parent
	}
	return s
}

// Aggregate analyses an aggregate call after GROUP BY.
func (p *Planner) Aggregate(s *Scope, e *syntax.FuncCall) (*Expr, error) {
	level := s.grouped()
	if level == nil {
		return nil, At(e.Pos, sqlstate.New(sqlstate.Grouping, "aggregate functions are not allowed here"))
	}
	g := level.group
	if slices.ContainsFunc(level.items, func(it *FromItem) bool { return it.working }) {
		return nil, At(e.Pos, errRecursion("where rows are aggregated"))
	}
	for i, c := range g.plan.calls {
		if syntax.Same(c.tree, e) && !Derive(0, nil, c.args...).Volatile { // each call draws ids of its own
			return p.outer(aggregateSlot(g.plan, i)), nil
		}
	}
	for _, a := range e.Args {
		if over := windowCallIn(a.Value); over != nil {
			return nil, At(over.Pos, sqlstate.New(sqlstate.Grouping, "aggregate function calls cannot contain window function calls"))
		}
	}
	level.group = nil // its arguments read the rows before grouping
	defer func() { level.group = g }()
	defer s.noSets()()
	f, args, err := p.resolveCall(s, e)
	if err != nil {
		return nil, err
	}
	call := &aggregateCall{tree: e, f: f, args: args, folds: p.foldsOf(args), distinct: e.Distinct}
	for _, o := range e.OrderBy {
		at := slices.IndexFunc(e.Args, func(a syntax.Arg) bool { return syntax.Same(a.Value, o.Expr) })
		switch {
		case at >= 0: // computed once
			call.order = append(call.order, p.newSortKey(at, o, args[at]))
			continue
		case e.Distinct && !p.Traits.Lenient:
			return nil, At(o.Expr.Position(), sqlstate.New(sqlstate.InvalidColumnReference,
				"in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"))
		}
		x, err := p.Expr(s, o.Expr)
		if err != nil {
			return nil, err
		}
		call.order = append(call.order, p.newSortKey(len(args)+len(call.orderBy), o, x))
		call.orderBy = append(call.orderBy, x)
	}
	if e.Distinct && f.Name != "count" { // PostgreSQL finds duplicates by sorting; the order does not change a count
		for i := range args {
			call.order = append(call.order, sortKey{column: i, fold: call.folds.at(i)})
		}
	}
	reads := Derive(0, nil, slices.Concat(args, call.orderBy)...).Refs
	if len(reads) > 0 && !slices.ContainsFunc(reads, func(r ref) bool { return r.frame == level.Frame }) {
		return nil, Unsupported(e.Pos, "an aggregate that reads columns of an outer query only") // PostgreSQL computes it in the outer query
	}
	g.plan.calls = append(g.plan.calls, call)
	return p.outer(aggregateSlot(g.plan, len(g.plan.calls)-1)), nil
}

func aggregateSlot(g *groupPlan, i int) *Expr {
	c, frame := g.calls[i], g.frame
	slot := len(g.by) + i
	letters := slices.ContainsFunc(c.args, func(a *Expr) bool { return a.Letters })
	return &Expr{
		Type: c.f.resultFor(c.args), TypeMod: -1, name: c.f.Name, Refs: []ref{{frame, slot}}, Letters: letters,
	}
}

// width returns the number of columns of a group.
func (g *groupPlan) width() int { return len(g.by) + len(g.calls) }

// group is the state of one group.
type group struct {
	by    []datum.Value
	calls []aggregateState
}

type aggregateState struct {
	agg  Aggregate
	seen keySet          // DISTINCT
	rows [][]datum.Value // ORDER BY: arguments, then sort keys
}

// open reads all of src and returns the groups.
func (g *groupPlan) open(x *Exec, src rowSource) (rowSource, error) {
	groups := map[string]*group{}
	var order []*group
	var key []byte
	if len(g.by) == 0 {
		only := g.newGroup(nil)
		groups[""], order = only, append(order, only)
	}
	err := each(x, src, func() error {
		mark := x.values
		by, err := EvalAll(x, g.by)
		if err != nil {
			return err
		}
		key = rowKey(key[:0], by, g.folds)
		one := groups[string(key)]
		if one == nil {
			if err := x.Hold(keyBytes + len(key) + SizeOfRow(by) + len(g.calls)*groupBytes); err != nil {
				return err
			}
			one = g.newGroup(by)
			groups[string(key)] = one
			order = append(order, one)
		}
		for i, c := range g.calls {
			if err := c.add(x, &one.calls[i]); err != nil {
				return err
			}
			x.rowDone(mark)
		}
		return nil
	})
	return &groupRows{plan: g, groups: order}, err
}

func (g *groupPlan) newGroup(by []datum.Value) *group {
	one := &group{by: by, calls: make([]aggregateState, len(g.calls))}
	for i, c := range g.calls {
		one.calls[i].agg = c.begin()
	}
	return one
}

// begin starts the aggregate for a group.
func (c *aggregateCall) begin() Aggregate {
	var first *Expr
	if len(c.args) > 0 {
		first = c.args[0]
	}
	return c.f.Does.(NewAggregate)(first, c.folds.at(0))
}

// add adds the current row to one aggregate.
func (c *aggregateCall) add(x *Exec, st *aggregateState) error {
	values, _, err := EvalArgs(x, c.args)
	if err != nil {
		return err
	}
	if c.distinct {
		if added, err := st.seen.add(x, rowKey(nil, values, c.folds)); !added || err != nil {
			return err
		}
	}
	if len(c.order) == 0 {
		return st.agg.Add(x, values)
	}
	keys, err := EvalAll(x, c.orderBy)
	if err != nil {
		return err
	}
	row := slices.Concat(values, keys)
	st.rows = append(st.rows, row)
	return x.HoldRow(row)
}

// groupRows yields the groups.
type groupRows struct {
	plan   *groupPlan
	groups []*group // that are still to be read
}

func (r *groupRows) next(x *Exec) error {
	return advance(x, r.plan.having, func(x *Exec) error {
		if len(r.groups) == 0 {
			return io.EOF
		}
		one := r.groups[0]
		r.groups = r.groups[1:]
		frame := x.Frame(r.plan.frame, r.plan.width())
		copy(frame, one.by)
		for i, c := range r.plan.calls {
			var err error
			if frame[len(r.plan.by)+i], err = c.result(x, &one.calls[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *aggregateCall) result(x *Exec, st *aggregateState) (datum.Value, error) {
	if len(c.order) > 0 {
		if err := sortRows(x, st.rows, c.order); err != nil {
			return datum.Value{}, err
		}
		for _, row := range st.rows {
			if err := st.agg.Add(x, row[:len(c.args)]); err != nil {
				return datum.Value{}, err
			}
		}
	}
	return st.agg.Result()
}

func (r *groupRows) close() {}
