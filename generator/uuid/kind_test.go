package uuid

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"nextid/generator"
)

func openKind(t testing.TB, clock generator.Clock, options string) *Generator {
	t.Helper()
	k := Kinds(clock)[0]
	stored, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	if again, err := k.Normalize(stored); err != nil || string(again) != string(stored) {
		t.Errorf("what is stored, %s, is read as %s, %v", stored, again, err)
	}
	gen, err := k.Open(t.Context(), generator.Definition{Name: "u", Kind: KindName, Options: stored})
	if err != nil {
		t.Fatal(err)
	}
	return gen.(*Generator)
}

func TestGeneratorsOfUUIDs(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 123_456_700, time.UTC)
	for _, c := range []struct {
		options string
		version int
		unit    time.Duration // of the time, 0: none
		rising  bool
		length  int
	}{
		{``, 7, time.Millisecond, true, 36},
		{`{"version":null,"form":null}`, 7, time.Millisecond, true, 36},
		{`{"version":1}`, 1, time.Microsecond, false, 36},
		{`{"version":"v1mc","form":"standard"}`, 1, time.Microsecond, false, 36},
		{`{"version":1,"form":"swapped"}`, 1, time.Microsecond, true, 36},
		{`{"version":"4"}`, 4, 0, false, 36},
		{`{"version":6}`, 6, time.Microsecond, true, 36},
		{`{"version":"V7","form":"hex"}`, 7, time.Millisecond, true, 32},
		{`{"form":"base58"}`, 7, time.Millisecond, true, 22},
		{`{"form":"base62"}`, 7, time.Millisecond, true, 22},
		{`{"version":7,"form":"guid"}`, 7, time.Millisecond, false, 36},
		{`{"version":8}`, 8, 10 * time.Nanosecond, true, 36},
	} {
		clock := &handClock{start.UnixNano()}
		g := openKind(t, clock, c.options)
		seen, last := map[string]bool{}, ""
		for i := range 2000 {
			if i == 1000 {
				clock.ns -= int64(time.Hour) // set back
			}
			code, err := g.NextCode(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(code) != c.length || seen[code] || c.rising && code <= last {
				t.Fatalf("%s: %s after %s", c.options, code, last)
			}
			seen[code], last = true, code
			p, err := g.ExplainCode(code)
			if err != nil || p.Layout != "uuidv"+string('0'+byte(c.version)) || (p.Time == nil) != (c.unit == 0) {
				t.Fatalf("%s: %s is %+v, %v", c.options, code, p, err)
			}
			if p.Time != nil && (p.Time.Before(start.Truncate(c.unit)) || p.Time.After(start.Add(5*time.Millisecond))) {
				t.Fatalf("%s: %s was made at %v, but it is %v", c.options, code, p.Time, start)
			}
		}
		if _, err := g.Next(t.Context(), 1); !errors.Is(err, generator.ErrWrongKind) {
			t.Errorf("Next: %v", err)
		}
		for _, bad := range []string{"", "x", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", strings.Repeat("g", 32)} {
			if _, err := g.ExplainCode(bad); !errors.Is(err, generator.ErrOption) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
}

func TestOptionsOfUUIDGenerators(t *testing.T) {
	k := Kinds(generator.SystemClock{})[0]
	for options, want := range map[string]string{
		`{"version":3}`:                        `no generators of UUID version "3"`,
		`{"version":"9"}`:                      `no generators of UUID version "9"`,
		`{"version":true}`:                     `version "true"`,
		`{"form":"big"}`:                       "form must be",
		`{"version":7,"form":"swapped"}`:       "does not go with version 7",
		`{"size":5}`:                           "unknown option",
		`{"version":4,"form":"swapped","x":1}`: "unknown option",
	} {
		if _, err := k.Normalize(json.RawMessage(options)); !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	got, err := k.Alter(json.RawMessage(`{"version":"7","form":"standard"}`), json.RawMessage(`{"version":4}`))
	if err != nil || string(got) != `{"version":"4","form":"standard"}` {
		t.Errorf("altered to %s, %v", got, err)
	}
	for _, stored := range []string{`{`, `{"version":"3"}`} {
		if _, err := k.Open(t.Context(), generator.Definition{Name: "u", Options: json.RawMessage(stored)}); !errors.Is(err, generator.ErrRegressed) {
			t.Errorf("stored as %s: %v", stored, err)
		}
	}
}

// RFC 9562, appendix B.1: a UUID of version 8 of 2022-02-22 14:22:22 in UTC-5,
// in units of 10 ns.
func TestVersion8HoldsTheTimeOfTheRFCsExample(t *testing.T) {
	u := parse(t, "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0")
	made := time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC)
	if at := u.time8(); !at.Equal(made) {
		t.Errorf("made at %v", at)
	}
	if got := NewSource(&handClock{made.UnixNano()}).V8(); got.String()[:18] != u.String()[:18] || got.Version() != 8 {
		t.Errorf("of that time is %s", got)
	}
}

func TestParse(t *testing.T) {
	want := parse(t, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	for _, s := range []string{
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017F22E279B07CC398C4DC0C0C07398F",
		"{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
	} {
		if u, ok := Parse(s); !ok || u != want {
			t.Errorf("%q is %s, %v", s, u, ok)
		}
	}
	for _, s := range []string{"", "{}", "urn:uuid:", "017f22e2-79b0-7cc3-98c4dc0c0c07398f-", "017f22e279b07cc398c4dc0c0c07398", "{017f22e279b07cc398c4dc0c0c07398f"} {
		if u, ok := Parse(s); ok {
			t.Errorf("%q is read as %s", s, u)
		}
	}
}
