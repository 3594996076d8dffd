package snowflake

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/layout"
)

// builtKind checks options; it cannot open anything.
var builtKind = Kind(nil, layout.Default)

const twitterStored = `{"layout":"twitter","fields":[{"kind":"time","bits":41},{"kind":"datacenter","bits":5},` +
	`{"kind":"worker","bits":5},{"kind":"sequence","bits":12}],"epoch":"2010-11-04T01:42:54.657Z","unit":"1ms",` +
	`"sequence_start":"zero","max_ahead":"5ms","on_rollback":"continue"}`

// carryStored holds what a generator that names no layout becomes.
var carryStored = strings.Replace(twitterStored, "zero", "carry", 1)

func TestNormalizePinsTheWholeLayout(t *testing.T) {
	for in, want := range map[string]string{
		``:                       carryStored,
		`{}`:                     carryStored,
		`{"layout":"Twitter"}`:   twitterStored,
		`{"max_ahead":5}`:        carryStored,
		`{"epoch":"2024-01-01"}`: strings.Replace(carryStored, "2010-11-04T01:42:54.657Z", "2024-01-01T00:00:00.000Z", 1),
		`{"epoch":1704067200000,"layout":"twitter"}`: strings.Replace(twitterStored, "2010-11-04T01:42:54.657Z", "2024-01-01T00:00:00.000Z", 1),
		`{"sequence_start":"carry","max_ahead":0,"on_rollback":"wait"}`: strings.NewReplacer(
			"zero", "carry", `"5ms"`, `"0s"`, "continue", "wait").Replace(twitterStored),
		`{"layout":null,"bits":null,"fields":null,"epoch":null,"unit":null,"sequence_start":null,"max_ahead":null,"on_rollback":null}`: carryStored,
		`{"bits":"time 47, worker 10","epoch":"0001-01-01"}`: `{"layout":"custom","fields":[{"kind":"time","bits":47},{"kind":"worker","bits":10}],` +
			`"epoch":"0001-01-01T00:00:00.000Z","unit":"1ms","sequence_start":"carry","max_ahead":"5ms","on_rollback":"continue"}`,
		`{"layout":"sonyflake"}`: `{"layout":"sonyflake","fields":[{"kind":"time","bits":39},{"kind":"sequence","bits":8},` +
			`{"kind":"worker","bits":16}],"epoch":"2025-01-01T00:00:00.000Z","unit":"10ms","sequence_start":"zero","max_ahead":"5ms","on_rollback":"continue"}`,
		`{"bits":"time 39, sequence 8, worker 16","unit":"10ms"}`: `{"layout":"custom","fields":[{"kind":"time","bits":39},` +
			`{"kind":"sequence","bits":8},{"kind":"worker","bits":16}],"epoch":"2010-11-04T01:42:54.657Z","unit":"10ms",` +
			`"sequence_start":"carry","max_ahead":"5ms","on_rollback":"continue"}`,
		`{"layout":"ours","bits":"time 41, worker 6, sequence 6"}`: `{"layout":"ours","fields":[{"kind":"time","bits":41},` +
			`{"kind":"worker","bits":6},{"kind":"sequence","bits":6}],"epoch":"2010-11-04T01:42:54.657Z","unit":"1ms",` +
			`"sequence_start":"carry","max_ahead":"5ms","on_rollback":"continue"}`,
	} {
		got, err := builtKind.Normalize(json.RawMessage(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if string(got) != want {
			t.Errorf("%s became\n%s, want\n%s", in, got, want)
		}
	}
}

// What one version stored is what the next one reads, and what the check of
// declared generators compares.
func TestNormalizeLeavesItsOwnFormAsItIs(t *testing.T) {
	inputs := []string{`{"bits":"time 41, worker 10","epoch":"2024-01-01T00:00:00.123Z","sequence_start":"random"}`}
	for _, l := range layout.Presets() {
		if !l.HasTime() {
			continue
		}
		inputs = append(inputs, `{"layout":"`+l.Name+`"}`, `{"layout":"`+l.Name+`","epoch":"2024-06-01"}`)
	}
	for _, in := range inputs {
		once, err := builtKind.Normalize(json.RawMessage(in))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		twice, err := builtKind.Normalize(once)
		if err != nil || string(twice) != string(once) {
			t.Errorf("%s became %s and then %s (%v)", in, once, twice, err)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"layout":"tweeter"}`:  "unknown layout",
		`{"layout":"twiter"}`:   `unknown layout "twiter"; did you mean twitter?`,
		`{"layouts":"twitter"}`: `unknown option "layouts"`,
		`{"layout":5}`:          "option layout must be a text",
		`{"layout":"twitter","bits":"time 41, worker 10, sequence 12"}`: "layout twitter has time 41, datacenter 5",
		`{"layout":"twitter","unit":"10ms"}`:                            "layout twitter has",
		`{"layout":"no good","bits":"time 41"}`:                         "cannot be the name",
		`{"bits":"worker 10, time 41"}`:                                 "must come first",
		`{"bits":"time 41 worker 10"}`:                                  "bits are written",
		`{"bits":"time 300"}`:                                           "bits are written",
		`{"bits":"time"}`:                                               "bits are written",
		`{"bits":""}`:                                                   "bits are written",
		`{"bits":41}`:                                                   "bits are written",
		`{"bits":"time 41, color 5"}`:                                   `unknown field "color"`,
		`{"bits":[{"kind":"time","bits":64}]}`:                          "64 bits",
		`{"bits":[]}`:                                                   "needs fields",
		`{"layout":"tidb"}`:                                             "kind auto_random",
		`{"bits":"shard 5, counter 58"}`:                                "kind auto_random",
		`{"sequence_start":"99-5"}`:                                     "not \"99-5\"",
		`{"sequence_start":"5-"}`:                                       "not \"5-\"",
		`{"sequence_start":3000}`:                                       "less than half",
		`{"sequence_start":1.5}`:                                        "sequence_start is",
		`{"epoch":"soon"}`:                                              "a time is written",
		`{"epoch":"2024-01-01T00:00:00.0001Z"}`:                         "milliseconds",
		`{"bits":"time 41","unit":"0s"}`:                                "unit",
		`{"sequence_start":"one"}`:                                      "zero, random, carry",
		`{"on_rollback":"panic"}`:                                       "continue, wait, refuse, bits",
		`{"on_rollback":"bits"}`:                                        "needs a layout with a rollback field",
		`{"rollback_wait":"2s"}`:                                        "with on_rollback wait",
		`{"on_rollback":"wait","rollback_wait":0}`:                      "between 1ms and 1h",
		`{"max_ahead":"2s"}`:                                            "between 0s and 1s",
		`{"max_ahead":-1}`:                                              "between 0s and 1s",
		`[1]`:                                                           "must be a JSON object",
	} {
		got, err := builtKind.Normalize(json.RawMessage(in))
		if err == nil {
			t.Errorf("%s became %s", in, got)
			continue
		}
		wantErr(t, err, generator.ErrOption, want)
		var e *generator.Error
		if errors.As(err, &e); e.Hint == "" {
			t.Errorf("%s: no hint", in)
		}
	}
}

func TestAlterChangesEverythingButTheLayout(t *testing.T) {
	got, err := builtKind.Alter(json.RawMessage(twitterStored), json.RawMessage(`{"sequence_start":"random","max_ahead":"1s"}`))
	if want := strings.NewReplacer("zero", "random", "5ms", "1s").Replace(twitterStored); err != nil || string(got) != want {
		t.Errorf("became %s (%v), want %s", got, err, want)
	}
	const nulls = `{"layout":null,"bits":null,"fields":null,"epoch":null,"unit":null,"sequence_start":null,"max_ahead":null}`
	if got, err := builtKind.Alter(json.RawMessage(twitterStored), json.RawMessage(nulls)); err != nil || string(got) != twitterStored {
		t.Errorf("null made of it %s, %v", got, err)
	}
	for _, change := range []string{`{"layout":"leaf"}`, `{"bits":"time 41"}`, `{"fields":[]}`, `{"epoch":0}`, `{"unit":"1s"}`} {
		_, err := builtKind.Alter(json.RawMessage(twitterStored), json.RawMessage(change))
		wantErr(t, err, generator.ErrOption, "cannot be changed")
	}
	for _, change := range []string{`{"max_ahead":"1m"}`, `{"speed":1}`} {
		_, err := builtKind.Alter(json.RawMessage(twitterStored), json.RawMessage(change))
		wantErr(t, err, generator.ErrOption)
	}
	_, err = builtKind.Alter(json.RawMessage(`{"layout":`), nil)
	wantErr(t, err, generator.ErrRegressed)
}

func TestOpenRefusesADamagedDefinition(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.kind()
		for _, options := range []string{``, `{`, `{}`, `{"layout":"twitter","fields":[],"unit":"1ms"}`} {
			_, err := k.Open(w.t.Context(), generator.Definition{Name: "orders", Options: json.RawMessage(options)})
			wantErr(t, err, generator.ErrRegressed)
		}
	})
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{
		`{}`, twitterStored, `{"bits":"time 41, worker 10"}`, `{"bits":[{"kind":"time","bits":41}]}`, `{"epoch":1}`,
		`{"layout":"baidu","epoch":"2024-01-01"}`, `{"max_ahead":1e9}`, `{"unit":"1h","bits":"time 41"}`,
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
		if _, err := builtKind.Alter(once, []byte(`{"max_ahead":0}`)); err != nil {
			t.Fatalf("%s cannot be altered: %v", once, err)
		}
	})
}
