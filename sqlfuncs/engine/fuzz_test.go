package engine

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
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

// FuzzJSONText checks that the parts of a JSON value are values and that they make
// up the whole.
func FuzzJSONText(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"x\"]"}],"c":null}`, `[ 1 , [ ] , { } , "a,b" ]`, `"\u0041\n"`, `5`, `{}`, ` [true] `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := datum.ParseText(datum.JSON, s, nil); err != nil {
			t.Skip()
		}
		var rebuild func(j JSONText) string
		rebuild = func(j JSONText) string {
			kind := j.Kind()
			if kind != '{' && kind != '[' {
				return string(j)
			}
			var parts []string
			for k, v := range j.Items() {
				part := rebuild(v)
				if kind == '{' {
					part = string(datum.AppendJSONString(nil, k)) + ":" + part
				}
				parts = append(parts, part)
			}
			return string(kind) + strings.Join(parts, ",") + string(kind+2)
		}
		a, errA := datum.ParseText(datum.JSONB, s, nil)
		b, errB := datum.ParseText(datum.JSONB, rebuild(JSONOf(s)), nil)
		if (errA == nil) != (errB == nil) || a.Str != b.Str {
			t.Errorf("%s became %s: %v, %v", s, b.Str, errA, errB)
		}
	})
}
