package syntax

import (
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// createSequence reads CREATE SEQUENCE behind its modifiers.
func (p *parser) createSequence() Statement {
	s := &CreateSequence{Pos: p.pos()}
	p.advance()
	if p.acceptWords("if", "not") {
		p.expect("exists")
		s.IfNotExists = true
	}
	s.Pos, s.Name = p.pos(), p.qualifiedName()
	s.Options = p.sequenceOptions()
	return s
}

// alterSequence reads ALTER SEQUENCE.
func (p *parser) alterSequence() Statement {
	s := &AlterSequence{}
	p.advance()
	s.IfExists = p.ifExists()
	s.Pos, s.Name = p.pos(), p.qualifiedName()
	if p.isAnyWord("owner", "rename", "set") {
		p.notSupported(p.pos(), "ALTER SEQUENCE … "+strings.ToUpper(p.tok.text)+" is")
	}
	if p.atEnd() {
		p.syntaxError()
	}
	s.Options = p.sequenceOptions()
	return s
}

// dropSequence reads DROP SEQUENCE.
func (p *parser) dropSequence() Statement {
	s := &DropSequence{}
	p.advance()
	s.IfExists = p.ifExists()
	s.Pos = p.pos()
	s.Names = append(s.Names, p.qualifiedName())
	for p.acceptPunct(",") {
		s.Names = append(s.Names, p.qualifiedName())
	}
	p.acceptAny("cascade", "restrict")
	return s
}

func (p *parser) ifExists() bool {
	return p.acceptWords("if", "exists")
}

// sequenceOptions reads the options of CREATE and ALTER SEQUENCE.
func (p *parser) sequenceOptions() SequenceOptions {
	var o SequenceOptions
	for !p.atEnd() && p.err == nil {
		p.sequenceOption(&o)
	}
	return o
}

func (p *parser) sequenceOption(o *SequenceOptions) {
	pos := p.pos()
	switch {
	case p.accept("start"):
		p.accept("with")
		p.setOption(pos, &o.Start)
	case p.accept("increment"):
		p.accept("by")
		p.setOption(pos, &o.Increment)
	case p.accept("minvalue"):
		p.redundant(pos, o.NoMinValue)
		p.setOption(pos, &o.MinValue)
	case p.accept("maxvalue"):
		p.redundant(pos, o.NoMaxValue)
		p.setOption(pos, &o.MaxValue)
	case p.accept("cache"):
		p.setOption(pos, &o.Cache)
	case p.accept("cycle"):
		p.setCycle(pos, o, true)
	case p.accept("no"):
		p.noOption(pos, o)
	case p.accept("restart"):
		p.redundant(pos, o.Restart)
		o.Restart = true
		if p.accept("with") || p.tok.kind == tokInteger || p.tok.kind == tokOp {
			p.setOption(pos, &o.RestartWith)
		}
	case p.accept("as"):
		p.redundant(pos, o.As != nil)
		t := p.typeName()
		o.As = &t
	case p.accept("owned"):
		p.redundant(pos, o.OwnedBy)
		p.expect("by")
		o.OwnedBy = true
		p.qualifiedName()
	case p.mysql && p.isAnyWord("nocache", "nocycle", "nomaxvalue", "nominvalue"):
		p.noOptionMySQL(pos, o)
	default:
		p.syntaxError()
	}
}

// noOption reads NO {MINVALUE|MAXVALUE|CYCLE}.
func (p *parser) noOption(pos Pos, o *SequenceOptions) {
	switch {
	case p.accept("minvalue"):
		p.redundant(pos, o.NoMinValue || o.MinValue != nil)
		o.NoMinValue = true
	case p.accept("maxvalue"):
		p.redundant(pos, o.NoMaxValue || o.MaxValue != nil)
		o.NoMaxValue = true
	default:
		p.expect("cycle")
		p.setCycle(pos, o, false)
	}
}

// noOptionMySQL reads MariaDB's one-word forms.
func (p *parser) noOptionMySQL(pos Pos, o *SequenceOptions) {
	switch p.acceptAny("nocache", "nocycle", "nomaxvalue", "nominvalue") {
	case "nocache":
		p.redundant(pos, o.Cache != nil)
		one := int64(1)
		o.Cache = &one
	case "nocycle":
		p.setCycle(pos, o, false)
	case "nomaxvalue":
		p.redundant(pos, o.NoMaxValue || o.MaxValue != nil)
		o.NoMaxValue = true
	case "nominvalue":
		p.redundant(pos, o.NoMinValue || o.MinValue != nil)
		o.NoMinValue = true
	}
}

func (p *parser) setCycle(pos Pos, o *SequenceOptions, on bool) {
	p.redundant(pos, o.Cycle != nil)
	o.Cycle = &on
}

// setOption reads the number of an option, which may be given once. MariaDB
// allows an equals sign before it.
func (p *parser) setOption(pos Pos, option **int64) {
	p.redundant(pos, *option != nil)
	if p.mysql {
		p.acceptOp("=")
	}
	n := p.signedInteger()
	*option = &n
}

func (p *parser) redundant(pos Pos, given bool) {
	if given {
		p.failAt(pos, sqlstate.SyntaxError, "conflicting or redundant options")
	}
}
