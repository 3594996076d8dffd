package engine

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Query analyses a query below a scope (nil at the top).
func (p *Planner) Query(t *syntax.Select, outer *Scope) (*QueryPlan, error) {
	if p.depth++; p.depth > maxQueryDepth {
		return nil, sqlstate.New(sqlstate.TooComplex, "queries are nested more than %d levels deep", maxQueryDepth)
	}
	defer func() { p.depth-- }()
	scope := &Scope{parent: outer}
	if outer == nil || len(t.With) > 0 {
		if err := p.with(scope, t); err != nil {
			return nil, err
		}
	}
	var q *QueryPlan
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
	passKeys(scope.ctes)
	return p.withCTEs(q, scope), nil
}

// maxQueryDepth limits the nesting of subqueries.
const maxQueryDepth = 64

// maxColumns limits the columns of a result to PostgreSQL's
// MaxTupleAttributeNumber.
const maxColumns = 1664

// Output is the select list of a query: visible columns, then hidden sort keys.
type Output struct {
	Exprs   []*Expr
	Columns []Column
}

func (o *Output) add(e *Expr, name string) {
	known := e.Known()
	o.Exprs = append(o.Exprs, e)
	o.Columns = append(o.Columns, Column{
		Name: name, Type: e.Type, TypeMod: e.TypeMod, Table: known.table, Attr: known.attr,
		Origin: known.Origin, fields: known.Fields, letters: e.Letters,
	})
}

// selectCore analyses SELECT … FROM … WHERE … GROUP BY … ORDER BY.
func (p *Planner) selectCore(s *Scope, c *syntax.SelectCore, orderBy []syntax.OrderItem) (*QueryPlan, error) {
	s.Frame = p.NewFrame()
	from := c
	if isNextValues(c) { // FROM names a generator here
		from = &syntax.SelectCore{Where: c.Where}
	}
	src, conds, err := p.from(s, from)
	if err != nil {
		return nil, err
	}
	plan := &selectPlan{frame: s.Frame, source: src, filter: conds}
	if p.IsGrouped(c, orderBy) {
		err = p.group(s, c, plan)
	} else {
		var having []*Expr
		having, err = p.conditions(s, c.Having, "HAVING")
		plan.filter = append(conds, having...)
	}
	if err != nil {
		return nil, err
	}
	s.sets = &setSlots{frame: p.NewFrame()}
	s.windows = &windowPlan{frame: p.NewFrame()}
	out := &Output{}
	if err := p.targets(s, c, out); err != nil {
		return nil, err
	}
	if err := p.Dialect.Output(p, out); err != nil {
		return nil, err
	}
	plan.visible = len(out.Exprs)
	if plan.sort, err = p.sortKeys(s, c, orderBy, out); err != nil {
		return nil, err
	}
	if plan.distinct = c.Distinct; plan.distinct {
		plan.folds = p.foldsOf(out.Exprs)
	}
	s.sets.used = len(s.sets.calls) > 0
	plan.sets, plan.targets, plan.width = s.sets, out.Exprs, s.width
	if err := p.Host.Planned(len(out.Exprs) * targetBytes); err != nil {
		return nil, err
	}
	if len(s.windows.calls) > 0 {
		plan.windows = s.windows
	}
	plan.afterSort()
	q := &QueryPlan{Columns: out.Columns[:plan.visible], Open: plan.open, targets: out.Exprs[:plan.visible]}
	q.IDs = p.runsOf(c, plan)
	if plan.source != nil && plan.groups == nil && plan.windows == nil && !plan.sets.used {
		q.plain = plan
	}
	return q, nil
}

// NewFrame reserves a frame for the rows of one more query level.
func (p *Planner) NewFrame() int {
	p.frames++
	return p.frames - 1
}

// targets analyses the select list.
func (p *Planner) targets(s *Scope, c *syntax.SelectCore, out *Output) error {
	for _, t := range c.Targets {
		switch e := t.Expr.(type) {
		case *syntax.Star:
			if err := p.star(s, e, out); err != nil {
				return err
			}
			continue
		case *syntax.NextValues:
			x, err := p.Dialect.NextValues(p, s, c, e)
			if err != nil {
				return err
			}
			out.add(x, "nextval")
			continue
		}
		x, err := p.Expr(s, t.Expr)
		if err != nil {
			return err
		}
		name := t.Alias
		if name == "" {
			name = p.Dialect.Label(t, x)
		}
		out.add(x, cutLabel(name))
		if len(out.Exprs) > maxColumns {
			return sqlstate.New(sqlstate.LimitExceeded, "target lists can have at most %d entries", maxColumns)
		}
	}
	return nil
}

// maxLabel limits the name of a result column to MariaDB's, in bytes. In the MySQL
// dialect the text of an expression is its name.
const maxLabel = 255

// cutLabel cuts the name of a result column at maxLabel, between characters.
func cutLabel(name string) string {
	if len(name) <= maxLabel {
		return name
	}
	return strings.ToValidUTF8(name[:maxLabel], "")
}

// Label implements Dialect: the name of the column or function.
func (PostgreSQL) Label(_ syntax.Target, x *Expr) string { return cmp.Or(x.name, "?column?") }

// star expands * and t.*.
func (p *Planner) star(s *Scope, e *syntax.Star, out *Output) error {
	columns := s.shown
	found := len(s.items) > 0
	if len(e.Table) > 0 {
		columns, found = nil, false
		for _, it := range s.items {
			if !p.same(it.alias, e.Table.Last()) {
				continue
			}
			found = true
			for i := range it.Columns {
				columns = append(columns, foundColumn{it, i})
			}
		}
	}
	for _, c := range columns {
		name := c.column().Name
		x, err := p.grouped(s, &syntax.Column{Pos: e.Pos, Name: syntax.Name{name}}, c.expr(s.Frame))
		if err != nil {
			return err
		}
		out.add(x, name)
	}
	switch {
	case found:
		return nil
	case len(e.Table) > 0:
		return At(e.Pos, missingFrom(e.Table.Last()))
	}
	return At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "SELECT * with no tables specified is not valid").WithMySQL(1096, "HY000"))
}

// sortKey is one ORDER BY item, by its index in the output.
type sortKey struct {
	column     int
	desc       bool
	nullsFirst bool
	fold       TextFold
}

// newSortKey makes a sort key. NULLs sort as the greatest values, with the trait
// NullsFirst as the least. of is the sorted expression, nil if it compares
// unchanged.
func (p *Planner) newSortKey(column int, o syntax.OrderItem, of *Expr) sortKey {
	k := sortKey{column: column, desc: o.Desc, nullsFirst: o.Desc != p.Traits.NullsFirst}
	if of != nil {
		k.fold = p.FoldOf(of.Type, of.Letters)
	}
	if o.NullsFirst != nil {
		k.nullsFirst = *o.NullsFirst
	}
	return k
}

// sortKeys analyses ORDER BY. An item is an output column by number or name, or
// else an expression over FROM, which becomes a hidden column.
func (p *Planner) sortKeys(s *Scope, c *syntax.SelectCore, items []syntax.OrderItem, out *Output) ([]sortKey, error) {
	var keys []sortKey
	visible := len(out.Exprs)
	for _, o := range items {
		i, err := p.outputColumn("ORDER BY", o.Expr, out.Columns[:visible], p.sameOutput(s, c, out, visible))
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i = p.sameTarget(s, c, o.Expr, visible)
		}
		if i < 0 {
			if c.Distinct {
				return nil, At(o.Expr.Position(), sqlstate.New(sqlstate.InvalidColumnReference,
					"for SELECT DISTINCT, ORDER BY expressions must appear in select list"))
			}
			x, err := p.Expr(s, o.Expr)
			if err != nil {
				return nil, err
			}
			i = len(out.Exprs)
			out.add(x, "")
		}
		if out.Exprs[i], err = p.ResolveUnknown(out.Exprs[i]); err != nil {
			return nil, err
		}
		out.Columns[i].Type = out.Exprs[i].Type
		keys = append(keys, p.newSortKey(i, o, out.Exprs[i]))
	}
	return keys, nil
}

// sameTarget returns the index of the same expression in the select list, or -1.
func (p *Planner) sameTarget(s *Scope, c *syntax.SelectCore, e syntax.Expr, visible int) int {
	if len(c.Targets) != visible {
		return -1 // an expanded * has shifted the positions
	}
	return slices.IndexFunc(c.Targets, func(t syntax.Target) bool { return p.means(s, t.Expr, e) })
}

// sameOutput reports whether two output columns have the same expression. Where an
// expanded * has shifted the positions, it knows only columns to be different.
func (p *Planner) sameOutput(s *Scope, c *syntax.SelectCore, out *Output, visible int) func(i, j int) bool {
	return func(i, j int) bool {
		x, y := out.Exprs[i], out.Exprs[j]
		if x.Column && y.Column {
			return x.Refs[0] == y.Refs[0]
		}
		return len(c.Targets) != visible || p.means(s, c.Targets[i].Expr, c.Targets[j].Expr)
	}
}

// outputColumn resolves ORDER BY 2 and ORDER BY name; it returns -1 for other
// expressions. clause names the clause for the message. A name of two columns must
// mean the same expression.
func (p *Planner) outputColumn(clause string, e syntax.Expr, columns []Column, same func(i, j int) bool) (int, error) {
	if u, ok := e.(*syntax.Unary); ok && !p.Traits.Lenient {
		if l := negated(u); l != nil {
			e = l
		}
	}
	switch e := e.(type) {
	case *syntax.Literal:
		n, err := strconv.ParseInt(e.Text, 10, 32)
		switch {
		case e.Kind != syntax.IntegerLiteral && p.Traits.Lenient:
			return -1, nil
		case e.Kind != syntax.IntegerLiteral, err != nil && !p.Traits.Lenient:
			return -1, At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "non-integer constant in %s", clause))
		case err != nil, n < 1, n > int64(len(columns)):
			return -1, At(e.Pos, sqlstate.New(sqlstate.InvalidColumnReference, "%s position %s is not in select list", clause, sqlstate.Cut(e.Text, 20)))
		}
		return int(n) - 1, nil
	case *syntax.Column:
		found := -1
		for i, c := range columns {
			switch {
			case len(e.Name) != 1 || !p.same(c.Name, e.Name[0]):
			case found < 0:
				found = i
			case !same(found, i):
				return -1, At(e.Pos, sqlstate.New(sqlstate.AmbiguousColumn, "%s %q is ambiguous", clause, sqlstate.Cut(c.Name, 64)))
			}
		}
		return found, nil
	}
	return -1, nil
}

// orderOutput sorts a query whose items can name only output columns (VALUES,
// UNION).
func (p *Planner) orderOutput(q *QueryPlan, items []syntax.OrderItem) error {
	if len(items) == 0 {
		return nil
	}
	var keys []sortKey
	for _, o := range items {
		i, err := p.outputColumn("ORDER BY", o.Expr, q.Columns, func(int, int) bool { return false })
		if err != nil {
			return err
		}
		if c, ok := o.Expr.(*syntax.Column); ok && i < 0 && len(c.Name) == 1 {
			return At(c.Pos, noColumn(c.Name[0]))
		}
		if i < 0 {
			return At(o.Expr.Position(), sqlstate.New(sqlstate.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
				WithHint("Only result column names can be used, not expressions or functions."))
		}
		key := p.newSortKey(i, o, nil)
		key.fold = p.FoldOf(q.Columns[i].Type, q.Columns[i].letters)
		keys = append(keys, key)
	}
	inner := q.Open
	q.Open = func(x *Exec) (Rows, error) {
		it, err := inner(x)
		if err != nil {
			return nil, err
		}
		defer it.Close()
		rows, err := Drain(x, it)
		if err != nil {
			return nil, err
		}
		return &SliceRows{Rows: rows}, sortRows(x, rows, keys)
	}
	return nil
}

// limit adds LIMIT and OFFSET.
func (p *Planner) limit(s *Scope, q *QueryPlan, t *syntax.Select) error {
	if t.Limit == nil && t.Offset == nil {
		return nil
	}
	count := func(clause string, e syntax.Expr) (*Expr, error) {
		if e == nil {
			return Constant(datum.Null(datum.Int8)), nil
		}
		x, err := p.Expr(&Scope{parent: s.parent}, e)
		if err != nil {
			return nil, err
		}
		if n, err := p.Coerce(x, datum.Int8, datum.AssignmentCast); err == nil || x.untyped() {
			return n, At(e.Position(), err)
		}
		return nil, At(e.Position(), sqlstate.New(sqlstate.DatatypeMismatch, "argument of %s must be type bigint, not type %s",
			clause, datum.FormatType(x.Type, -1)))
	}
	limit, err := count("LIMIT", t.Limit)
	if err != nil {
		return err
	}
	offset, err := count("OFFSET", t.Offset)
	if err != nil {
		return err
	}
	inner := q.Open
	q.IDs, q.plain = nil, nil
	q.Open = func(x *Exec) (Rows, error) {
		counts, err := EvalAll(x, []*Expr{limit, offset})
		switch {
		case err != nil:
			return nil, err
		case counts[0].Int < 0:
			return nil, sqlstate.New(sqlstate.InvalidRowCountLimit, "LIMIT must not be negative")
		case counts[1].Int < 0:
			return nil, sqlstate.New(sqlstate.InvalidRowCountOffset, "OFFSET must not be negative")
		}
		it, err := inner(x)
		if err != nil {
			return nil, err
		}
		return &limitRows{in: it, limited: counts[0].Valid, left: counts[0].Int, skip: counts[1].Int}, nil
	}
	return nil
}

// values analyses VALUES.
func (p *Planner) values(s *Scope, v *syntax.Values) (*QueryPlan, error) {
	s.Frame = p.NewFrame()
	width := len(v.Rows[0])
	rows := make([][]*Expr, len(v.Rows))
	for i, r := range v.Rows {
		if len(r) != width {
			return nil, At(r[0].Position(), sqlstate.New(sqlstate.SyntaxError, "VALUES lists must all be the same length"))
		}
		var err error
		if rows[i], err = p.Exprs(s, r); err != nil {
			return nil, err
		}
	}
	columns := make([]Column, width)
	for c := range width {
		column := make([]*Expr, len(rows))
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
	return &QueryPlan{Columns: columns, Open: func(*Exec) (Rows, error) {
		i := 0
		row := make([]datum.Value, width)
		return RowsFunc(func(x *Exec) ([]datum.Value, error) {
			if i >= len(rows) {
				return nil, io.EOF
			}
			for c, e := range rows[i] {
				var err error
				if row[c], err = e.Eval(x); err != nil {
					return nil, err
				}
			}
			i++
			return row, nil
		}), nil
	}}, nil
}
