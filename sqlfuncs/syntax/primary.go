package syntax

import (
	"strings"
)

// primary reads an expression without operators around it (PostgreSQL's c_expr).
func (p *parser) primary() Expr {
	t := p.tok
	pos := Pos(t.start)
	switch t.kind {
	case tokInteger:
		return p.constant(IntegerLiteral)
	case tokNumeric:
		return p.constant(NumericLiteral)
	case tokString:
		if p.mysql && p.peek(1).kind == tokString { // no label: MySQL joins them
			p.notSupported(pos, "a string in several parts is")
		}
		return p.constant(StringLiteral)
	case tokBytes:
		return p.constant(BytesLiteral)
	case tokParam:
		return p.indirection(p.param())
	case tokVariable:
		return p.variable()
	case tokIdent:
		return p.reference()
	case tokWord:
		return p.word(t)
	case tokPunct:
		if t.text == "(" {
			p.advance()
			query, list := p.parenthesised(true)
			return p.group(pos, query, list)
		}
	}
	return p.bad()
}

// bad fails and returns an empty literal in place of the missing expression.
func (p *parser) bad() Expr {
	p.syntaxError()
	return &Literal{}
}

// constant makes a Literal of the current token.
func (p *parser) constant(kind LiteralKind) Expr {
	x := &Literal{Pos: p.pos(), Kind: kind, Text: p.tok.text}
	p.advance()
	return x
}

// word reads an expression that begins with an unquoted word.
func (p *parser) word(t token) Expr {
	pos := Pos(t.start)
	switch t.text {
	case "null":
		p.advance()
		return &Literal{Pos: pos, Kind: NullLiteral}
	case "true", "false":
		return p.constant(BoolLiteral)
	case "default":
		if !p.mysql || !p.peek(1).isPunct("(") {
			p.advance()
			return &Default{Pos: pos}
		}
	case "case":
		return p.caseExpr()
	case "cast":
		return p.castCall()
	case "array":
		return p.array()
	case "row":
		if p.peek(1).isPunct("(") {
			p.notSupported(p.pos(), rowExpression)
		}
	case "exists":
		if p.peek(1).isPunct("(") {
			return p.exists()
		}
	case "next", "previous":
		if x := p.nextValueFor(); x != nil {
			return x
		}
	}
	if x := p.special(t); x != nil {
		return x
	}
	return p.reference()
}

// caseExpr reads CASE … END.
func (p *parser) caseExpr() Expr {
	x := &Case{Pos: p.pos()}
	p.advance()
	if !p.isWord("when") {
		x.Operand = p.expr()
	}
	for p.accept("when") {
		w := When{Cond: p.expr()}
		p.expect("then")
		w.Result = p.expr()
		x.Whens = append(x.Whens, w)
	}
	if len(x.Whens) == 0 {
		p.syntaxError()
	}
	if p.accept("else") {
		x.Else = p.expr()
	}
	p.expect("end")
	return x
}

// castCall reads CAST(x AS type).
func (p *parser) castCall() Expr {
	x := &Cast{Pos: p.pos()}
	p.advance()
	p.expectPunct("(")
	x.X = p.expr()
	p.expect("as")
	x.Type = p.typeName()
	p.expectPunct(")")
	return x
}

// array reads ARRAY[…] or ARRAY(query).
func (p *parser) array() Expr {
	pos := p.pos()
	p.advance()
	if p.isPunct("[") {
		return p.arrayList(pos)
	}
	return &Subquery{Pos: pos, Array: true, Query: p.subquery()}
}

// arrayList reads […].
func (p *parser) arrayList(pos Pos) Expr {
	defer p.leave(p.enter())
	x := &Array{Pos: pos}
	p.expectPunct("[")
	if p.acceptPunct("]") {
		return x
	}
	if p.isPunct("[") {
		p.notSupported(p.pos(), "an array of several dimensions is")
	}
	x.Elems = p.exprList()
	p.expectPunct("]")
	return x
}

// exists reads EXISTS (query).
func (p *parser) exists() Expr {
	x := &Exists{Pos: p.pos()}
	p.advance()
	x.Query = p.subquery()
	return x
}

// nextValueFor reads NEXT VALUE FOR name. NEXT VALUE FOR UPDATE is a column
// with a label and a locking clause. MariaDB's PREVIOUS VALUE FOR name is
// LASTVAL(name).
func (p *parser) nextValueFor() Expr {
	if p.mysql && p.isWords("previous", "value", "for") && p.peek(3).isName() {
		x := &FuncCall{Pos: p.pos(), Name: Name{"lastval"}}
		p.expect("previous", "value", "for")
		x.Args = []Arg{{Value: &Column{Pos: p.pos(), Name: p.qualifiedName()}}}
		return x
	}
	if !p.isWords("next", "value", "for") {
		return nil
	}
	switch name := p.peek(3); {
	case !name.isName(), name.kind == tokWord && isLockStrength(name.text):
		return nil
	}
	x := &NextValueFor{Pos: p.pos()}
	p.expect("next", "value", "for")
	x.Name = p.qualifiedName()
	return x
}

// isLockStrength reports whether the word after FOR begins a locking clause.
func isLockStrength(word string) bool {
	return word == "update" || word == "share" || word == "no" || word == "key"
}

// reference reads a column, t.*, a function call or a constant of a named
// type: all begin with a name.
func (p *parser) reference() Expr {
	t := p.tok
	pos := Pos(t.start)
	if !t.isName() && !t.isFunctionName() && !(p.mysql && p.isCallMySQL()) {
		return p.bad()
	}
	p.advance()
	name := Name{t.text}
	for p.isPunct(".") && t.isName() {
		p.advance()
		if p.acceptOp("*") {
			return &Star{Pos: pos, Table: name}
		}
		name = append(name, p.label())
	}
	callable := len(name) > 1 || t.isFunctionName() || p.mysql
	switch {
	case p.isPunct("(") && callable:
		x := p.call(pos, name)
		if p.accept("over") {
			x.Over = p.window()
		}
		return x
	case p.tok.kind == tokString && callable && (!p.mysql || len(name) == 1 && isTemporal(t.text)):
		return p.typedConstant(pos, TypeName{Pos: pos, Name: name})
	case !t.isName():
		return p.bad()
	}
	return p.indirection(&Column{Pos: pos, Name: name})
}

// isCallMySQL reports whether the reserved word at the current token is a function
// here: DATABASE(), LEFT(…), IF(…).
func (p *parser) isCallMySQL() bool {
	return p.tok.kind == tokWord && p.peek(1).isPunct("(") && !notFunctionsMySQL[p.tok.text]
}

// notFunctionsMySQL holds reserved words that may be followed by a parenthesis and
// are no functions.
var notFunctionsMySQL = map[string]bool{
	"select": true, "from": true, "where": true, "group": true, "order": true, "by": true, "having": true,
	"limit": true, "union": true, "in": true, "and": true, "or": true, "not": true, "as": true, "on": true,
	"when": true, "then": true, "else": true, "using": true, "join": true, "any": true, "all": true,
	"distinct": true, "with": true, "table": true, "into": true, "between": true, "like": true, "is": true,
}

// isTemporal reports whether MySQL has constants of the type.
func isTemporal(typeName string) bool {
	return typeName == "date" || typeName == "time" || typeName == "timestamp"
}

// typedConstant reads the string of type 'string'.
func (p *parser) typedConstant(pos Pos, t TypeName) Expr {
	return &Cast{Pos: pos, X: p.constant(StringLiteral), Type: t}
}

// indirection reads the [i], .name and .* after an expression.
func (p *parser) indirection(x Expr) Expr {
	for {
		pos := p.pos()
		switch {
		case p.isPunct("["):
			x = p.subscript(x)
		case p.isPunct("."):
			p.advance()
			if p.tok.isOp("*") {
				p.notSupported(pos, "(record).* is")
			}
			x = &Field{Pos: pos, X: x, Name: p.label()}
		default:
			return x
		}
		p.grow()
	}
}

// subscript reads [i].
func (p *parser) subscript(x Expr) Expr {
	s := &Subscript{Pos: p.pos(), X: x}
	p.advance()
	if !p.isPunct(":") {
		s.Index = p.expr()
	}
	if p.isPunct(":") {
		p.notSupported(p.pos(), "a slice of an array is")
	}
	p.expectPunct("]")
	return s
}

// variable reads MySQL's @a, @a := x, @@a and @@global.a.
func (p *parser) variable() Expr {
	t := p.tok
	p.advance()
	name, system := strings.CutPrefix(t.text, "@")
	if !system {
		if p.acceptPunct(":=") {
			return &Assign{Pos: Pos(t.start), Name: name, Value: p.expr()}
		}
		return &Variable{Pos: Pos(t.start), Name: name}
	}
	x := &Variable{Pos: Pos(t.start), System: true, Name: name}
	if scope, rest, ok := strings.Cut(name, "."); ok {
		switch scope {
		case "global", "session":
			x.Scope, x.Name = scope, rest
		case "local":
			x.Scope, x.Name = "session", rest
		}
	}
	return x
}
