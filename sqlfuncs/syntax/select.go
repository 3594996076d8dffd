package syntax

import (
	"math"
	"strconv"

	"nextid/sqlfuncs/sqlstate"
)

// atQuery reports whether a query without parentheses begins here.
func (p *parser) atQuery() bool {
	switch {
	case p.tok.kind != tokWord:
		return false
	case p.tok.text == "values":
		return p.peek(1).isPunct("(") || p.peek(1).isWord("row")
	}
	return p.isAnyWord("select", "with")
}

// continuesQuery reports whether the token after a query in parentheses continues
// the query, or closes a further parenthesis.
func (p *parser) continuesQuery() bool {
	return p.isPunct(")") || p.isWord("union") || p.isAnyWord("order", "limit", "offset", "for")
}

// query reads a query with everything that belongs to it.
func (p *parser) query() *Select {
	defer p.leave(p.enter())
	if !p.isWord("with") {
		return p.queryFrom(p.queryOperand())
	}
	pos := p.pos()
	with := p.with()
	p.refuseChange()
	q := p.queryFrom(p.queryOperand())
	if q.With != nil {
		p.failAt(pos, sqlstate.SyntaxError, "multiple WITH clauses not allowed")
	}
	q.Pos, q.With = pos, with
	return q
}

// queryFrom reads the rest of a query after its first operand.
func (p *parser) queryFrom(first *Select) *Select {
	q := p.setOperation(first)
	p.queryTail(q)
	return q
}

// setOperation reads the UNIONs after left.
func (p *parser) setOperation(left *Select) *Select {
	for p.isWord("union") {
		op := &SetOp{Pos: p.pos(), Left: left}
		p.advance()
		if op.All = p.accept("all"); !op.All {
			p.accept("distinct")
		}
		op.Right = p.queryOperand()
		if left.Into != nil {
			p.failAt(op.Pos, sqlstate.SyntaxError, "INTO must stand at the end of a union")
		}
		left = &Select{Pos: left.Pos, Body: op, Into: op.Right.Into}
		op.Right.Into = nil
		p.grow()
	}
	return left
}

// queryOperand reads SELECT, VALUES or a query in parentheses.
func (p *parser) queryOperand() *Select {
	defer p.leave(p.enter())
	q := &Select{Pos: p.pos()}
	switch {
	case p.isPunct("("):
		q = p.subquery()
	case p.isWord("select"):
		q.Body = p.selectCore()
	case p.isWord("values"):
		q.Body = p.values()
	default:
		p.syntaxError()
		q.Body = &Values{}
	}
	if p.mysql {
		p.into(q)
	}
	return q
}

// subquery reads a query in parentheses.
func (p *parser) subquery() *Select {
	p.expectPunct("(")
	q := p.query()
	p.expectPunct(")")
	return q
}

// queryTail reads ORDER BY, LIMIT, OFFSET and the locking clauses.
func (p *parser) queryTail(q *Select) {
	if p.isWord("order") {
		before := q.OrderBy
		if q.OrderBy = p.orderBy(); before != nil {
			p.failAt(q.OrderBy[0].Expr.Position(), sqlstate.SyntaxError, "multiple ORDER BY clauses not allowed")
		}
	}
	hasLimit, hasOffset := false, false
	for {
		limit, offset := q.Limit, q.Offset
		switch {
		case p.isWord("limit") && !hasLimit:
			hasLimit = true
			p.limit(q, hasOffset)
			p.once("LIMIT", limit, q.Limit)
		case p.isWord("offset") && !hasOffset && (!p.mysql || hasLimit):
			hasOffset = true
			p.advance()
			q.Offset = p.expr()
			p.acceptAny("row", "rows")
			p.once("OFFSET", offset, q.Offset)
		case p.isWord("for"), p.isWords("lock", "in") && p.mysql:
			p.locking()
			q.Locking = true
		case p.mysql && p.isWord("into") && q.Into == nil:
			p.into(q)
		default:
			return
		}
	}
}

// once fails when a clause is both inside and after the parentheses of a query.
func (p *parser) once(clause string, before, now Expr) {
	if before != nil && now != nil {
		p.failAt(now.Position(), sqlstate.SyntaxError, "multiple %s clauses not allowed", clause)
	}
}

// limit reads LIMIT n, or MySQL's LIMIT offset, n.
func (p *parser) limit(q *Select, hasOffset bool) {
	pos := p.pos()
	p.advance()
	if !p.mysql && p.accept("all") {
		return
	}
	q.Limit = p.limitCount()
	if !p.acceptPunct(",") {
		return
	}
	if !p.mysql || hasOffset {
		p.failAt(pos, sqlstate.SyntaxError, "LIMIT #,# syntax is not supported")
		if p.err != nil {
			p.err.Hint = "Use separate LIMIT and OFFSET clauses."
		}
	}
	q.Offset, q.Limit = q.Limit, p.limitCount()
}

// limitCount reads the number of LIMIT. MySQL's clients write 18446744073709551615 for all
// rows; numbers beyond int64 become the largest one.
func (p *parser) limitCount() Expr {
	x := p.expr()
	if l, ok := x.(*Literal); ok && p.mysql && l.Kind == IntegerLiteral {
		if _, err := strconv.ParseInt(l.Text, 10, 64); err != nil {
			l.Text = strconv.FormatInt(math.MaxInt64, 10)
		}
	}
	return x
}

// locking reads FOR UPDATE, FOR SHARE, FOR READ ONLY and LOCK IN SHARE MODE.
func (p *parser) locking() {
	switch {
	case p.acceptWords("lock", "in"):
		p.expect("share", "mode")
	case p.acceptWords("for", "update"), p.acceptWords("for", "read", "only"):
	default:
		p.expect("for", "share")
	}
}

// with reads WITH name AS (query), ….
func (p *parser) with() []CTE {
	p.advance()
	recursive := false
	if next := p.peek(1); !next.isPunct("(") && !next.isWord("as") {
		recursive = p.accept("recursive")
	}
	return list(p, func() CTE {
		c := CTE{Pos: p.pos(), Recursive: recursive, Name: p.name(), Columns: p.optionalColumns()}
		p.expect("as")
		if p.accept("not") {
			p.expect("materialized")
		} else {
			p.accept("materialized")
		}
		p.expectPunct("(")
		p.refuseChange()
		c.Query = p.query()
		p.expectPunct(")")
		return c
	})
}

// values reads VALUES (…), (…); MySQL's may have ROW before each.
func (p *parser) values() Query {
	v := &Values{Pos: p.pos()}
	p.advance()
	v.Rows = list(p, func() []Expr {
		if p.mysql {
			p.accept("row")
		}
		p.expectPunct("(")
		defer p.expectPunct(")")
		return p.exprList()
	})
	return v
}

// selectCore reads SELECT … HAVING.
func (p *parser) selectCore() Query {
	s := &SelectCore{Pos: p.pos()}
	p.advance()
	p.selectOptions(s)
	if s.Distinct || p.startsTargets() {
		s.Targets = p.targets()
	}
	if !p.mysql && p.isWord("into") {
		p.refuse("SELECT INTO")
	}
	if p.mysql && p.isWord("into") {
		return s // queryOperand reads INTO and the clauses after it
	}
	p.fromClauses(s)
	return s
}

// fromClauses reads FROM, WHERE, GROUP BY and HAVING.
func (p *parser) fromClauses(s *SelectCore) {
	if p.accept("from") {
		s.From = p.fromList()
	}
	if p.accept("where") {
		s.Where = p.expr()
	}
	if p.accept("group") {
		p.expect("by")
		s.GroupBy = p.groupBy()
	}
	if p.accept("having") {
		s.Having = p.expr()
	}
}

// selectOptions reads the words between SELECT and the targets.
func (p *parser) selectOptions(s *SelectCore) {
	if p.mysql {
		p.selectOptionsMySQL(s)
		return
	}
	if p.accept("all") || !p.accept("distinct") {
		return
	}
	if s.Distinct = true; p.isWord("on") {
		p.notSupported(p.pos(), "DISTINCT ON is")
	}
}

// startsTargets reports whether there is a select list; PostgreSQL's may be empty.
func (p *parser) startsTargets() bool {
	return p.mysql || !p.atEnd() && !p.isPunct(")") &&
		!p.isAnyWord("from", "into", "where", "group", "having", "window", "union", "intersect", "except", "order", "limit", "offset", "fetch", "for")
}

// targets reads a select list.
func (p *parser) targets() []Target {
	if x := p.nextValues(); x != nil {
		return []Target{{Expr: x, Text: p.textFrom(int(x.Position()))}}
	}
	return list(p, p.target)
}

// target reads one item of a select list.
func (p *parser) target() Target {
	start := p.tok.start
	var t Target
	if p.acceptOp("*") {
		return Target{Expr: &Star{Pos: Pos(start)}, Text: "*"}
	}
	t.Expr = p.binary(precLowest, true)
	t.Text = p.textFrom(start)
	switch {
	case p.accept("as"):
		t.Alias = p.targetLabel()
	case p.tok.isBareLabel(), p.mysql && p.tok.kind == tokString:
		t.Alias = p.targetLabel()
	}
	return t
}

// targetLabel reads a label. MySQL's keep their case and may be strings.
func (p *parser) targetLabel() string {
	if !p.mysql {
		return p.label()
	}
	t := p.tok
	label := p.take(t.isLabel() || t.kind == tokString)
	if t.kind == tokWord {
		return p.lex.src[t.start:t.end]
	}
	return label
}

// nextValues reads Vitess's NEXT n VALUES and NEXT VALUE, or returns nil.
// PostgreSQL reads NEXT VALUE as a column and its label.
func (p *parser) nextValues() Expr {
	if !p.mysql || !p.isWord("next") {
		return nil
	}
	x := &NextValues{Pos: p.pos()}
	switch next := p.peek(1); {
	case next.isWord("value") && p.peek(2).isWord("from") && !p.peek(3).isWord("dual"):
		p.advance()
		p.advance()
		return x
	case (next.kind == tokInteger || next.kind == tokParam) && p.peek(2).isWord("values"):
		p.advance()
		x.Count = p.primary()
		p.expect("values")
		return x
	}
	return nil
}

// groupBy reads the list of GROUP BY.
func (p *parser) groupBy() []Expr {
	if !p.accept("all") {
		p.accept("distinct")
	}
	return p.exprList()
}

// orderBy reads ORDER BY and its list if it is there.
func (p *parser) orderBy() []OrderItem {
	if !p.accept("order") {
		return nil
	}
	p.expect("by")
	return list(p, func() OrderItem {
		item := OrderItem{Expr: p.expr()}
		if item.Desc = p.accept("desc"); !item.Desc {
			p.accept("asc")
		}
		if p.isWord("nulls") && (p.peek(1).isWord("first") || p.peek(1).isWord("last")) {
			p.advance()
			first := p.isWord("first")
			item.NullsFirst = &first
			p.advance()
		}
		return item
	})
}

// window reads the definition after OVER.
func (p *parser) window() *Window {
	defer p.leave(p.enter())
	w := &Window{Pos: p.pos()}
	if p.tok.isName() {
		p.notSupported(p.pos(), "OVER with the name of a window is")
	}
	p.expectPunct("(")
	if p.acceptWords("partition", "by") {
		w.PartitionBy = p.exprList()
	}
	w.OrderBy = p.orderBy()
	p.expectPunct(")")
	return w
}
