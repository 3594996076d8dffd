package sqlfuncs

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// source is a part of FROM: it fills its stretch of the level's row.
type source interface {
	open(x *exec) (rowSource, error)
	span() span
	// deps lists what rows the source depends on within its own level.
	deps() []ref
	addFilter(conds []*expr)
}

// rowSource is a source being read.
type rowSource interface {
	next(x *exec) (bool, error)
	close()
}

// span is a stretch of a level's row.
type span struct{ frame, from, to int }

func (s span) holds(r ref) bool { return r.frame == s.frame && r.index >= s.from && r.index < s.to }

// dependsOn reports whether any of refs lies in the span.
func (s span) dependsOn(refs []ref) bool {
	return slices.ContainsFunc(refs, s.holds)
}

// from analyses FROM and WHERE. Each condition goes to the first join step
// that has all columns it reads; what is left is returned.
func (p *planner) from(s *scope, c *syntax.SelectCore) (source, []*expr, error) {
	var parts []source
	for _, t := range c.From {
		part, err := p.tableRef(s, t)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, part)
	}
	var conds []*expr
	for _, e := range conjuncts(c.Where, nil) {
		x, err := p.boolean(s, e, "WHERE")
		if err != nil {
			return nil, nil, err
		}
		conds = append(conds, x)
	}
	conds, once := splitOnce(conds, s.frame, len(parts) > 0)
	var src source
	for i, part := range parts {
		if src == nil {
			src = part
		} else {
			src = newJoin(syntax.InnerJoin, src, part, nil)
		}
		whole := span{s.frame, 0, src.span().to}
		var mine []*expr
		rest := conds[:0:0]
		for _, cond := range conds {
			if i == len(parts)-1 || readable(cond, whole) {
				mine = append(mine, cond)
			} else {
				rest = append(rest, cond)
			}
		}
		conds = rest
		src.addFilter(mine)
	}
	if len(once) > 0 {
		src = &gateSource{src, once}
	}
	return src, conds, nil
}

// splitOnce takes out the conditions that are the same for every row: they
// are looked at before the first row is read, since reading may draw ids.
func splitOnce(conds []*expr, frame int, from bool) (rows, once []*expr) {
	for _, c := range conds {
		if from && !c.volatile && len(sameLevel(c.refs, frame)) == 0 {
			once = append(once, c)
		} else {
			rows = append(rows, c)
		}
	}
	return rows, once
}

// readable reports whether cond can be computed from the columns of a span.
func readable(cond *expr, s span) bool {
	for _, r := range cond.refs {
		if r.frame == s.frame && !s.holds(r) {
			return false
		}
	}
	return !cond.volatile
}

// conjuncts splits a condition at its ANDs.
func conjuncts(e syntax.Expr, out []syntax.Expr) []syntax.Expr {
	if e == nil {
		return out
	}
	if b, ok := unparen(e).(*syntax.Binary); ok && b.Op == "AND" {
		return conjuncts(b.R, conjuncts(b.L, out))
	}
	return append(out, e)
}

func (p *planner) tableRef(s *scope, t syntax.TableRef) (source, error) {
	switch t := t.(type) {
	case *syntax.Table:
		return p.table(s, t)
	case *syntax.TableFunc:
		return p.tableFunc(s, t)
	case *syntax.Derived:
		return p.derived(s, t)
	case *syntax.Join:
		return p.join(s, t)
	}
	return nil, sqlstate.New(sqlstate.FeatureNotSupported, "this item of FROM is not supported")
}

// addItem gives a FROM item its place, with the alias's column names.
func (p *planner) addItem(s *scope, it *fromItem, aliases []string) (span, error) {
	if len(aliases) > len(it.columns) {
		return span{}, sqlstate.New(sqlstate.InvalidColumnReference, "table %q has %d columns available but %d columns specified",
			it.alias, len(it.columns), len(aliases))
	}
	if len(aliases) > 0 {
		it.columns = append([]fromColumn(nil), it.columns...)
		for i, a := range aliases {
			it.columns[i].name = a
		}
	}
	if err := s.add(it); err != nil {
		return span{}, err
	}
	return span{s.frame, it.offset, it.offset + len(it.columns)}, nil
}

// table is a relation: a WITH item, or one of ours.
func (p *planner) table(s *scope, t *syntax.Table) (source, error) {
	alias := t.Alias
	if alias == "" {
		alias = t.Name.Last()
	}
	if len(t.Name) == 1 {
		if c := s.cte(t.Name[0]); c != nil {
			p.usesCTE(c)
			it := &fromItem{alias: alias, columns: c.columns()}
			if p.mysql {
				it.describeQuery(c.plan.columns)
			}
			sp, err := p.addItem(s, it, t.Columns)
			return &scanSource{sp: sp, rows: c.open}, err
		}
	}
	def, err := p.host.Table(p, t.Name)
	if err != nil {
		return nil, at(t.Pos, err)
	}
	it := &fromItem{alias: alias, columns: def.fromColumns(), relation: def.oid}
	if p.mysql {
		def.describeMySQL(it, t.Name)
	}
	if t.Alias == "" {
		it.schema = def.schema
	}
	sp, err := p.addItem(s, it, t.Columns)
	if err != nil {
		return nil, err
	}
	if !def.catalog {
		p.isVolatile() // reading may draw ids
	}
	return &tableSource{scanSource: scanSource{sp: sp}, def: def}, nil
}

// derived is a subquery in FROM.
func (p *planner) derived(s *scope, t *syntax.Derived) (source, error) {
	outer := s.parent
	if t.Lateral {
		outer = s
	} else if outer == nil || len(s.ctes) > 0 {
		outer = &scope{parent: s.parent, ctes: s.ctes, frame: -1}
	}
	q, err := p.query(t.Query, outer)
	if err != nil {
		return nil, err
	}
	raw := slices.Clone(q.columns)
	p.settle(q) // untyped literals become text here
	columns := make([]fromColumn, len(q.columns))
	for i, c := range q.columns {
		columns[i] = fromColumn{
			name: c.Name, typ: c.Type, mod: c.TypeMod, table: c.Table, attr: c.Attr, fields: c.fields,
			collation: collation{c.collation.name, implicit},
		}
	}
	open := converted(&queryPlan{columns: raw, open: q.open}, q.columns)
	it := &fromItem{alias: t.Alias, columns: columns}
	if p.mysql {
		it.describeQuery(q.columns)
	}
	sp, err := p.addItem(s, it, t.Columns)
	src := &scanSource{sp: sp, rows: open, inner: newPushTarget(q, columns)}
	if t.Lateral {
		src.lateral = []ref{{s.frame, 0}}
		if sp.from == 0 {
			src.lateral = nil
		}
	}
	return src, err
}

// join analyses JOIN.
func (p *planner) join(s *scope, t *syntax.Join) (source, error) {
	first, firstShown := len(s.items), len(s.shown)
	l, err := p.tableRef(s, t.Left)
	if err != nil {
		return nil, err
	}
	second := len(s.items)
	r, err := p.tableRef(s, t.Right)
	if err != nil {
		return nil, err
	}
	left, right := s.items[first:second:second], s.items[second:]
	if t.Kind == syntax.LeftJoin {
		mayMiss(right)
	}
	if t.Kind == syntax.RightJoin {
		mayMiss(left)
	}
	using := t.Using
	if t.Natural {
		using = p.sharedColumns(left, right)
	}
	pairs, conds, err := p.usingConditions(s, t, using, left, right)
	if err != nil {
		return nil, err
	}
	local := &scope{parent: s.parent, frame: s.frame, items: s.items[first:], ctes: s.ctes, width: s.width}
	for _, e := range conjuncts(t.On, nil) {
		x, err := p.boolean(local, e, "JOIN/ON")
		if err != nil {
			return nil, err
		}
		conds = append(conds, x)
	}
	j := newJoin(t.Kind, l, r, conds)
	for _, pair := range pairs {
		if t.Kind == syntax.RightJoin {
			pair.left, pair.right = pair.right, pair.left
		}
		pair.right.hide()
	}
	showFirst(s.shown[firstShown:], using)
	s.shown = slices.DeleteFunc(s.shown, func(c foundColumn) bool { return c.column().merged })
	return j, nil
}

// usingPair is one name of USING.
type usingPair struct {
	left, right *foundColumn
	equal       [2]*expr // both, converted to one type
}

// usingConditions finds the columns of USING and compares them.
func (p *planner) usingConditions(s *scope, t *syntax.Join, using []string, left, right []*fromItem) ([]usingPair, []*expr, error) {
	var pairs []usingPair
	var conds []*expr
	for _, name := range using {
		pair := usingPair{left: p.findColumn(left, name), right: p.findColumn(right, name)}
		if pair.left == nil || pair.right == nil {
			return nil, nil, sqlstate.New(sqlstate.UndefinedColumn, "column %q specified in USING clause does not exist in %s table",
				sqlstate.Cut(name, 64), map[bool]string{true: "left", false: "right"}[pair.left == nil])
		}
		l, r, err := p.comparable("=", pair.left.expr(s.frame), pair.right.expr(s.frame))
		if err != nil {
			return nil, nil, at(t.Pos, err)
		}
		equal, err := p.operator("=", l, r)
		if err != nil {
			return nil, nil, at(t.Pos, err)
		}
		pair.equal = [2]*expr{l, r}
		pairs, conds = append(pairs, pair), append(conds, equal)
	}
	return pairs, conds, nil
}

// showFirst moves the visible columns of USING to the front, as * shows them.
func showFirst(shown []foundColumn, using []string) {
	rank := func(c foundColumn) int {
		if i := slices.Index(using, c.column().name); i >= 0 && !c.column().merged {
			return i
		}
		return len(using)
	}
	slices.SortStableFunc(shown, func(a, b foundColumn) int { return rank(a) - rank(b) })
}

type foundColumn struct {
	item  *fromItem
	index int
}

func (c *foundColumn) column() *fromColumn { return &c.item.columns[c.index] }
func (c *foundColumn) hide()               { c.column().merged = true }

func (c *foundColumn) expr(frame int) *expr {
	return columnExpr(frame, c.item.offset+c.index, c.column())
}

func (p *planner) findColumn(items []*fromItem, name string) *foundColumn {
	for _, it := range items {
		for i := range it.columns {
			if p.same(it.columns[i].name, name) && !it.columns[i].merged {
				return &foundColumn{it, i}
			}
		}
	}
	return nil
}

func (p *planner) sharedColumns(left, right []*fromItem) []string {
	var names []string
	for _, it := range left {
		for _, c := range it.columns {
			if !c.merged && p.findColumn(right, c.name) != nil {
				names = append(names, c.name)
			}
		}
	}
	return names
}

// spreadUnnest writes unnest(a, b) in FROM as PostgreSQL does: ROWS FROM
// (unnest(a), unnest(b)).
func spreadUnnest(calls []*syntax.FuncCall) []*syntax.FuncCall {
	var spread []*syntax.FuncCall
	for _, call := range calls {
		if call.Name.Last() != "unnest" || len(call.Args) < 2 {
			spread = append(spread, call)
			continue
		}
		for i := range call.Args {
			one := *call
			one.Args = call.Args[i : i+1]
			spread = append(spread, &one)
		}
	}
	return spread
}

// tableFunc is a function in FROM.
func (p *planner) tableFunc(s *scope, t *syntax.TableFunc) (source, error) {
	it := &fromItem{alias: t.Alias}
	var opens []func(x *exec) (rowIter, error)
	var widths []int
	var refs []ref
	var only *setCall
	calls := spreadUnnest(t.Funcs)
	for _, call := range calls {
		inner := &scope{parent: s.parent, frame: s.frame, items: s.items, ctes: s.ctes, width: s.width}
		f, args, err := p.resolveCall(inner, call)
		if err != nil {
			return nil, err
		}
		if f.agg != nil {
			return nil, at(call.Pos, sqlstate.New(sqlstate.Grouping, "aggregate functions are not allowed in functions in FROM"))
		}
		if it.alias == "" {
			it.alias = f.name
		}
		name := f.name
		if len(calls) == 1 {
			name = it.alias
		}
		columns, open, err := p.functionRows(f, args, name, t)
		if err != nil {
			return nil, at(call.Pos, err)
		}
		it.scalar = len(calls) == 1 && len(f.columns) <= 1
		it.columns = append(it.columns, columns...)
		opens, widths = append(opens, open), append(widths, len(columns))
		only = &setCall{f, args}
		for _, a := range args {
			if a != nil {
				refs = append(refs, a.refs...)
			}
		}
	}
	if t.Ordinality {
		it.columns = append(it.columns, fromColumn{name: "ordinality", typ: datum.Int8, mod: -1})
	}
	sp, err := p.addItem(s, it, t.Columns)
	if err != nil {
		return nil, err
	}
	src := &scanSource{sp: sp, rows: opens[0], call: only}
	if len(opens) > 1 || t.Ordinality {
		src.call = nil
		src.rows = func(x *exec) (rowIter, error) { return zipRows(x, opens, widths, t.Ordinality) }
	}
	for _, r := range refs {
		if r.frame == s.frame {
			src.lateral = append(src.lateral, r)
		}
	}
	return src, nil
}

// functionRows makes the rows of a function in FROM, and their columns. A
// function of one plain value names its column name.
func (p *planner) functionRows(f *function, args []*expr, name string, t *syntax.TableFunc) ([]fromColumn, func(*exec) (rowIter, error), error) {
	columns := f.columnsFor(args)
	if f.set {
		result := f.resultFor(args)
		if len(columns) == 0 {
			columns = []fromColumn{{name: name, typ: result, mod: -1}}
		}
		return columns, func(x *exec) (rowIter, error) {
			values, null, err := evalArgs(x, args)
			if err != nil || (null && !f.nullable) {
				return &sliceRows{}, err
			}
			return f.rows(x, values)
		}, nil
	}
	if f.fromRow != nil {
		return columns, func(x *exec) (rowIter, error) {
			values, null, err := evalArgs(x, args)
			if err != nil || null {
				return nullRow(columns), err
			}
			row, err := f.fromRow(x, values)
			return singleRow(row...), err
		}, nil
	}
	x, err := p.apply(f, args)
	if err != nil {
		return nil, nil, err
	}
	if x, err = p.resolveUnknown(x); err != nil {
		return nil, nil, err
	}
	if len(x.fields) > 0 {
		return x.fields, func(ex *exec) (rowIter, error) {
			v, err := x.eval(ex)
			if err != nil || !v.Valid {
				return nullRow(x.fields), err
			}
			return singleRow(v.Elems...), nil
		}, nil
	}
	return []fromColumn{{name: name, typ: x.typ, mod: -1}}, func(ex *exec) (rowIter, error) {
		v, err := x.eval(ex)
		return singleRow(v), err
	}, nil
}

// nullRow is what a function of one row gives for NULL.
func nullRow(columns []fromColumn) rowIter {
	row := make([]datum.Value, len(columns))
	for i, c := range columns {
		row[i] = datum.Null(c.typ)
	}
	return singleRow(row...)
}

// columnsFor are the columns of the rows of a call; a column of type
// anyElement has that of the elements of the array that is the first argument.
func (f *function) columnsFor(args []*expr) []fromColumn {
	columns := slices.Clone(f.columns)
	for i := range columns {
		if columns[i].typ == anyElement {
			info, _ := datum.TypeInfo(args[0].typ)
			columns[i].typ = info.Elem
		}
	}
	return columns
}

// resultFor is the result type of a call: anyElement and anyArray follow
// the first argument.
func (f *function) resultFor(args []*expr) datum.OID {
	if len(args) == 0 || args[0] == nil {
		return f.result
	}
	info, _ := datum.TypeInfo(args[0].typ)
	switch f.result {
	case anyElement:
		if info.Elem != 0 && f.args[0].typ == datum.AnyArray {
			return info.Elem
		}
		return args[0].typ
	case datum.AnyArray:
		if info.Elem != 0 {
			return args[0].typ
		}
		return info.Array
	}
	return f.result
}
