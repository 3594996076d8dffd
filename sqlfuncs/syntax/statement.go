package syntax

import (
	"slices"
	"strings"
)

// statement reads one statement.
func (p *parser) statement() Statement {
	defer p.leave(p.enter())
	if p.atQuery() || p.isWord("values") || p.isPunct("(") {
		return p.query()
	}
	if p.tok.kind != tokWord {
		p.syntaxError()
		return &Select{Body: &Values{}}
	}
	switch p.tok.text {
	case "begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release":
		return p.transaction()
	case "prepare":
		return p.prepare()
	case "execute":
		if p.mysql && p.peek(1).isWord("immediate") {
			p.notSupported(p.pos(), "EXECUTE IMMEDIATE is")
		}
		return p.execute()
	case "deallocate":
		return p.deallocate()
	}
	var s Statement
	if p.mysql {
		s = p.statementMySQL()
	} else {
		s = p.statementPostgreSQL()
	}
	switch {
	case s != nil:
		return s
	case p.isAnyWord("create", "alter", "drop"):
		return p.define()
	}
	p.refuseStatement()
	return nil
}

// statementPostgreSQL reads the statements that only PostgreSQL has, or that have
// another syntax in MySQL. For other statements it returns nil.
func (p *parser) statementPostgreSQL() Statement {
	switch p.tok.text {
	case "set":
		return p.set()
	case "reset":
		return p.reset()
	case "show":
		return p.show()
	case "explain":
		return p.explain()
	case "discard":
		return p.discard()
	case "declare":
		return p.declare()
	case "fetch", "move":
		return p.fetch()
	case "close":
		return p.closeCursor()
	case "copy":
		return p.copy()
	case "unlisten": // poolers send it to clean up
		p.skipStatement()
		return &Lock{Tag: "UNLISTEN"}
	case "lock":
		p.skipStatement()
		return &Lock{Tag: "LOCK TABLE"}
	case "comment":
		return p.comment()
	case "grant", "revoke":
		return p.grant()
	}
	return nil
}

// discard reads DISCARD.
func (p *parser) discard() Statement {
	p.advance()
	what := strings.ToUpper(p.acceptAny("all", "plans", "sequences", "temp", "temporary"))
	switch what {
	case "":
		p.syntaxError()
	case "TEMPORARY":
		what = "TEMP"
	}
	return &Discard{What: what}
}

// ---- statements that are recognised and refused ----

// refusedWords holds the words that begin statements which nextid refuses. The value
// is the statement's name in the error; "" means the word itself.
var refusedWords = map[string]string{
	"insert": "", "update": "", "delete": "", "merge": "", "call": "", "do": "", "vacuum": "", "analyze": "", "truncate": "TRUNCATE TABLE",
	"analyse": "ANALYZE", "cluster": "", "reindex": "", "comment": "", "grant": "", "revoke": "", "load": "",
	"checkpoint": "", "security": "SECURITY LABEL", "reassign": "REASSIGN OWNED",
	"refresh": "REFRESH MATERIALIZED VIEW", "import": "IMPORT FOREIGN SCHEMA", "listen": "", "notify": "", "table": "",
}

// refusedWordsMySQL holds the refused words that only MySQL has.
var refusedWordsMySQL = map[string]string{
	"replace": "", "handler": "", "rename": "RENAME TABLE", "optimize": "OPTIMIZE TABLE", "check": "CHECK TABLE",
	"checksum": "CHECKSUM TABLE", "repair": "REPAIR TABLE", "flush": "", "purge": "", "change": "", "install": "",
	"uninstall": "", "cache": "CACHE INDEX", "binlog": "", "signal": "", "resignal": "", "help": "", "xa": "",
	"shutdown": "", "stop": "", "get": "GET DIAGNOSTICS", "backup": "", "restart": "", "reset": "", "load": "LOAD DATA",
}

// statementName returns the name of the refused statement that the current word
// begins, or "".
func (p *parser) statementName() string {
	name, ok := refusedWords[p.tok.text]
	if special, found := refusedWordsMySQL[p.tok.text]; found && p.mysql {
		name, ok = special, true
	}
	if ok && name == "" {
		name = strings.ToUpper(p.tok.text)
	}
	return name
}

// refuseStatement refuses the statement if its first word is known, and fails
// otherwise.
func (p *parser) refuseStatement() {
	if name := p.statementName(); name != "" {
		p.refuse(name)
		return
	}
	p.syntaxError()
}

// twoWords lists the first words of objects of CREATE, ALTER and DROP whose names have
// more words than one.
var twoWords = []string{"access", "default", "foreign", "large", "logfile", "materialized", "owned", "resource", "text"}

// define reads CREATE, ALTER or DROP. Only statements on sequences have a tree.
func (p *parser) define() Statement {
	verb := p.tok.text
	p.advance()
	modifiers := []string{"temp", "temporary", "unlogged"}
	if verb == "create" && (p.isWord("sequence") || p.isAnyWord(modifiers...) && p.peek(1).isWord("sequence")) {
		p.acceptAny(modifiers...)
		return p.createSequence(false)
	}
	if verb == "create" && p.mysql && p.isWords("or", "replace", "sequence") {
		p.acceptWords("or", "replace")
		return p.createSequence(true)
	}
	switch {
	case verb == "alter" && p.isWord("sequence"):
		return p.alterSequence()
	case verb == "alter" && !p.mysql && p.isWord("table"):
		return p.alterTable()
	case verb == "drop" && p.isWord("sequence"):
		return p.dropSequence()
	}
	for verb == "create" && p.acceptAny("or", "replace", "temp", "temporary", "global", "local", "unlogged", "unique", "recursive",
		"trusted", "procedural", "constraint") != "" {
		continue
	}
	object := p.take(p.tok.kind == tokWord)
	if slices.Contains(twoWords, object) {
		object += " " + p.take(p.tok.kind == tokWord)
	}
	switch object {
	case "definer", "function", "procedure", "trigger", "event", "package": // a body may hold semicolons
		for p.tok.kind != tokEOF {
			p.advance()
		}
	}
	p.refuse(strings.ToUpper(verb + " " + object))
	return nil
}
