package syntax

import (
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// createSequence reads CREATE SEQUENCE after its modifiers.
func (p *parser) createSequence(orReplace bool) Statement {
	s := &CreateSequence{Pos: p.pos(), OrReplace: orReplace}
	p.advance()
	if p.acceptWords("if", "not") {
		p.expect("exists")
		s.IfNotExists = true
	}
	if s.OrReplace && s.IfNotExists {
		p.failAt(s.Pos, sqlstate.SyntaxError, "OR REPLACE and IF NOT EXISTS do not go together")
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
	if p.isWord("owner") {
		return p.ownerOf("ALTER SEQUENCE", s.Pos, s.Name, s.IfExists)
	}
	if p.isAnyWord("rename", "set") {
		p.notSupported(p.pos(), "ALTER SEQUENCE … "+strings.ToUpper(p.tok.text)+" is")
	}
	if p.atEnd() {
		p.syntaxError()
	}
	s.Options = p.sequenceOptions()
	return s
}

// ownerOf reads OWNER TO.
func (p *parser) ownerOf(tag string, pos Pos, name Name, ifExists bool) Statement {
	p.advance()
	p.expect("to")
	p.label()
	return &SequenceNote{Pos: pos, Tag: tag, What: "owners", Names: []Name{name}, IfExists: ifExists}
}

// alterTable reads ALTER TABLE … OWNER TO, which pg_dump writes for sequences, too.
// It refuses other forms.
func (p *parser) alterTable() Statement {
	p.advance()
	ifExists := p.ifExists()
	p.accept("only")
	if p.atEnd() {
		return p.refusal("ALTER TABLE")
	}
	pos, name := p.pos(), p.qualifiedName()
	if p.isWord("owner") {
		return p.ownerOf("ALTER TABLE", pos, name, ifExists)
	}
	return p.refusal("ALTER TABLE")
}

// comment reads COMMENT ON SEQUENCE, and refuses comments on anything else.
func (p *parser) comment() Statement {
	p.advance()
	if !p.acceptWords("on", "sequence") {
		return p.refusal("COMMENT")
	}
	s := &SequenceNote{Pos: p.pos(), Tag: "COMMENT", What: "comments", Names: []Name{p.qualifiedName()}}
	p.expect("is")
	if !p.accept("null") {
		p.stringLiteral()
	}
	return s
}

// grant reads GRANT and REVOKE … ON SEQUENCE, and refuses those on anything else.
func (p *parser) grant() Statement {
	s := &SequenceNote{Tag: strings.ToUpper(p.tok.text), What: "grants"}
	for !p.atEnd() && !p.isWord("on") {
		p.advance()
	}
	switch p.advance(); {
	case p.accept("sequence"):
		s.Pos, s.Names = p.pos(), p.nameAndMore()
	case p.acceptWords("all", "sequences", "in", "schema"):
		p.nameAndMore()
	default:
		return p.refusal(s.Tag)
	}
	if s.Tag == "GRANT" {
		p.expect("to")
	} else {
		p.expect("from")
	}
	p.skipStatement() // roles, and WITH GRANT OPTION or CASCADE
	return s
}

// refusal refuses the statement and returns an Unsupported for it.
func (p *parser) refusal(what string) Statement {
	p.refuse(what)
	return &Unsupported{What: what}
}

// nameAndMore reads qualified names between commas.
func (p *parser) nameAndMore() []Name { return list(p, p.qualifiedName) }

// dropSequence reads DROP SEQUENCE.
func (p *parser) dropSequence() Statement {
	s := &DropSequence{}
	p.advance()
	s.IfExists = p.ifExists()
	s.Pos = p.pos()
	s.Names = p.nameAndMore()
	p.acceptAny("cascade", "restrict")
	return s
}

// ifExists reads IF EXISTS if it is there.
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

// sequenceOption reads one option.
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
		if p.setOption(pos, &o.Cache); p.mysql && *o.Cache == 0 {
			*o.Cache = 1 // NOCACHE
		}
	case p.accept("cycle"):
		p.setCycle(pos, o, true)
	case p.accept("no"):
		p.noOption(pos, o, p.acceptAny("minvalue", "maxvalue", "cycle"))
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
	case p.mysql && p.accept("engine"):
		p.acceptOp("=")
		p.take(p.tok.isLabel() || p.tok.kind == tokString)
	case p.mysql && p.accept("comment"):
		p.redundant(pos, o.Comment != nil)
		p.acceptOp("=")
		text := p.stringLiteral()
		o.Comment = &text
	case p.mysql && p.isAnyWord("nocache", "nocycle", "nomaxvalue", "nominvalue"):
		p.noOption(pos, o, strings.TrimPrefix(p.label(), "no"))
	default:
		p.syntaxError()
	}
}

// noOption sets what NO MINVALUE, NO MAXVALUE, NO CYCLE and NOCACHE mean.
func (p *parser) noOption(pos Pos, o *SequenceOptions, what string) {
	switch what {
	case "minvalue":
		p.redundant(pos, o.NoMinValue || o.MinValue != nil)
		o.NoMinValue = true
	case "maxvalue":
		p.redundant(pos, o.NoMaxValue || o.MaxValue != nil)
		o.NoMaxValue = true
	case "cycle":
		p.setCycle(pos, o, false)
	case "cache":
		p.redundant(pos, o.Cache != nil)
		one := int64(1)
		o.Cache = &one
	default:
		p.syntaxError()
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

// redundant fails if an option was given before.
func (p *parser) redundant(pos Pos, given bool) {
	if given {
		p.failAt(pos, sqlstate.SyntaxError, "conflicting or redundant options")
	}
}
