package datum

import (
	"bytes"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// delimiter separates the elements of every type here (only PostgreSQL's
// box has another).
const delimiter = ','

// MaxArrayElements bounds the elements of an array that is read from a text or
// built by a function.
const MaxArrayElements = 1 << 17

// ErrArrayTooLong refuses a larger array.
var ErrArrayTooLong = sqlstate.New(sqlstate.LimitExceeded, "an array may have at most %d elements", MaxArrayElements)

// elementWork holds what reading an element takes beside looking at its text, see
// Worker.
const elementWork = 16

// arrayParser reads an array literal.
type arrayParser struct{ text, rest string }

// parseArray reads '{1,NULL,"a b"}'. Arrays of several dimensions and explicit
// bounds ('[1:2]={…}') are refused.
func parseArray(t, elem OID, s string, env *Env) (Value, error) {
	p := &arrayParser{text: s, rest: trimSpace(s)}
	if strings.HasPrefix(p.rest, "[") {
		return Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "array bounds in an array literal are not supported")
	}
	if !strings.HasPrefix(p.rest, "{") {
		return Value{}, p.malformed(`Array value must start with "{".`)
	}
	elems := make([]Value, 0, min(strings.Count(p.rest, ",")+1, MaxArrayElements)) // at once: growing would take twice as much
	for p.next(); !strings.HasPrefix(p.rest, "}") || len(elems) > 0; p.next() {
		before := len(p.rest)
		text, quoted, err := p.word()
		if err == nil {
			err = env.work(2*elementWork + before - len(p.rest) + len(text))
		}
		if err != nil {
			return Value{}, err
		}
		e := Null(elem)
		if quoted || !strings.EqualFold(text, "null") {
			e = MakeString(elem, text)
		}
		if elems = append(elems, e); len(elems) > MaxArrayElements {
			return Value{}, ErrArrayTooLong
		}
		if !strings.HasPrefix(p.rest, ",") {
			break
		}
	}
	if p.rest != "}" {
		return Value{}, p.malformed("Unexpected end of input, or text behind an element or the closing brace.")
	}
	// PostgreSQL too looks at the elements only when the braces are right.
	for i, e := range elems {
		if e.Valid {
			var err error
			if elems[i], err = ParseText(elem, e.Str, env); err != nil {
				return Value{}, err
			}
		}
	}
	return MakeArray(t, elems), nil
}

func (p *arrayParser) malformed(detail string) error {
	return sqlstate.New(sqlstate.InvalidText, `malformed array literal: "%s"`, clip(p.text)).WithDetail("%s", detail)
}

// next passes a brace or comma, and white space.
func (p *arrayParser) next() { p.rest = strings.TrimLeft(p.rest[1:], " \t\n\v\f\r") }

// word reads one element's text, up to a comma or brace, and resolves quotes
// and backslashes. White space around it does not count, and with either it
// is a text, not NULL.
func (p *arrayParser) word() (text string, quoted bool, err error) {
	var b strings.Builder
	keep, inQuotes, closed, s := 0, false, false, p.rest
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case closed && !isSpace(c) && c != '}' && c != delimiter:
			return "", false, p.malformed("Unexpected array element.")
		case c == '"' && (inQuotes || b.Len() == 0 && !quoted):
			closed, inQuotes, quoted, keep = inQuotes, !inQuotes, true, b.Len()
			continue
		case c == '\\':
			quoted = true
			if i++; i == len(s) {
				return "", false, p.malformed("Unexpected end of input.")
			}
			b.WriteByte(s[i])
			keep = b.Len()
			continue
		case inQuotes:
		case c == '}' || c == delimiter:
			if p.rest = s[i:]; keep == 0 && !quoted {
				return "", false, p.malformed("An element is missing.")
			}
			return b.String()[:keep], quoted, nil
		case c == '{':
			return "", false, SeveralDimensions()
		case c == '"':
			return "", false, p.malformed("Unexpected array element.")
		}
		if b.WriteByte(s[i]); inQuotes || !isSpace(s[i]) {
			keep = b.Len()
		}
	}
	return "", false, p.malformed("Unexpected end of input.")
}

// appendArray prints {…}.
func appendArray(dst []byte, v Value, env *Env) []byte {
	dst = append(dst, '{')
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, delimiter)
		}
		if !e.Valid {
			dst = append(dst, "NULL"...)
			continue
		}
		start := len(dst)
		dst = AppendText(dst, e, env)
		if text := dst[start:]; needsQuotes(text, "{}") || strings.EqualFold(string(text), "null") {
			dst = quoted(dst, start, '\\')
		}
	}
	return append(dst, '}')
}

// quoted puts dst[start:] in double quotes, with an escape before each double quote
// and a backslash before each backslash.
func quoted(dst []byte, start int, escape byte) []byte {
	text := string(dst[start:])
	dst = append(dst[:start], '"')
	for i := range len(text) {
		switch text[i] {
		case '"':
			dst = append(dst, escape)
		case '\\':
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return append(dst, '"')
}

// needsQuotes reports whether the text of an element or a field is empty or has a
// character that separates, quotes or may be skipped.
func needsQuotes(text []byte, brackets string) bool {
	return len(text) == 0 || bytes.ContainsAny(text, "\"\\, \t\n\v\f\r"+brackets)
}

// parseVector reads int2vector and oidvector: numbers with blanks between.
func parseVector(t, elem OID, s string) (Value, error) {
	var elems []Value
	for word := range strings.FieldsSeq(s) {
		e, err := ParseText(elem, word, nil)
		if err != nil {
			return Value{}, err
		}
		elems = append(elems, e)
	}
	return MakeArray(t, elems), nil
}

func appendVector(dst []byte, v Value) []byte {
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = AppendText(dst, e, nil)
	}
	return dst
}

// appendRecord prints (a,"b c",): NULL is nothing, an empty text "".
func appendRecord(dst []byte, v Value, env *Env) []byte {
	dst = append(dst, '(')
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !e.Valid {
			continue
		}
		start := len(dst)
		if dst = AppendText(dst, e, env); needsQuotes(dst[start:], "()") {
			dst = quoted(dst, start, '"')
		}
	}
	return append(dst, ')')
}
