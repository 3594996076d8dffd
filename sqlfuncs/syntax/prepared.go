package syntax

import (
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// prepare reads PREPARE name [(type, …)] AS statement and PREPARE TRANSACTION.
func (p *parser) prepare() Statement {
	p.advance()
	if p.isWord("transaction") && p.peek(1).kind == tokString {
		p.advance()
		return &Transaction{Kind: PrepareTransaction, Savepoint: p.stringLiteral()}
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
	x := &Explain{Format: "text"}
	p.advance()
	switch {
	case p.mysql:
		p.explainOptionsMySQL(x)
	case p.isPunct("(") && !p.queryInParens():
		p.explainOptions(x)
	default:
		x.Analyze = p.acceptAny("analyze", "analyse") != ""
		x.Verbose = p.accept("verbose")
	}
	switch {
	case p.mysql:
		x.Statement = p.optimizable()
	case p.isWord("declare"):
		x.Statement = p.declare()
	case p.isWord("execute"):
		x.Statement = p.execute()
	case p.isWord("create"):
		p.refuse("CREATE TABLE")
	default:
		x.Statement = p.optimizable()
	}
	return x
}

// queryInParens reports whether the parenthesis at the current token opens a query.
func (p *parser) queryInParens() bool {
	next := p.peek(1)
	return next.isPunct("(") || next.isWord("select") || next.isWord("values") || next.isWord("with") || next.isWord("table")
}

// explainOptions reads (option [value], …).
func (p *parser) explainOptions(x *Explain) {
	p.expectPunct("(")
	var needAnalyze string // an option that says something about a run
	for {
		pos := p.pos()
		name := p.anyNameOr("analyze", "analyse")
		value := "true"
		if !p.isPunct(",") && !p.isPunct(")") {
			value = p.optionValue()
		}
		switch name {
		case "analyze", "analyse":
			x.Analyze = p.boolOption(pos, name, value)
		case "verbose":
			x.Verbose = p.boolOption(pos, name, value)
		case "costs":
			x.NoCosts = !p.boolOption(pos, name, value)
		case "settings", "buffers", "summary", "generic_plan", "memory":
			p.boolOption(pos, name, value)
		case "wal", "timing":
			if p.boolOption(pos, name, value) {
				needAnalyze = name
			}
		case "format":
			x.Format = foldCase(value)
			if x.Format == "xml" || x.Format == "yaml" {
				p.notSupported(pos, "EXPLAIN (FORMAT "+strings.ToUpper(x.Format)+") is")
			} else if x.Format != "text" && x.Format != "json" {
				p.failAt(pos, sqlstate.InvalidParameterValue, "unrecognized value for EXPLAIN option %q: %q", name, value)
			}
		default:
			p.failAt(pos, sqlstate.SyntaxError, "unrecognized EXPLAIN option %q", name)
		}
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
	if needAnalyze != "" && !x.Analyze && p.err == nil && p.refused == "" {
		p.fail(sqlstate.New(sqlstate.InvalidParameterValue, "EXPLAIN option %s requires ANALYZE", strings.ToUpper(needAnalyze)))
	}
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

// anyNameOr reads a non-reserved word or one of the reserved words given.
func (p *parser) anyNameOr(words ...string) string {
	if w := p.acceptAny(words...); w != "" {
		return w
	}
	return p.anyName()
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

// isTrue reports whether a boolean option is on.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "false", "off", "no", "0":
		return false
	}
	return true
}

// declare reads DECLARE name … CURSOR … FOR query.
func (p *parser) declare() Statement {
	p.advance()
	s := &Declare{Name: p.name()}
	for {
		switch {
		case p.accept("binary"):
			s.Binary = true
		case p.accept("scroll"):
			s.Scroll = true
		case p.accept("no"):
			p.expect("scroll")
			s.NoScroll = true
		case p.accept("insensitive"), p.accept("asensitive"):
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

// fetch reads FETCH and MOVE.
func (p *parser) fetch() Statement {
	s := &Fetch{Move: p.isWord("move"), Count: 1}
	p.advance()
	if p.tok.isName() && p.peek(1).endsStatement() {
		s.Cursor = p.name()
		return s
	}
	switch {
	case p.accept("next"):
	case p.accept("prior"):
		s.Direction = FetchBackward
	case p.accept("first"):
		s.Direction = FetchAbsolute
	case p.accept("last"):
		s.Direction, s.Count = FetchAbsolute, -1
	case p.accept("absolute"):
		s.Direction, s.Count = FetchAbsolute, p.signedInteger()
	case p.accept("relative"):
		s.Direction, s.Count = FetchRelative, p.signedInteger()
	case p.accept("forward"):
		p.fetchCount(s)
	case p.accept("backward"):
		s.Direction = FetchBackward
		p.fetchCount(s)
	default:
		p.fetchCount(s)
	}
	if !p.accept("from") {
		p.accept("in")
	}
	s.Cursor = p.name()
	return s
}

// fetchCount reads the number of rows or ALL if it is there.
func (p *parser) fetchCount(s *Fetch) {
	switch {
	case p.accept("all"):
		s.Count = FetchAll
	case p.tok.kind == tokInteger || p.tok.kind == tokOp:
		s.Count = p.signedInteger()
	}
}

// closeCursor reads CLOSE {name|ALL}.
func (p *parser) closeCursor() Statement {
	p.advance()
	if p.accept("all") {
		return &CloseCursor{}
	}
	return &CloseCursor{Name: p.name()}
}
