package syntax

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// copy reads COPY. What is not COPY … TO STDOUT is marked Unsupported and
// not read further.
func (p *parser) copy() Statement {
	c := &Copy{Pos: p.pos(), Options: CopyOptions{Format: "text"}}
	p.advance()
	seen := copySeen{}
	if p.accept("binary") {
		c.Options.Format = "binary"
		seen["format"] = true
	}
	from := p.copySource(c)
	if c.Unsupported = p.copyTarget(from); c.Unsupported != "" {
		c.Query, c.Options = nil, CopyOptions{Format: "text"}
		p.skipStatement()
		return c
	}
	if p.accept("using") || p.isWord("delimiters") {
		p.expect("delimiters")
		p.copyString(&c.Options.Delimiter, &c.Options.HasDelimiter)
	}
	p.accept("with")
	if p.acceptPunct("(") {
		p.copyOptionList(c, seen)
		return c
	}
	for p.copyOption(c, seen) {
		continue
	}
	return c
}

// copySeen are the options that have been given.
type copySeen map[string]bool

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

// copyTarget reads the other end and says what nextid does not support of it.
func (p *parser) copyTarget(from bool) (unsupported string) {
	switch {
	case p.accept("program"):
		unsupported = "COPY TO PROGRAM"
		p.stringLiteral()
	case p.acceptAny("stdin", "stdout") != "":
	default:
		unsupported = "COPY TO a file"
		p.stringLiteral()
	}
	if from {
		return "COPY FROM"
	}
	return unsupported
}

// copyOption reads one option of the syntax before PostgreSQL 9.0, if there is one.
func (p *parser) copyOption(c *Copy, seen copySeen) bool {
	o, pos := &c.Options, p.pos()
	name := p.acceptAny("binary", "csv", "freeze", "header", "delimiter", "null", "quote", "escape", "encoding", "force")
	key := name
	if name == "binary" || name == "csv" {
		key = "format"
	}
	if name != "" && name != "force" {
		p.copyOnce(pos, key, seen)
	}
	switch name {
	case "binary", "csv":
		o.Format = name
	case "header":
		o.Header = true
	case "freeze":
	case "delimiter":
		p.copyString(&o.Delimiter, &o.HasDelimiter)
	case "null":
		p.copyString(&o.Null, &o.HasNull)
	case "quote":
		p.copyString(&o.Quote, &o.HasQuote)
	case "escape":
		p.copyString(&o.Escape, &o.HasEscape)
	case "encoding":
		o.Encoding = p.stringLiteral()
	case "force":
		p.copyForce(pos, o, seen)
	default:
		return false
	}
	return true
}

// copyString reads [AS] 'string'.
func (p *parser) copyString(value *string, given *bool) {
	p.accept("as")
	*value, *given = p.stringLiteral(), true
}

// copyForce reads QUOTE {*|column, …}; FORCE [NOT] NULL is for COPY FROM.
func (p *parser) copyForce(pos Pos, o *CopyOptions, seen copySeen) {
	if !p.accept("quote") {
		p.accept("not")
		p.expect("null")
		p.failAt(pos, sqlstate.FeatureNotSupported, "COPY force null only available using COPY FROM")
		return
	}
	p.copyOnce(pos, "force_quote", seen)
	if p.acceptOp("*") {
		o.ForceQuoteAll = true
		return
	}
	o.ForceQuote = append(o.ForceQuote, p.name())
	for p.acceptPunct(",") {
		o.ForceQuote = append(o.ForceQuote, p.name())
	}
}

func (p *parser) copyOnce(pos Pos, name string, seen copySeen) {
	if seen[name] {
		p.failAt(pos, sqlstate.SyntaxError, "conflicting or redundant options")
	}
	seen[name] = true
}

// copyArg is an option of the list with its value: nothing, a word, string or
// number, a list of those, or *.
type copyArg struct {
	name          string
	pos, valuePos Pos
	given, star   bool
	text          string
	list          []string
}

// copyOptionList reads name [value], … behind its parenthesis.
func (p *parser) copyOptionList(c *Copy, seen copySeen) {
	args := []copyArg{p.copyArg()}
	for p.acceptPunct(",") {
		args = append(args, p.copyArg())
	}
	p.expectPunct(")")
	for _, arg := range args {
		p.copyOnce(arg.pos, arg.name, seen)
		p.copyNamedOption(&c.Options, arg)
	}
}

func (p *parser) copyArg() copyArg {
	arg := copyArg{pos: p.pos(), name: p.label(), given: true}
	arg.valuePos = p.pos()
	switch {
	case p.isPunct(","), p.isPunct(")"):
		arg.given = false
	case p.acceptOp("*"):
		arg.star = true
	case p.acceptPunct("("):
		arg.list = append(arg.list, p.optionValue())
		for p.acceptPunct(",") {
			arg.list = append(arg.list, p.optionValue())
		}
		p.expectPunct(")")
	default:
		arg.text = p.optionValue()
	}
	return arg
}

func (p *parser) copyNamedOption(o *CopyOptions, arg copyArg) {
	switch arg.name {
	case "header", "freeze":
		if on := !arg.given || isTrue(arg.text); arg.name == "header" {
			o.Header = on
		}
		return
	case "force_quote":
		if o.ForceQuoteAll, o.ForceQuote = arg.star, arg.list; !arg.star && arg.list == nil {
			p.failAt(arg.pos, sqlstate.InvalidParameterValue, `argument to option "%s" must be a list of column names`, arg.name)
		}
		return
	case "force_not_null", "force_null":
		p.failAt(arg.pos, sqlstate.FeatureNotSupported, "COPY %s only available using COPY FROM", strings.ReplaceAll(arg.name, "_", " "))
		return
	}
	if !slices.Contains([]string{"format", "delimiter", "null", "quote", "escape", "encoding"}, arg.name) {
		p.failAt(arg.pos, sqlstate.SyntaxError, `option "%s" not recognized`, arg.name)
	}
	if arg.star || arg.list != nil || !arg.given {
		p.failAt(arg.pos, sqlstate.SyntaxError, "%s requires a parameter", arg.name)
	}
	switch arg.name {
	case "format":
		o.Format = arg.text
		if !slices.Contains([]string{"text", "csv", "binary"}, o.Format) {
			p.failAt(arg.valuePos, sqlstate.InvalidParameterValue, `COPY format "%s" not recognized`, o.Format)
		}
	case "delimiter":
		o.Delimiter, o.HasDelimiter = arg.text, true
	case "null":
		o.Null, o.HasNull = arg.text, true
	case "quote":
		o.Quote, o.HasQuote = arg.text, true
	case "escape":
		o.Escape, o.HasEscape = arg.text, true
	case "encoding":
		o.Encoding = arg.text
	}
}
