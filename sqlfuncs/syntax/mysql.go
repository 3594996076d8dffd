package syntax

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// statementMySQL reads the statements that only MySQL has, or that have another
// syntax there. For other statements it returns nil.
func (p *parser) statementMySQL() Statement {
	switch p.tok.text {
	case "use":
		p.advance()
		return &Use{Database: p.name()}
	case "set":
		return p.setMySQL()
	case "show":
		return p.showMySQL()
	case "describe", "desc", "explain":
		return p.describe()
	case "kill":
		return p.kill()
	case "do":
		p.advance()
		return &Call{Exprs: p.exprList()}
	case "lock", "unlock":
		tag := strings.ToUpper(p.tok.text) + " TABLES"
		p.skipStatement()
		return &Lock{Tag: tag}
	case "drop":
		if p.isWords("drop", "prepare") {
			return p.deallocate()
		}
	case "flush":
		return p.flush()
	}
	return nil
}

// flush reads FLUSH TABLES and FLUSH STATUS, which mysqldump and others send. It
// returns nil for other forms.
func (p *parser) flush() Statement {
	what := p.peek(1)
	if what.isWord("local") || what.isWord("no_write_to_binlog") {
		what = p.peek(2)
	}
	if !what.isWord("tables") && !what.isWord("table") && !what.isWord("status") {
		return nil
	}
	p.skipStatement()
	return &Lock{Tag: "FLUSH " + upperCase(what.text)}
}

// kill reads KILL [CONNECTION|QUERY] id.
func (p *parser) kill() Statement {
	p.advance()
	p.acceptAny("hard", "soft")
	k := &Kill{Query: p.accept("query")}
	if !k.Query {
		p.accept("connection")
	}
	k.ID = p.expr()
	return k
}

// describe reads DESCRIBE table [column] or EXPLAIN. In MySQL the words are
// synonyms.
func (p *parser) describe() Statement {
	next := p.peek(1)
	if option := next.isWord("format") || next.isWord("extended") || next.isWord("partitions"); option && !p.peek(2).endsStatement() {
		p.notSupported(Pos(next.start), "EXPLAIN "+upperCase(next.text)+" is")
	}
	if !next.isName() {
		return p.explain()
	}
	p.advance()
	s := &ShowMySQL{What: "COLUMNS", From: p.qualifiedName()}
	if !p.atEnd() {
		s.Like = p.take(p.tok.isLabel() || p.tok.kind == tokString)
	}
	return s
}

// ---- SET ----

// setMySQL reads MySQL's SET, a list of assignments.
func (p *parser) setMySQL() Statement {
	p.advance()
	if p.accept("statement") {
		s := &SetStatement{Items: list(p, func() SetItem { return p.assignment(SetItem{}) })}
		for _, item := range s.Items {
			if item.Global || strings.HasPrefix(item.Name, "@") {
				p.failAt(item.Pos, sqlstate.SyntaxError, "SET STATEMENT is for session variables")
			}
		}
		p.expect("for")
		s.Statement = p.statement()
		return s
	}
	return &Set{Tag: "SET", Items: slices.Concat(list(p, p.assignments)...)}
}

// assignments reads one item of SET. NAMES … COLLATE and TRANSACTION set several
// variables.
func (p *parser) assignments() []SetItem {
	item := SetItem{Pos: p.pos()}
	scope := ""
	if next := p.peek(1); !next.isOp("=") && !next.isPunct(":=") {
		scope = p.acceptAny("global", "session", "local", "persist", "persist_only")
	}
	item.Global = scope == "global" || strings.HasPrefix(scope, "persist")
	switch {
	case p.accept("names"):
		item.Name = "client_encoding"
		p.wordValue(&item)
		if p.accept("collate") {
			collation := SetItem{Pos: p.pos(), Name: "collation_connection"}
			p.wordValue(&collation)
			return []SetItem{item, collation}
		}
	case p.acceptWords("character", "set"), p.accept("charset"):
		item.Name = "client_encoding"
		p.wordValue(&item)
	case p.isWord("transaction") && !p.peek(1).isOp("="):
		p.advance()
		prefix := "transaction_"
		if scope != "" {
			prefix = "default_transaction_"
		}
		items := p.modes(prefix)
		for i := range items {
			items[i].Global, items[i].Local = item.Global, scope == "" // only the next transaction
		}
		return items
	case p.isAnyWord("password", "role"):
		p.refuse("SET " + strings.ToUpper(p.tok.text))
	default:
		item = p.assignment(item)
	}
	return []SetItem{item}
}

// wordValue reads a word, a string or DEFAULT.
func (p *parser) wordValue(item *SetItem) {
	if p.accept("default") {
		item.Default = true
		return
	}
	x := &Literal{Pos: p.pos(), Kind: StringLiteral}
	x.Text = p.take(p.tok.isLabel() || p.tok.kind == tokString)
	item.Values = []Expr{x}
}

// assignment reads name = value. item holds the scope that was read before it.
func (p *parser) assignment(item SetItem) SetItem {
	item.Pos = p.pos()
	user := false
	if t := p.tok; t.kind == tokVariable {
		p.advance()
		name, system := strings.CutPrefix(t.text, "@")
		scope, rest, dotted := strings.Cut(name, ".")
		switch {
		case !system:
			name, user = "@"+name, true
		case !dotted:
		case scope == "global" || scope == "persist":
			item.Global, name = true, rest
		case scope == "session" || scope == "local":
			name = rest
		}
		item.Name = name
	} else {
		item.Name = p.settingName()
	}
	if !p.acceptOp("=") && !p.acceptPunct(":=") {
		p.syntaxError()
	}
	if !user && p.isWord("default") {
		p.advance()
		item.Default = true
		return item
	}
	item.Values = []Expr{p.assignedValue(user)}
	return item
}

// assignedValue reads the value of a variable; a bare word given to a system
// variable is a string.
func (p *parser) assignedValue(user bool) Expr {
	if !user && p.isAnyWord("on", "all", "binary") {
		return p.constant(StringLiteral)
	}
	x := p.expr()
	if c, ok := x.(*Column); ok && !user && len(c.Name) == 1 {
		return &Literal{Pos: c.Pos, Kind: StringLiteral, Text: c.Name[0]}
	}
	return x
}

// ---- SHOW ----

// showMySQL reads SHOW words [name] [FROM …] [LIKE …|WHERE …].
func (p *parser) showMySQL() Statement {
	p.advance()
	s := &ShowMySQL{}
	var words []string
	for p.tok.kind == tokWord && !p.isAnyWord("from", "in", "like", "where", "limit", "for") {
		words = append(words, upperCase(p.tok.text))
		p.advance()
		if len(words) == 2 && words[0] == "CREATE" {
			if words[1] != "USER" { // its name has a host, see below
				p.acceptWords("if", "not", "exists")
				s.From = p.qualifiedName()
			}
			break
		}
	}
	s.What = strings.Join(words, " ")
	if s.What == "" || words[0] == "CREATE" && s.From == nil && s.What != "CREATE USER" {
		p.syntaxError()
		return s
	}
	if p.isWord("for") || s.What == "CREATE USER" { // SHOW GRANTS FOR user
		p.accept("for")
		if !p.isWord("current_user") && !p.isWord("current_role") && (p.tok.isLabel() || p.tok.kind == tokString) {
			s.User = p.tok.text
		}
		p.skipStatement()
		return s
	}
	if s.From == nil {
		p.showFrom(s, words[len(words)-1])
	}
	switch {
	case p.accept("like"):
		s.Like = p.stringLiteral()
	case p.accept("where"):
		s.Where = p.expr()
	}
	if p.accept("limit") {
		p.exprList()
	}
	return s
}

// showFrom reads FROM table and FROM database. Which one comes first depends
// on what is shown.
func (p *parser) showFrom(s *ShowMySQL, last string) {
	if p.acceptAny("from", "in") == "" {
		return
	}
	name := p.qualifiedName()
	if !slices.Contains([]string{"COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS"}, last) {
		s.In = name.Last()
		return
	}
	s.From = name
	if p.acceptAny("from", "in") != "" {
		s.In = p.name()
	}
}

// ---- clauses of queries ----

// selectOptionsMySQL reads DISTINCT and the hints of SELECT.
func (p *parser) selectOptionsMySQL(s *SelectCore) {
	for {
		switch p.acceptAny("all", "distinct", "distinctrow", "high_priority", "straight_join", "sql_small_result",
			"sql_big_result", "sql_buffer_result", "sql_cache", "sql_no_cache", "sql_calc_found_rows") {
		case "":
			return
		case "distinct", "distinctrow":
			s.Distinct = true
		}
	}
}

// into reads INTO @a, @b. If it came before FROM, into reads the rest of the query,
// too.
func (p *parser) into(q *Select) {
	if !p.isWord("into") || q.Into != nil {
		return
	}
	p.advance()
	if p.tok.kind != tokVariable {
		p.notSupported(p.pos(), "SELECT … INTO anything but variables is")
	}
	q.Into = append(q.Into, p.take(!strings.HasPrefix(p.tok.text, "@")))
	for p.acceptPunct(",") {
		q.Into = append(q.Into, p.take(p.tok.kind == tokVariable && !strings.HasPrefix(p.tok.text, "@")))
	}
	if s, ok := q.Body.(*SelectCore); ok && s.From == nil {
		p.fromClauses(s)
	}
}

// ---- expressions and types ----

// specialMySQL reads the expressions that have their own syntax in MySQL. For others
// it returns nil.
func (p *parser) specialMySQL(t token) Expr {
	pos := Pos(t.start)
	switch t.text {
	case "binary":
		p.advance()
		return &Cast{Pos: pos, X: p.binary(precUnary, false), Type: TypeName{Pos: pos, Name: Name{"binary"}}}
	case "interval":
		return p.intervalMySQL()
	case "convert":
		if p.peek(1).isPunct("(") {
			return p.convert()
		}
	}
	return nil
}

// intervalMySQL reads INTERVAL x unit as a cast to "interval unit".
func (p *parser) intervalMySQL() Expr {
	pos := p.pos()
	p.advance()
	x := p.expr()
	unit := p.take(p.isAnyWord("microsecond", "second", "minute", "hour", "day", "week", "month", "year"))
	return &Cast{Pos: pos, X: x, Type: TypeName{Pos: pos, Name: Name{"interval " + unit}}}
}

// convert reads CONVERT(x, type), a cast.
func (p *parser) convert() Expr {
	pos := p.pos()
	p.advance()
	p.expectPunct("(")
	x := p.expr()
	p.expectPunct(",")
	c := &Cast{Pos: pos, X: x, Type: p.typeName()}
	p.expectPunct(")")
	return c
}

// typeNameMySQL reads the type of a cast. CHAR without a length is not cut,
// so it is "varchar"; SIGNED is "bigint".
func (p *parser) typeNameMySQL() TypeName {
	t := TypeName{Pos: p.pos()}
	word := p.take(p.tok.isLabel())
	switch word {
	case "char", "character", "nchar":
		word = "varchar"
	case "signed":
		p.acceptAny("integer", "int")
		word = "bigint"
	case "unsigned":
		p.acceptAny("integer", "int")
	case "double":
		p.accept("precision")
	}
	t.Name = Name{word}
	t.Mods = p.typeMods()
	if p.acceptWords("character", "set") || p.accept("charset") {
		p.take(p.tok.isLabel() || p.tok.kind == tokString)
	}
	return t
}
