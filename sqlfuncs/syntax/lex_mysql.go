package syntax

import (
	"encoding/hex"
	"slices"
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
		return l.stringAt(start, start, l.backslash())
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

// numberMySQL reads a number, or a name that begins with digits.
func (l *lexer) numberMySQL(start int) token {
	l.pos = start
	if strings.HasPrefix(l.src[start:], "0x") {
		l.identifier()
		return l.failCode(start, sqlstate.FeatureNotSupported, "0x… is not supported; write x'…'")
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

// wordMySQL reads a word, or a string with a prefix: x'1F' and _binary'…'.
func (l *lexer) wordMySQL(start int) token {
	l.pos = start
	if l.at(start+1) == '\'' {
		switch c := l.src[start]; c | 0x20 {
		case 'x':
			l.pos = start + 1
			digits, ok := l.quoted(nil)
			text, err := hex.DecodeString(digits)
			if !ok || err != nil {
				return l.fail(start, "syntax error")
			}
			return l.token(tokBytes, start, string(text))
		case 'b', 'n':
			return l.failCode(start, sqlstate.FeatureNotSupported, "strings with %c are not supported", c)
		}
	}
	l.identifier()
	if word := foldCase(l.src[start:l.pos]); l.at(l.pos) == '\'' && slices.Contains(introducers, word) {
		t := l.stringAt(start, l.pos, l.backslash())
		if t.kind == tokString && word == "_binary" {
			t.kind = tokBytes
		}
		return t
	}
	return l.wordToken(start)
}

// introducers lists the introducers of strings (MySQL manual, "Character Set
// Introducers"). Drivers write them right before the quote. Only _binary has a meaning:
// all text is UTF-8.
var introducers = []string{"_utf8mb4", "_utf8mb3", "_utf8", "_latin1", "_ascii", "_binary"}

// backslash returns the function that reads an escape, nil where \ is no escape.
func (l *lexer) backslash() func(dst []byte) []byte {
	if l.mode.NoBackslashEscapes {
		return nil
	}
	return l.escapeMySQL
}

// escapeMySQL reads an escape of a MySQL string (manual, "String Literals").
func (l *lexer) escapeMySQL(dst []byte) []byte {
	if !l.more() {
		return dst
	}
	c := l.src[l.pos]
	l.pos++
	if c == '%' || c == '_' {
		dst = append(dst, '\\') // for LIKE
	}
	return append(dst, escaped(c, "0bnrtZ", "\x00\b\n\r\t\x1a"))
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
