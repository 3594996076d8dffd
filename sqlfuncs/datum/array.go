package datum

import (
	"errors"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// delimiter separates the elements of every type here (only PostgreSQL's
// box has another).
const delimiter = ','

// arrayParser reads an array literal.
type arrayParser struct {
	array, elem OID
	env         *Env
	text        string // the whole, for messages
	rest        string
	count       int // elements so far
}

// MaxArrayElements bounds the elements of an array that is read from a text or
// built by a function.
const MaxArrayElements = 1 << 17

// ErrArrayTooLong refuses a larger array.
var ErrArrayTooLong = sqlstate.New(sqlstate.LimitExceeded, "an array may have at most %d elements", MaxArrayElements)

// elementWork is what reading an element takes beside looking at its text, see
// Worker.
const elementWork = 16

// parseArray reads '{1,NULL,"a b",{…}}'. All sub-arrays of a level must have
// the same length. Explicit bounds ('[1:2]={…}') are refused, since a Value
// has none.
func parseArray(t, elem OID, s string, env *Env) (Value, error) {
	p := &arrayParser{array: t, elem: elem, env: env, text: s, rest: s}
	p.skipSpace()
	switch {
	case strings.HasPrefix(p.rest, "["):
		return Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "array bounds in an array literal are not supported")
	case !strings.HasPrefix(p.rest, "{"):
		return Value{}, p.malformed(`Array value must start with "{" or dimension information.`)
	}
	p.text = p.rest
	v, err := p.braces(1)
	if err != nil {
		return Value{}, err
	}
	if p.skipSpace(); p.rest != "" {
		return Value{}, p.malformed("Junk after closing right brace.")
	}
	if err := p.convert(v.Elems); err != nil {
		return Value{}, err
	}
	return v, nil
}

func (p *arrayParser) malformed(detail string, args ...any) error {
	return sqlstate.New(sqlstate.InvalidText, `malformed array literal: "%s"`, clip(p.text)).WithDetail(detail, args...)
}

func (p *arrayParser) skipSpace() {
	for p.rest != "" && isSpace(p.rest[0]) {
		p.rest = p.rest[1:]
	}
}

// braces reads one level, from its opening brace on.
func (p *arrayParser) braces(depth int) (Value, error) {
	v := MakeArray(p.array, nil)
	if depth == 1 && strings.IndexByte(p.rest[1:], '{') < 0 {
		v.Elems = make([]Value, 0, min(strings.Count(p.rest, ",")+1, MaxArrayElements))
	}
	if depth > maxArrayDimensions {
		return v, sqlstate.New(sqlstate.LimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", depth, maxArrayDimensions)
	}
	p.rest = p.rest[1:]
	p.skipSpace()
	if strings.HasPrefix(p.rest, "}") {
		if depth > 1 {
			return v, p.malformed(`Unexpected "}" character.`)
		}
		p.rest = p.rest[1:]
		return MakeArray(p.array, nil), nil
	}
	for {
		p.skipSpace()
		if len(v.Elems) > 0 && p.rest != "" {
			switch nested := p.rest[0] == '{'; {
			case nested && v.Elems[0].Type != p.array:
				return v, p.malformed(`Unexpected "{" character.`)
			case !nested && v.Elems[0].Type == p.array:
				return v, p.malformed("Unexpected array element.")
			}
		}
		e, err := p.element(depth)
		if err != nil {
			return v, err
		}
		if len(v.Elems) > 0 && !sameShape(v.Elems[0], e, p.array) {
			return v, p.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
		}
		if p.count++; p.count > MaxArrayElements {
			return v, ErrArrayTooLong
		}
		v.Elems = append(v.Elems, e)
		p.skipSpace()
		switch {
		case p.rest == "":
			return v, p.malformed("Unexpected end of input.")
		case p.rest[0] == '}':
			p.rest = p.rest[1:]
			return v, nil
		case p.rest[0] == '{':
			return v, p.malformed(`Unexpected "{" character.`)
		case p.rest[0] != delimiter:
			return v, p.malformed("Unexpected array element.")
		}
		p.rest = p.rest[1:]
	}
}

// sameShape reports whether two elements have the same dimensions.
func sameShape(a, b Value, array OID) bool {
	if a.Type != array {
		return b.Type != array
	}
	return len(a.Elems) == len(b.Elems) && (len(a.Elems) == 0 || sameShape(a.Elems[0], b.Elems[0], array))
}

func (p *arrayParser) element(depth int) (Value, error) {
	if strings.HasPrefix(p.rest, "{") {
		return p.braces(depth + 1)
	}
	before := len(p.rest)
	text, quoted, err := p.word()
	if err == nil {
		err = p.env.work(elementWork + before - len(p.rest))
	}
	if err != nil {
		return Value{}, err
	}
	if !quoted && strings.EqualFold(text, "null") {
		return Null(p.elem), nil
	}
	return MakeString(p.elem, text), nil
}

// convert turns the texts of the elements into their values. PostgreSQL too
// looks at the elements only when the braces are right.
func (p *arrayParser) convert(elems []Value) error {
	for i, e := range elems {
		var err error
		switch {
		case e.Type == p.array:
			err = p.convert(e.Elems)
		case e.Valid:
			if err = p.env.work(elementWork + len(e.Str)); err == nil {
				elems[i], err = ParseText(p.elem, e.Str, p.env)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// word reads one element's text and resolves quotes and backslashes.
func (p *arrayParser) word() (text string, quoted bool, err error) {
	s := p.rest
	if s == "" {
		return "", false, p.malformed("Unexpected end of input.")
	}
	if s[0] == '"' {
		text, err = p.quoted()
		return text, true, err
	}
	plain := 0
	for plain < len(s) && !isArraySyntax(s[plain]) {
		plain++
	}
	if plain > 0 && plain < len(s) && s[plain] != '\\' && s[plain] != '"' && s[plain] != '{' {
		p.rest = s[plain:]
		return strings.TrimRight(s[:plain], " \t\n\v\f\r"), false, nil
	}
	return p.escaped()
}

func isArraySyntax(c byte) bool {
	return c == '{' || c == '}' || c == delimiter || c == '"' || c == '\\'
}

// quoted reads "…".
func (p *arrayParser) quoted() (string, error) {
	var b strings.Builder
	s := p.rest
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			p.rest = s[i+1:]
			return b.String(), nil
		case '\\':
			if i++; i == len(s) {
				return "", p.malformed("Unexpected end of input.")
			}
		}
		b.WriteByte(s[i])
	}
	return "", p.malformed("Unexpected end of input.")
}

// escaped reads an unquoted element with backslashes. Escaped white space
// at its end stays, and an escaped NULL is a text: quoted is true.
func (p *arrayParser) escaped() (text string, quoted bool, err error) {
	var b strings.Builder
	keep := 0
	s := p.rest
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return "", false, p.malformed("Unexpected array element.")
		case '{':
			return "", false, p.malformed(`Unexpected "{" character.`)
		case '}', delimiter:
			if b.Len() == 0 {
				return "", false, p.malformed(`Unexpected "%c" character.`, c)
			}
			p.rest = s[i:]
			return b.String()[:keep], quoted, nil
		case '\\':
			quoted = true
			if i++; i == len(s) {
				return "", false, p.malformed("Unexpected end of input.")
			}
			b.WriteByte(s[i])
			keep = b.Len()
		default:
			b.WriteByte(c)
			if !isSpace(c) {
				keep = b.Len()
			}
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
		switch {
		case e.Type == v.Type && e.Valid:
			dst = appendArray(dst, e, env)
		case !e.Valid:
			dst = append(dst, "NULL"...)
		default:
			start := len(dst)
			dst = quoteElement(AppendText(dst, e, env), start)
		}
	}
	return append(dst, '}')
}

// quoteElement quotes dst[start:] if it needs quotes inside an array.
func quoteElement(dst []byte, start int) []byte {
	text := dst[start:]
	needs := len(text) == 0 || strings.EqualFold(string(text), "null")
	for _, c := range text {
		if c == '"' || c == '\\' || c == '{' || c == '}' || c == delimiter || isSpace(c) {
			needs = true
			break
		}
	}
	if !needs {
		return dst
	}
	return quoteTail(dst, start, '\\', '\\')
}

// quoteTail puts dst[start:] in double quotes, with an escape before each
// double quote and another one before each backslash.
func quoteTail(dst []byte, start int, beforeQuote, beforeBackslash byte) []byte {
	text := string(dst[start:])
	dst = append(dst[:start], '"')
	for i := range len(text) {
		switch text[i] {
		case '"':
			dst = append(dst, beforeQuote)
		case '\\':
			dst = append(dst, beforeBackslash)
		}
		dst = append(dst, text[i])
	}
	return append(dst, '"')
}

// parseVector reads int2vector and oidvector: numbers with blanks between.
func parseVector(t, elem OID, s string) (Value, error) {
	var elems []Value
	for rest := s; trimSpace(rest) != ""; {
		rest = strings.TrimLeft(rest, " \t\n\v\f\r")
		word := rest[:scan(rest, 0, func(c byte) bool { return !isSpace(c) })]
		e, err := ParseText(elem, word, nil)
		var fault *sqlstate.Error
		if errors.As(err, &fault) && fault.Code == sqlstate.InvalidText {
			err = badSyntax(elem, rest)
		}
		if err != nil {
			return Value{}, err
		}
		elems = append(elems, e)
		rest = rest[len(word):]
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
		dst = quoteField(AppendText(dst, e, env), start)
	}
	return append(dst, ')')
}

// quoteField quotes dst[start:] if it needs quotes inside a record.
func quoteField(dst []byte, start int) []byte {
	text := dst[start:]
	needs := len(text) == 0
	for _, c := range text {
		if c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || isSpace(c) {
			needs = true
			break
		}
	}
	if !needs {
		return dst
	}
	return quoteTail(dst, start, '"', '\\')
}
