package syntax

func (p *printer) queryInParens(q *Select) {
	p.put("(")
	p.query(q)
	p.put(")")
}

func (p *printer) query(q *Select) {
	p.with(q.With)
	switch body := q.Body.(type) {
	case *SelectCore:
		p.selectCore(body)
	case *Values:
		p.values(body)
	case *SetOp:
		p.setOp(body)
	}
	p.orderBy(" ORDER BY ", q.OrderBy)
	if q.Limit != nil {
		p.put(" LIMIT ")
		p.expr(q.Limit)
	}
	if q.Offset != nil {
		p.put(" OFFSET ")
		p.expr(q.Offset)
	}
	p.putIf(q.Locking, " FOR UPDATE")
	for i, name := range q.Into {
		if i == 0 {
			p.put(" INTO ")
		} else {
			p.put(", ")
		}
		p.userVariable(name)
	}
}

func (p *printer) with(list []CTE) {
	for i, c := range list {
		switch {
		case i > 0:
			p.put(", ")
		case c.Recursive:
			p.put("WITH RECURSIVE ")
		default:
			p.put("WITH ")
		}
		p.ident(c.Name)
		p.columns(c.Columns)
		p.put(" AS ")
		p.queryInParens(c.Query)
	}
	p.putIf(list != nil, " ")
}

func (p *printer) values(v *Values) {
	p.put("VALUES ")
	for i, row := range v.Rows {
		p.putIf(i > 0, ", ")
		p.put("(")
		p.exprs(row)
		p.put(")")
	}
}

// setOp appends a set operation. A left operand of the same kind gets no
// parentheses, since many of them would exceed the parser's maxDepth.
func (p *printer) setOp(s *SetOp) {
	left, ok := s.Left.Body.(*SetOp)
	if ok && isBare(s.Left) {
		p.setOp(left)
	} else {
		p.setOperand(s.Left)
	}
	p.put(" UNION ")
	p.putIf(s.All, "ALL ")
	p.setOperand(s.Right)
}

func (p *printer) setOperand(q *Select) {
	if _, ok := q.Body.(*SetOp); ok || !isBare(q) {
		p.queryInParens(q)
		return
	}
	p.query(q)
}

// isBare reports whether q has only a body.
func isBare(q *Select) bool {
	return q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil && !q.Locking && q.Into == nil
}

func (p *printer) selectCore(s *SelectCore) {
	p.put("SELECT")
	p.putIf(s.Distinct, " DISTINCT")
	for i, t := range s.Targets {
		p.putIf(i > 0, ",")
		p.put(" ")
		p.expr(t.Expr)
		if t.Alias != "" {
			p.put(" AS ")
			p.alias(t.Alias)
		}
	}
	for i, ref := range s.From {
		if i == 0 {
			p.put(" FROM ")
		} else {
			p.put(", ")
		}
		p.tableRef(ref)
	}
	p.clause(" WHERE ", s.Where)
	if s.GroupBy != nil {
		p.put(" GROUP BY ")
		p.exprs(s.GroupBy)
	}
	p.clause(" HAVING ", s.Having)
}

// alias appends a column label. MySQL's may be any string.
func (p *printer) alias(s string) {
	if p.mysql {
		p.str(s)
		return
	}
	p.ident(s)
}

func (p *printer) clause(intro string, x Expr) {
	if x != nil {
		p.put(intro)
		p.expr(x)
	}
}

func (p *printer) tableRef(ref TableRef) {
	switch t := ref.(type) {
	case *Table:
		p.name(t.Name)
		p.tableAlias(t.Alias, t.Columns)
	case *TableFunc:
		p.tableFunc(t)
	case *Derived:
		p.putIf(t.Lateral, "LATERAL ")
		p.queryInParens(t.Query)
		p.tableAlias(t.Alias, t.Columns)
	case *Join:
		p.join(t)
	}
}

func (p *printer) tableAlias(alias string, columns []string) {
	if alias != "" {
		p.put(" AS ")
		p.ident(alias)
		p.columns(columns)
	}
}

func (p *printer) tableFunc(t *TableFunc) {
	p.putIf(t.Lateral, "LATERAL ")
	p.call(t.Func)
	p.putIf(t.Ordinality, " WITH ORDINALITY")
	p.tableAlias(t.Alias, t.Columns)
}

var joinWords = [...]string{
	InnerJoin: "JOIN ", LeftJoin: "LEFT JOIN ", CrossJoin: "CROSS JOIN ",
}

func (p *printer) join(j *Join) {
	p.tableRef(j.Left)
	p.put(" ")
	p.put(joinWords[j.Kind])
	if right, ok := j.Right.(*Join); ok {
		p.put("(")
		p.join(right)
		p.put(")")
	} else {
		p.tableRef(j.Right)
	}
	p.clause(" ON ", j.On)
	if j.Using != nil {
		p.put(" USING ")
		p.columns(j.Using)
	}
}
