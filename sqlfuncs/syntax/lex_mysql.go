package syntax

import (
	"encoding/hex"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// mysqlVersion is the highest version whose /*!NNNNN comments are read.
const mysqlVersion = 80099

// mysqlOperators are the operators of more than one character, longest first.
var mysqlOperators = []string{"->>", "<=>", "->", "<=", ">=", "<>", "!=", "&&", "||", "<<", ">>"}

// nextMySQL returns the token at start.
func (l *lexer) nextMySQL(start int) token {
	c := l.src[start]
	switch {
	case isDigit(c), c == '.' && isDigit(l.at(start+1)):
		return l.numberMySQL(start)
	case isIdentPart(c):
		return l.wordMySQL(start)
	case c == '"' && l.mode.ANSIQuotes:
		l.pos = start
		return l.quotedIdentifier(start)
	case c == '\'' || c == '"':
		return l.stringMySQL(start, start)
	case c == '`':
		l.pos = start
		return l.quotedIdentifier(start)
	case c == '@':
		return l.variable(start)
	case c == '?':
		// The printer of the tests writes parameters that are out of order as ?1.
		l.pos = start + 1
		l.digits()
		return l.token(tokParam, start, l.src[start+1:l.pos])
	}
	for _, op := range mysqlOperators {
		if strings.HasPrefix(l.src[start:], op) {
			l.pos = start + len(op)
			if op == "!=" {
				op = "<>"
			}
			return l.token(tokOp, start, op)
		}
	}
	if strings.IndexByte("=<>+-*/%&|^~!", c) >= 0 {
		l.pos = start + 1
		return l.token(tokOp, start, l.src[start:l.pos])
	}
	return l.punctuation(start)
}

// skipCommentMySQL skips /* … */. Of /*! and /*M! it skips only the beginning, if
// the version is not above mysqlVersion: the text in them is read.
func (l *lexer) skipCommentMySQL() bool {
	start := l.pos
	text := strings.TrimPrefix(l.src[start+2:], "M")
	if version, ok := strings.CutPrefix(text, "!"); ok && !l.inVersion {
		n, number := 0, 0
		for ; n < 6 && n < len(version) && isDigit(version[n]); n++ {
			number = number*10 + int(version[n]-'0')
		}
		if number <= mysqlVersion {
			l.pos = len(l.src) - len(version) + n
			l.inVersion = true
			return true
		}
	}
	n := strings.Index(l.src[start+2:], "*/")
	if n < 0 {
		l.pos = len(l.src)
		l.fail(start, "unterminated /* comment")
		return false
	}
	l.pos = start + 2 + n + 2
	return true
}

// numberMySQL reads a number, 0x1F, or a name that begins with digits.
func (l *lexer) numberMySQL(start int) token {
	l.pos = start
	if strings.HasPrefix(l.src[start:], "0x") {
		for l.pos += 2; l.more() && isRadixDigit(l.src[l.pos], 16); {
			l.pos++
		}
		if digits := l.src[start+2 : l.pos]; digits != "" && !isIdentPart(l.at(l.pos)) {
			return l.bytesToken(tokHex, start, digits)
		}
		l.pos = start
	}
	kind := tokInteger
	l.digits()
	if end := l.pos; !l.exponent() && isIdentPart(l.at(end)) {
		return l.wordMySQL(start)
	} else if l.pos > end {
		kind = tokNumeric
	} else if l.at(l.pos) == '.' {
		kind = tokNumeric
		l.pos++
		l.digits()
		l.exponent()
	}
	return l.token(kind, start, l.src[start:l.pos])
}

// bytesToken decodes hexadecimal digits, with a zero before an odd number of them.
func (l *lexer) bytesToken(kind tokenKind, start int, digits string) token {
	if len(digits)%2 != 0 {
		digits = "0" + digits
	}
	text, err := hex.DecodeString(digits)
	if err != nil {
		return l.fail(start, "syntax error")
	}
	return l.token(kind, start, string(text))
}

// wordMySQL reads a word, or a string with a prefix: N'…', x'1F' and _utf8mb4'…'.
// Introducers of character sets are skipped.
func (l *lexer) wordMySQL(start int) token {
	l.pos = start
	if l.at(start+1) == '\'' {
		switch l.src[start] | 0x20 {
		case 'n':
			return l.stringMySQL(start, start+1)
		case 'x':
			l.pos = start + 1
			digits, ok := l.quoted(nil)
			if !ok || len(digits)%2 != 0 {
				return l.fail(start, "syntax error")
			}
			return l.bytesToken(tokBytes, start, digits)
		case 'b':
			return l.failCode(start, sqlstate.FeatureNotSupported, "bit strings b'…' are not supported")
		}
	}
	l.identifier()
	t := l.wordToken(start)
	if !characterSets[t.text] {
		return t
	}
	end, inVersion := l.pos, l.inVersion
	if from, ok := l.skipBlanks(); ok && l.startsString(from) {
		s := l.nextMySQL(from)
		if s.start = start; s.kind == tokHex {
			s.kind = tokBytes
		}
		return s
	}
	l.pos, l.inVersion, l.err = end, inVersion, nil
	return t
}

// startsString reports whether a character or binary string begins at i.
func (l *lexer) startsString(i int) bool {
	switch c, next := l.at(i), l.at(i+1); c | 0x20 {
	case '"', '\'':
		return true
	case 'x':
		return next == '\''
	case '0':
		return next == 'x'
	}
	return false
}

// characterSets holds the introducers of strings (MySQL manual, "Character Set
// Introducers") that are skipped.
var characterSets = map[string]bool{
	"_utf8mb4": true, "_utf8mb3": true, "_utf8": true, "_latin1": true, "_ascii": true, "_binary": true,
}

// stringMySQL reads '…' or "…" at quote.
func (l *lexer) stringMySQL(start, quote int) token {
	l.pos = quote
	text, ok := l.literal(start, l.backslash(), "quoted string")
	if !ok {
		return l.token(tokError, start, "")
	}
	return l.token(tokString, start, text)
}

// backslash returns the function that reads an escape, nil where \ is no escape.
func (l *lexer) backslash() func(dst []byte) []byte {
	if l.mode.NoBackslashEscapes {
		return nil
	}
	return l.escapeMySQL
}

// escapeMySQL reads an escape of a MySQL string (manual, "String Literals").
func (l *lexer) escapeMySQL(dst []byte) []byte {
	if l.pos >= len(l.src) {
		return dst
	}
	c := l.src[l.pos]
	l.pos++
	switch c {
	case '0':
		c = 0
	case 'b':
		c = '\b'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'Z':
		c = 26
	case '%', '_':
		return append(dst, '\\', c) // for LIKE
	}
	return append(dst, c)
}

// variable reads @name, @'name', @`name`, @@name and @@scope.name.
func (l *lexer) variable(start int) token {
	l.pos = start + 1
	system := l.at(l.pos) == '@'
	if system {
		l.pos++
	}
	if c := l.at(l.pos); !system && (c == '\'' || c == '"' || c == '`') {
		var escape func(dst []byte) []byte
		if c != '`' {
			escape = l.backslash()
		}
		name, ok := l.quoted(escape)
		switch {
		case !ok:
			return l.fail(start, "unterminated quoted string")
		case strings.HasPrefix(name, "@"):
			return l.fail(start, "syntax error")
		}
		return l.token(tokVariable, start, foldCase(name))
	}
	name := l.pos
	for l.more() && (isIdentPart(l.src[l.pos]) || l.src[l.pos] == '.') {
		l.pos++
	}
	if system && (l.pos == name || l.src[l.pos-1] == '.') {
		return l.fail(start, "syntax error")
	}
	return l.token(tokVariable, start, foldCase(l.src[start+1:l.pos]))
}
