package segment_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/segment"
	"nextid/generator/store/memory"
)

func newKind() (generator.Kind, generator.Store) {
	store := memory.New(memory.Config{})
	return segment.AutoRandom(store, segment.Kind(store, generator.SystemClock{}, "test")), store
}

func open(t *testing.T, k generator.Kind, options string) *segment.AutoRandomGenerator {
	t.Helper()
	o, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	again, err := k.Normalize(o)
	if err != nil || string(again) != string(o) {
		t.Fatalf("%s became %s (%v)", o, again, err)
	}
	g, err := k.Open(t.Context(), generator.Definition{Name: "orders", Options: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.(generator.Closer).Close(t.Context()) })
	return g.(*segment.AutoRandomGenerator)
}

func TestACounterBelowRandomBits(t *testing.T) {
	k, _ := newKind()
	g := open(t, k, `{}`)
	shards := map[int64]int{}
	for want := int64(1); want <= 3200; want++ {
		r, err := g.Next(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Explain(r.First)
		if err != nil || r.First < 0 || *p.Sequence != want {
			t.Fatalf("draw %d: id %d, counter %d, %v", want, r.First, *p.Sequence, err)
		}
		if at := g.Place(r.First); at.Number != want || !at.Reserved || at.Block.Count == 0 || at.Block.First > want || at.Block.Last() < want {
			t.Fatalf("draw %d: id %d has the place %+v", want, r.First, at)
		}
		shards[*p.Worker]++
	}
	for s := range int64(32) {
		if n := shards[s]; n < 50 || n > 170 {
			t.Errorf("shard %d has %d of 3200 rows", s, n)
		}
	}
}

func TestTheCounterEndsWithItsBits(t *testing.T) {
	for _, options := range []string{
		`{"shard_bits":15,"range_bits":32}`, // AUTO_RANDOM(15, 32): 16 bits count
		`{"shard_bits":15,"range_bits":32,"counter":{"start":1,"max":70000}}`,
	} {
		k, _ := newKind()
		endsWithItsBits(t, open(t, k, options))
	}
}

func endsWithItsBits(t *testing.T, g *segment.AutoRandomGenerator) {
	t.Helper()
	if runs, err := g.NextAll(t.Context(), 1<<16); !errors.Is(err, generator.ErrExhausted) {
		t.Fatalf("one more than there are: %v, %v", runs, err)
	}
	seen := map[int64]bool{}
	for left := 1<<16 - 1; left > 0; {
		r, err := g.Next(t.Context(), int64(left))
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Count {
			id := r.First + i*r.Step
			if seen[id&(1<<16-1)] || id >= 1<<31 {
				t.Fatalf("id %d", id)
			}
			seen[id&(1<<16-1)] = true
		}
		left -= int(r.Count)
	}
	r, err := g.Next(t.Context(), 1)
	if e, ok := errors.AsType[*generator.Error](err); !ok || !errors.Is(err, generator.ErrExhausted) || strings.Contains(e.Hint, "alter_generator") {
		t.Errorf("after the last counter: %v, %+v", r, err) // its bound cannot be moved
	}
}

func TestRaiseMovesTheCounter(t *testing.T) {
	k, _ := newKind()
	g := open(t, k, `{}`)
	if err := g.Raise(t.Context(), 4899916394579099651, true); err != nil { // shard 17, counter 3
		t.Fatal(err)
	}
	r, err := g.Next(t.Context(), 1)
	if err != nil || r.First&(1<<58-1) != 4 {
		t.Errorf("id %d, %v", r.First, err)
	}
}

// Ids of a dropped name lie all over the range: nothing can take the name.
func TestADroppedNameIsNotUsedAgain(t *testing.T) {
	k, store := newKind()
	g := open(t, k, `{}`)
	if _, err := g.Next(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	g.Close(t.Context())
	if err := k.(generator.Retirer).Retire(t.Context(), generator.Definition{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	s := segment.Kind(store, generator.SystemClock{}, "test")
	o, err := s.Normalize(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Open(t.Context(), generator.Definition{Name: "orders", Options: o})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := again.Next(t.Context(), 10); err == nil && r.First < 1<<62 {
		t.Errorf("a segment of the name gives %v", r)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	k, _ := newKind()
	for in, want := range map[string]string{
		`{"shard_bits":16}`: "out of their bounds",
		`{"range_bits":31}`: "out of their bounds",
		`{"shard_bits":0}`:  "out of their bounds",
		`{"shard_bits":5,"fields":[{"kind":"shard","bits":5},{"kind":"counter","bits":5}]}`: "say the same",
		`{"fields":[{"kind":"time","bits":41}]}`:                                            "layout: ",
		`{"layouts":1}`:                                                                     "unknown option",
		`{"start":-5}`:                                                                      "start",
	} {
		_, err := k.Normalize(json.RawMessage(in))
		if !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	o, err := k.Normalize(json.RawMessage(`{"step":10}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Alter(o, json.RawMessage(`{"shard_bits":6}`)); !errors.Is(err, generator.ErrOption) {
		t.Errorf("the shard bits changed: %v", err)
	}
	if changed, err := k.Alter(o, json.RawMessage(`{"step":20}`)); err != nil || !strings.Contains(string(changed), `"step":20`) {
		t.Errorf("step: %s, %v", changed, err)
	}
}

func TestNumbersOfTheCounterBelowRandomBits(t *testing.T) {
	k, _ := newKind()
	o, err := k.Normalize(json.RawMessage(`{"shard_bits": 5, "range_bits": 32, "start": 67108000}`))
	if got := k.(generator.Numbered).Numbers(o, 67108800); err != nil || got != (generator.Left{Left: 64, All: 1 << 26}) {
		t.Errorf("%+v, %v", got, err)
	}
}
