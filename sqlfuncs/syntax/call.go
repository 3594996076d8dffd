package syntax

import (
	"slices"
	"strings"
)

// pgCall makes a call of a pg_catalog function. PostgreSQL's grammar does so for
// functions with a syntax of their own.
func pgCall(pos Pos, name string, args ...Expr) *FuncCall {
	x := &FuncCall{Pos: pos, Name: Name{"pg_catalog", name}}
	for _, a := range args {
		x.Args = append(x.Args, Arg{Value: a})
	}
	return x
}

// call reads the arguments of a function.
func (p *parser) call(pos Pos, name Name) *FuncCall {
	defer p.leave(p.enter())
	x := &FuncCall{Pos: pos, Name: name}
	p.expectPunct("(")
	if x.Star = p.acceptOp("*"); x.Star {
		p.expectPunct(")")
		return x
	}
	if p.acceptPunct(")") {
		return x
	}
	if !p.accept("all") {
		x.Distinct = p.accept("distinct")
	}
	for {
		x.Args = append(x.Args, p.arg())
		if !p.acceptPunct(",") {
			break
		}
	}
	x.OrderBy = p.orderBy()
	p.expectPunct(")")
	return x
}

// arg reads one argument, name => value included.
func (p *parser) arg() Arg {
	var a Arg
	if next := p.peek(1); !p.mysql && p.tok.isFunctionName() && (next.isPunct("=>") || next.isPunct(":=")) {
		a.Name = p.tok.text
		p.advance()
		p.advance()
	}
	a.Value = p.expr()
	return a
}

// special reads a function with a syntax of its own, or returns nil.
func (p *parser) special(t token) Expr {
	pos := Pos(t.start)
	bare := bareFunctions
	if p.mysql {
		bare = bareFunctionsMySQL
	}
	if next := p.peek(1); slices.Contains(bare, t.text) {
		callable := p.mysql || t.text == "current_schema"
		if !callable || !next.isPunct("(") && (p.mysql || next.kind != tokString) {
			return p.bareFunction(pos)
		}
	}
	if p.mysql {
		if x := p.specialMySQL(t); x != nil {
			return x
		}
	}
	if !p.mysql && p.startsTypeKeyword() {
		return p.keywordConstant()
	}
	if !p.peek(1).isPunct("(") {
		return nil
	}
	return p.specialCall(t)
}

// bareFunctions lists PostgreSQL's functions that are called without parentheses.
var bareFunctions = []string{
	"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
	"current_user", "current_role", "session_user", "user", "current_catalog", "current_schema",
}

// bareFunctionsMySQL lists MySQL's functions that may be called without parentheses.
var bareFunctionsMySQL = []string{
	"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
	"utc_date", "utc_time", "utc_timestamp", "current_user", "current_role",
}

// bareFunction reads CURRENT_USER and the like.
func (p *parser) bareFunction(pos Pos) Expr {
	word := p.tok.text
	x := &FuncCall{Pos: pos, Name: Name{word}, Bare: true}
	p.advance()
	if p.tok.isPunct("(") && strings.Contains(word, "time") {
		p.notSupported(p.pos(), "a precision of "+word+" is")
	}
	return x
}

// specialCall reads a function whose arguments are parsed in its own way, or
// returns nil. The current token is its name, an opening parenthesis follows.
func (p *parser) specialCall(t token) Expr {
	pos := Pos(t.start)
	switch t.text {
	case "coalesce", "greatest", "least", "nullif", "grouping", "normalize":
		if p.mysql {
			return nil
		}
		p.advance()
		return p.plainCall(pos, t.text)
	case "substr", "mid":
		if p.mysql {
			return p.substring(pos)
		}
	case "substring":
		return p.substring(pos)
	case "trim":
		return p.trim(pos)
	case "unique", "extract", "position", "overlay", "treat", "xmlconcat", "xmlelement", "xmlexists", "xmlforest", "xmlparse", "xmlpi", "xmlroot", "xmlserialize":
		if !p.mysql {
			p.notSupported(pos, t.text+" is")
		}
	}
	return nil
}

// plainCall reads a call with at least one argument, without DISTINCT, names of
// arguments or ORDER BY. NULLIF takes two.
func (p *parser) plainCall(pos Pos, name string) Expr {
	defer p.leave(p.enter())
	p.expectPunct("(")
	x := &FuncCall{Pos: pos, Name: Name{name}, Args: list(p, func() Arg { return Arg{Value: p.expr()} })}
	if name == "nullif" && len(x.Args) != 2 {
		p.syntaxError()
	}
	p.expectPunct(")")
	return x
}

// substring reads SUBSTRING(s FROM a FOR n) or a plain call.
func (p *parser) substring(pos Pos) Expr {
	p.advance()
	if p.peek(1).isPunct(")") {
		return p.call(pos, Name{"substring"})
	}
	p.expectPunct("(")
	first := p.arg()
	args := []Expr{first.Value, nil, nil}
	switch {
	case first.Name != "" || !p.isAnyWord("from", "for", "similar"):
		return p.finishCall(pos, "substring", first)
	case p.isWord("similar"):
		p.notSupported(pos, "SUBSTRING … SIMILAR is")
	case p.accept("from"):
		args[1] = p.expr()
		if p.accept("for") {
			args[2] = p.expr()
		}
	case p.accept("for"):
		args[2] = p.expr()
		if p.accept("from") {
			args[1] = p.expr()
		} else {
			args[1] = &Literal{Pos: pos, Kind: IntegerLiteral, Text: "1"}
		}
	}
	p.expectPunct(")")
	if args[2] == nil {
		args = args[:2]
	}
	return pgCall(pos, "substring", args...)
}

// finishCall reads the rest of a plain call after its first argument.
func (p *parser) finishCall(pos Pos, name string, first Arg) Expr {
	x := &FuncCall{Pos: pos, Name: Name{name}, Args: []Arg{first}}
	for p.acceptPunct(",") {
		x.Args = append(x.Args, p.arg())
	}
	p.expectPunct(")")
	return x
}

// trim reads TRIM([BOTH|LEADING|TRAILING] [characters FROM] string): a call
// of btrim, ltrim or rtrim.
func (p *parser) trim(pos Pos) Expr {
	p.advance()
	p.expectPunct("(")
	name := map[string]string{"": "btrim", "both": "btrim", "leading": "ltrim", "trailing": "rtrim"}[p.acceptAny("both", "leading", "trailing")]
	var args []Expr
	if p.accept("from") {
		args = p.exprList()
	} else {
		args = append(args, p.expr())
		if p.accept("from") {
			args = append(p.exprList(), args...)
		} else if p.acceptPunct(",") {
			args = append(args, p.exprList()...)
		}
	}
	p.expectPunct(")")
	return pgCall(pos, name, args...)
}

// Word returns the keyword of the special syntax that e was written in, if the name
// of its function is another one; "" for other calls.
func (e *FuncCall) Word() string {
	if len(e.Name) == 2 && e.Name[0] == "pg_catalog" && strings.HasSuffix(e.Name[1], "trim") {
		return "trim"
	}
	return ""
}
