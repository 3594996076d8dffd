package syntax

import "strings"

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
		if p.isAnyWord("insert", "update", "delete", "merge") {
			p.refuse(p.statementName())
		}
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
// list reports whether the options are in parentheses, where HEADER takes a value.
func (p *parser) copyOption(c *Copy, list bool) bool {
	switch pos, name := p.pos(), p.label(); {
	case name == "csv" && !list:
		c.CSV = true
	case name == "header" && list && !p.isPunct(",") && !p.isPunct(")"):
		c.Header = p.boolOption(pos, name, p.optionValue())
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
