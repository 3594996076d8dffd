package syntax

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

// isRadixDigit reports whether c is a digit to the base 2, 8 or 16.
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
