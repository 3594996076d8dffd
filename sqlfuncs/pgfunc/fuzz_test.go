package pgfunc

import (
	"errors"
	"testing"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// FuzzPattern checks that each pattern compiles, or is refused with an SQLSTATE, and
// that a compiled pattern can be used.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{`a|b`, `(?i)a`, `***=x`, `[[:alpha:]_-]`, `\m\w+\M`, `a{2,3}?`, `[^]a]`, `(?x) a # b`, `\u00e9`, `(`, `[`, `\`, `(?=a)`, `{`, `a{,3}`, `[[.a.]]`} {
		f.Add(s, "aab")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		p, err := engine.CompilePattern(pattern, false)
		if err != nil {
			e, ok := errors.AsType[*sqlstate.Error](err)
			if !ok || (e.Code != sqlstate.InvalidRegex && e.Code != sqlstate.FeatureNotSupported &&
				e.Code != sqlstate.InvalidParameterValue && e.Code != sqlstate.LimitExceeded) {
				t.Fatalf("%q: %v", pattern, err)
			}
			return
		}
		if _, err := p.Matches(engine.NewExec(t.Context(), host{}, engine.PostgreSQL{}, nil), s); err != nil {
			t.Fatalf("%q on %q: %v", pattern, s, err)
		}
	})
}

// host is a session with default settings.
type host struct{ engine.Host }

func (host) Env() *datum.Env { return &datum.Env{} }
func (host) Now() time.Time  { return time.Time{} }

func FuzzFormat(f *testing.F) {
	f.Add("%s %I %L %%", "a", "b")
	f.Add("%2$*1$s|%-5s", "3", "x")
	f.Fuzz(func(t *testing.T, format, a, b string) {
		v, err := formatText(&engine.Exec{Ctx: t.Context(), Host: host{}}, []datum.Value{datum.MakeText(format), datum.MakeText(a), datum.MakeText(b)})
		if _, ok := errors.AsType[*sqlstate.Error](err); err != nil && !ok {
			t.Fatal(err)
		}
		if len(v.Str) > engine.MaxTextBytes {
			t.Errorf("%d bytes", len(v.Str))
		}
	})
}
