package syntax

import (
	"slices"
	"strings"
)

// prepare reads PREPARE name [(type, …)] AS statement, MySQL's PREPARE name FROM
// 'text', and PREPARE TRANSACTION.
func (p *parser) prepare() Statement {
	p.advance()
	if p.isWord("transaction") && p.peek(1).kind == tokString {
		return p.refusal("PREPARE TRANSACTION")
	}
	s := &Prepare{Name: p.name()}
	if p.mysql {
		if p.expect("from"); p.tok.kind == tokVariable {
			p.notSupported(p.pos(), "PREPARE … FROM a variable is")
		}
		s.Text = p.stringLiteral()
		return s
	}
	if p.acceptPunct("(") {
		s.Types = list(p, p.typeName)
		p.expectPunct(")")
	}
	p.expect("as")
	start := p.tok.start
	s.Statement = p.optimizable()
	s.Text = p.textFrom(start)
	p.params = 0
	return s
}

// textFrom returns the text from start to the end of the last consumed token.
func (p *parser) textFrom(start int) string { return p.lex.src[start:max(start, p.end)] }

// optimizable reads a query. Data-modifying statements in its place make the whole
// statement an Unsupported one.
func (p *parser) optimizable() Statement {
	p.refuseChange()
	return p.query()
}

// refuseChange refuses a statement that changes data, in the place of a query.
func (p *parser) refuseChange() {
	if p.isAnyWord("insert", "update", "delete", "merge") {
		p.refuse(p.statementName())
	}
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

// explain reads EXPLAIN. It ignores VERBOSE, and refuses options in parentheses.
func (p *parser) explain() Statement {
	x := &Explain{}
	p.advance()
	switch {
	case p.mysql:
		x.Analyze = p.accept("analyze")
	case p.isPunct("(") && p.peek(1).kind == tokWord && !slices.Contains([]string{"select", "values", "with"}, p.peek(1).text):
		p.refuse("EXPLAIN (" + upperCase(p.peek(1).text) + ")")
		return nil
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
		case p.isWord("binary"):
			p.refuse("DECLARE BINARY CURSOR")
			return nil
		case p.accept("no"):
			p.expect("scroll")
		case p.accept("scroll"):
			s.Scroll = true
		case p.acceptAny("insensitive", "asensitive") != "":
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

// fetch reads FETCH and MOVE, forward or backward by a number of rows. FIRST, LAST,
// ABSOLUTE and RELATIVE are refused by name.
func (p *parser) fetch() Statement {
	s := &Fetch{Move: p.isWord("move"), Count: 1}
	verb := strings.ToUpper(p.tok.text)
	p.advance()
	if p.tok.isName() && p.peek(1).endsStatement() {
		s.Cursor = p.name()
		return s
	}
	if to := p.acceptAny("first", "last", "absolute", "relative"); to != "" {
		p.refuse(verb + " " + strings.ToUpper(to))
		return nil
	}
	switch p.acceptAny("next", "prior", "backward", "forward") {
	case "next":
	case "prior":
		s.Count = -1
	case "backward":
		p.fetchCount(s)
		s.Count = -s.Count
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

// copy reads COPY … TO STDOUT, as text or CSV. Other forms of COPY are refused by
// name.
func (p *parser) copy() Statement {
	c := &Copy{}
	p.advance()
	if p.isWord("binary") {
		p.refuse("COPY BINARY")
		return nil
	}
	from := p.copySource(c)
	if refused := p.copyTarget(from); refused != "" {
		p.refuse(refused)
		return nil
	}
	p.accept("with")
	if !p.acceptPunct("(") {
		for !p.atEnd() && p.copyOption(c, false) {
			continue
		}
		return c
	}
	for p.copyOption(c, true) && p.acceptPunct(",") {
		continue
	}
	p.expectPunct(")")
	return c
}

// copySource reads the table or query and the direction.
func (p *parser) copySource(c *Copy) (from bool) {
	pos := p.pos()
	if p.acceptPunct("(") {
		p.refuseChange()
		c.Query = p.query()
		p.expectPunct(")")
		p.expect("to")
		return false
	}
	core := &SelectCore{Pos: pos, From: []TableRef{&Table{Pos: pos, Name: p.qualifiedName()}}}
	colPos := p.pos()
	for _, name := range p.optionalColumns() {
		core.Targets = append(core.Targets, Target{Expr: &Column{Pos: colPos, Name: Name{name}}, Text: name})
	}
	if core.Targets == nil {
		core.Targets = []Target{{Expr: &Star{Pos: pos}, Text: "*"}}
	}
	c.Query = &Select{Pos: pos, Body: core}
	if p.accept("from") {
		return true
	}
	p.expect("to")
	return false
}

// copyTarget reads the target of COPY. refused names a target, or a direction, that
// nextid does not support.
func (p *parser) copyTarget(from bool) (refused string) {
	switch {
	case from:
		return "COPY FROM"
	case p.accept("program"):
		return "COPY TO PROGRAM"
	case p.acceptAny("stdin", "stdout") == "":
		p.stringLiteral()
		return "COPY TO a file"
	}
	return ""
}

// copyOption reads one option: FORMAT text or csv, CSV (the older form), or HEADER.
// list reports whether the options are in parentheses.
func (p *parser) copyOption(c *Copy, list bool) bool {
	switch name := p.label(); {
	case name == "csv" && !list:
		c.CSV = true
	case name == "header":
		c.Header = true
	case name == "format" && list:
		format := p.optionValue()
		if c.CSV = format == "csv"; !c.CSV && format != "text" {
			p.refuse("COPY with FORMAT " + strings.ToUpper(format))
		}
	default:
		p.refuse("COPY with " + strings.ToUpper(name))
	}
	return p.err == nil && p.refused == ""
}
