package sqlfuncs

import (
	"io"
	"slices"
	"strconv"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// query analyses a query below a scope (nil at the top).
func (p *planner) query(t *syntax.Select, outer *scope) (*queryPlan, error) {
	if p.depth++; p.depth > maxQueryDepth {
		return nil, sqlstate.New(sqlstate.TooComplex, "queries are nested more than %d levels deep", maxQueryDepth)
	}
	defer func() { p.depth-- }()
	scope := &scope{parent: outer}
	if outer == nil || len(t.With) > 0 {
		if err := p.with(scope, t); err != nil {
			return nil, err
		}
	}
	var q *queryPlan
	var err error
	switch body := t.Body.(type) {
	case *syntax.SelectCore:
		q, err = p.selectCore(scope, body, t.OrderBy)
	case *syntax.Values:
		q, err = p.values(scope, body)
		if err == nil {
			err = p.orderOutput(q, t.OrderBy)
		}
	case *syntax.SetOp:
		q, err = p.setOperation(scope, body)
		if err == nil {
			err = p.orderOutput(q, t.OrderBy)
		}
	default:
		err = sqlstate.New(sqlstate.FeatureNotSupported, "this form of query is not supported")
	}
	if err != nil {
		return nil, err
	}
	if err := p.limit(scope, q, t); err != nil {
		return nil, err
	}
	return p.withCTEs(q, scope), nil
}

// maxQueryDepth bounds nested subqueries.
const maxQueryDepth = 64

// maxColumns bounds the columns of a result, as PostgreSQL does (1664).
const maxColumns = 1664

// output is the select list of a core: what is shown, and hidden sort keys.
type output struct {
	exprs   []*expr
	columns []Column
}

func (o *output) add(e *expr, name string) {
	o.exprs = append(o.exprs, e)
	o.columns = append(o.columns, Column{
		Name: name, Type: e.typ, TypeMod: e.mod, Table: e.table, Attr: e.attr,
		Origin: e.origin, fields: e.fields, collation: e.collation,
	})
}

// selectCore analyses SELECT … FROM … WHERE … GROUP BY … ORDER BY.
func (p *planner) selectCore(s *scope, c *syntax.SelectCore, orderBy []syntax.OrderItem) (*queryPlan, error) {
	s.frame = p.newFrame()
	if p.mysql {
		c = p.dialect.having(p, s, c, orderBy)
	}
	from := c
	if isNextValues(c) { // its FROM names a generator, no table
		from = &syntax.SelectCore{Where: c.Where}
	}
	src, conds, err := p.from(s, from)
	if err != nil {
		return nil, err
	}
	plan := &selectPlan{frame: s.frame, source: src, filter: conds}
	if p.isGrouped(c, orderBy) {
		if err := p.group(s, c, plan); err != nil {
			return nil, err
		}
	}
	s.sets = &setSlots{frame: p.newFrame()}
	windows := &windowPlan{frame: p.newFrame(), named: c.Windows}
	if err := p.namedWindows(s, windows); err != nil {
		return nil, err
	}
	s.windows = windows
	out := &output{}
	labels := s.aliases
	s.aliases = nil
	if err := p.targets(s, c, out); err != nil {
		return nil, err
	}
	if p.mysql {
		if err := p.dialect.output(p, out); err != nil {
			return nil, err
		}
	}
	plan.visible = len(out.exprs)
	s.aliases = labels
	if plan.sort, err = p.sortKeys(s, c, orderBy, out); err != nil {
		return nil, err
	}
	if err := p.distinct(s, c, orderBy, plan, out); err != nil {
		return nil, err
	}
	s.sets.used = len(s.sets.calls) > 0
	plan.sets, plan.targets, plan.width = s.sets, out.exprs, s.width
	if err := p.host.Planned(len(out.exprs) * targetBytes); err != nil {
		return nil, err
	}
	if len(windows.calls) > 0 {
		plan.windows = windows
	}
	if plan.groups != nil {
		plan.groups.finish()
	}
	q := &queryPlan{columns: out.columns[:plan.visible], open: plan.open}
	q.ids = p.runsOf(c, plan)
	if plan.source != nil && plan.groups == nil && plan.windows == nil && !plan.sets.used && plan.distinctOn == nil {
		q.plain = plan
	}
	return q, nil
}

func (p *planner) newFrame() int {
	p.frames++
	return p.frames - 1
}

// targets analyses the select list.
func (p *planner) targets(s *scope, c *syntax.SelectCore, out *output) error {
	for _, t := range c.Targets {
		switch e := t.Expr.(type) {
		case *syntax.Star:
			if err := p.star(s, e, out); err != nil {
				return err
			}
			continue
		case *syntax.Field:
			if e.Name == "*" {
				if err := p.fieldStar(s, e, out); err != nil {
					return err
				}
				continue
			}
		case *syntax.NextValues:
			x, err := p.dialect.nextValues(p, s, c, e)
			if err != nil {
				return err
			}
			out.add(x, "nextval")
			continue
		}
		x, err := p.expr(s, t.Expr)
		if err != nil {
			return err
		}
		out.add(x, p.columnName(t, x))
		if len(out.exprs) > maxColumns {
			return sqlstate.New(sqlstate.LimitExceeded, "target lists can have at most %d entries", maxColumns)
		}
	}
	return nil
}

// columnName is the name of a result column without alias: PostgreSQL takes
// the column's or function's name, MySQL the text as typed.
func (p *planner) columnName(t syntax.Target, x *expr) string {
	switch {
	case t.Alias != "":
		return t.Alias
	case p.mysql && t.Text != "":
		return p.dialect.label(t)
	case x.name != "":
		return x.name
	}
	return "?column?"
}

// star expands * and t.*.
func (p *planner) star(s *scope, e *syntax.Star, out *output) error {
	columns := s.shown
	found := len(s.items) > 0
	if len(e.Table) > 0 {
		columns, found = nil, false
		for _, it := range s.items {
			if !p.same(it.alias, e.Table.Last()) {
				continue
			}
			found = true
			for i := range it.columns {
				columns = append(columns, foundColumn{it, i})
			}
		}
	}
	for _, c := range columns {
		name := c.column().name
		x, err := p.grouped(s, &syntax.Column{Pos: e.Pos, Name: syntax.Name{name}}, c.expr(s.frame))
		if err != nil {
			return err
		}
		out.add(x, name)
	}
	switch {
	case found:
		return nil
	case len(e.Table) > 0:
		return at(e.Pos, sqlstate.New(sqlstate.UndefinedTable, "missing FROM-clause entry for table %q", sqlstate.Cut(e.Table.Last(), 64)))
	}
	return at(e.Pos, sqlstate.New(sqlstate.SyntaxError, "SELECT * with no tables specified is not valid").WithMySQL(1096, "HY000"))
}

// fieldStar expands (record).*.
func (p *planner) fieldStar(s *scope, e *syntax.Field, out *output) error {
	rec, err := p.expr(s, e.X)
	if err != nil {
		return err
	}
	if len(rec.fields) == 0 {
		return at(e.Pos, sqlstate.New(sqlstate.WrongObjectType, "type %s is not composite", datum.FormatType(rec.typ, -1)))
	}
	for i, f := range rec.fields {
		out.add(derive(f.typ, func(x *exec) (datum.Value, error) {
			v, err := rec.eval(x)
			if err != nil || !v.Valid {
				return datum.Null(f.typ), err
			}
			return v.Elems[i], nil
		}, rec), f.name)
	}
	return nil
}

// sortKey is one ORDER BY item: an index into the output.
type sortKey struct {
	column     int
	desc       bool
	nullsFirst bool
	fold       textFold
}

// newSortKey sorts NULLs where the dialect does: PostgreSQL takes them for
// the greatest, MySQL for the least. of is what is sorted, nil where it compares
// as it is.
func (p *planner) newSortKey(column int, o syntax.OrderItem, of *expr) sortKey {
	k := sortKey{column: column, desc: o.Desc, nullsFirst: o.Desc != p.mysql}
	if of != nil {
		k.fold = p.foldOf(of.typ, of.collation)
	}
	if o.NullsFirst != nil {
		k.nullsFirst = *o.NullsFirst
	}
	return k
}

// sortKeys analyses ORDER BY: output columns by number or name first, else
// any expression over FROM, as a hidden column.
func (p *planner) sortKeys(s *scope, c *syntax.SelectCore, items []syntax.OrderItem, out *output) ([]sortKey, error) {
	var keys []sortKey
	visible := len(out.exprs)
	for _, o := range items {
		i, err := p.outputColumn("ORDER BY", o.Expr, out.columns[:visible])
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i = sameTarget(c, o.Expr, visible)
		}
		if i < 0 {
			if c.Distinct && c.DistinctOn == nil {
				return nil, at(o.Expr.Position(), sqlstate.New(sqlstate.InvalidColumnReference,
					"for SELECT DISTINCT, ORDER BY expressions must appear in select list"))
			}
			x, err := p.expr(s, o.Expr)
			if err != nil {
				return nil, err
			}
			i = len(out.exprs)
			out.add(x, "")
		}
		if out.exprs[i], err = p.resolveUnknown(out.exprs[i]); err != nil {
			return nil, err
		}
		out.columns[i].Type = out.exprs[i].typ
		keys = append(keys, p.newSortKey(i, o, out.exprs[i]))
	}
	return keys, nil
}

// sameTarget finds the item of the select list that is the same expression,
// -1 when there is none.
func sameTarget(c *syntax.SelectCore, e syntax.Expr, visible int) int {
	if len(c.Targets) != visible {
		return -1 // a * moved the positions
	}
	return slices.IndexFunc(c.Targets, func(t syntax.Target) bool { return syntax.Same(t.Expr, e) })
}

// outputColumn finds ORDER BY 2 and ORDER BY name; -1 when it is neither.
// clause names the clause for the message.
func (p *planner) outputColumn(clause string, e syntax.Expr, columns []Column) (int, error) {
	switch e := unparen(e).(type) {
	case *syntax.Literal:
		switch {
		case e.Kind == syntax.BoolLiteral, e.Kind != syntax.IntegerLiteral && p.mysql:
			return -1, nil
		case e.Kind != syntax.IntegerLiteral:
			return -1, at(e.Pos, sqlstate.New(sqlstate.SyntaxError, "non-integer constant in %s", clause))
		}
		n, err := strconv.Atoi(e.Text)
		if err != nil || n < 1 || n > len(columns) {
			return -1, at(e.Pos, sqlstate.New(sqlstate.InvalidColumnReference, "%s position %s is not in select list", clause, sqlstate.Cut(e.Text, 20)))
		}
		return n - 1, nil
	case *syntax.Column:
		if len(e.Name) != 1 {
			return -1, nil
		}
		return slices.IndexFunc(columns, func(c Column) bool { return p.same(c.Name, e.Name[0]) }), nil
	}
	return -1, nil
}

// distinct analyses DISTINCT and DISTINCT ON.
func (p *planner) distinct(s *scope, c *syntax.SelectCore, orderBy []syntax.OrderItem, plan *selectPlan, out *output) error {
	if !c.Distinct {
		return nil
	}
	plan.distinct, plan.folds = true, p.foldsOf(out.exprs)
	for _, e := range c.DistinctOn {
		i, err := p.outputColumn("DISTINCT ON", e, out.columns[:plan.visible])
		if err != nil {
			return err
		}
		if i < 0 {
			i = sameTarget(c, e, plan.visible)
		}
		for j, o := range orderBy {
			if i < 0 && syntax.Same(o.Expr, e) {
				i = plan.sort[j].column
			}
		}
		if i < 0 {
			x, err := p.expr(s, e)
			if err != nil {
				return err
			}
			i = len(out.exprs)
			out.add(x, "")
		}
		plan.distinctOn = append(plan.distinctOn, i)
	}
	for i, k := range plan.sort {
		if len(plan.distinctOn) > i && !slices.Contains(plan.distinctOn, k.column) {
			return at(leftmost(c.DistinctOn[0]), sqlstate.New(sqlstate.InvalidColumnReference,
				"SELECT DISTINCT ON expressions must match initial ORDER BY expressions"))
		}
	}
	return nil
}

// orderOutput sorts a query whose rows are already made (VALUES, UNION).
func (p *planner) orderOutput(q *queryPlan, items []syntax.OrderItem) error {
	if len(items) == 0 {
		return nil
	}
	var keys []sortKey
	for _, o := range items {
		i, err := p.outputColumn("ORDER BY", o.Expr, q.columns)
		if err != nil {
			return err
		}
		if c, ok := unparen(o.Expr).(*syntax.Column); ok && i < 0 && len(c.Name) == 1 {
			return at(c.Pos, sqlstate.New(sqlstate.UndefinedColumn, "column %q does not exist", sqlstate.Cut(c.Name[0], 64)))
		}
		if i < 0 {
			return at(o.Expr.Position(), sqlstate.New(sqlstate.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
				WithHint("Only result column names can be used, not expressions or functions."))
		}
		key := p.newSortKey(i, o, nil)
		key.fold = p.foldOf(q.columns[i].Type, q.columns[i].collation)
		keys = append(keys, key)
	}
	inner := q.open
	q.open = func(x *exec) (rowIter, error) {
		it, err := inner(x)
		if err != nil {
			return nil, err
		}
		defer it.close()
		rows, err := drain(x, it)
		if err != nil {
			return nil, err
		}
		return &sliceRows{rows: rows}, sortRows(rows, keys)
	}
	return nil
}

// limit adds LIMIT and OFFSET.
func (p *planner) limit(s *scope, q *queryPlan, t *syntax.Select) error {
	if t.Limit == nil && t.Offset == nil {
		return nil
	}
	count := func(clause string, e syntax.Expr) (*expr, error) {
		if e == nil {
			return constant(datum.Null(datum.Int8)), nil
		}
		x, err := p.expr(&scope{parent: s.parent}, e)
		if err != nil {
			return nil, err
		}
		if n, err := p.coerce(x, datum.Int8, datum.AssignmentCast); err == nil || x.lit != nil {
			return n, at(e.Position(), err)
		}
		return nil, at(e.Position(), sqlstate.New(sqlstate.DatatypeMismatch, "argument of %s must be type bigint, not type %s",
			clause, datum.FormatType(x.typ, -1)))
	}
	limit, err := count("LIMIT", t.Limit)
	if err != nil {
		return err
	}
	offset, err := count("OFFSET", t.Offset)
	if err != nil {
		return err
	}
	inner := q.open
	q.ids, q.plain = nil, nil
	q.open = func(x *exec) (rowIter, error) {
		n, err := limit.eval(x)
		if err != nil {
			return nil, err
		}
		skip, err := offset.eval(x)
		if err != nil {
			return nil, err
		}
		if n.Valid && n.Int < 0 {
			return nil, sqlstate.New(sqlstate.InvalidRowCountLimit, "LIMIT must not be negative")
		}
		if skip.Valid && skip.Int < 0 {
			return nil, sqlstate.New(sqlstate.InvalidRowCountOffset, "OFFSET must not be negative")
		}
		it, err := inner(x)
		if err != nil {
			return nil, err
		}
		return &limitRows{in: it, limited: n.Valid, left: n.Int, skip: skip.Int}, nil
	}
	return nil
}

// values analyses VALUES.
func (p *planner) values(s *scope, v *syntax.Values) (*queryPlan, error) {
	s.frame = p.newFrame()
	width := len(v.Rows[0])
	rows := make([][]*expr, len(v.Rows))
	for i, r := range v.Rows {
		if len(r) != width {
			return nil, at(r[0].Position(), sqlstate.New(sqlstate.SyntaxError, "VALUES lists must all be the same length"))
		}
		var err error
		if rows[i], err = p.exprs(s, r); err != nil {
			return nil, err
		}
	}
	columns := make([]Column, width)
	for c := range width {
		column := make([]*expr, len(rows))
		for i := range rows {
			column[i] = rows[i][c]
		}
		t, err := p.common(v.Pos, "VALUES", column)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i][c] = column[i]
		}
		columns[c] = Column{Name: "column" + strconv.Itoa(c+1), Type: t, TypeMod: -1}
	}
	return &queryPlan{columns: columns, open: func(*exec) (rowIter, error) {
		i := 0
		row := make([]datum.Value, width)
		return funcRows(func(x *exec) ([]datum.Value, error) {
			if i >= len(rows) {
				return nil, io.EOF
			}
			for c, e := range rows[i] {
				var err error
				if row[c], err = e.eval(x); err != nil {
					return nil, err
				}
			}
			i++
			return row, nil
		}), nil
	}}, nil
}
