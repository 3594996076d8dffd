package engine

import (
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// TextPattern is a compiled regular expression.
type TextPattern struct {
	re   *regexp.Regexp
	size int // number of instructions of its program
}

// patternMemo caches compiled patterns for all sessions, since sessions share
// plans. Most statements have few patterns, all constant: a full cache is emptied.
type patternMemo struct {
	mu    sync.RWMutex
	byKey map[patternKey]*TextPattern
}

// patternKey is a pattern and how to read it. how holds the options of a regular
// expression, or the operator and the escape character of LIKE.
type patternKey struct{ how, pattern string }

var textPatterns patternMemo

// Limits: cached patterns, and the text and the program of each.
const (
	maxTextPatterns = 64
	maxPatternBytes = 1024
	maxPatternSize  = 4096
)

// compiled returns a compiled pattern. If the cache lacks it, text translates it for
// package regexp. longest selects POSIX's leftmost-longest match.
func compiled(how, pattern string, text func() (re string, longest bool, err error)) (*TextPattern, error) {
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

// programSize estimates the instructions of a compiled pattern. Repeated parts
// count as often as they may repeat.
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

// steppedAbove is the work of a match (program steps) above which the match must be
// cancellable: tens of milliseconds.
const steppedAbove = 1 << 23

// Matches reports whether s has a match of the pattern.
func (p *TextPattern) Matches(x *Exec, s string) (bool, error) {
	if p.size*len(s) < steppedAbove {
		return p.re.MatchString(s), x.Work(callWork + p.size*len(s))
	}
	r := steppedText{x: x, rest: s, size: p.size}
	match := p.re.MatchReader(&r)
	return match, r.stopped
}

// steppedText is a text that ends when the statement is cancelled.
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

// CompilePattern compiles one of PostgreSQL's regular expressions (9.7.3). It
// refuses patterns to which package regexp gives another meaning. fold ignores
// case.
func CompilePattern(pattern string, fold bool) (*TextPattern, error) {
	how, flags := "~", "(?s)"
	if fold {
		how, flags = "~*", "(?si)"
	}
	return compiled(how, pattern, func() (string, bool, error) {
		if strings.Contains(pattern, "[.") || strings.Contains(pattern, "[=") {
			return "", false, badPattern("collating elements are not supported")
		}
		for i := 0; i < len(pattern); i++ {
			if pattern[i] != '\\' {
				continue
			}
			if i++; i < len(pattern) && isLetterOrDigit(pattern[i]) && strings.IndexByte("dDsSwWnrtfvaxA", pattern[i]) < 0 {
				return "", false, badPattern("the escape \\" + pattern[i:i+1] + " is not supported")
			}
		}
		// POSIX takes the longest of the leftmost matches, unless a quantifier is
		// lazy.
		return flags + pattern, !lazyQuantifier.MatchString(pattern), nil
	})
}

var lazyQuantifier = regexp.MustCompile(`[*+?}]\?`)

func isLetterOrDigit(c byte) bool { return c-'0' <= 9 || c|0x20-'a' < 26 }

func badPattern(what string) error {
	return sqlstate.New(sqlstate.InvalidRegex, "invalid regular expression: %s", what)
}
