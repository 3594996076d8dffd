package syntax

import (
	"math/big"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// maxRadixDigits bounds hexadecimal, octal and binary numbers, whose
// conversion to decimal takes more than linear time.
const maxRadixDigits = 512

// number reads a numeric constant. Underscores between digits and 0x, 0o and
// 0b are PostgreSQL 16's rules.
func (l *lexer) number(start int) token {
	if base := radix(l.at(start + 1)); base != 0 && l.src[start] == '0' {
		return l.radixNumber(start, base)
	}
	l.pos = start
	kind := tokInteger
	l.digits()
	if l.at(l.pos) == '.' && l.at(l.pos+1) != '.' {
		kind = tokNumeric
		l.pos++
		if isDigit(l.at(l.pos)) {
			l.digits()
		}
	}
	if l.exponent() {
		kind = tokNumeric
	}
	if isIdentStart(l.at(l.pos)) {
		return l.junk(start, "trailing junk after numeric literal")
	}
	return l.token(kind, start, strings.ReplaceAll(l.src[start:l.pos], "_", ""))
}

// digits passes digits with single underscores between them.
func (l *lexer) digits() {
	for isDigit(l.at(l.pos)) || l.at(l.pos) == '_' && isDigit(l.at(l.pos+1)) {
		l.pos++
	}
}

// exponent passes e10, E+10, e-10.
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

// radix returns the base that the letter after a leading zero stands for, or 0.
func radix(c byte) int {
	switch c | 0x20 {
	case 'x':
		return 16
	case 'o':
		return 8
	case 'b':
		return 2
	}
	return 0
}

// radixNumber reads 0x1F, 0o17, 0b11 into decimal digits.
func (l *lexer) radixNumber(start, base int) token {
	l.pos = start + 2
	for isRadixDigit(l.at(l.pos), base) || l.at(l.pos) == '_' && isRadixDigit(l.at(l.pos+1), base) {
		l.pos++
	}
	digits := strings.ReplaceAll(l.src[start+2:l.pos], "_", "")
	switch {
	case digits == "":
		name := map[int]string{16: "hexadecimal", 8: "octal", 2: "binary"}[base]
		return l.junk(start, "invalid "+name+" integer")
	case isIdentPart(l.at(l.pos)):
		return l.junk(start, "trailing junk after numeric literal")
	case len(digits) > maxRadixDigits:
		return l.failCode(start, sqlstate.NumericOutOfRange, "number with more than %d digits is out of range", maxRadixDigits)
	}
	n, _ := new(big.Int).SetString(digits, base)
	return l.token(tokInteger, start, n.String())
}

func isRadixDigit(c byte, base int) bool {
	switch base {
	case 16:
		return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
	case 8:
		return '0' <= c && c <= '7'
	default:
		return c == '0' || c == '1'
	}
}
