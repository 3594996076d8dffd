package syntax

import "strconv"

// typeName reads a type with its array bounds.
func (p *parser) typeName() TypeName {
	if p.mysql {
		return p.typeNameMySQL()
	}
	t := p.simpleType()
	for p.acceptPunct("[") {
		if p.tok.kind == tokInteger {
			p.advance()
		}
		p.expectPunct("]")
		t.Array++
	}
	return t
}

// simpleType reads a type without array bounds.
func (p *parser) simpleType() TypeName {
	t := TypeName{Pos: p.pos()}
	word := ""
	if p.tok.kind == tokWord {
		word = p.tok.text
	}
	switch word {
	case "int", "integer", "smallint", "bigint", "real", "boolean", "interval":
		p.advance()
		t.Name = Name{word}
		return t
	case "double":
		if p.acceptWords("double", "precision") {
			t.Name = Name{"double precision"}
			return t
		}
	case "decimal", "dec", "numeric", "float", "varchar":
		p.advance()
		t.Name = Name{word}
		t.Mods = p.typeMods()
		return t
	case "bit", "character", "char":
		return p.varyingType(t)
	case "timestamp", "time":
		return p.timeType(t)
	}
	t.Name = Name{p.take(p.tok.isFunctionName())}
	for p.acceptPunct(".") {
		t.Name = append(t.Name, p.label())
	}
	t.Mods = p.typeMods()
	return t
}

// typeMods reads (n, …) if there are any.
func (p *parser) typeMods() []int64 {
	if !p.acceptPunct("(") {
		return nil
	}
	mods := list(p, func() int64 {
		n, err := strconv.ParseInt(p.tok.text, 10, 32)
		p.take(p.tok.kind == tokInteger && err == nil)
		return n
	})
	p.expectPunct(")")
	return mods
}

// varyingType reads bit, character and their spellings. CHAR is "character",
// since "char" is another type.
func (p *parser) varyingType(t TypeName) TypeName {
	word := p.tok.text
	p.advance()
	if word != "bit" {
		word = "character"
	}
	if p.accept("varying") {
		word += " varying"
	}
	t.Name = Name{word}
	t.Mods = p.typeMods()
	return t
}

// timeType reads time and timestamp with and without time zone.
func (p *parser) timeType(t TypeName) TypeName {
	word := p.tok.text
	p.advance()
	t.Mods = p.typeMods()
	if p.acceptWords("with", "time") {
		p.expect("zone")
		word += " with time zone"
	} else if p.accept("without") {
		p.expect("time", "zone")
	}
	t.Name = Name{word}
	return t
}

// typeKeywords holds the words that begin a type with its own grammar.
var typeKeywords = map[string]bool{
	"int": true, "integer": true, "smallint": true, "bigint": true, "real": true, "boolean": true,
	"double": true, "float": true, "decimal": true, "dec": true, "numeric": true, "varchar": true,
	"bit": true, "character": true, "char": true, "timestamp": true, "time": true, "interval": true,
}

// startsTypeKeyword reports whether the current token begins a constant such as
// int '1' or timestamp(3) with time zone '…'. Alone these words are columns.
func (p *parser) startsTypeKeyword() bool {
	if !typeKeywords[p.tok.text] {
		return false
	}
	next := p.peek(1)
	switch {
	case next.kind == tokString:
		return true
	case next.isPunct("("):
		return p.tok.text != "double"
	case next.kind != tokWord:
		return false
	}
	switch p.tok.text {
	case "double":
		return next.text == "precision"
	case "timestamp", "time":
		return next.text == "without" || next.text == "with" && p.peek(2).isWord("time")
	}
	return false
}

// keywordConstant reads a constant of a type that begins with a type keyword.
func (p *parser) keywordConstant() Expr {
	pos := p.pos()
	t := p.simpleType()
	if t.Name.Last() == "character" && t.Mods == nil {
		t.Name = Name{"bpchar"} // a constant is not cut to one character
	}
	if p.tok.kind != tokString {
		return p.bad()
	}
	return p.typedConstant(pos, t)
}
