package code

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// world is a registry with wrapped kinds on a store of its own.
type world struct {
	t        testing.TB
	store    generator.Store
	registry *generator.Registry
}

func newWorld(t testing.TB, store generator.Store, declared ...generator.Definition) (*world, error) {
	t.Helper()
	pools := worker.New(worker.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
	registry, err := generator.NewRegistry(generator.Config{
		Store: store, Declared: declared,
		Kinds: WrapAll(store, snowflake.Kind(pools, "twitter"), segment.Kind(store, generator.SystemClock{}, "test")),
	})
	if err == nil {
		err = registry.Declare(t.Context())
	}
	t.Cleanup(func() {
		if registry != nil {
			_ = registry.Close(context.Background())
		}
		_ = pools.Close(context.Background())
	})
	return &world{t, store, registry}, err
}

func mustWorld(t testing.TB) *world {
	t.Helper()
	w, err := newWorld(t, memory.New(memory.Config{Exclusive: true}))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) create(name, kind, options string) *generator.Entry {
	w.t.Helper()
	if err := w.registry.Create(w.t.Context(), name, kind, json.RawMessage(options)); err != nil {
		w.t.Fatalf("%s: %v", options, err)
	}
	return w.entry(name)
}

func (w *world) entry(name string) *generator.Entry {
	w.t.Helper()
	e, err := w.registry.Get(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) next(e *generator.Entry) int64 {
	w.t.Helper()
	r, err := e.Next(w.t.Context(), 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.First
}

func (w *world) stored(name string) string {
	w.t.Helper()
	d, err := w.store.Defined(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(d.Options)
}

// Kinds without the options of this package store the same as before, and run their
// own generators.
func TestKindsWithoutOptionsOfCodesAreAsTheyWere(t *testing.T) {
	w := mustWorld(t)
	e := w.create("a", "segment", `{"step":10}`)
	w.next(e)
	if _, ok := e.Running().(*segment.Generator); !ok {
		t.Errorf("the generator is a %T", e.Running())
	}
	if s := w.stored("a"); strings.Contains(s, "text") || strings.Contains(s, "scatter") {
		t.Errorf("stored: %s", s)
	}
	if err := w.registry.Create(t.Context(), "b", "segment", json.RawMessage(`{"stepp":1,"text":"hex"}`)); !errors.Is(err, generator.ErrOption) ||
		!strings.Contains(err.Error(), "stepp") {
		t.Errorf("an unknown option beside ours: %v", err)
	}
	for _, broken := range []string{`[]`, `{`, `"x"`} {
		if err := w.registry.Create(t.Context(), "b", "segment", json.RawMessage(broken)); !errors.Is(err, generator.ErrOption) {
			t.Errorf("%s: %v", broken, err)
		}
	}
}

func TestOptionsAreStoredInOneForm(t *testing.T) {
	w := mustWorld(t)
	for i, options := range []string{
		`{"text":"base32","prefix":"ORD-","check":true,"group":4}`,
		`{"text":{"base":"base32","prefix":"ORD-","check":"mod37","group":4,"separator":"-"}}`,
		`{"text":{"base":"base32","prefix":"x"},"prefix":"ORD-","group":4,"check":true}`,
	} {
		name := string(rune('a' + i))
		w.create(name, "segment", options)
		if got := w.stored(name); !strings.HasSuffix(got, `,"text":{"base":"base32","prefix":"ORD-","check":"mod37","group":4,"separator":"-"}}`) {
			t.Errorf("%s is stored as %s", options, got)
		}
	}
}

func TestCodersOfEntries(t *testing.T) {
	w := mustWorld(t)
	for _, c := range []struct{ name, options, want string }{
		{"plain", `{"start":42}`, "42"},
		{"hex", `{"start":42,"text":"hex","prefix":"0x"}`, "0x2a"},
		{"scattered", `{"start":42,"text":"hex","pad":16,"scatter":"a key for this test"}`, "20ab90c26a7a8a53"},
	} {
		e := w.create(c.name, "segment", c.options)
		id := w.next(e)
		coder, err := e.Coder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		code, err := coder.AppendCode(nil, id)
		if err != nil {
			t.Fatal(err)
		}
		if c.name != "scattered" && string(code) != c.want {
			t.Errorf("%s: the first code is %s, want %s", c.name, code, c.want)
		}
		if back, err := coder.ParseCode(string(code)); err != nil || back != id {
			t.Errorf("%s: %s is %d, %v; want %d", c.name, code, back, err, id)
		}
	}
}

func TestScatteredIDsAreThoseOfTheKindInAnotherPlace(t *testing.T) {
	w := mustWorld(t)
	const key = "a key for this test"
	for kind, width := range map[string]int{"segment": 40, "snowflake": 63} {
		name := "a_" + kind
		e := w.create(name, kind, `{"scatter":{"bits":`+map[int]string{40: "40", 63: "63"}[width]+`,"key":"`+key+`"}}`)
		p := newPermutation(key, width)
		seen := map[int64]bool{}
		last := int64(-1)
		for range 1000 {
			id := w.next(e)
			if seen[id] || id < 0 || !p.Holds(id) {
				t.Fatalf("%s: id %d", kind, id)
			}
			seen[id] = true
			if n := p.Unscatter(id); n <= last {
				t.Fatalf("%s: number %d after %d", kind, n, last)
			} else {
				last = n
			}
		}
		ex := e.Running().(generator.Explainer)
		parts, err := ex.Explain(p.Scatter(last))
		if err != nil || parts.Sequence == nil || parts.Kind != kind {
			t.Errorf("%s: %+v, %v", kind, parts, err)
		} else if kind == "segment" && *parts.Sequence != last || kind == "snowflake" && time.Since(*parts.Time) > time.Minute {
			t.Errorf("%s: %+v", kind, parts)
		}
		if _, err := ex.Floor(time.Now()); !errors.Is(err, generator.ErrWrongKind) {
			t.Errorf("%s: Floor: %v", kind, err)
		}
		if _, ok := e.Running().(generator.Raiser); ok {
			t.Errorf("%s: scattered ids cannot be raised above one another", kind)
		}
		if s := e.Running().(generator.Reporter).Stats(); s.Issued != 1000 {
			t.Errorf("%s: issued %d", kind, s.Issued)
		}
	}
	if _, err := w.entry("a_segment").Running().(generator.Explainer).Explain(1 << 40); !errors.Is(err, generator.ErrOption) {
		t.Errorf("an id with too many bits: %v", err)
	}
}

func TestScatterNeedsTheBitsOfTheLayout(t *testing.T) {
	w := mustWorld(t)
	err := w.registry.Create(t.Context(), "a", "snowflake", json.RawMessage(`{"scatter":{"bits":40}}`))
	if !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), "63 bits") {
		t.Errorf("%v", err)
	}
	w.create("b", "snowflake", `{"layout":"js","scatter":true}`)
	if s := w.stored("b"); !strings.Contains(s, `"scatter":{"bits":53,`) {
		t.Errorf("stored: %s", s)
	}
}

func TestAScatteredGeneratorEndsWithItsBits(t *testing.T) {
	w := mustWorld(t)
	e := w.create("a", "segment", `{"start":65530,"scatter":{"bits":16}}`)
	for range 6 {
		w.next(e)
	}
	for range 3 {
		if _, err := e.Next(t.Context(), 1); !errors.Is(err, generator.ErrExhausted) {
			t.Fatalf("after the last id: %v", err)
		}
	}
}

func TestKeysAreMadeOnceAndNeverShown(t *testing.T) {
	store := memory.New(memory.Config{Exclusive: true})
	const given = "the key that somebody gave"
	declared := []generator.Definition{
		{Name: "random", Kind: "segment", Options: json.RawMessage(`{"scatter":true}`)},
		{Name: "given", Kind: "segment", Options: json.RawMessage(`{"scatter":"` + given + `"}`)},
	}
	w, err := newWorld(t, store, declared...)
	if err != nil {
		t.Fatal(err)
	}
	w.next(w.entry("random"))
	w.next(w.entry("given"))
	if s := w.stored("random"); len(s) < len(`"key":"0123456789abcdef0123456789abcdef"`) || !strings.Contains(s, `"key":"`) {
		t.Fatalf("no key was made: %s", s)
	}
	var full struct {
		Scatter struct{ Key string }
	}
	if err := json.Unmarshal([]byte(w.stored("random")), &full); err != nil {
		t.Fatal(err)
	}
	secrets := []string{given, full.Scatter.Key}

	list, err := w.registry.Definitions(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	one, err := w.entry("random").Definition(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range append(list, one) {
		for _, secret := range secrets {
			if strings.Contains(string(d.Options), secret) {
				t.Errorf("the options of %s show the key: %s", d.Name, d.Options)
			}
		}
		if !strings.Contains(string(d.Options), `"scatter":{"bits":63}`) {
			t.Errorf("the options of %s do not show that it is scattered: %s", d.Name, d.Options)
		}
	}

	// Another server with the same configuration agrees. One with another key does
	// not, and its error shows no key.
	other, err := newWorld(t, store, declared...)
	if err != nil {
		t.Fatal(err)
	}
	other.next(other.entry("random"))
	other.next(other.entry("given"))
	for _, options := range []string{`{"scatter":"some other key of a server"}`, `{}`} {
		declared[1].Options = json.RawMessage(options)
		third, err := newWorld(t, store, declared...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = third.entry("given").Next(t.Context(), 1)
		if !errors.Is(err, generator.ErrPinned) {
			t.Fatalf("a server with %s: %v", options, err)
		}
		if strings.Contains(err.Error(), given) || strings.Contains(err.Error(), "some other key") {
			t.Errorf("the message shows a key: %v", err)
		}
	}
}

func TestAlterKeepsWhatCodesMean(t *testing.T) {
	w := mustWorld(t)
	w.create("plain", "segment", `{}`)
	w.create("hex", "segment", `{"text":"hex","scatter":true}`)
	before := w.stored("hex")
	for _, c := range []struct{ name, change, want string }{
		{"plain", `{"text":"hex"}`, "prefix that begins with no digit"},
		{"plain", `{"text":"hex","prefix":"1"}`, "prefix that begins with no digit"},
		{"plain", `{"scatter":true}`, "scatter cannot be changed"},
		{"hex", `{"scatter":true}`, "scatter cannot be changed"},
		{"hex", `{"text":"base62"}`, "text form of a generator cannot be changed"},
		{"hex", `{"text":"base62","prefix":"X"}`, "text form of a generator cannot be changed"},
	} {
		if err := w.registry.Alter(t.Context(), c.name, json.RawMessage(c.change)); !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.name, c.change, err, c.want)
		}
	}
	if err := w.registry.Alter(t.Context(), "plain", json.RawMessage(`{"text":"hex","prefix":"X","step":7}`)); err != nil {
		t.Error(err)
	}
	if err := w.registry.Alter(t.Context(), "hex", json.RawMessage(`{"step":7}`)); err != nil {
		t.Error(err)
	}
	after := w.stored("hex")
	var want, got any
	if err := errors.Join(json.Unmarshal([]byte(strings.Replace(before, `"step":1000`, `"step":7`, 1)), &want), json.Unmarshal([]byte(after), &got)); err != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("a change of the step made\n%s\nof\n%s", after, before)
	}
}

func TestANameThatWasScatteredGoesOnAboveItsBits(t *testing.T) {
	w := mustWorld(t)
	w.create("unused", "segment", `{"scatter":{"bits":16}}`)
	e := w.create("a", "segment", `{"scatter":{"bits":16}}`)
	w.next(e)
	for _, name := range []string{"a", "unused"} {
		if err := w.registry.Drop(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if id := w.next(w.create("a", "segment", `{}`)); id < 1<<16 {
		t.Errorf("after ids of 16 bits in any order comes %d", id)
	}
	if id := w.next(w.create("unused", "segment", `{}`)); id != 1 {
		t.Errorf("a name without ids goes on at %d", id)
	}
}

func TestOnlyAFreshNameIsScattered(t *testing.T) {
	w := mustWorld(t)
	w.next(w.create("a", "segment", `{}`))
	scattered := json.RawMessage(`{"scatter":{"bits":16}}`)
	if err := w.registry.Create(t.Context(), "a", "segment", scattered); !errors.Is(err, generator.ErrExists) {
		t.Errorf("over a generator: %v", err)
	}
	w.create("unused", "segment", `{}`)
	for _, name := range []string{"a", "unused"} {
		if err := w.registry.Drop(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.registry.Create(t.Context(), "a", "segment", scattered); !errors.Is(err, generator.ErrOption) {
		t.Errorf("after a generator whose numbers it could make again: %v", err)
	}
	w.create("unused", "segment", string(scattered))
}

func TestScatteredDrawsAllocateNothing(t *testing.T) {
	w := mustWorld(t)
	e := w.create("a", "segment", `{"step":1000000,"scatter":true}`)
	w.next(e)
	missed := 0
	if n := testing.AllocsPerRun(1000, func() {
		if r, ok := e.TryNext(10); !ok || r.Count != 1 {
			missed++
		}
	}); n != 0 || missed > 0 {
		t.Errorf("TryNext allocates %v times; %d had no answer", n, missed)
	}
}

func TestNextOfAScatteredGeneratorRefusesABadCount(t *testing.T) {
	w := mustWorld(t)
	e := w.create("a", "segment", `{"scatter":true}`)
	for _, n := range []int64{0, -5} {
		if _, err := e.Next(t.Context(), n); !errors.Is(err, generator.ErrCount) {
			t.Errorf("Next(%d): %v", n, err)
		}
	}
}

func TestIDsAreExplainedWithoutAServer(t *testing.T) {
	kind := Wrap(segment.Kind(nil, generator.SystemClock{}, ""), nil).(generator.StoredExplainer)
	w := mustWorld(t)
	for name, options := range map[string]string{
		"plain": `{}`, "hex": `{"text":"hex","prefix":"x"}`, "shy": `{"scatter":true}`, "both": `{"text":"base32","check":true,"scatter":{"bits":40}}`,
	} {
		e := w.create(name, "segment", options)
		id := w.next(e)
		coder, err := e.Coder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := coder.AppendCode(nil, id)
		if err != nil {
			t.Fatal(err)
		}
		stored := json.RawMessage(w.stored(name))
		for _, form := range []string{string(text), strconv.FormatInt(id, 10)} {
			if p, err := kind.ExplainStored(stored, form); err != nil || *p.Sequence != 1 {
				t.Errorf("%s: %s is %+v, %v", name, form, p, err)
			}
		}
		for _, bad := range []string{"", "!", "x", "9223372036854775808"} {
			if p, err := kind.ExplainStored(stored, bad); !errors.Is(err, generator.ErrOption) {
				t.Errorf("%s: %q is %+v, %v", name, bad, p, err)
			}
		}
	}
	if _, err := kind.ExplainStored(json.RawMessage(`{"scatter":5}`), "1"); !errors.Is(err, generator.ErrRegressed) {
		t.Errorf("stored options that are none: %v", err)
	}
}

// TestAMovedGeneratorAgreesWithItsConfiguration checks a server that declares a
// generator without its position. setval and ALTER SEQUENCE store the position, and
// the server still issues ids.
func TestAMovedGeneratorAgreesWithItsConfiguration(t *testing.T) {
	for _, options := range []string{`{}`, `{"text":"base62","prefix":"inv-"}`, `{"start":5,"restart":100}`} {
		store := memory.New(memory.Config{Exclusive: true})
		declared := generator.Definition{Name: "invoices", Kind: segment.KindName, Options: json.RawMessage(options)}
		w, err := newWorld(t, store, declared)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.registry.Alter(t.Context(), "invoices", json.RawMessage(`{"restart":1000,"called":true}`)); err != nil {
			t.Fatal(err)
		}
		if w, err = newWorld(t, store, declared); err != nil {
			t.Fatal(err)
		}
		if id := w.next(w.entry("invoices")); id != 1001 {
			t.Errorf("%s: id %d, want 1001", options, id)
		}
		other := declared
		other.Options = json.RawMessage(`{"increment":7}`)
		if w, err = newWorld(t, store, other); err != nil {
			t.Fatal(err)
		}
		if _, err := w.entry("invoices").Next(t.Context(), 1); !errors.Is(err, generator.ErrPinned) {
			t.Errorf("%s: another increment: %v", options, err)
		}
	}
}

// The digits of one id in 32 or so are a code with a right check character.
func TestDigitsThatAreACodeAreTheID(t *testing.T) {
	kind := Wrap(segment.Kind(nil, generator.SystemClock{}, ""), nil).(generator.StoredExplainer)
	w := mustWorld(t)
	e := w.create("a", "segment", `{"text":"base32","check":true,"scatter":{"bits":40,"key":"0123456789abcdef"}}`)
	stored := json.RawMessage(w.stored("a"))
	for i := range int64(200) {
		id := strconv.FormatInt(w.next(e), 10)
		if p, err := kind.ExplainStored(stored, id); err != nil || *p.Sequence != i+1 {
			t.Errorf("%s, the id of %d, is %+v, %v", id, i+1, p, err)
		}
	}
}
