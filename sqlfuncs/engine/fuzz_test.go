package engine

import (
	"regexp"
	"testing"
	"unicode/utf8"
)

// FuzzQuotedPattern checks that a pattern of quoted text matches that text alone.
func FuzzQuotedPattern(f *testing.F) {
	f.Add("a.b")
	f.Add(`\[x`)
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > maxPatternBytes {
			t.Skip()
		}
		p, err := CompilePattern(regexp.QuoteMeta(s), false)
		if err != nil {
			t.Skip() // too long, or what looks like a collating element
		}
		if got := p.re.FindString("<" + s + ">"); got != s {
			t.Errorf("found %q for %q", got, s)
		}
	})
}
