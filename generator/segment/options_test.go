package segment

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/generatortest"
)

// builtKind checks options; it cannot open anything.
var builtKind = Kind(nil, generatortest.NewClock(start), "")

const rest = `"step":1000,"max_step":1000000,"prefetch_at":0.1,"deadline":"5s","strict":false}`

// Each feed is added, changed and taken out by itself.
func TestFeedsAreMerged(t *testing.T) {
	stored, err := builtKind.Normalize(json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ change, feeds, err string }{
		{`{"feeds": {"postgres://u@a/d x.id": {"ahead": "24h"}}}`, `{"postgres://u@a/d x.id":{"ahead":"24h0m0s"}}`, ""},
		{`{"feeds": {"postgres://u@b/d x.id": {"ahead": "1h", "block": 5}}}`, `{"postgres://u@a/d x.id":{"ahead":"24h0m0s"},"postgres://u@b/d x.id":{"ahead":"1h0m0s","block":5}}`, ""},
		{`{"step": 2}`, `{"postgres://u@a/d x.id":{"ahead":"24h0m0s"},"postgres://u@b/d x.id":{"ahead":"1h0m0s","block":5}}`, ""},
		{`{"feeds": {"postgres://u@a/d x.id": null}}`, `{"postgres://u@b/d x.id":{"ahead":"1h0m0s","block":5}}`, ""},
		{`{"feeds": {"postgres://u:secret@a/d x.id": {"ahead": "24h"}}}`, "", "holds a password"},
		{`{"feeds": {"postgres://u@a/d?password=secret x.id": {"ahead": "24h"}}}`, "", "holds a password"},
		{`{"feeds": {"postgres://u@a/d": {"ahead": "24h"}}}`, "", "not the URL of a database"},
		{`{"feeds": {"postgres://u@a/d x.id": {"ahead": "1ms"}}}`, "", "ahead must be"},
	} {
		changed, err := builtKind.Alter(stored, json.RawMessage(c.change))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.change, err)
			}
			continue
		}
		if err != nil || !strings.Contains(string(changed), `"feeds":`+c.feeds) {
			t.Fatalf("%s: %s, %v", c.change, changed, err)
		}
		stored = changed
	}
}

func TestNormalizeFillsInTheDefaults(t *testing.T) {
	for in, want := range map[string]string{
		``:                           `{"start":1,"increment":1,` + rest,
		`{"min":null,"max":null}`:    `{"start":1,"increment":1,` + rest,
		`{"increment":-2}`:           `{"start":-1,"increment":-2,` + rest,
		`{"min":7,"max":70}`:         `{"start":7,"increment":1,"min":7,"max":70,` + rest,
		`{"increment":-1,"max":70}`:  `{"start":70,"increment":-1,"max":70,` + rest,
		`{"increment":5,"offset":3}`: `{"start":3,"increment":5,"offset":3,` + rest,
		`{"step":5000000}`:           `{"start":1,"increment":1,` + strings.NewReplacer("1000,", "5000000,", "1000000", "5000000").Replace(`"step":1000,"max_step":1000000`) + `,"prefetch_at":0.1,"deadline":"5s","strict":false}`,
		`{"step":1,"max_step":1,"prefetch_at":1,"deadline":100,"strict":true}`: `{"start":1,"increment":1,"step":1,"max_step":1,"prefetch_at":1,"deadline":"100ms","strict":true}`,
	} {
		got, err := builtKind.Normalize(json.RawMessage(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if string(got) != want {
			t.Errorf("%s became\n%s, want\n%s", in, got, want)
		}
		if again, err := builtKind.Normalize(got); err != nil || string(again) != string(got) {
			t.Errorf("%s became %s and then %s (%v)", in, got, again, err)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"increment":0}`:                    "increment must be",
		`{"increment":2147483649}`:           "increment must be",
		`{"increment":-2147483649}`:          "increment must be",
		`{"step":0}`:                         "step must be",
		`{"step":-1}`:                        "step must be",
		`{"step":1073741825}`:                "step must be",
		`{"step":1000,"max_step":10}`:        "max_step must be",
		`{"max_step":1073741825}`:            "max_step must be",
		`{"prefetch_at":1.1}`:                "prefetch_at must be",
		`{"prefetch_at":-0.1}`:               "prefetch_at must be",
		`{"deadline":"1ms"}`:                 "deadline must be",
		`{"deadline":"1h"}`:                  "deadline must be",
		`{"start":5,"min":6}`:                "cannot be less than min (6)",
		`{"start":5,"max":4}`:                "cannot be greater than max (4)",
		`{"min":6,"max":4}`:                  "cannot be greater than max (4)",
		`{"start":-9223372036854775808}`:     "start cannot be",
		`{"start":9223372036854775807}`:      "start cannot be",
		`{"start":"1"}`:                      "option start must be a whole number",
		`{"min":"1"}`:                        "must be a whole number",
		`{"max":1.5}`:                        "must be a whole number",
		`{"cycle":true}`:                     `unknown option "cycle"`,
		`{"start":99999999999999999999}`:     "whole number",
		`{"strict":1}`:                       "true or false",
		`{"start":0,"increment":-1,"min":1}`: "less than min",
	} {
		got, err := builtKind.Normalize(json.RawMessage(in))
		if err == nil {
			t.Errorf("%s became %s", in, got)
			continue
		}
		wantErr(t, err, generator.ErrOption, want)
	}
}

func TestAlter(t *testing.T) {
	stored, err := builtKind.Normalize(json.RawMessage(`{"increment":5,"max":100}`))
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		`{}`:                            string(stored),
		`{"start":1}`:                   string(stored),
		`{"max":null,"min":1}`:          `{"start":1,"increment":5,"min":1,` + rest,
		`{"increment":7,"offset":3}`:    `{"start":1,"increment":7,"offset":3,"max":100,` + rest,
		`{"step":2000000}`:              `{"start":1,"increment":5,"max":100,"step":2000000,"max_step":2000000,"prefetch_at":0.1,"deadline":"5s","strict":false}`,
		`{"strict":true,"deadline":10}`: strings.NewReplacer("5s", "10ms", "false", "true").Replace(string(stored)),
	} {
		got, err := builtKind.Alter(stored, json.RawMessage(change))
		if err != nil || string(got) != want {
			t.Errorf("%s led to\n%s (%v), want\n%s", change, got, err, want)
		}
	}
	for change, want := range map[string]string{
		`{"increment":-5}`: "direction", `{"start":2}`: "cannot be changed", `{"min":2}`: "less than min", `{"speed":1}`: "unknown option",
	} {
		_, err := builtKind.Alter(stored, json.RawMessage(change))
		wantErr(t, err, generator.ErrOption, want)
	}
	// Another server may not know that setval has moved the generator.
	moved, err := builtKind.Alter(stored, json.RawMessage(`{"restart":50,"called":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := builtKind.Alter(moved, json.RawMessage(`{"restart":51,"called":false}`)); err != nil {
		t.Error(err)
	}
	_, err = builtKind.Alter(moved, json.RawMessage(`{"restart":50,"called":false}`))
	wantErr(t, err, generator.ErrNotHeld, "another server")
	_, err = builtKind.Alter(json.RawMessage(`{`), nil)
	wantErr(t, err, generator.ErrRegressed)
	_, err = builtKind.Open(t.Context(), generator.Definition{Name: "orders", Options: json.RawMessage(`{"increment":0}`)})
	wantErr(t, err, generator.ErrRegressed)
}

// A dropped name that is created again must not give a number twice, in
// either direction: the lines of the two are mirror images.
func TestANameThatIsCreatedAgainGivesNoNumberTwice(t *testing.T) {
	for _, changes := range [][]string{
		{`{}`, `{}`},
		{`{"start":100,"increment":-1}`, `{}`, `{"start":100,"increment":-1}`},
		{`{"start":-100}`, `{"increment":-1}`, `{"start":-100}`},
		{`{"start":50,"increment":-1}`, `{"start":-50}`, `{"start":50,"increment":-3}`, `{"start":-50,"increment":7}`},
	} {
		inWorld(t, func(w *world) {
			seen := map[int64]bool{}
			for i, options := range changes {
				g := w.open(options)
				for range 10 + 300*i {
					r, err := g.Next(w.t.Context(), 1)
					if err != nil {
						t.Fatal(err)
					}
					if seen[r.First] {
						t.Fatalf("%v: %d was given twice", changes, r.First)
					}
					seen[r.First] = true
				}
				w.close(g)
				if err := w.kind.(generator.Retirer).Retire(w.t.Context(), define(t, w.kind, options)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestRetireLeavesUnusedNamesAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := w.kind.(generator.Retirer).Retire(w.t.Context(), define(t, w.kind, `{"start":-100}`)); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, w.draw(w.open(`{"start":-100}`), 1), -100)
	})
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{
		``, `{"increment":-2}`, `{"min":7,"max":70}`, `{"increment":5,"offset":3}`, `{"step":5000000}`,
		`{"start":9223372036854775806,"max":9223372036854775807}`, `{"min":null}`, `{"prefetch_at":1e-300}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := builtKind.Normalize(in)
		if err != nil {
			if !errors.Is(err, generator.ErrOption) {
				t.Fatalf("%q: %v is not ErrOption", in, err)
			}
			return
		}
		twice, err := builtKind.Normalize(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%q became %s and then %s (%v)", in, once, twice, err)
		}
		o, err := Kind(nil, nil, "").(kind).Read(once)
		if err != nil {
			t.Fatal(err)
		}
		l := newLine(o)
		b := l.newBuffer(l.first, l.limit, -1<<63, 1) // all there is: arithmetic at the ends of int64
		if b.size < 0 || (b.size > 0 && (b.first < l.first || b.first+(b.size-1)*l.increment >= l.limit)) {
			t.Fatalf("%s: line %+v, buffer of %d from %d", once, l, b.size, b.first)
		}
	})
}
