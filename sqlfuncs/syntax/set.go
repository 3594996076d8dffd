package syntax

import "strings"

// set reads PostgreSQL's SET.
func (p *parser) set() Statement {
	p.advance()
	s := &Set{Tag: "SET"}
	local := false
	if p.isAnyWord("local", "session") && !p.isAssigned() &&
		!(p.isWord("session") && (p.peek(1).isWord("characteristics") || p.peek(1).isWord("authorization"))) {
		local = p.isWord("local")
		p.advance()
	}
	s.Items = p.setItems()
	for i := range s.Items {
		s.Items[i].Local = local
	}
	return s
}

// isAssigned reports whether the current word is the name of the setting and
// not a keyword of SET.
func (p *parser) isAssigned() bool {
	next := p.peek(1)
	return next.isOp("=") || next.isWord("to") || next.isPunct(".")
}

// setItems reads the rest of a SET after [LOCAL|SESSION].
func (p *parser) setItems() []SetItem {
	pos := p.pos()
	if p.tok.kind != tokWord || p.isAssigned() {
		return []SetItem{p.setting()}
	}
	switch {
	case p.accept("transaction"):
		return p.modes("transaction_")
	case p.acceptWords("session", "characteristics"):
		p.expect("as", "transaction")
		return p.modes("default_transaction_")
	case p.acceptWords("session", "authorization"):
		return []SetItem{p.wordSetting(pos, "session_authorization")}
	case p.acceptWords("time", "zone"):
		return []SetItem{p.timeZone(pos)}
	case p.accept("names"):
		if p.atEnd() {
			return []SetItem{{Pos: pos, Name: "client_encoding", Default: true}}
		}
		return []SetItem{p.stringSetting(pos, "client_encoding")}
	case p.accept("role"):
		return []SetItem{p.wordSetting(pos, "role")}
	case p.accept("schema"):
		return []SetItem{p.stringSetting(pos, "search_path")}
	case p.isWord("constraints"):
		p.refuse("SET CONSTRAINTS")
		return nil
	}
	return []SetItem{p.setting()}
}

// setting reads name {TO|=} {value, …|DEFAULT}.
func (p *parser) setting() SetItem {
	item := SetItem{Pos: p.pos(), Name: p.settingName()}
	if !p.acceptOp("=") {
		p.expect("to")
	}
	if p.accept("default") {
		item.Default = true
		return item
	}
	item.Values = list(p, p.settingValue)
	return item
}

// settingName reads the name of a setting, in lower case even when quoted.
func (p *parser) settingName() string {
	parts := []string{p.name()}
	for p.acceptPunct(".") {
		parts = append(parts, p.name())
	}
	return foldCase(strings.Join(parts, "."))
}

// settingValue reads a word, a string or a number, as a string.
func (p *parser) settingValue() Expr {
	return &Literal{Pos: p.pos(), Kind: StringLiteral, Text: p.optionValue()}
}

// stringSetting reads the string or DEFAULT of a setting with a syntax of its own.
func (p *parser) stringSetting(pos Pos, name string) SetItem {
	if p.tok.kind != tokString && !p.isWord("default") {
		p.syntaxError()
	}
	return p.wordSetting(pos, name)
}

// wordSetting reads the word, string or DEFAULT of a setting with a syntax of its
// own.
func (p *parser) wordSetting(pos Pos, name string) SetItem {
	item := SetItem{Pos: pos, Name: name}
	if p.accept("default") {
		item.Default = true
		return item
	}
	x := &Literal{Pos: p.pos(), Kind: StringLiteral}
	if p.tok.kind == tokString {
		x.Text = p.stringLiteral()
	} else {
		x.Text = p.anyName()
	}
	item.Values = []Expr{x}
	return item
}

// timeZone reads the value of SET TIME ZONE.
func (p *parser) timeZone(pos Pos) SetItem {
	item := SetItem{Pos: pos, Name: "timezone"}
	switch {
	case p.acceptAny("default", "local") != "":
		item.Default = true
	case p.accept("interval"):
		item.Values = []Expr{&Literal{Pos: p.pos(), Kind: StringLiteral, Text: eastZone(p.stringLiteral())}}
		p.acceptWords("hour", "to", "minute")
	default:
		item.Values = []Expr{p.settingValue()}
	}
	return item
}

// eastZone converts an offset east of Greenwich to a POSIX zone, whose offset is west:
// +02:00 becomes <+02>-02.
func eastZone(offset string) string {
	sign, back := "+", "-"
	if strings.HasPrefix(offset, "-") {
		sign, back = "-", "+"
	}
	offset = strings.TrimSuffix(strings.TrimLeft(offset, "+-"), ":00")
	return "<" + sign + offset + ">" + back + offset
}

// reset reads RESET.
func (p *parser) reset() Statement {
	p.advance()
	if p.accept("all") {
		return &ResetAll{}
	}
	return &Set{Tag: "RESET", Items: []SetItem{{Pos: p.pos(), Name: p.showName(), Default: true}}}
}

// show reads PostgreSQL's SHOW.
func (p *parser) show() Statement {
	p.advance()
	if p.accept("all") {
		return &Show{Name: "all"}
	}
	return &Show{Name: p.showName()}
}

// showName reads the setting of SHOW and RESET.
func (p *parser) showName() string {
	switch {
	case p.acceptWords("time", "zone"):
		return "timezone"
	case p.acceptWords("transaction", "isolation"):
		p.expect("level")
		return "transaction_isolation"
	case p.acceptWords("session", "authorization"):
		return "session_authorization"
	}
	return p.settingName()
}
