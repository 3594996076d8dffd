package syntax

import (
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// lexer splits a text into tokens. The rules are those of the manuals: PostgreSQL's
// chapter "Lexical Structure", MySQL's "Language Structure". The text is valid UTF-8
// without NUL bytes; Parse refuses other texts.
type lexer struct {
	src       string
	pos       int
	dialect   Dialect
	mode      Mode            // MySQL's
	inVersion bool            // inside MySQL's /*! … */
	yielded   int             // pos when the lexer last yielded, see more
	err       *sqlstate.Error // set with tokError
}

// maxIdentifier is the length of an identifier in bytes (NAMEDATALEN-1). MariaDB's are
// longer, in characters: 64, and as many as 255 bytes for an alias.
const (
	maxIdentifier      = 63
	maxMySQLIdentifier = 255
)

// next returns the next token; at the end of the text always tokEOF.
func (l *lexer) next() token {
	start, ok := l.skipBlanks()
	if !ok {
		return l.token(tokError, start, "")
	}
	if start >= len(l.src) {
		return token{kind: tokEOF, start: len(l.src), end: len(l.src)}
	}
	if l.dialect == MySQL {
		return l.nextMySQL(start)
	}
	return l.nextPostgreSQL(start)
}

// yieldBytes is the number of bytes after which the lexer yields, inside a token or
// between two tokens.
const yieldBytes = 16 << 10

// more reports whether text is left. Loops that may read much text call more in each
// iteration, so that the lexer yields.
func (l *lexer) more() bool {
	if l.pos-l.yielded > yieldBytes {
		l.yield()
	}
	return l.pos < len(l.src)
}

// yield lets other goroutines run.
func (l *lexer) yield() {
	l.yielded = l.pos
	Yield()
}

// nextPostgreSQL returns the token at start.
func (l *lexer) nextPostgreSQL(start int) token {
	c := l.src[start]
	switch {
	case isIdentStart(c):
		return l.word(start)
	case isDigit(c), c == '.' && isDigit(l.at(start+1)):
		return l.number(start)
	case c == '\'':
		return l.stringAt(start, start, nil)
	case c == '"':
		return l.quotedIdentifier(start)
	case c == '$':
		return l.dollar(start)
	case isOperatorChar(c):
		return l.operator(start)
	}
	return l.punctuation(start)
}

// token makes a token that ends at the current position.
func (l *lexer) token(kind tokenKind, start int, text string) token {
	return token{kind: kind, start: start, end: l.pos, text: text}
}

// at returns the byte at offset i, 0 after the end.
func (l *lexer) at(i int) byte {
	if i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// fail makes the error token for the text from start to the current position.
func (l *lexer) fail(start int, what string) token {
	return l.failCode(start, sqlstate.SyntaxError, `%s at or near "%s"`, what, l.src[start:l.pos])
}

// failCode is fail with another code and a message of its own.
func (l *lexer) failCode(start int, code sqlstate.Code, format string, args ...any) token {
	l.err = sqlstate.New(code, format, args...).At(l.character(start))
	return l.token(tokError, start, "")
}

// character converts a byte offset to the position in errors: characters, from 1.
func (l *lexer) character(offset int) int {
	return utf8.RuneCountInString(l.src[:offset]) + 1
}

// skipBlanks skips blanks and comments and returns the start of the next token. For
// a comment without an end it fails and returns the start of the comment.
func (l *lexer) skipBlanks() (start int, ok bool) {
	for l.more() {
		c := l.src[l.pos]
		switch {
		case isBlank(c):
			l.pos++
		case c == '-' && l.startsLineComment():
			l.skipLine()
		case c == '#' && l.dialect == MySQL:
			l.skipLine()
		case c == '/' && l.at(l.pos+1) == '*':
			if start = l.pos; !l.skipComment() {
				return start, false
			}
		case c == '*' && l.inVersion && l.at(l.pos+1) == '/':
			l.inVersion = false
			l.pos += 2
		default:
			return l.pos, true
		}
	}
	return l.pos, true
}

// startsLineComment reports whether "--" is here. MySQL needs a blank after it.
func (l *lexer) startsLineComment() bool {
	if l.at(l.pos+1) != '-' {
		return false
	}
	return l.dialect == PostgreSQL || l.pos+2 >= len(l.src) || l.src[l.pos+2] <= ' '
}

// skipLine skips the rest of the line.
func (l *lexer) skipLine() {
	n := strings.IndexAny(l.src[l.pos:], "\r\n")
	if l.dialect == MySQL {
		n = strings.IndexByte(l.src[l.pos:], '\n')
	}
	if n < 0 {
		n = len(l.src) - l.pos
	}
	l.pos += n
}

// skipComment skips the comment /* … */ at the current position. PostgreSQL's
// comments nest.
func (l *lexer) skipComment() bool {
	start := l.pos
	if l.dialect == MySQL {
		return l.skipCommentMySQL()
	}
	l.pos += 2
	for depth := 1; depth > 0; {
		if !l.more() {
			l.fail(start, "unterminated /* comment")
			return false
		}
		switch l.src[l.pos:min(l.pos+2, len(l.src))] {
		case "/*":
			depth++
			l.pos += 2
		case "*/":
			depth--
			l.pos += 2
		default:
			l.pos++
		}
	}
	return true
}

// word reads an identifier, a keyword, or a string with a prefix.
func (l *lexer) word(start int) token {
	if t, ok := l.prefixedString(start); ok {
		return t
	}
	l.pos = start + 1
	l.identifier()
	return l.wordToken(start)
}

// identifier skips the characters of an unquoted identifier.
func (l *lexer) identifier() {
	for l.more() && isIdentPart(l.src[l.pos]) {
		l.pos++
	}
}

// wordToken makes the token of the word from start to the current position.
func (l *lexer) wordToken(start int) token {
	t := l.token(tokWord, start, foldCase(l.truncated(l.src[start:l.pos])))
	k := keywords[l.dialect][t.text]
	t.class, t.needsAs = k.class, k.needsAs
	return t
}

// foldCase folds ASCII letters to lower case, as PostgreSQL does in a
// multi-byte encoding.
func foldCase(s string) string { return shiftCase(s, 'A', 'a') }

// upperCase is the opposite of foldCase.
func upperCase(s string) string { return shiftCase(s, 'a', 'A') }

// shiftCase replaces the 26 letters that begin with from by those that begin with
// to.
func shiftCase(s string, from, to byte) string {
	for i := range len(s) {
		if s[i]-from < 26 {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i]-from < 26 {
					b[i] = b[i] - from + to
				}
			}
			return string(b)
		}
	}
	return s
}

// truncated cuts a name at the length of an identifier, between characters.
func (l *lexer) truncated(s string) string {
	n := maxIdentifier
	if l.dialect == MySQL {
		n = maxMySQLIdentifier
	}
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// dollar reads $1, a dollar-quoted string, or a lone $, which is no SQL.
func (l *lexer) dollar(start int) token {
	l.pos = start + 1
	if isDigit(l.at(l.pos)) {
		l.digits()
		if isIdentStart(l.at(l.pos)) {
			return l.junk(start, "trailing junk after parameter")
		}
		return l.token(tokParam, start, l.src[start+1:l.pos])
	}
	if isIdentStart(l.at(l.pos)) {
		for l.more() && isIdentPart(l.src[l.pos]) && l.src[l.pos] != '$' {
			l.pos++
		}
	}
	if l.at(l.pos) != '$' {
		l.pos = start + 1
		return l.token(tokPunct, start, "$")
	}
	l.pos++
	tag := l.src[start:l.pos]
	n := strings.Index(l.src[l.pos:], tag)
	if n < 0 {
		l.pos = len(l.src)
		return l.fail(start, "unterminated dollar-quoted string")
	}
	body := l.src[l.pos : l.pos+n]
	l.pos += n + len(tag)
	return l.token(tokString, start, body)
}

// junk fails at a number with an identifier right after it.
func (l *lexer) junk(start int, what string) token {
	l.identifier()
	return l.fail(start, what)
}

// operator reads a PostgreSQL operator: the longest run of operator characters up to
// a comment. A run of several may end in + or - only if it has a character that no
// operator of standard SQL has (manual, "Lexical Structure"). An operator has at
// most maxIdentifier characters. So a long run is not read to its end for each
// token.
func (l *lexer) operator(start int) token {
	end, special := start, false
	for ; isOperatorChar(l.at(end)) && end-start <= maxIdentifier; end++ {
		if c, d := l.src[end], l.at(end+1); c == '/' && d == '*' || c == '-' && d == '-' {
			break
		}
		special = special || strings.IndexByte("~!@#^&|`?%", l.src[end]) >= 0
	}
	if !special {
		for end > start+1 && (l.src[end-1] == '+' || l.src[end-1] == '-') {
			end--
		}
	}
	l.pos = end
	switch text := l.src[start:end]; text {
	case "!=":
		return l.token(tokOp, start, "<>")
	case "=>":
		return l.token(tokPunct, start, text)
	default:
		if len(text) > maxIdentifier {
			return l.fail(start, "operator too long")
		}
		return l.token(tokOp, start, text)
	}
}

// punctuation reads a punctuation mark, or one character that is no SQL.
func (l *lexer) punctuation(start int) token {
	switch l.src[start:min(start+2, len(l.src))] {
	case "::", ":=", "..":
		l.pos = start + 2
	default:
		_, n := utf8.DecodeRuneInString(l.src[start:])
		l.pos = start + n
	}
	return l.token(tokPunct, start, l.src[start:l.pos])
}

func isBlank(c byte) bool {
	return c == ' ' || '\t' <= c && c <= '\r'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isIdentStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isIdentPart(c byte) bool { return isIdentStart(c) || isDigit(c) || c == '$' }

func isOperatorChar(c byte) bool {
	return c != 0 && strings.IndexByte("~!@#^&|`?+-*/%<>=", c) >= 0
}

// number reads a numeric constant, as PostgreSQL 15 does.
func (l *lexer) number(start int) token {
	l.pos = start
	kind := tokInteger
	l.digits()
	if l.at(l.pos) == '.' && l.at(l.pos+1) != '.' {
		kind = tokNumeric
		l.pos++
		l.digits()
	}
	if l.exponent() {
		kind = tokNumeric
	}
	if isIdentStart(l.at(l.pos)) {
		return l.junk(start, "trailing junk after numeric literal")
	}
	return l.token(kind, start, l.src[start:l.pos])
}

// digits skips decimal digits.
func (l *lexer) digits() {
	for l.more() && isDigit(l.src[l.pos]) {
		l.pos++
	}
}

// exponent skips e10, E+10 or e-10. It reports whether there was an exponent.
func (l *lexer) exponent() bool {
	if l.at(l.pos)|0x20 != 'e' {
		return false
	}
	n := l.pos + 1
	if c := l.at(n); c == '+' || c == '-' {
		n++
	}
	if !isDigit(l.at(n)) {
		return false
	}
	l.pos = n
	l.digits()
	return true
}

// tokenKind is the lexical class of a token.
type tokenKind uint8

const (
	tokEOF      tokenKind = iota
	tokError              // see the lexer's err
	tokWord               // unquoted identifier or keyword, text folded to lower case
	tokIdent              // quoted identifier
	tokString             // character string, text decoded
	tokBytes              // binary string (MySQL), text is the raw bytes
	tokInteger            // text is decimal digits
	tokNumeric            // with a point or an exponent
	tokParam              // $n (text is the digits) or ? (text empty)
	tokVariable           // MySQL's @name (text is the name) or @@name (text is @name)
	tokOp                 // operator
	tokPunct              // ( ) [ ] , ; . : :: := => ..
)

// token is one lexical element of a text: src[start:end].
type token struct {
	kind       tokenKind
	class      class // of a tokWord
	needsAs    bool  // a tokWord that is no column label without AS
	start, end int
	text       string
}

// isWord reports whether t is the unquoted word w, given in lower case.
func (t *token) isWord(w string) bool { return t.kind == tokWord && t.text == w }

// isPunct reports whether t is the punctuation mark s.
func (t *token) isPunct(s string) bool { return t.kind == tokPunct && t.text == s }

// isOp reports whether t is the operator s.
func (t *token) isOp(s string) bool { return t.kind == tokOp && t.text == s }

// isName reports whether t may name a column or a table (PostgreSQL's ColId).
func (t *token) isName() bool {
	return t.kind == tokIdent || t.kind == tokWord && t.class <= colName
}

// isFunctionName reports whether t may name a function or a type (PostgreSQL's
// type_function_name).
func (t *token) isFunctionName() bool {
	return t.kind == tokIdent || t.kind == tokWord && (t.class == unreserved || t.class == typeFunc)
}

// isLabel reports whether t may follow AS or a dot (PostgreSQL's ColLabel).
func (t *token) isLabel() bool { return t.kind == tokIdent || t.kind == tokWord }

// isBareLabel reports whether t may name a column without AS.
func (t *token) isBareLabel() bool { return t.kind == tokIdent || t.kind == tokWord && !t.needsAs }

// endsStatement reports whether no token of the statement is left.
func (t *token) endsStatement() bool { return t.kind == tokEOF || t.isPunct(";") }
