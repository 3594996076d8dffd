package engine

import (
	"io"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// TextPattern is a compiled regular expression.
type TextPattern struct {
	re   *regexp.Regexp
	size int // instructions of its program
}

// patternMemo keeps compiled patterns for all sessions, since plans are
// shared. Statements mostly have a handful of constant ones, so a full memo
// just starts again.
type patternMemo struct {
	mu    sync.RWMutex
	byKey map[patternKey]*TextPattern
}

// patternKey is a pattern, and how it is read: the options of a regular
// expression, or the operator's name and the escape of LIKE.
type patternKey struct{ how, pattern string }

var textPatterns patternMemo

// Bounds of patterns: kept ones, and the text and the program of each.
const (
	maxTextPatterns = 64
	maxPatternBytes = 1024
	maxPatternSize  = 4096
)

// Pattern returns a compiled pattern. text translates it for package regexp
// when it is not known yet; longest is POSIX's choice among the matches.
func Pattern(how, pattern string, text func() (re string, longest bool, err error)) (*TextPattern, error) {
	key := patternKey{how, pattern}
	textPatterns.mu.RLock()
	p := textPatterns.byKey[key]
	textPatterns.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	if len(pattern) > maxPatternBytes {
		return nil, sqlstate.New(sqlstate.LimitExceeded, "a pattern may have at most %d bytes", maxPatternBytes)
	}
	source, longest, err := text()
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, badPattern(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	size := programSize(tree)
	if size > maxPatternSize {
		return nil, badPattern("regular expression is too complex")
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, badPattern(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if longest {
		re.Longest()
	}
	p = &TextPattern{re, size}
	textPatterns.mu.Lock()
	defer textPatterns.mu.Unlock()
	if textPatterns.byKey == nil || len(textPatterns.byKey) >= maxTextPatterns {
		textPatterns.byKey = map[patternKey]*TextPattern{}
	}
	textPatterns.byKey[key] = p
	return p, nil
}

// programSize is about how many instructions a pattern compiles to: repeated
// parts stand there as often as they may repeat.
func programSize(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min+1, re.Max)
	}
	return min(n, 1<<30)
}

// steppedAbove is the work of a match, as steps of its program, from which on
// it must be possible to end it on its way: tens of milliseconds.
const steppedAbove = 1 << 23

// Find returns the leftmost match in s as package regexp's index pairs, nil if
// there is none. The match of a long text ends with its statement.
func (p *TextPattern) Find(x *Exec, s string) ([]int, error) {
	if p.size*len(s) < steppedAbove {
		return p.re.FindStringSubmatchIndex(s), x.Work(callWork + p.size*len(s))
	}
	r := steppedText{x: x, rest: s, size: p.size}
	match := p.re.FindReaderSubmatchIndex(&r)
	return match, r.stopped
}

// Matches reports whether the pattern is found in s.
func (p *TextPattern) Matches(x *Exec, s string) (bool, error) {
	if p.size*len(s) < steppedAbove {
		return p.re.MatchString(s), x.Work(callWork + p.size*len(s))
	}
	r := steppedText{x: x, rest: s, size: p.size}
	match := p.re.MatchReader(&r)
	return match, r.stopped
}

// steppedText is a text that ends when the statement does.
type steppedText struct {
	x       *Exec
	rest    string
	size    int
	stopped error
}

// ReadRune implements io.RuneReader.
func (t *steppedText) ReadRune() (r rune, size int, err error) {
	if t.stopped = t.x.Work(t.size); t.rest == "" || t.stopped != nil {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRuneInString(t.rest)
	t.rest = t.rest[size:]
	return r, size, nil
}

// CompilePattern compiles an "advanced regular expression" of PostgreSQL
// (9.7.3) with its option letters, without g.
func CompilePattern(pattern, options string) (*TextPattern, error) {
	return Pattern("~"+options, pattern, func() (string, bool, error) {
		t := areTranslator{src: pattern}
		if err := t.options(options); err != nil {
			return "", false, err
		}
		text, err := t.translate()
		return text, !t.lazy, err // POSIX: of the leftmost matches the longest
	})
}

func badPattern(what string) error {
	return sqlstate.New(sqlstate.InvalidRegex, "invalid regular expression: %s", what)
}

// areTranslator rewrites an advanced regular expression for package regexp.
type areTranslator struct {
	src string
	i   int
	out strings.Builder

	fold, literal, expanded bool
	lines                   bool // ^ and $ match at line ends
	dotStops                bool // . and [^…] do not match a newline
	lazy                    bool
}

// options applies option letters (9.7.3.4, table 9.24).
func (t *areTranslator) options(letters string) error {
	for i := range len(letters) {
		switch letters[i] {
		case 'c':
			t.fold = false
		case 'i':
			t.fold = true
		case 'm', 'n':
			t.lines, t.dotStops = true, true
		case 'p':
			t.lines, t.dotStops = false, true
		case 'w':
			t.lines, t.dotStops = true, false
		case 's':
			t.lines, t.dotStops = false, false
		case 'q':
			t.literal = true
		case 'x':
			t.expanded = true
		case 't':
			t.expanded = false
		case 'e': // extended: what can be written so means the same here
		default:
			return sqlstate.New(sqlstate.InvalidParameterValue, "invalid regular expression option: \"%s\"", FirstRune(letters, i))
		}
	}
	return nil
}

func (t *areTranslator) translate() (string, error) {
	if rest, ok := strings.CutPrefix(t.src, "***="); ok {
		t.src, t.literal = rest, true
	} else {
		t.src = strings.TrimPrefix(t.src, "***:")
	}
	if err := t.embeddedOptions(); err != nil {
		return "", err
	}
	if t.literal {
		t.out.WriteString(regexp.QuoteMeta(t.src))
	}
	for !t.literal && t.i < len(t.src) {
		if err := t.atom(); err != nil {
			return "", err
		}
	}
	flags := ""
	if t.fold {
		flags += "i"
	}
	if t.lines {
		flags += "m"
	}
	if !t.dotStops {
		flags += "s"
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	return flags + t.out.String(), nil
}

// embeddedOptions reads (?xyz) at the start of the pattern.
func (t *areTranslator) embeddedOptions() error {
	rest, ok := strings.CutPrefix(t.src, "(?")
	if !ok || t.literal || rest == "" || rest[0] < 'a' || rest[0] > 'z' {
		return nil
	}
	letters, body, ok := strings.Cut(rest, ")")
	if !ok || t.options(letters) != nil {
		return badPattern("invalid embedded option")
	}
	t.src = body
	return nil
}

func (t *areTranslator) atom() error {
	c := t.src[t.i]
	switch c {
	case '\\':
		return t.escape(false)
	case '[':
		return t.bracket()
	case '(':
		return t.group()
	case '{':
		return t.bound()
	case '*', '+', '?':
		t.quantifier(t.src[t.i : t.i+1])
		return nil
	case ' ', '\t', '\n', '\r', '\f', '\v':
		if t.expanded {
			t.i++
			return nil
		}
	case '#':
		if t.expanded {
			_, t.src, _ = strings.Cut(t.src[t.i:], "\n")
			t.i = 0
			return nil
		}
	}
	t.out.WriteByte(c)
	t.i++
	return nil
}

// quantifier writes a quantifier and its ? for "as few as possible".
func (t *areTranslator) quantifier(q string) {
	t.out.WriteString(q)
	t.i += len(q)
	if t.i < len(t.src) && t.src[t.i] == '?' {
		t.lazy = true
		t.out.WriteByte('?')
		t.i++
	}
}

// maxRepeat is PostgreSQL's limit for {m,n} (DUPMAX).
const maxRepeat = 255

// bound reads {m}, {m,} and {m,n}; any other { is an ordinary character.
func (t *areTranslator) bound() error {
	inner, _, ok := strings.Cut(t.src[t.i+1:], "}")
	if inner == "" || inner[0] < '0' || inner[0] > '9' {
		t.out.WriteString(`\{`)
		t.i++
		return nil
	}
	if !ok {
		return badPattern("braces {} not balanced")
	}
	low, high, ranged := strings.Cut(inner, ",")
	for _, n := range []string{low, high} {
		if n == "" && ranged {
			continue
		}
		if v, err := strconv.ParseUint(n, 10, 16); n != "" && (err != nil || v > maxRepeat) {
			return badPattern("invalid repetition count(s)")
		}
	}
	t.quantifier("{" + inner + "}")
	return nil
}

func (t *areTranslator) group() error {
	rest := t.src[t.i:]
	switch {
	case strings.HasPrefix(rest, "(?:"):
		t.out.WriteString("(?:")
		t.i += 3
	case strings.HasPrefix(rest, "(?#"):
		comment, _, ok := strings.Cut(rest, ")")
		if !ok {
			return badPattern("parentheses () not balanced")
		}
		t.i += len(comment) + 1
	case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!") || strings.HasPrefix(rest, "(?<"):
		return sqlstate.New(sqlstate.FeatureNotSupported, "lookahead and lookbehind in a regular expression are not supported by nextid")
	case strings.HasPrefix(rest, "(?"):
		return badPattern("quantifier operand invalid")
	default:
		t.out.WriteByte('(')
		t.i++
	}
	return nil
}

// bracket reads a bracket expression (9.7.3.2).
func (t *areTranslator) bracket() error {
	for _, word := range []string{"[[:<:]]", "[[:>:]]"} {
		if strings.HasPrefix(t.src[t.i:], word) {
			t.i += len(word)
			t.out.WriteString(`\b`)
			return nil
		}
	}
	t.out.WriteByte('[')
	t.i++
	negated := strings.HasPrefix(t.src[t.i:], "^")
	if negated {
		t.out.WriteByte('^')
		t.i++
	}
	for first := true; ; first = false {
		if t.i >= len(t.src) {
			return badPattern("brackets [] not balanced")
		}
		c := t.src[t.i]
		if c == ']' && !first {
			break
		}
		if err := t.bracketItem(c); err != nil {
			return err
		}
	}
	if negated && t.dotStops {
		t.out.WriteString(`\n`)
	}
	t.out.WriteByte(']')
	t.i++
	return nil
}

func (t *areTranslator) bracketItem(c byte) error {
	rest := t.src[t.i:]
	switch {
	case c == '\\':
		return t.escape(true)
	case strings.HasPrefix(rest, "[:"):
		name, _, ok := strings.Cut(rest[2:], ":]")
		if !ok || !strings.Contains(" alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit ", " "+name+" ") {
			return badPattern("invalid character class")
		}
		t.out.WriteString("[:" + name + ":]")
		t.i += len(name) + 4
	case strings.HasPrefix(rest, "[.") || strings.HasPrefix(rest, "[="):
		element, _, ok := strings.Cut(rest[2:], rest[1:2]+"]")
		if !ok || utf8.RuneCountInString(element) != 1 {
			return badPattern("invalid collating element")
		}
		t.out.WriteString(regexp.QuoteMeta(element))
		t.i += len(element) + 4
	default:
		if strings.IndexByte(`[]^&~`, c) >= 0 {
			t.out.WriteByte('\\')
		}
		t.out.WriteByte(c)
		t.i++
	}
	return nil
}

// characterEscapes are the escapes for one character (table 9.19).
var characterEscapes = map[byte]rune{
	'a': '\a', 'b': '\b', 'B': '\\', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// escape reads \x; the constraints (\A, \m …) have no meaning in brackets.
func (t *areTranslator) escape(inBracket bool) error {
	if t.i+1 >= len(t.src) {
		return badPattern(`invalid escape \ sequence`)
	}
	c := t.src[t.i+1]
	t.i += 2
	if r, ok := characterEscapes[c]; ok {
		t.character(r)
		return nil
	}
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W':
		t.out.WriteString(`\` + string(c))
		return nil
	case 'c':
		if t.i < len(t.src) {
			t.character(rune(t.src[t.i] & 0x1f))
			t.i++
			return nil
		}
	case 'u':
		return t.hex(4, 4)
	case 'U':
		return t.hex(8, 8)
	case 'x':
		return t.hex(1, 8)
	case '0':
		t.character(0)
		return nil
	case 'A', 'm', 'M', 'y', 'Y', 'Z':
		if !inBracket {
			t.out.WriteString(map[byte]string{'A': `\A`, 'm': `\b`, 'M': `\b`, 'y': `\b`, 'Y': `\B`, 'Z': `\z`}[c])
			return nil
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return sqlstate.New(sqlstate.FeatureNotSupported, "a back reference in a regular expression is not supported by nextid")
	}
	if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return badPattern(`invalid escape \ sequence`)
	}
	if c < utf8.RuneSelf {
		t.out.WriteByte('\\')
	}
	t.out.WriteByte(c)
	return nil
}

func (t *areTranslator) character(r rune) {
	t.out.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
}

// hex reads a code point of least to most digits.
func (t *areTranslator) hex(least, most int) error {
	n := 0
	for n < most && t.i+n < len(t.src) && strings.IndexByte("0123456789abcdefABCDEF", t.src[t.i+n]) >= 0 {
		n++
	}
	v, err := strconv.ParseUint(t.src[t.i:t.i+n], 16, 32)
	if err != nil || n < least || v > utf8.MaxRune {
		return badPattern(`invalid escape \ sequence`)
	}
	t.i += n
	t.character(rune(v))
	return nil
}

// FirstRune is the character at s[i:], for messages.
func FirstRune(s string, i int) string {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return string(r)
}
