package sqlfuncs

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// FuzzPattern: every pattern compiles or is refused with a code that says so,
// and what compiles can be used.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{`a|b`, `(?i)a`, `***=x`, `[[:alpha:]_-]`, `\m\w+\M`, `a{2,3}?`, `[^]a]`, `(?x) a # b`, `\u00e9`, `(`, `[`, `\`, `(?=a)`, `{`, `a{,3}`, `[[.a.]]`} {
		f.Add(s, "", "aab")
		f.Add(s, "nx", "a\nb")
	}
	f.Fuzz(func(t *testing.T, pattern, options, s string) {
		p, _, err := engine.CompilePattern(pattern, options)
		if err != nil {
			e, ok := errors.AsType[*sqlstate.Error](err)
			if !ok || (e.Code != sqlstate.InvalidRegex && e.Code != sqlstate.FeatureNotSupported &&
				e.Code != sqlstate.InvalidParameterValue && e.Code != sqlstate.LimitExceeded) {
				t.Fatalf("%q %q: %v", pattern, options, err)
			}
			return
		}
		m, end := &matches{p: p, s: s}, 0
		for loc := m.next(); loc != nil; loc = m.next() {
			if loc[0] < end || loc[1] < loc[0] || loc[1] > len(s) {
				t.Fatalf("%q on %q: match %v after %d", pattern, s, loc, end)
			}
			end = loc[1]
		}
	})
}

// FuzzQuotedPattern: a pattern of quoted text matches just that text.
func FuzzQuotedPattern(f *testing.F) {
	f.Add("a.b")
	f.Add(`\[x`)
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > engine.MaxPatternBytes {
			t.Skip()
		}
		p, _, err := engine.CompilePattern(s, "q")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Re.FindString("<" + s + ">"); got != s {
			t.Errorf("found %q for %q", got, s)
		}
	})
}

func newTestExec(t testing.TB) *engine.Exec {
	return &engine.Exec{Ctx: t.Context(), Host: host{&Session{server: &Server{}, envOK: true}}}
}

// FuzzJSONText: the parts of a value are values, and nothing gets lost.
func FuzzJSONText(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"x\"]"}],"c":null}`, `[ 1 , [ ] , { } , "a,b" ]`, `"\u0041\n"`, `5`, `{}`, ` [true] `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := datum.ParseText(datum.JSON, s, nil); err != nil {
			t.Skip()
		}
		var rebuild func(j engine.JSONText) string
		rebuild = func(j engine.JSONText) string {
			kind := j.Kind()
			if kind != '{' && kind != '[' {
				return string(j)
			}
			var parts []string
			for k, v := range j.Items() {
				part := rebuild(v)
				if kind == '{' {
					part = string(k) + ":" + part
				}
				parts = append(parts, part)
			}
			return string(kind) + strings.Join(parts, ",") + string(kind+2)
		}
		a, errA := datum.ParseText(datum.JSONB, s, nil)
		b, errB := datum.ParseText(datum.JSONB, rebuild(engine.JSONOf(s)), nil)
		if (errA == nil) != (errB == nil) || a.Str != b.Str {
			t.Errorf("%s became %s: %v, %v", s, b.Str, errA, errB)
		}
	})
}

func FuzzFormat(f *testing.F) {
	f.Add("%s %I %L %%", "a", "b")
	f.Add("%2$*1$s|%-5s", "3", "x")
	f.Fuzz(func(t *testing.T, format, a, b string) {
		v, err := formatText(newTestExec(t), []datum.Value{datum.MakeText(format), datum.MakeText(a), datum.MakeText(b)})
		if _, ok := errors.AsType[*sqlstate.Error](err); err != nil && !ok {
			t.Fatal(err)
		}
		if len(v.Str) > engine.MaxTextBytes {
			t.Errorf("%d bytes", len(v.Str))
		}
	})
}

func TestEveryFunctionIsComplete(t *testing.T) {
	named := regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	for _, f := range allFunctions() {
		kinds := 0
		for _, has := range []bool{f.Eval != nil, f.Rows != nil, f.Aggregate != nil, f.Typed != nil, f.Window != nil, f.FromRow != nil && f.Eval == nil} {
			if has {
				kinds++
			}
		}
		if kinds != 1 || f.Set != (f.Rows != nil) || !named.MatchString(f.Name) || (f.Result == datum.Invalid && len(f.Columns) == 0) {
			t.Errorf("%s: %d implementations, set %v, result %d", f.Name, kinds, f.Set, f.Result)
		}
		for i, a := range f.Args {
			if i > 0 && f.Args[i-1].Optional && !a.Optional {
				t.Errorf("%s: argument %d may not be left out, the one before may", f.Name, i+1)
			}
		}
	}
}

func TestSleepTakesTheTimeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := sleep(newTestExec(t), []datum.Value{makeFloat(2.5)}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != 2500*time.Millisecond {
			t.Errorf("slept %v", d)
		}
	})
}
