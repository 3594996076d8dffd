package engine

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// source is a part of FROM. Reading it fills its columns of the level's row.
type source interface {
	open(x *Exec) (rowSource, error)
	span() span
	// deps lists the columns of its own level that the source reads.
	deps() []ref
	addFilter(conds []*Expr)
}

// rowSource is a source that has been opened. next moves to the next row; its error
// after the last row is io.EOF.
type rowSource interface {
	next(x *Exec) error
	close()
}

// span is a range of columns of a level's row.
type span struct{ frame, from, to int }

func (s span) holds(r ref) bool { return r.frame == s.frame && r.index >= s.from && r.index < s.to }

// dependsOn reports whether any of refs lies in the span.
func (s span) dependsOn(refs []ref) bool {
	return slices.ContainsFunc(refs, s.holds)
}

// from analyses FROM and WHERE. Each condition goes to the first join step that has
// all columns it reads. from returns the remaining conditions.
func (p *Planner) from(s *Scope, c *syntax.SelectCore) (source, []*Expr, error) {
	p.ReadsTables = p.ReadsTables || len(c.From) > 0
	var parts []source
	shown := make([][]foundColumn, len(c.From))
	before := len(s.shown)
	for _, i := range p.readingOrder(s, c) {
		part, err := p.tableRef(s, c.From[i])
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, part)
		shown[i] = slices.Clone(s.shown[before:])
		s.shown = s.shown[:before]
	}
	s.shown = append(s.shown, slices.Concat(shown...)...) // * expands in the order of FROM
	conds, err := p.conditions(s, c.Where, "WHERE")
	if err != nil {
		return nil, nil, err
	}
	conds, once := splitOnce(conds, s.Frame, len(parts) > 0)
	var src source
	for i, part := range parts {
		if src == nil {
			src = part
		} else {
			src = newJoin(syntax.InnerJoin, src, part, nil)
		}
		whole := span{s.Frame, 0, src.span().to}
		var mine []*Expr
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

// splitOnce separates the conditions that are the same for every row. They are
// checked before the first row is read, since reading may draw ids.
func splitOnce(conds []*Expr, frame int, from bool) (rows, once []*Expr) {
	for _, c := range conds {
		if from && !c.Volatile && len(sameLevel(c.Refs, frame)) == 0 {
			once = append(once, c)
		} else {
			rows = append(rows, c)
		}
	}
	return rows, once
}

// readable reports whether cond can be computed from the columns of a span.
func readable(cond *Expr, s span) bool {
	for _, r := range cond.Refs {
		if r.frame == s.frame && !s.holds(r) {
			return false
		}
	}
	return !cond.Volatile
}

// conditions analyses a condition and splits it at its ANDs. clause names its clause in
// error messages.
func (p *Planner) conditions(s *Scope, e syntax.Expr, clause string) (conds []*Expr, err error) {
	for _, part := range conjuncts(e, nil) {
		x, err := p.Boolean(s, part, clause)
		if err != nil {
			return nil, err
		}
		conds = append(conds, x)
	}
	return conds, nil
}

// conjuncts splits a condition at its ANDs.
func conjuncts(e syntax.Expr, out []syntax.Expr) []syntax.Expr {
	if e == nil {
		return out
	}
	if b, ok := e.(*syntax.Binary); ok && b.Op == "AND" {
		return conjuncts(b.R, conjuncts(b.L, out))
	}
	return append(out, e)
}

func (p *Planner) tableRef(s *Scope, t syntax.TableRef) (source, error) {
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

// addItem assigns columns of the row to a FROM item and applies the column names of
// its alias.
func (p *Planner) addItem(s *Scope, it *FromItem, aliases []string) (span, error) {
	if len(aliases) > len(it.Columns) {
		return span{}, sqlstate.New(sqlstate.InvalidColumnReference, "table %q has %d columns available but %d columns specified",
			it.alias, len(it.Columns), len(aliases))
	}
	if len(aliases) > 0 {
		it.Columns = append([]FromColumn(nil), it.Columns...)
		for i, a := range aliases {
			it.Columns[i].Name = a
		}
	}
	if err := s.Add(it); err != nil {
		return span{}, err
	}
	return span{s.Frame, it.offset, it.offset + len(it.Columns)}, nil
}

// table plans a relation: a WITH item or a Table.
func (p *Planner) table(s *Scope, t *syntax.Table) (source, error) {
	alias := t.Alias
	if alias == "" {
		alias = t.Name.Last()
	}
	if len(t.Name) == 1 {
		if c := s.cte(t.Name[0]); c != nil {
			if c.plan == nil {
				return nil, At(t.Pos, errRecursion("outside of the second part of a UNION"))
			}
			if p.usesCTE(c); c.working {
				p.readAt = t.Pos
			}
			if c.working && c.reads > 1 {
				return nil, At(t.Pos, errRecursion("more than once"))
			}
			it := p.queryItem(alias, c.plan.Columns)
			it.working = c.working
			sp, err := p.addItem(s, it, t.Columns)
			return &scanSource{sp: sp, rows: c.open, cte: c}, err
		}
	}
	def, err := p.Host.Table(p, t.Name)
	if err != nil {
		return nil, At(t.Pos, err)
	}
	it := &FromItem{alias: alias, Columns: def.FromColumns(), relation: def.OID}
	if p.Traits.Origins {
		def.describe(it, t.Name)
	}
	if t.Alias == "" {
		it.schema = def.Schema
	}
	sp, err := p.addItem(s, it, t.Columns)
	if err != nil {
		return nil, err
	}
	if !def.Catalog {
		p.isVolatile() // reading may draw ids
	}
	return &tableSource{scanSource: scanSource{sp: sp}, def: def}, nil
}

// queryItem makes the FROM item of a query.
func (p *Planner) queryItem(alias string, columns []Column) *FromItem {
	it := &FromItem{alias: alias, Columns: make([]FromColumn, len(columns))}
	for i, c := range columns {
		it.Columns[i] = FromColumn{
			Name: c.Name, Type: c.Type, TypeMod: c.TypeMod, table: c.Table, attr: c.Attr, fields: c.fields, letters: c.letters,
		}
	}
	if p.Traits.Origins {
		it.describeQuery(columns)
	}
	return it
}

// derived plans a subquery in FROM.
func (p *Planner) derived(s *Scope, t *syntax.Derived) (source, error) {
	outer := s.parent
	if t.Lateral {
		outer = s
	} else if outer == nil || len(s.ctes) > 0 {
		outer = &Scope{parent: s.parent, ctes: s.ctes, Frame: -1}
	}
	q, err := p.Query(t.Query, outer)
	if err != nil {
		return nil, err
	}
	settled := p.settledCopy(q)
	sp, err := p.addItem(s, p.queryItem(t.Alias, settled.Columns), t.Columns)
	src := &scanSource{sp: sp, rows: settled.Open, inner: q.plain}
	if t.Lateral { // LATERAL may read all earlier items
		for _, before := range s.items {
			if before.offset < sp.from {
				src.lateral = append(src.lateral, ref{s.Frame, before.offset})
			}
		}
	}
	return src, err
}

// join analyses JOIN.
func (p *Planner) join(s *Scope, t *syntax.Join) (source, error) {
	first, firstShown := len(s.items), len(s.shown)
	l, err := p.tableRef(s, t.Left)
	if err != nil {
		return nil, err
	}
	second, readsLeft := len(s.items), p.recursiveReads()
	r, err := p.tableRef(s, t.Right)
	if err != nil {
		return nil, err
	}
	if t.Kind == syntax.LeftJoin && p.recursiveReads() > readsLeft {
		return nil, At(p.readAt, errRecursion("within an outer join"))
	}
	left, right := s.items[first:second:second], s.items[second:]
	if t.Kind == syntax.LeftJoin {
		mayMiss(right)
	}
	pairs, conds, err := p.usingConditions(s, t, left, right)
	if err != nil {
		return nil, err
	}
	local := &Scope{parent: s.parent, Frame: s.Frame, items: s.items[first:], ctes: s.ctes, width: s.width}
	on, err := p.conditions(local, t.On, "JOIN/ON")
	if err != nil {
		return nil, err
	}
	j := newJoin(t.Kind, l, r, append(conds, on...))
	if j.kind == syntax.LeftJoin { // a column for joinRows.missing follows those of both sides
		j.sp.to++
		for _, it := range right {
			it.missing = append(it.missing, ref{s.Frame, s.width})
		}
		s.width++
	}
	for _, pair := range pairs {
		if t.Kind == syntax.InnerJoin && !p.Traits.Lenient && !pair.equal[0].Column && pair.equal[1].Column {
			pair.left, pair.right = pair.right, pair.left
			pair.equal[0], pair.equal[1] = pair.equal[1], pair.equal[0]
		}
		if kept := pair.equal[0]; !p.Traits.Lenient && !kept.Column && !IsString(kept.Type) {
			return nil, At(t.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "the columns %q of USING have the types %s and %s",
				pair.left.column().Name, datum.FormatType(pair.left.column().Type, -1), datum.FormatType(pair.right.column().Type, -1)).
				WithHint("Convert one of them in a subquery, or write ON."))
		}
		pair.right.hide()
	}
	showFirst(s.shown[firstShown:], t.Using)
	s.shown = slices.DeleteFunc(s.shown, func(c foundColumn) bool { return c.column().merged })
	return j, nil
}

// usingPair is one name of USING.
type usingPair struct {
	left, right *foundColumn
	equal       [2]*Expr // both sides in one type; an unconverted side is a Column
}

// usingConditions finds the columns of USING and plans their comparisons.
func (p *Planner) usingConditions(s *Scope, t *syntax.Join, left, right []*FromItem) ([]usingPair, []*Expr, error) {
	var pairs []usingPair
	var conds []*Expr
	for _, name := range t.Using {
		pair := usingPair{left: p.findColumn(left, name), right: p.findColumn(right, name)}
		if pair.left == nil || pair.right == nil {
			return nil, nil, sqlstate.New(sqlstate.UndefinedColumn, "column %q specified in USING clause does not exist in %s table",
				sqlstate.Cut(name, 64), map[bool]string{true: "left", false: "right"}[pair.left == nil])
		}
		l, r, err := p.Dialect.Comparable(p, "=", pair.left.expr(s.Frame), pair.right.expr(s.Frame))
		if err != nil {
			return nil, nil, At(t.Pos, err)
		}
		equal, err := p.Dialect.Operator(p, "=", l, r)
		if err != nil {
			return nil, nil, At(t.Pos, err)
		}
		pair.equal = [2]*Expr{l, r}
		pairs, conds = append(pairs, pair), append(conds, equal)
	}
	return pairs, conds, nil
}

// showFirst moves the merged columns of USING to the front, where * shows them.
func showFirst(shown []foundColumn, using []string) {
	rank := func(c foundColumn) int {
		if i := slices.Index(using, c.column().Name); i >= 0 && !c.column().merged {
			return i
		}
		return len(using)
	}
	slices.SortStableFunc(shown, func(a, b foundColumn) int { return rank(a) - rank(b) })
}

type foundColumn struct {
	item  *FromItem
	index int
}

func (c *foundColumn) column() *FromColumn { return &c.item.Columns[c.index] }
func (c *foundColumn) hide()               { c.column().merged = true }

func (c *foundColumn) expr(frame int) *Expr {
	return columnExpr(ref{frame, c.item.offset + c.index}, c.column())
}

func (p *Planner) findColumn(items []*FromItem, name string) *foundColumn {
	for _, it := range items {
		for i := range it.Columns {
			if p.same(it.Columns[i].Name, name) && !it.Columns[i].merged {
				return &foundColumn{it, i}
			}
		}
	}
	return nil
}

// spreadUnnest splits unnest(a, b) in FROM into unnest(a) and unnest(b), which are
// read side by side.
func spreadUnnest(call *syntax.FuncCall) []*syntax.FuncCall {
	if call.Name.Last() != "unnest" || len(call.Args) < 2 {
		return []*syntax.FuncCall{call}
	}
	spread := make([]*syntax.FuncCall, len(call.Args))
	for i := range call.Args {
		one := *call
		one.Args = call.Args[i : i+1]
		spread[i] = &one
	}
	return spread
}

// tableFunc plans a function in FROM.
func (p *Planner) tableFunc(s *Scope, t *syntax.TableFunc) (source, error) {
	it := &FromItem{alias: t.Alias}
	var opens []func(x *Exec) (Rows, error)
	var widths []int
	var refs []ref
	var only *setCall
	calls := spreadUnnest(t.Func)
	for _, call := range calls {
		inner := &Scope{parent: s.parent, Frame: s.Frame, items: s.items, ctes: s.ctes, width: s.width}
		f, args, err := p.resolveCall(inner, call)
		if err != nil {
			return nil, err
		}
		if f.IsAggregate() {
			return nil, At(call.Pos, sqlstate.New(sqlstate.Grouping, "aggregate functions are not allowed in functions in FROM"))
		}
		if it.alias == "" {
			it.alias = f.Name
		}
		name := f.Name
		if len(calls) == 1 {
			name = it.alias
		}
		columns, open, err := p.functionRows(f, args, name)
		if err != nil {
			return nil, At(call.Pos, err)
		}
		it.scalar = len(calls) == 1 && len(f.Columns) <= 1
		it.Columns = append(it.Columns, columns...)
		opens, widths = append(opens, open), append(widths, len(columns))
		only = &setCall{f, args, f.rows()}
		for _, a := range args {
			if a != nil {
				refs = append(refs, a.Refs...)
			}
		}
	}
	if t.Ordinality {
		it.Columns = append(it.Columns, FromColumn{Name: "ordinality", Type: datum.Int8, TypeMod: -1})
	}
	sp, err := p.addItem(s, it, t.Columns)
	if err != nil {
		return nil, err
	}
	src := &scanSource{sp: sp, rows: opens[0], call: only}
	if len(opens) > 1 || t.Ordinality {
		numbered := t.Ordinality
		src.call = nil
		src.rows = func(x *Exec) (Rows, error) { return zipRows(x, opens, widths, numbered) }
	}
	for _, r := range refs {
		if r.frame == s.Frame {
			src.lateral = append(src.lateral, r)
		}
	}
	return src, nil
}

// functionRows plans the rows of a function in FROM and their columns. The column
// of a function that returns one plain value is called name.
func (p *Planner) functionRows(f *Function, args []*Expr, name string) ([]FromColumn, func(*Exec) (Rows, error), error) {
	columns := f.columnsFor(args)
	if set := f.rows(); set != nil {
		result := f.resultFor(args)
		if len(columns) == 0 {
			columns = []FromColumn{{Name: name, Type: result, TypeMod: -1}}
		}
		return columns, func(x *Exec) (Rows, error) {
			values, null, err := EvalArgs(x, args)
			if err != nil || (null && !f.Nullable) {
				return &SliceRows{}, err
			}
			return set(x, values)
		}, nil
	}
	if either, ok := f.Does.(EvalOrRow); ok {
		return columns, func(x *Exec) (Rows, error) {
			values, null, err := EvalArgs(x, args)
			if err != nil || null {
				return SingleRow(make([]datum.Value, len(columns))...), err
			}
			row, err := either.Row(x, values)
			return SingleRow(row...), err
		}, nil
	}
	x, err := p.apply(f, args)
	if err != nil {
		return nil, nil, err
	}
	if x, err = p.ResolveUnknown(x); err != nil {
		return nil, nil, err
	}
	return []FromColumn{{Name: name, Type: x.Type, TypeMod: -1}}, func(ex *Exec) (Rows, error) {
		v, err := x.Eval(ex)
		return SingleRow(v), err
	}, nil
}

// columnsFor returns the columns of the rows of a call. A column of type AnyElement
// gets the element type of the array in the first argument.
func (f *Function) columnsFor(args []*Expr) []FromColumn {
	columns := slices.Clone(f.Columns)
	for i := range columns {
		if columns[i].Type == AnyElement {
			info, _ := datum.TypeInfo(args[0].Type)
			columns[i].Type = info.Elem
		}
	}
	return columns
}

// resultFor returns the result type of a call. AnyElement and AnyArray follow the
// first argument.
func (f *Function) resultFor(args []*Expr) datum.OID {
	if len(args) == 0 || args[0] == nil {
		return f.Result
	}
	info, _ := datum.TypeInfo(args[0].Type)
	switch f.Result {
	case AnyElement:
		if info.Elem != 0 && f.Args[0].Type == datum.AnyArray {
			return info.Elem
		}
		return args[0].Type
	case datum.AnyArray:
		if info.Elem != 0 {
			return args[0].Type
		}
		return info.Array
	}
	return f.Result
}

// readingOrder returns the order in which the tables of FROM a, b, c, … are joined.
// Drivers for ODBC list six catalogs, the largest two first, and relate them in
// WHERE only. In the order of FROM, each row of one would be combined with each row
// of the other. The first table is one that WHERE compares with a constant; then
// follow tables that WHERE compares with earlier ones. Tables that are no catalogs
// keep their order: reading them may draw ids.
func (p *Planner) readingOrder(s *Scope, c *syntax.SelectCore) []int {
	order := make([]int, 0, len(c.From))
	aliases := make([]string, len(c.From))
	reorder := len(c.From) > 2
	for i, item := range c.From {
		t, ok := item.(*syntax.Table)
		if reorder = reorder && ok; !reorder {
			break
		}
		def := p.Catalog.Table(t.Name)
		reorder = def != nil && def.Catalog && (len(t.Name) > 1 || s.cte(t.Name[0]) == nil)
		if aliases[i] = t.Alias; t.Alias == "" {
			aliases[i] = t.Name.Last()
		}
	}
	conds := conjuncts(c.Where, nil)
	var read []string
	for range c.From {
		next := slices.IndexFunc(aliases, func(alias string) bool {
			return reorder && !slices.Contains(read, alias) && slices.ContainsFunc(conds, func(e syntax.Expr) bool { return ties(e, alias, read) })
		})
		for i := 0; next < 0; i++ { // otherwise the first remaining one
			if !slices.Contains(order, i) {
				next = i
			}
		}
		order, read = append(order, next), append(read, aliases[next])
	}
	return order
}

// ties reports whether a condition compares a column of alias with one of the
// tables read before.
func ties(cond syntax.Expr, alias string, read []string) bool {
	e, ok := cond.(*syntax.Binary)
	if !ok || e.Op != "=" {
		return false
	}
	is := func(side, other syntax.Expr) bool {
		c, ok := side.(*syntax.Column)
		if !ok || len(c.Name) != 2 || c.Name[0] != alias {
			return false
		}
		known := true
		syntax.Walk(other, func(part syntax.Expr) bool {
			if c, ok := part.(*syntax.Column); ok {
				known = known && len(c.Name) == 2 && slices.Contains(read, c.Name[0])
			}
			return known
		})
		return known
	}
	return is(e.L, e.R) || is(e.R, e.L)
}
