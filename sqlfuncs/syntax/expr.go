package syntax

import "strings"

// The precedence levels of both dialects, loosest first (PostgreSQL manual,
// "Operator Precedence"; MySQL manual, "Operator Precedence"). PostgreSQL has no
// level for XOR and for bit operators.
const (
	precLowest = iota
	precOr
	precXor
	precAnd
	precNot
	precIs
	precComparison
	precPredicate // BETWEEN, IN, LIKE
	precOther     // every operator without a level of its own; MySQL's |
	precBitAnd
	precShift
	precAdd
	precMultiply
	precPower
	precConcat // MySQL's || with PIPES_AS_CONCAT
	precCollate
	precUnary
	precCollateMySQL
)

// operator is an infix or postfix operator at the current token.
type operator struct {
	name string
	prec int
	word bool // parsed by its first word, not as a plain infix operator
}

// pgPrecedence holds PostgreSQL's operators that have a level of their own.
var pgPrecedence = map[string]int{
	"=": precComparison, "<": precComparison, ">": precComparison,
	"<=": precComparison, ">=": precComparison, "<>": precComparison,
	"+": precAdd, "-": precAdd,
	"*": precMultiply, "/": precMultiply, "%": precMultiply,
	"^": precPower,
}

// mysqlPrecedence holds all of MySQL's operators that are no words.
var mysqlPrecedence = map[string]int{
	"||": precOr, "&&": precAnd, "<=>": precComparison,
	"=": precComparison, "<": precComparison, ">": precComparison,
	"<=": precComparison, ">=": precComparison, "<>": precComparison,
	"|": precOther, "&": precBitAnd, "<<": precShift, ">>": precShift,
	"+": precAdd, "-": precAdd,
	"*": precMultiply, "/": precMultiply, "%": precMultiply,
	"^": precPower, "->": precCollateMySQL, "->>": precCollateMySQL,
}

// pgWordPrecedence holds the words that continue an expression in PostgreSQL.
var pgWordPrecedence = map[string]int{
	"or": precOr, "and": precAnd, "is": precIs,
	"not": precPredicate, "in": precPredicate, "like": precPredicate, "ilike": precPredicate,
	"similar": precPredicate, "between": precPredicate,
	"operator": precOther, "collate": precCollate,
}

// mysqlWordPrecedence holds the words that continue an expression in MySQL.
var mysqlWordPrecedence = map[string]int{
	"or": precOr, "xor": precXor, "and": precAnd, "is": precComparison,
	"not": precPredicate, "in": precPredicate, "like": precPredicate,
	"regexp": precPredicate, "rlike": precPredicate, "between": precPredicate,
	"div": precMultiply, "mod": precMultiply,
}

// mysqlSynonyms maps MySQL's operators to their names in trees.
var mysqlSynonyms = map[string]string{"||": "OR", "&&": "AND"}

// expr reads an expression.
func (p *parser) expr() Expr { return p.binary(precLowest, false) }

// binary reads an expression of operators that bind at least as tightly as min. label
// reports whether a label without AS may follow the expression.
func (p *parser) binary(min int, label bool) Expr {
	defer p.leave(p.enter())
	return p.climb(p.prefix(label), min, label)
}

// climb reads the operators after left that bind at least as tightly as min
// (precedence climbing). In PostgreSQL comparisons do not associate: a < b < c is a
// syntax error.
func (p *parser) climb(left Expr, min int, label bool) Expr {
	barred := -1 // non-associative level that was just used
	for {
		op, ok := p.operator(label)
		if !ok || op.prec < min {
			return left
		}
		if op.prec == barred {
			p.syntaxError()
			return left
		}
		barred = -1
		x, open := p.infix(left, op, label)
		if open && !p.mysql && (op.prec == precIs || op.prec == precComparison || op.prec == precPredicate) {
			barred = op.prec
		}
		p.grow()
		left = x
	}
}

// operator returns the operator at the current token.
func (p *parser) operator(label bool) (operator, bool) {
	t := &p.tok
	switch t.kind {
	case tokOp:
		if p.mysql {
			prec, ok := mysqlPrecedence[t.text]
			if t.text == "||" && p.lex.mode.PipesAsConcat {
				prec = precConcat
			}
			return operator{name: t.text, prec: prec}, ok
		}
		if prec, ok := pgPrecedence[t.text]; ok {
			return operator{name: t.text, prec: prec}, true
		}
		return operator{name: t.text, prec: precOther}, true
	case tokWord:
		prec, ok := p.wordPrecedence()[t.text]
		if !ok || !p.wordOperates(label) {
			return operator{}, false
		}
		return operator{name: t.text, prec: prec, word: true}, true
	}
	return operator{}, false
}

// wordPrecedence returns the levels of the dialect's operators that are words.
func (p *parser) wordPrecedence() map[string]int {
	if p.mysql {
		return mysqlWordPrecedence
	}
	return pgWordPrecedence
}

// wordOperates reports whether the operator word at the current token is an operator
// here. It may also be a label.
func (p *parser) wordOperates(label bool) bool {
	next := p.peek(1)
	switch p.tok.text {
	case "operator":
		return !label || next.isPunct("(")
	case "similar":
		return next.isWord("to")
	case "not":
		return next.kind == tokWord && next.text != "not" && p.wordPrecedence()[next.text] == precPredicate
	}
	return !label || p.tok.needsAs || !endsTarget(next)
}

// endsTarget reports whether t can follow a complete item of a select list.
func endsTarget(t *token) bool {
	switch t.kind {
	case tokEOF:
		return true
	case tokPunct:
		return t.text == "," || t.text == ")" || t.text == ";"
	case tokWord:
		switch t.text {
		case "from", "into", "where", "group", "having", "window", "union", "intersect",
			"except", "order", "limit", "offset", "for":
			return true
		}
	}
	return false
}

// infix reads the operator after left and its other operands. open reports whether
// another operator may follow the last operand.
func (p *parser) infix(left Expr, op operator, label bool) (x Expr, open bool) {
	pos := p.pos()
	if op.word {
		return p.wordOperator(left, op, label)
	}
	p.advance()
	name := op.name
	if synonym, ok := mysqlSynonyms[name]; ok && p.mysql && op.prec != precConcat {
		name = synonym
	}
	return p.comparison(left, name, pos, op.prec, label)
}

// comparison reads the right side of an operator, ANY, SOME and ALL included.
func (p *parser) comparison(left Expr, op string, pos Pos, prec int, label bool) (Expr, bool) {
	if p.isAnyWord("any", "some", "all") {
		return p.quantified(left, op, pos), false
	}
	return &Binary{Pos: pos, Op: op, L: left, R: p.binary(prec+1, label)}, true
}

// quantified reads ANY, SOME or ALL and its array or subquery.
func (p *parser) quantified(left Expr, op string, pos Pos) Expr {
	all := p.isWord("all")
	p.advance()
	p.expectPunct("(")
	query, array := p.parenthesised(false)
	if query == nil {
		return &Quantified{Pos: pos, Op: op, All: all, X: left, Array: array[0]}
	}
	if op != map[bool]string{false: "=", true: "<>"}[all] {
		p.notSupported(pos, "ANY or ALL of a query, but for = ANY and <> ALL, is")
	}
	return &In{Pos: pos, Not: all, X: left, Query: query}
}

// wordOperator reads an operator that begins with a word.
func (p *parser) wordOperator(left Expr, op operator, label bool) (Expr, bool) {
	pos := p.pos()
	p.advance()
	switch op.name {
	case "or", "and", "xor", "div", "mod":
		return &Binary{Pos: pos, Op: strings.ToUpper(op.name), L: left, R: p.binary(op.prec+1, label)}, true
	case "operator":
		return p.comparison(left, p.qualifiedOperator(), pos, precOther, label)
	case "is":
		return p.isTest(left, pos, op.prec, label)
	case "collate":
		return &Collate{Pos: pos, X: left, Collation: p.qualifiedName()}, false
	case "not":
		name := p.tok.text
		p.advance()
		return p.predicate(left, pos, name, true, label)
	}
	return p.predicate(left, pos, op.name, false, label)
}

// qualifiedOperator reads (schema.op) after OPERATOR and returns op.
func (p *parser) qualifiedOperator() string {
	p.expectPunct("(")
	for p.tok.isName() {
		p.advance()
		p.expectPunct(".")
	}
	op := p.take(p.tok.kind == tokOp)
	p.expectPunct(")")
	return op
}

// isTest reads the rest of an IS expression.
func (p *parser) isTest(left Expr, pos Pos, prec int, label bool) (Expr, bool) {
	not := p.accept("not")
	if p.accept("distinct") {
		p.expect("from")
		return &IsDistinct{Pos: pos, Not: not, L: left, R: p.binary(prec+1, label)}, true
	}
	what := p.acceptAny("null", "true", "false", "unknown")
	if what == "" {
		p.syntaxError()
	}
	return &Is{Pos: pos, Not: not, What: strings.ToUpper(what), X: left}, false
}

// predicate reads the rest of [NOT] IN, BETWEEN, LIKE and the like.
func (p *parser) predicate(left Expr, pos Pos, name string, not bool, label bool) (Expr, bool) {
	switch name {
	case "in":
		return p.in(left, pos, not), false
	case "between":
		x := &Between{Pos: pos, Not: not, X: left}
		p.accept("asymmetric")
		x.Low = p.binary(precPredicate+1, false)
		p.expect("and")
		x.High = p.binary(precPredicate+1, label)
		return x, true
	case "ilike", "regexp", "rlike":
		p.notSupported(pos, strings.ToUpper(name)+" is")
	case "similar":
		p.expect("to")
		name = "similar to"
	}
	x := &Like{Pos: pos, Op: strings.ToUpper(name), Not: not, X: left, Pattern: p.binary(precPredicate+1, label)}
	if p.accept("escape") {
		x.Escape = p.binary(precPredicate+1, label)
	}
	return x, true
}

// in reads the parentheses of IN: a list or a subquery.
func (p *parser) in(left Expr, pos Pos, not bool) Expr {
	x := &In{Pos: pos, Not: not, X: left}
	p.expectPunct("(")
	x.Query, x.List = p.parenthesised(true)
	return x
}

// prefix reads a prefix operator with its operand, or a primary expression.
func (p *parser) prefix(label bool) Expr {
	pos := p.pos()
	switch t := &p.tok; {
	case t.isOp("-") || t.isOp("+") || p.mysql && t.isOp("!"):
		op := t.text
		if op == "!" {
			op = "NOT"
		}
		p.advance()
		return &Unary{Pos: pos, Op: op, X: p.binary(precUnary, label)}
	case t.isOp("~"), t.kind == tokOp && !p.mysql && pgPrecedence[t.text] == 0:
		p.notSupported(pos, "the prefix operator "+t.text+" is")
	case t.isWord("not"):
		p.advance()
		return &Unary{Pos: pos, Op: "NOT", X: p.binary(precNot, label)}
	}
	return p.casts(p.primary())
}

// casts reads the ::type that follow an expression.
func (p *parser) casts(x Expr) Expr {
	for p.isPunct("::") {
		pos := p.pos()
		p.advance()
		x = &Cast{Pos: pos, X: x, Type: p.typeName()}
		p.grow()
	}
	return x
}

// exprList reads expressions with commas between them.
func (p *parser) exprList() []Expr { return list(p, p.expr) }

// parenthesised reads a query, an expression, or if several a list of expressions,
// and the closing parenthesis. The token after "((SELECT 1)" tells whether the outer
// parenthesis holds a query or an expression. So the inner parenthesis is read
// first.
func (p *parser) parenthesised(several bool) (*Select, []Expr) {
	defer p.leave(p.enter())
	var first Expr
	switch {
	case p.atQuery():
		query := p.query()
		p.expectPunct(")")
		return query, nil
	case p.isPunct("("):
		pos := p.pos()
		p.advance()
		query, inner := p.parenthesised(true)
		if query != nil && p.continuesQuery() {
			query = p.queryFrom(query)
			p.expectPunct(")")
			return query, nil
		}
		first = p.climb(p.casts(p.group(pos, query, inner)), precLowest, false)
	default:
		first = p.expr()
	}
	exprs := []Expr{first}
	for several && p.acceptPunct(",") {
		exprs = append(exprs, p.expr())
	}
	p.expectPunct(")")
	return nil, exprs
}

// group makes the expression that parentheses hold: a subquery or one
// expression.
func (p *parser) group(pos Pos, query *Select, list []Expr) Expr {
	switch {
	case query != nil:
		return p.indirection(&Subquery{Pos: pos, Query: query})
	case len(list) == 1:
		return p.indirection(list[0])
	}
	p.notSupported(pos, rowExpression)
	return p.bad()
}

// rowExpression begins the error for (a, b) and ROW(…).
const rowExpression = "a row expression is"
