package syntax

import (
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// escapeFunc reads an escape sequence after its backslash and appends the characters
// that it means. A bad sequence sets the lexer's err.
type escapeFunc func(dst []byte) []byte

// quoted reads the text in the quotes that open at the current position. A doubled
// quote means one. It returns false if the closing quote is missing, or if escape,
// which may be nil, found an error.
func (l *lexer) quoted(escape escapeFunc) (string, bool) {
	quote := l.src[l.pos]
	l.pos++
	plain := l.pos // start of the text that is not copied to dst yet
	var dst []byte
	for l.more() && l.err == nil {
		switch c := l.src[l.pos]; {
		case c == quote && l.at(l.pos+1) == quote:
			dst = append(dst, l.src[plain:l.pos+1]...)
			l.pos += 2
			plain = l.pos
		case c == quote:
			tail := l.src[plain:l.pos]
			l.pos++
			if dst == nil {
				return tail, true
			}
			return string(append(dst, tail...)), true
		case c == '\\' && escape != nil:
			dst = append(dst, l.src[plain:l.pos]...)
			l.pos++
			dst = escape(dst)
			plain = l.pos
		default:
			l.pos++
		}
	}
	return "", false
}

// stringAt reads the string that the quote at a position opens. The token begins at
// start. Strings side by side are not joined: see primary.
func (l *lexer) stringAt(start, quote int, escape escapeFunc) token {
	l.pos = quote
	text, ok := l.quoted(escape)
	switch {
	case l.err != nil:
		return l.token(tokError, start, "")
	case !ok:
		return l.fail(start, "unterminated quoted string")
	}
	return l.token(tokString, start, text)
}

// prefixedString reads E'…', and refuses the other prefixes of PostgreSQL.
func (l *lexer) prefixedString(start int) (token, bool) {
	c, next := l.src[start]|0x20, l.at(start+1)
	if quote := l.at(start + 2); c == 'u' && next == '&' && (quote == '\'' || quote == '"') {
		l.pos = start + 3
		return l.failCode(start, sqlstate.FeatureNotSupported, "strings and identifiers with U& are not supported"), true
	}
	if next != '\'' {
		return token{}, false
	}
	l.pos = start + 1
	switch c {
	case 'e':
		return l.stringAt(start, start+1, l.escape), true
	case 'b', 'n', 'x':
		return l.failCode(start, sqlstate.FeatureNotSupported, "strings with %c are not supported", l.src[start]), true
	}
	return token{}, false
}

// escape reads an escape of E'…' (manual, "String Constants with C-Style Escapes").
// Escapes by number are refused.
func (l *lexer) escape(dst []byte) []byte {
	if !l.more() {
		return dst
	}
	c := l.src[l.pos]
	l.pos++
	if strings.IndexByte("01234567xuU", c) >= 0 {
		l.failCode(l.pos-2, sqlstate.FeatureNotSupported, `the escape \%c in strings is not supported`, c)
	}
	return append(dst, escaped(c, "bfnrt", "\b\f\n\r\t"))
}

// escaped returns the character that a letter after a backslash means: the letter
// itself, unless it is one of letters.
func escaped(c byte, letters, meanings string) byte {
	if i := strings.IndexByte(letters, c); i >= 0 {
		return meanings[i]
	}
	return c
}

// quotedIdentifier reads the quoted identifier at the current position.
func (l *lexer) quotedIdentifier(start int) token {
	text, ok := l.quoted(nil)
	switch {
	case !ok:
		return l.fail(start, "unterminated quoted identifier")
	case text == "":
		return l.fail(start, "zero-length delimited identifier")
	}
	return l.token(tokIdent, start, l.truncated(text))
}
