package syntax

import (
	"slices"
	"strconv"

	"nextid/sqlfuncs/sqlstate"
)

const (
	// maxDepth limits the nesting of a text, and so the parser's stack.
	maxDepth = 1000
	// maxHeight limits the height of the tree, and so the stack of functions that
	// walk the tree. a + b + c + … makes a high tree without nesting.
	maxHeight = 5000
	// maxParams limits the parameters of a statement. The protocols count them in
	// 16 bits.
	maxParams = 65535
)

// Parsed is one statement of a text.
type Parsed struct {
	Statement  Statement
	Start, End int // byte range in the text, without the semicolon and surrounding blanks and comments
	Params     int // greatest $n or number of ?; 0 for PREPARE, whose parameters are its own
}

// Parse returns the statements of a text. Empty statements are left out. Pos values
// are offsets into the whole text. Errors are *sqlstate.Error with the message and
// the position of PostgreSQL's parser: 42601 for syntax errors, 0A000 for syntax
// that nextid recognises and does not support, 54001 for too deep nesting, 22021 for
// a text that is not UTF-8.
func Parse(sql string, d Dialect) ([]Parsed, error) { return ParseAs(sql, d, Mode{}, nil) }

// Count is called with the number of tokens read since the last call: every
// yieldEvery tokens, and at the end of the text. An error ends the parsing.
type Count func(tokens int) *sqlstate.Error

// Mode is the part of MySQL's sql_mode that affects parsing.
type Mode struct {
	ANSIQuotes         bool // "x" is an identifier
	PipesAsConcat      bool // || joins texts
	NoBackslashEscapes bool // \ in a string is a character like any other
}

// ParseAs is Parse with MySQL's mode and a Count, which may be nil.
func ParseAs(sql string, d Dialect, m Mode, count Count) ([]Parsed, error) {
	if err := sqlstate.BrokenText(sql); err != nil {
		return nil, err
	}
	p := parser{lex: lexer{src: sql, dialect: d, mode: m}, mysql: d == MySQL, count: count}
	p.setToken(p.lex.next())
	var all []Parsed
	for p.skipSemicolons(); p.tok.kind != tokEOF; p.skipSemicolons() {
		all = append(all, p.parsed())
	}
	if p.report(p.tokens % yieldEvery); p.err != nil {
		return nil, p.err
	}
	return all, nil
}

// skipSemicolons skips empty statements.
func (p *parser) skipSemicolons() {
	for p.acceptPunct(";") {
	}
}

// parser is a recursive-descent parser. It keeps the first error. After an error the
// current token is the end of the text, so that every loop ends. The results of the
// functions are not used then.
type parser struct {
	tokens  int // consumed so far
	count   Count
	lex     lexer
	mysql   bool
	tok     token    // current
	ahead   [4]token // tokens after tok that peek has read
	nAhead  int
	end     int    // end of the last consumed token
	params  int    // Parsed.Params so far
	depth   int    // levels of nesting, see enter
	height  int    // of the trees built so far at this depth
	refused string // Unsupported.What; "" for statements with a tree
	err     *sqlstate.Error
}

// parsed reads one statement, up to its semicolon.
func (p *parser) parsed() Parsed {
	out := Parsed{Start: p.tok.start}
	p.params, p.refused, p.height = 0, "", 0
	out.Statement = p.statement()
	if p.refused != "" {
		out.Statement = &Unsupported{Pos: Pos(out.Start), What: p.refused}
		p.refused = ""
	}
	if p.tok.kind != tokEOF && !p.tok.isPunct(";") {
		p.syntaxError()
	}
	out.End, out.Params = p.end, p.params
	return out
}

// ---- tokens ----

// setToken makes t the current token, and fails if it is an error of the lexer.
func (p *parser) setToken(t token) {
	p.tok = t
	if t.kind == tokError {
		p.fail(p.lex.err)
	}
}

// yieldEvery is the number of tokens after which the parser yields and calls Count.
const yieldEvery = 1 << 10

// advance consumes the current token. At the end of the text it does nothing.
func (p *parser) advance() {
	if p.tok.kind == tokEOF {
		return
	}
	p.end = p.tok.end
	if p.tokens++; p.tokens%yieldEvery == 0 {
		Yield()
		p.report(yieldEvery)
	}
	if p.nAhead == 0 {
		p.setToken(p.lex.next())
		return
	}
	t := p.ahead[0]
	p.nAhead--
	copy(p.ahead[:], p.ahead[1:1+p.nAhead])
	p.setToken(t)
}

// report passes the number of tokens read to Count. Its error ends the parsing.
func (p *parser) report(n int) {
	if p.count == nil {
		return
	}
	if err := p.count(n); err != nil {
		p.fail(err)
	}
}

// peek returns the i-th token after the current one, i from 1 to 4.
func (p *parser) peek(i int) *token {
	for p.nAhead < i {
		if last := p.last(); last.kind == tokEOF || last.kind == tokError {
			return last
		}
		p.ahead[p.nAhead] = p.lex.next()
		p.nAhead++
	}
	return &p.ahead[i-1]
}

// last returns the last token read from the lexer.
func (p *parser) last() *token {
	if p.nAhead > 0 {
		return &p.ahead[p.nAhead-1]
	}
	return &p.tok
}

// pos returns the position of the current token.
func (p *parser) pos() Pos { return Pos(p.tok.start) }

func (p *parser) isWord(w string) bool  { return p.tok.isWord(w) }
func (p *parser) isPunct(s string) bool { return p.tok.isPunct(s) }

// isWords reports whether these words follow, from the current token on.
func (p *parser) isWords(words ...string) bool {
	for i, w := range words {
		if i == 0 && !p.tok.isWord(w) || i > 0 && !p.peek(i).isWord(w) {
			return false
		}
	}
	return true
}

// isAnyWord reports whether the current token is one of these words.
func (p *parser) isAnyWord(words ...string) bool {
	return slices.ContainsFunc(words, p.tok.isWord)
}

// accept consumes the word if it is the current token.
func (p *parser) accept(word string) bool {
	if p.tok.isWord(word) {
		p.advance()
		return true
	}
	return false
}

// acceptAny consumes the current token if it is one of these words, and returns it.
func (p *parser) acceptAny(words ...string) string {
	if !p.isAnyWord(words...) {
		return ""
	}
	w := p.tok.text
	p.advance()
	return w
}

// acceptWords consumes these words if all of them follow.
func (p *parser) acceptWords(words ...string) bool {
	if !p.isWords(words...) {
		return false
	}
	for range words {
		p.advance()
	}
	return true
}

// acceptPunct consumes the punctuation mark if it is the current token.
func (p *parser) acceptPunct(s string) bool {
	if p.tok.isPunct(s) {
		p.advance()
		return true
	}
	return false
}

// acceptOp consumes the operator if it is the current token.
func (p *parser) acceptOp(s string) bool {
	if p.tok.isOp(s) {
		p.advance()
		return true
	}
	return false
}

// expect consumes these words or fails.
func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.syntaxError()
			return
		}
	}
}

// expectPunct consumes the punctuation mark or fails.
func (p *parser) expectPunct(s string) {
	if !p.acceptPunct(s) {
		p.syntaxError()
	}
}

// atEnd reports whether the statement ends here.
func (p *parser) atEnd() bool { return p.tok.endsStatement() }

// ---- errors ----

// fail records the first error and ends the text.
func (p *parser) fail(e *sqlstate.Error) {
	if p.err != nil {
		return
	}
	p.err = e
	n := len(p.lex.src)
	p.tok = token{kind: tokEOF, start: n, end: n}
	p.nAhead, p.lex.pos = 0, n
}

// failAt fails with an error at a byte offset. A refused statement hides it.
func (p *parser) failAt(pos Pos, code sqlstate.Code, format string, args ...any) {
	if p.refused == "" && p.err == nil {
		p.fail(sqlstate.New(code, format, args...).At(p.lex.character(int(pos))))
	}
}

// syntaxError fails at the current token.
func (p *parser) syntaxError() {
	if p.tok.kind == tokEOF {
		p.failAt(p.pos(), sqlstate.SyntaxError, "syntax error at end of input")
		return
	}
	if p.tok.kind == tokWord {
		p.lacks(p.tok.text)
		p.lacks(p.tok.text + " " + p.peek(1).text)
	}
	p.failAt(p.pos(), sqlstate.SyntaxError, `syntax error at or near "%s"`, p.lex.src[p.tok.start:p.tok.end])
}

// unsupported maps words that make no sense to the parser to the constructs that they
// begin in SQL.
var unsupported = map[string]string{
	"and chain": "AND CHAIN", "any": "ANY", "at": "AT TIME ZONE", "collate": "COLLATE", "cycle": "CYCLE", "except": "EXCEPT", "fetch": "FETCH FIRST",
	"filter": "FILTER", "from current": "SET … FROM CURRENT", "full": "FULL JOIN", "groups": "a window frame",
	"intersect": "INTERSECT", "isnull": "ISNULL", "natural": "NATURAL JOIN", "notnull": "NOTNULL", "nowait": "NOWAIT",
	"range": "a window frame", "release": "RELEASE", "right join": "RIGHT JOIN", "right outer": "RIGHT JOIN", "rows": "a window frame", "search": "SEARCH", "setof": "SETOF", "skip": "SKIP LOCKED",
	"sets": "GROUPING SETS", "snapshot": "SET TRANSACTION SNAPSHOT", "some": "SOME", "symmetric": "BETWEEN SYMMETRIC", "tablesample": "TABLESAMPLE",
	"time zone": "AT TIME ZONE", "use": "USE INDEX", "force": "FORCE INDEX", "ignore": "IGNORE INDEX", "using": "USING", "variadic": "VARIADIC",
	"window": "WINDOW", "with rollup": "WITH ROLLUP", "within": "WITHIN GROUP",
	"year": intervalFields, "month": intervalFields, "day": intervalFields, "hour": intervalFields, "minute": intervalFields, "second": intervalFields,
}

const intervalFields = "INTERVAL with fields"

// notSupported fails with 0A000. what is the subject of the message with its verb,
// such as "FULL JOIN is".
func (p *parser) notSupported(pos Pos, what string) {
	if p.refused == "" && p.err == nil {
		p.fail(sqlstate.New(sqlstate.FeatureNotSupported, "%s not supported", what).At(p.lex.character(int(pos))).
			WithHint("nextid has of SQL what drivers and tools ask for; compute the rest in your own database."))
	}
}

// lacks is notSupported for the construct that begins with these words, if there is one.
func (p *parser) lacks(words string) {
	if what := unsupported[words]; what != "" {
		p.notSupported(p.pos(), what+" is")
	}
}

// refuse makes the statement an Unsupported one and skips the rest of it.
func (p *parser) refuse(what string) {
	p.skipStatement()
	if p.err == nil && p.refused == "" {
		p.refused = what
	}
}

// skipStatement skips the rest of the statement.
func (p *parser) skipStatement() {
	for !p.atEnd() {
		p.advance()
	}
}

// ---- depth ----

// enter begins a level of nesting and returns the height of the level around it.
// leave ends the level.
func (p *parser) enter() (outer int) {
	p.depth++
	if p.depth > maxDepth {
		p.tooComplex()
	}
	outer, p.height = p.height, 0
	return outer
}

// leave ends a level of nesting. outer is the result of enter.
func (p *parser) leave(outer int) {
	p.depth--
	p.height = max(outer, p.height+1)
}

// grow counts a node on top of the trees built at this depth.
func (p *parser) grow() {
	p.height++
	if p.height > maxHeight {
		p.tooComplex()
	}
}

// tooComplex fails with 54001.
func (p *parser) tooComplex() {
	if p.err == nil {
		p.fail(sqlstate.New(sqlstate.TooComplex, "statement is too complex").
			WithHint("Expressions nest at most %d levels deep and chain at most %d operators.", maxDepth, maxHeight))
	}
}

// ---- names and numbers ----

// take consumes the current token as a name if ok, and fails otherwise.
func (p *parser) take(ok bool) string {
	if !ok {
		p.syntaxError()
		return ""
	}
	text := p.tok.text
	p.advance()
	return text
}

// name reads PostgreSQL's ColId: a column, table, alias, cursor.
func (p *parser) name() string { return p.take(p.tok.isName()) }

// label reads PostgreSQL's ColLabel: any word.
func (p *parser) label() string { return p.take(p.tok.isLabel()) }

// anyName reads PostgreSQL's NonReservedWord.
func (p *parser) anyName() string {
	return p.take(p.tok.kind == tokIdent || p.tok.kind == tokWord && p.tok.class < reserved)
}

// qualifiedName reads a name with its qualifiers.
func (p *parser) qualifiedName() Name {
	name := Name{p.name()}
	for p.acceptPunct(".") {
		name = append(name, p.label())
	}
	return name
}

// list reads items with commas between them.
func list[T any](p *parser, item func() T) []T {
	items := []T{item()}
	for p.acceptPunct(",") {
		items = append(items, item())
	}
	return items
}

// nameList reads (name, …) after its parenthesis.
func (p *parser) nameList() []string {
	names := list(p, p.name)
	p.expectPunct(")")
	return names
}

// optionalColumns reads (name, …) if there is one.
func (p *parser) optionalColumns() []string {
	if p.acceptPunct("(") {
		return p.nameList()
	}
	return nil
}

// stringLiteral reads a string constant.
func (p *parser) stringLiteral() string { return p.take(p.tok.kind == tokString) }

// signedInteger reads an integer constant with an optional sign.
func (p *parser) signedInteger() int64 {
	pos, sign := p.pos(), ""
	if p.acceptOp("-") {
		sign = "-"
	} else {
		p.acceptOp("+")
	}
	text := p.take(p.tok.kind == tokInteger)
	n, err := strconv.ParseInt(sign+text, 10, 64)
	if err != nil {
		p.failAt(pos, sqlstate.NumericOutOfRange, `value "%s" is out of range for type bigint`, sign+text)
	}
	return n
}

// param reads $n or ?.
func (p *parser) param() *Param {
	x := &Param{Pos: p.pos(), Number: p.params + 1}
	if p.tok.text != "" {
		x.Number, _ = strconv.Atoi(p.tok.text)
		if len(p.tok.text) > 9 || x.Number < 1 || x.Number > maxParams {
			p.failAt(x.Pos, sqlstate.UndefinedParameter, "there is no parameter $%s", p.tok.text)
			return x
		}
	}
	p.params = max(p.params, x.Number)
	if p.params > maxParams {
		p.failAt(x.Pos, sqlstate.TooComplex, "statement has more than %d parameters", maxParams)
	}
	p.advance()
	return x
}

// Script parses a text in MySQL's dialect, one statement at a time: a statement may
// set the mode in which the next one is parsed. The zero Script has no statement.
type Script struct {
	text      string
	at        int  // start of the next statement, len(text) after the last
	inVersion bool // at is in a comment /*! … */
}

// NewScript returns a Script for a text. A text that is not UTF-8 is an error
// (22021).
func NewScript(text string) (Script, error) {
	if err := sqlstate.BrokenText(text); err != nil {
		return Script{}, err
	}
	return Script{text: text}, nil
}

// More reports whether Next may find another statement.
func (s *Script) More() bool { return s.at < len(s.text) }

// Next reads the next statement. found is false after the last one. An error, see
// Parse, ends the script. count may be nil.
func (s *Script) Next(m Mode, count Count) (next Parsed, found bool, err error) {
	p := parser{lex: lexer{src: s.text, dialect: MySQL, mode: m, pos: s.at, yielded: s.at, inVersion: s.inVersion}, mysql: true, count: count}
	p.setToken(p.lex.next())
	p.skipSemicolons()
	if found = p.tok.kind != tokEOF; found {
		next = p.parsed()
		p.report(p.tokens % yieldEvery)
	}
	s.at = len(s.text)
	if p.err != nil {
		return Parsed{}, false, p.err
	}
	end := p.tok.end // of the semicolon; an error after it belongs to the next statement
	if p.skipSemicolons(); p.err != nil {
		s.at = end
	} else if p.tok.kind != tokEOF {
		s.at = p.tok.start
	}
	s.inVersion = p.lex.inVersion
	return next, found, nil
}
