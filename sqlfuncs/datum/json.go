package datum

import (
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// jsonParser checks JSON as PostgreSQL's lexer and parser do, with their
// messages. For jsonb it also builds the tree and checks what only matters
// there: surrogates, \u0000 and the range of numbers.
type jsonParser struct {
	text  string
	rest  string
	token string // the current token, "" at the end
	make  jsonForm
	grown int // bytes that numbers became longer by
	env   *Env
	out   []byte // of jsonText
}

// jsonForm is what a jsonParser makes.
type jsonForm byte

const (
	jsonNothing jsonForm = iota // it only checks
	jsonTree                    // nodes
	jsonText                    // jsonb's normal form
)

// jsonKind is the kind of a JSON value, in the order in which jsonb compares.
type jsonKind byte

const (
	jsonNull jsonKind = iota
	jsonString
	jsonNumber
	jsonFalse
	jsonTrue
	jsonArray
	jsonObject
)

func (k jsonKind) String() string {
	return [...]string{"null", "string", "numeric", "boolean", "boolean", "array", "object"}[k]
}

// jsonNode is one value of a jsonb tree.
type jsonNode struct {
	kind  jsonKind
	text  string // of a string, decoded; of a number, canonical
	keys  []string
	elems []jsonNode // of an array or an object
}

// parseJSON reads a json: the text stays as it is.
func parseJSON(s string, env *Env) (Value, error) {
	if err := checkUTF8(s); err != nil {
		return Value{}, err
	}
	p := jsonParser{text: s, rest: s, env: env}
	if _, err := p.document(); err != nil {
		return Value{}, err
	}
	return MakeString(JSON, s), nil
}

// parseJSONTree reads a text into a tree.
func parseJSONTree(s string, env *Env) (jsonNode, error) {
	if err := checkUTF8(s); err != nil {
		return jsonNode{}, err
	}
	p := jsonParser{text: s, rest: s, env: env, make: jsonTree}
	return p.document()
}

func (p *jsonParser) document() (jsonNode, error) {
	if err := p.advance(); err != nil {
		return jsonNode{}, err
	}
	n, err := p.value(0)
	if err == nil && p.token != "" {
		err = p.expected("end of input")
	}
	return n, err
}

func (p *jsonParser) fail(detail string, args ...any) error {
	return sqlstate.New(sqlstate.InvalidText, "invalid input syntax for type json").WithDetail(detail, args...)
}

// expected is the error for a token that fits nowhere here.
func (p *jsonParser) expected(what string) error {
	if p.token == "" {
		return p.fail("The input string ended unexpectedly.")
	}
	return p.fail(`Expected %s, but found "%s".`, what, clip(p.token))
}

// advance moves to the next token.
func (p *jsonParser) advance() error {
	if err := p.env.work(elementWork + len(p.token)); err != nil {
		return err
	}
	p.rest = strings.TrimLeft(p.rest, " \t\n\r")
	if p.rest == "" {
		p.token = ""
		return nil
	}
	switch c := p.rest[0]; {
	case strings.IndexByte("{}[],:", c) >= 0:
		p.take(1)
	case c == '"':
		return p.scanString()
	case c == '-' || isDigit(c):
		return p.scanNumber()
	default:
		n := scan(p.rest, 0, isJSONWord)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(p.rest)
		}
		switch p.take(n); p.token {
		case "true", "false", "null":
		default:
			return p.invalidToken()
		}
	}
	return nil
}

// isJSONWord accepts what belongs to one bad token in messages.
func isJSONWord(c byte) bool { return isAlnum(c) || c == '_' || c >= utf8.RuneSelf }

func (p *jsonParser) take(n int) { p.token, p.rest = p.rest[:n], p.rest[n:] }

func (p *jsonParser) invalidToken() error {
	return p.fail(`Token "%s" is invalid.`, clip(p.token))
}

// scanNumber takes a number by the grammar of RFC 8259, section 6.
func (p *jsonParser) scanNumber() error {
	s := p.rest
	i := 0
	if s[0] == '-' {
		i++
	}
	start := i
	i = scan(s, i, isDigit)
	ok := i-start == 1 || i-start > 1 && s[start] != '0'
	if i < len(s) && s[i] == '.' {
		start = i + 1
		i = scan(s, start, isDigit)
		ok = ok && i > start
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		start = i + 1
		if start < len(s) && (s[start] == '+' || s[start] == '-') {
			start++
		}
		i = scan(s, start, isDigit)
		ok = ok && i > start
	}
	end := scan(s, i, isJSONWord)
	p.take(end)
	if !ok || end > i {
		return p.invalidToken()
	}
	return nil
}

// scanString takes a string and checks its escapes.
func (p *jsonParser) scanString() error {
	s := p.rest
	highSurrogate := false
	for i := 1; i < len(s); i++ {
		c := s[i]
		if highSurrogate && (c != '\\' || i+1 < len(s) && s[i+1] != 'u') {
			return p.lowSurrogateMissing()
		}
		switch {
		case c == '"':
			p.take(i + 1)
			return nil
		case c < ' ':
			return p.fail("Character with value 0x%02x must be escaped.", c)
		case c == '\\' && i+1 == len(s):
			return p.unterminated()
		case c == '\\' && s[i+1] == 'u':
			var err error
			if highSurrogate, err = p.checkUnicodeEscape(s[i:], highSurrogate); err != nil {
				return err
			}
			i += 5
		case c == '\\':
			if i++; strings.IndexByte(`"\/bfnrt`, s[i]) < 0 {
				_, size := utf8.DecodeRuneInString(s[i:])
				return p.fail(`Escape sequence "\%s" is invalid.`, s[i:i+size])
			}
		}
	}
	return p.unterminated()
}

// unterminated is the error of a string without end.
func (p *jsonParser) unterminated() error {
	p.take(len(p.rest))
	return p.invalidToken()
}

func (p *jsonParser) lowSurrogateMissing() error {
	return p.fail("Unicode low surrogate must follow a high surrogate.")
}

// checkUnicodeEscape checks the \uXXXX that s begins with, and returns
// whether a low surrogate must follow.
func (p *jsonParser) checkUnicodeEscape(s string, afterHigh bool) (high bool, err error) {
	if len(s) < 6 && onlyHex(s[2:]) {
		return false, p.unterminated()
	}
	if len(s) < 6 || !onlyHex(s[2:6]) {
		return false, p.fail(`"\u" must be followed by four hexadecimal digits.`)
	}
	if p.make == jsonNothing {
		return false, nil
	}
	switch r := codeUnit(s); {
	case r == 0:
		return false, sqlstate.New(codeUntranslatable, "unsupported Unicode escape sequence").
			WithDetail(`\u0000 cannot be converted to text.`)
	case r >= 0xd800 && r < 0xdc00:
		if afterHigh {
			return false, p.fail("Unicode high surrogate must not follow a high surrogate.")
		}
		return true, nil
	case (r >= 0xdc00 && r < 0xe000) != afterHigh:
		return false, p.lowSurrogateMissing()
	}
	return false, nil
}

func onlyHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// value reads the value that begins with the current token.
func (p *jsonParser) value(depth int) (jsonNode, error) {
	if depth > maxNesting {
		return jsonNode{}, tooDeep()
	}
	switch {
	case p.token == "{":
		return p.object(depth)
	case p.token == "[":
		return p.array(depth)
	case p.token == "" || strings.IndexByte("}],:", p.token[0]) >= 0:
		return jsonNode{}, p.expected("JSON value")
	}
	n, err := p.scalar()
	if err != nil {
		return n, err
	}
	return n, p.advance()
}

func (p *jsonParser) scalar() (jsonNode, error) {
	if p.make == jsonNothing {
		return jsonNode{}, nil
	}
	n, err := p.scalarNode()
	if p.make == jsonText && err == nil {
		p.out = n.append(p.out)
	}
	return n, err
}

func (p *jsonParser) scalarNode() (jsonNode, error) {
	switch p.token[0] {
	case 't':
		return jsonNode{kind: jsonTrue}, nil
	case 'f':
		return jsonNode{kind: jsonFalse}, nil
	case 'n':
		return jsonNode{kind: jsonNull}, nil
	case '"':
		text, err := UnquoteJSON(p.token)
		return jsonNode{kind: jsonString, text: text}, err
	}
	v, err := parseNumeric(p.token)
	if err != nil {
		return jsonNode{}, err
	}
	p.grown += len(v.Str) - len(p.token)
	if p.grown > maxGrowth+len(p.text) {
		return jsonNode{}, sqlstate.New(sqlstate.LimitExceeded, "the numbers of a jsonb value have too many digits")
	}
	return jsonNode{kind: jsonNumber, text: v.Str}, nil
}

// maxGrowth bounds the digits that exponents in one jsonb may add.
const maxGrowth = 1 << 16

// write appends to the normal form.
func (p *jsonParser) write(s string) {
	if p.make == jsonText {
		p.out = append(p.out, s...)
	}
}

func (p *jsonParser) array(depth int) (jsonNode, error) {
	n := jsonNode{kind: jsonArray}
	if err := p.advance(); err != nil {
		return n, err
	}
	p.write("[")
	for first := true; ; first = false {
		if p.token == "]" && first {
			p.write("]")
			return n, p.advance()
		}
		e, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		if p.make == jsonTree {
			n.elems = append(n.elems, e)
		}
		switch p.token {
		case "]":
			p.write("]")
			return n, p.advance()
		case ",":
			p.write(", ")
		default:
			return n, p.expected(`"," or "]"`)
		}
		if err := p.advance(); err != nil {
			return n, err
		}
	}
}

func (p *jsonParser) object(depth int) (jsonNode, error) {
	n := jsonNode{kind: jsonObject}
	if err := p.advance(); err != nil {
		return n, err
	}
	if p.token == "}" {
		p.write("{}")
		return n, p.advance()
	}
	start := len(p.out)
	var members []jsonMember
	for want := `string or "}"`; ; want = "string" {
		if p.token == "" || p.token[0] != '"' {
			return n, p.expected(want)
		}
		var key string
		if p.make != jsonNothing {
			var err error
			if key, err = UnquoteJSON(p.token); err != nil {
				return n, err
			}
		}
		if err := p.advance(); err != nil {
			return n, err
		}
		if p.token != ":" {
			return n, p.expected(`":"`)
		}
		if err := p.advance(); err != nil {
			return n, err
		}
		from := len(p.out)
		e, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		switch p.make {
		case jsonTree:
			n.keys, n.elems = append(n.keys, key), append(n.elems, e)
		case jsonText:
			members = append(members, jsonMember{key, from, len(p.out)})
		case jsonNothing:
		}
		switch p.token {
		case "}":
			if p.make == jsonTree {
				n.sortKeys()
			} else if p.make == jsonText {
				p.writeObject(start, members)
			}
			return n, p.advance()
		case ",":
		default:
			return n, p.expected(`"," or "}"`)
		}
		if err := p.advance(); err != nil {
			return n, err
		}
	}
}
