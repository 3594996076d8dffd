package syntax

// fromList reads the list of FROM. It returns nil for MySQL's FROM DUAL.
func (p *parser) fromList() []TableRef {
	if p.mysql && p.accept("dual") {
		return nil
	}
	return list(p, p.tableRef)
}

// tableRef reads an item of FROM with its joins.
func (p *parser) tableRef() TableRef {
	defer p.leave(p.enter())
	return p.joins(p.tablePrimary())
}

// atJoin reports whether a join follows.
func (p *parser) atJoin() bool {
	return p.isAnyWord("join", "cross", "inner", "left") ||
		p.mysql && p.isWord("straight_join")
}

// joins reads the joins after left.
func (p *parser) joins(left TableRef) TableRef {
	for p.atJoin() {
		left = p.join(left)
		p.grow()
	}
	return left
}

// join reads one join. Its right side is one table, or a join in parentheses.
func (p *parser) join(left TableRef) TableRef {
	defer p.leave(p.enter())
	j := &Join{Pos: p.pos(), Left: left}
	switch {
	case p.accept("cross"):
		j.Kind = CrossJoin
		p.expect("join")
	case p.mysql && p.accept("straight_join"):
	default:
		j.Kind = p.joinKind()
		p.expect("join")
	}
	if j.Right = p.tablePrimary(); j.Kind != CrossJoin || p.mysql {
		p.joinCondition(j)
	}
	return j
}

// joinCondition reads ON or USING. MySQL's inner and cross joins may have a
// condition or none; the condition decides which one they are.
func (p *parser) joinCondition(j *Join) {
	symmetric := p.mysql && (j.Kind == InnerJoin || j.Kind == CrossJoin)
	switch {
	case p.accept("using"):
		p.expectPunct("(")
		j.Using = p.nameList()
	case p.accept("on"):
		j.On = p.expr()
	case symmetric:
		j.Kind = CrossJoin
		return
	default:
		p.syntaxError()
	}
	if symmetric {
		j.Kind = InnerJoin
	}
}

// joinKind reads [INNER] or LEFT [OUTER].
func (p *parser) joinKind() JoinKind {
	if p.acceptAny("inner", "left") == "left" {
		p.accept("outer")
		return LeftJoin
	}
	return InnerJoin
}

// tablePrimary reads an item of FROM without joins.
func (p *parser) tablePrimary() TableRef {
	pos := p.pos()
	lateral := p.accept("lateral")
	switch {
	case p.acceptPunct("("):
		query, ref := p.queryOrTable()
		return p.closedTable(pos, lateral, query, ref)
	case p.isWords("rows", "from"):
		p.notSupported(pos, "ROWS FROM is")
	}
	if f := p.tableFunc(pos, lateral); f != nil {
		return f
	}
	if lateral {
		p.syntaxError()
	}
	t := p.relation()
	t.Pos = pos
	t.Alias, t.Columns = p.alias()
	return t
}

// relation reads a table name, with PostgreSQL's ONLY: no table here has children.
func (p *parser) relation() *Table {
	t := &Table{Pos: p.pos()}
	if !p.mysql {
		p.accept("only")
	}
	t.Name = p.qualifiedName()
	return t
}

// closedTable reads the alias of the query or join in parentheses.
func (p *parser) closedTable(pos Pos, lateral bool, query *Select, ref TableRef) TableRef {
	if query != nil {
		d := &Derived{Pos: pos, Query: query, Lateral: lateral}
		d.Alias, d.Columns = p.alias()
		return d
	}
	if lateral {
		p.syntaxError()
	}
	pos = p.pos()
	if alias, _ := p.alias(); alias != "" {
		p.notSupported(pos, "an alias of a join is")
	}
	return ref
}

// queryOrTable reads the query or table in parentheses in FROM, and the closing
// parenthesis. A query in further parentheses may be the first table of a join; see
// parenthesised.
func (p *parser) queryOrTable() (*Select, TableRef) {
	defer p.leave(p.enter())
	if p.atQuery() {
		q := p.query()
		p.expectPunct(")")
		return q, nil
	}
	var first TableRef
	pos := p.pos()
	if p.acceptPunct("(") {
		query, ref := p.queryOrTable()
		if query != nil && p.continuesQuery() {
			query = p.queryFrom(query)
			p.expectPunct(")")
			return query, nil
		}
		first = p.closedTable(pos, false, query, ref)
	} else {
		first = p.tablePrimary()
	}
	ref := p.joins(first)
	if _, ok := ref.(*Join); !ok && !p.mysql {
		p.syntaxError() // PostgreSQL has no parentheses around one table
	}
	p.expectPunct(")")
	return nil, ref
}

// alias reads [AS] name [(column, …)] if it is there.
func (p *parser) alias() (name string, columns []string) {
	switch {
	case p.accept("as"):
		name = p.name()
	case p.tok.isName() && !p.isWords("full", "join") && !p.isWords("full", "outer"): // FULL is no keyword in MySQL
		name = p.name()
	default:
		return "", nil
	}
	return name, p.optionalColumns()
}

// tableFunc reads a function in FROM, or returns nil.
func (p *parser) tableFunc(pos Pos, lateral bool) TableRef {
	if !p.atCall() {
		return nil
	}
	start, name := p.pos(), Name{p.label()}
	for p.acceptPunct(".") {
		name = append(name, p.label())
	}
	t := &TableFunc{Pos: pos, Func: p.call(start, name), Lateral: lateral}
	p.tableFuncAlias(t)
	return t
}

// atCall reports whether a function call begins here: name( or schema.name(.
func (p *parser) atCall() bool {
	if !p.tok.isName() && !p.tok.isFunctionName() {
		return false
	}
	next := p.peek(1)
	if next.isPunct("(") {
		return p.tok.isFunctionName() || p.mysql
	}
	return next.isPunct(".") && p.peek(3).isPunct("(")
}

// tableFuncAlias reads WITH ORDINALITY, the alias and the columns.
func (p *parser) tableFuncAlias(t *TableFunc) {
	t.Ordinality = p.acceptWords("with", "ordinality")
	as := p.accept("as")
	switch {
	case p.tok.isName():
		t.Alias = p.name()
	case !as:
		return
	case !p.isPunct("("):
		p.syntaxError()
	}
	if !p.acceptPunct("(") {
		return
	}
	if next := p.peek(1); t.Alias == "" || next.kind == tokWord || next.kind == tokIdent {
		p.notSupported(p.pos(), "a list of columns with types is")
	}
	t.Columns = p.nameList()
}
