package syntax

import (
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// prepare reads PREPARE name [(type, …)] AS statement, and refuses PREPARE TRANSACTION.
func (p *parser) prepare() Statement {
	p.advance()
	if p.isWord("transaction") && p.peek(1).kind == tokString {
		p.refuse("PREPARE TRANSACTION")
		return nil
	}
	s := &Prepare{Name: p.name()}
	if p.mysql {
		p.prepareFrom(s)
		return s
	}
	if p.acceptPunct("(") {
		s.Types = append(s.Types, p.typeName())
		for p.acceptPunct(",") {
			s.Types = append(s.Types, p.typeName())
		}
		p.expectPunct(")")
	}
	p.expect("as")
	start := p.tok.start
	s.Statement = p.optimizable()
	s.Text = p.textFrom(start)
	p.params = 0
	return s
}

// textFrom is the text from start to the end of the last consumed token.
func (p *parser) textFrom(start int) string { return p.lex.src[start:max(start, p.end)] }

// optimizable reads a query; the data-modifying statements that may stand in
// its place make the whole statement an Unsupported one.
func (p *parser) optimizable() Statement {
	if p.isAnyWord("insert", "update", "delete", "merge") {
		p.refuseStatement()
		return nil
	}
	return p.query()
}

// execute reads EXECUTE name [(argument, …)].
func (p *parser) execute() Statement {
	s := &Execute{Pos: p.pos()}
	p.advance()
	s.Name = p.name()
	if p.mysql {
		if p.accept("using") {
			s.Args = p.exprList()
		}
		return s
	}
	if p.acceptPunct("(") {
		s.Args = p.exprList()
		p.expectPunct(")")
	}
	return s
}

// deallocate reads DEALLOCATE [PREPARE] {name|ALL}.
func (p *parser) deallocate() Statement {
	p.advance()
	if next := p.peek(1); next.isName() || next.isWord("all") {
		p.accept("prepare")
	}
	if p.accept("all") {
		return &Deallocate{}
	}
	return &Deallocate{Name: p.name()}
}

// explain reads EXPLAIN.
func (p *parser) explain() Statement {
	x := &Explain{}
	p.advance()
	switch {
	case p.mysql:
		p.explainOptionsMySQL(x)
	case p.isPunct("(") && !p.queryInParens():
		p.notSupported(p.pos(), "EXPLAIN with options in parentheses is")
	default:
		x.Analyze = p.acceptAny("analyze", "analyse") != ""
		p.accept("verbose")
	}
	if word := p.tok.text; p.isAnyWord("declare", "execute", "create") && !p.mysql {
		p.refuse("EXPLAIN " + strings.ToUpper(word))
	}
	x.Statement = p.optimizable()
	return x
}

// queryInParens reports whether the parenthesis at the current token opens a query.
func (p *parser) queryInParens() bool {
	next := p.peek(1)
	return next.isPunct("(") || next.isWord("select") || next.isWord("values") || next.isWord("with") || next.isWord("table")
}

// boolOption reads the value of an option that is on or off.
func (p *parser) boolOption(pos Pos, name, value string) bool {
	switch strings.ToLower(value) {
	case "true", "on", "1":
		return true
	case "false", "off", "0":
		return false
	}
	p.failAt(pos, sqlstate.SyntaxError, "%s requires a Boolean value", name)
	return false
}

// optionValue reads the value of an option: a word, a string or a number.
func (p *parser) optionValue() string {
	t := p.tok
	switch {
	case t.kind == tokString, t.kind == tokIdent, p.isAnyWord("true", "false", "on"), t.kind == tokWord && t.class < reserved:
		p.advance()
		return t.text
	}
	sign := ""
	if p.acceptOp("-") {
		sign = "-"
	} else {
		p.acceptOp("+")
	}
	return sign + p.take(p.tok.kind == tokInteger || p.tok.kind == tokNumeric)
}

// declare reads DECLARE name … CURSOR … FOR query.
func (p *parser) declare() Statement {
	p.advance()
	s := &Declare{Name: p.name()}
	for {
		switch {
		case p.accept("binary"):
			s.Binary = true
		case p.accept("no"):
			p.expect("scroll")
		case p.acceptAny("scroll", "insensitive", "asensitive") != "":
		default:
			p.expect("cursor")
			if p.accept("with") {
				p.expect("hold")
				s.Hold = true
			} else if p.accept("without") {
				p.expect("hold")
			}
			p.expect("for")
			start := p.tok.start
			s.Query = p.query()
			s.Text = p.textFrom(start)
			return s
		}
	}
}

// fetch reads FETCH and MOVE forward; other directions are refused by their name.
func (p *parser) fetch() Statement {
	s := &Fetch{Move: p.isWord("move"), Count: 1}
	verb := strings.ToUpper(p.tok.text)
	p.advance()
	if p.tok.isName() && p.peek(1).endsStatement() {
		s.Cursor = p.name()
		return s
	}
	if to := p.acceptAny("first", "last", "absolute", "relative", "prior", "backward"); to != "" {
		p.refuse(verb + " " + strings.ToUpper(to))
		return nil
	}
	next := p.accept("next")
	if !next {
		p.accept("forward")
	}
	switch {
	case next:
	case p.accept("all"):
		s.Count = FetchAll
	case p.tok.kind == tokInteger || p.tok.kind == tokOp:
		if s.Count = p.signedInteger(); s.Count < 1 {
			p.refuse(verb + " BACKWARD")
			return nil
		}
	}
	if !p.accept("from") {
		p.accept("in")
	}
	s.Cursor = p.name()
	return s
}

// closeCursor reads CLOSE {name|ALL}.
func (p *parser) closeCursor() Statement {
	p.advance()
	if p.accept("all") {
		return &CloseCursor{}
	}
	return &CloseCursor{Name: p.name()}
}
