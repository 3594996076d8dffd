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
	"nextid/sqlfuncs/decimal"
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
		p, _, err := compilePattern(pattern, options)
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
		if !utf8.ValidString(s) || len(s) > maxPatternBytes {
			t.Skip()
		}
		p, _, err := compilePattern(s, "q")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.re.FindString("<" + s + ">"); got != s {
			t.Errorf("found %q for %q", got, s)
		}
	})
}

func FuzzNumberPicture(f *testing.F) {
	for _, s := range []string{"999", "FM9,990.00", "S99PR", "RN", "9.9EEEE", "99V99th", `"a\"b"9`, "PL9SG", "9.9.9", "B9L"} {
		f.Add(s, int64(12345), 2)
		f.Add(s, int64(-5), 0)
	}
	f.Fuzz(func(t *testing.T, format string, n int64, scale int) {
		if len(format) > 200 || scale < 0 || scale > 30 {
			t.Skip()
		}
		p, err := newNumberPicture(format)
		if err != nil {
			return
		}
		v, err := p.decimal(decimal.New(decimal.Of(n).Coef, scale))
		if err == nil && len(v.Str) > 20*len(format)+40 {
			t.Errorf("%q gives %d bytes", format, len(v.Str))
		}
	})
}

// FuzzTimePicture: what a format prints, it reads back, where it has all fields.
func FuzzTimePicture(f *testing.F) {
	f.Add("YYYY-MM-DD HH24:MI:SS.US", "2020-06-05 13:07:09.5", int64(1))
	f.Add("FXDDth Month YYYY", "1st June 2020", int64(646279629012345))
	f.Add("Y,YYY RM J IYYY IW", "2,020 VI", int64(-99999999999))
	f.Fuzz(func(t *testing.T, format, source string, micros int64) {
		if len(format) > 200 {
			t.Skip()
		}
		if _, err := newTimeReader(source, format).time(); err != nil {
			if _, ok := errors.AsType[*sqlstate.Error](err); !ok {
				t.Fatalf("%q %q: %v", format, source, err)
			}
		}
		const all = "YYYY-MM-DD HH24:MI:SS.US BC"
		day := wall(micros % (timestampEnd / 2))
		text, err := timestampToChar(newTestExec(t), []datum.Value{{Type: datum.Timestamp, Valid: true, Int: micros % (timestampEnd / 2)}, datum.MakeText(all)})
		if err != nil || micros%(timestampEnd/2) < firstTimestamp {
			return
		}
		back, err := newTimeReader(text.Str, all).time()
		if err != nil || !back.Equal(day) {
			t.Errorf("%s was read back as %v, %v", text.Str, back, err)
		}
	})
}

func newTestExec(t testing.TB) *exec {
	return &exec{ctx: t.Context(), session: &Session{server: &Server{}, envOK: true}}
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
		var rebuild func(j jsonText) string
		rebuild = func(j jsonText) string {
			kind := j.kind()
			if kind != '{' && kind != '[' {
				return string(j)
			}
			var parts []string
			for k, v := range j.items() {
				part := rebuild(v)
				if kind == '{' {
					part = string(k) + ":" + part
				}
				parts = append(parts, part)
			}
			return string(kind) + strings.Join(parts, ",") + string(kind+2)
		}
		a, errA := datum.ParseText(datum.JSONB, s, nil)
		b, errB := datum.ParseText(datum.JSONB, rebuild(jsonOf(s)), nil)
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
		if len(v.Str) > maxTextBytes {
			t.Errorf("%d bytes", len(v.Str))
		}
	})
}

// FuzzQuoteIdent: parse_ident reads what quote_ident writes.
func FuzzQuoteIdent(f *testing.F) {
	f.Add(`a`)
	f.Add(`A "b".`)
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" {
			t.Skip()
		}
		v, err := parseIdent(nil, []datum.Value{datum.MakeText(quoteIdent(s))})
		if err != nil || len(v.Elems) != 1 || v.Elems[0].Str != s {
			t.Errorf("%q: %v, %v", s, v.Elems, err)
		}
	})
}

func TestEveryFunctionIsComplete(t *testing.T) {
	named := regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	for _, f := range allFunctions() {
		kinds := 0
		for _, has := range []bool{f.eval != nil, f.rows != nil, f.agg != nil, f.typed != nil, f.window != nil, f.fromRow != nil && f.eval == nil} {
			if has {
				kinds++
			}
		}
		if kinds != 1 || f.set != (f.rows != nil) || !named.MatchString(f.name) || (f.result == datum.Invalid && len(f.columns) == 0) {
			t.Errorf("%s: %d implementations, set %v, result %d", f.name, kinds, f.set, f.result)
		}
		for i, a := range f.args {
			if i > 0 && f.args[i-1].optional && !a.optional {
				t.Errorf("%s: argument %d may not be left out, the one before may", f.name, i+1)
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
