package generator_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/counter"
	"nextid/generator/segment"
	"nextid/generator/store/memory"
)

// TestRequestsTogetherLeaveNothingOut lets clients of two servers ask for many
// ids at once, up to a maximum. Those that are refused cost none: afterwards the
// servers have all others.
func TestRequestsTogetherLeaveNothingOut(t *testing.T) {
	const last = 300
	runtime := generator.SystemClock{}
	for _, c := range []struct {
		name, options string
		kind          func(generator.Reserver) generator.Kind
	}{
		{"counter", `{"max": 300}`, func(s generator.Reserver) generator.Kind { return counter.Kind(s, runtime, "test") }},
		{"counter by 7", `{"start": 3, "increment": 7, "max": 2100}`, func(s generator.Reserver) generator.Kind { return counter.Kind(s, runtime, "test") }},
		{"dated", `{"pattern": "yyyy", "width": 3, "start": 700}`, func(s generator.Reserver) generator.Kind { return counter.Dated(s, runtime, "test") }},
		{"segment", `{"max": 300, "step": 5, "max_step": 20}`, func(s generator.Reserver) generator.Kind { return segment.Kind(s, runtime, "test") }},
		{"strict", `{"max": 300, "strict": true}`, func(s generator.Reserver) generator.Kind { return segment.Kind(s, runtime, "test") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 20 {
				kind := c.kind(slow{memory.New(memory.Config{})})
				servers := []generator.AllGenerator{open(t, kind, "g", c.options), open(t, kind, "g", c.options)}
				got := drawTogether(t, servers)
				for _, g := range servers { // what is left
					for r, err := g.Next(t.Context(), 7); err == nil; r, err = g.Next(t.Context(), 7) {
						got = append(got, r)
					}
				}
				seen := map[int64]bool{}
				for _, r := range got {
					for i := range r.Count {
						id := r.First + i*r.Step
						if seen[id] {
							t.Fatalf("%d came twice", id)
						}
						seen[id] = true
					}
				}
				if len(seen) != last {
					t.Fatalf("%d of %d ids came: some are lost", len(seen), last)
				}
			}
		})
	}
}

// TestGivenBackIDs: unused ids come again, unless setval has passed them meanwhile.
func TestGivenBackIDs(t *testing.T) {
	runtime := generator.SystemClock{}
	store := memory.New(memory.Config{})
	for _, kind := range []generator.Kind{counter.Kind(store, runtime, "test"), segment.Kind(store, runtime, "test")} {
		for setval, want := range map[int64]int64{0: 11, 10: 11, 15: 16, 20: 21, 1000: 1001} {
			name := fmt.Sprintf("%s%d", kind.Name(), setval)
			g := open(t, kind, name, `{}`)
			runs, err := g.NextAll(t.Context(), 20)
			if err != nil || len(runs) != 1 || runs[0] != (generator.Range{First: 1, Step: 1, Count: 20}) {
				t.Fatalf("%v, %v", runs, err)
			}
			if setval > 0 {
				if err := g.(generator.Raiser).Raise(t.Context(), setval, true); err != nil {
					t.Fatal(err)
				}
			}
			g.GiveBack([]generator.Range{{First: 11, Step: 1, Count: 10}})
			if r, err := g.Next(t.Context(), 1); err != nil || r.First != want {
				t.Errorf("%s: %v, %v after setval %d, want %d", kind.Name(), r, err, setval, want)
			}
		}
	}
}

// TestRaiseAcrossAllNumbers: the distance from a number in hand to that of setval
// may exceed an int64.
func TestRaiseAcrossAllNumbers(t *testing.T) {
	const least, most = -4_000_000_000_000_000_000, 9_000_000_000_000_000_000
	store := memory.New(memory.Config{})
	for _, kind := range []generator.Kind{counter.Kind(store, generator.SystemClock{}, "test"), segment.Kind(store, generator.SystemClock{}, "test")} {
		g := open(t, kind, kind.Name(), fmt.Sprintf(`{"start": %d}`, int64(least)))
		if next, err := g.(generator.Peeker).Peek(t.Context()); err != nil || next != least {
			t.Fatalf("%d, %v", next, err)
		}
		if err := g.(generator.Raiser).Raise(t.Context(), most, true); err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		for _, g := range []generator.AllGenerator{g, open(t, kind, kind.Name(), fmt.Sprintf(`{"start": %d}`, int64(least))), g} {
			r, err := g.Next(t.Context(), 1)
			if err != nil || r.First <= most || seen[r.First] {
				t.Errorf("%s: %v, %v", kind.Name(), r, err)
			}
			seen[r.First] = true
		}
	}
}

// open opens a generator of a name that the store need not have.
func open(t *testing.T, kind generator.Kind, name, options string) generator.AllGenerator {
	t.Helper()
	o, err := kind.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	g, err := kind.Open(t.Context(), generator.Definition{Name: name, Options: o})
	if err != nil {
		t.Fatal(err)
	}
	return g.(generator.AllGenerator)
}

// TestOvertakenRequestLeavesNothingOut lets another server draw whenever a request
// for many ids has read the end of the line, or is about to return a reservation
// that is too short.
func TestOvertakenRequestLeavesNothingOut(t *testing.T) {
	runtime := generator.SystemClock{}
	for _, c := range []struct {
		name, options string
		kind          func(generator.Reserver) generator.Kind
	}{
		{"counter", `{"start": 3, "increment": 7}`, func(s generator.Reserver) generator.Kind { return counter.Kind(s, runtime, "test") }},
		{"strict", `{"start": 3, "increment": 7, "strict": true}`, func(s generator.Reserver) generator.Kind { return segment.Kind(s, runtime, "test") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := memory.New(memory.Config{})
			other := open(t, c.kind(store), "g", c.options)
			var got []generator.Range
			draw := func(g generator.AllGenerator, n int64) {
				runs, err := g.NextAll(t.Context(), n)
				if err != nil {
					t.Error(err)
				}
				got = append(got, runs...)
			}
			draw(open(t, c.kind(overtaken{store, func() { draw(other, 1) }}), "g", c.options), 5)
			draw(other, 1)
			slices.SortFunc(got, func(a, b generator.Range) int { return cmp.Compare(a.First, b.First) })
			next := int64(3)
			for _, r := range got {
				if r.First != next {
					t.Errorf("%d came, want %d", r.First, next)
				}
				next = r.Last() + 7
			}
		})
	}
}

// overtaken is a store in which another server draws after each Mark and before
// each Release.
type overtaken struct {
	generator.Store
	other func()
}

func (s overtaken) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	m, ok, err := s.Store.Mark(ctx, key)
	s.other()
	return m, ok, err
}

func (s overtaken) Release(ctx context.Context, key string, hi, to int64) error {
	s.other()
	return s.Store.Release(ctx, key, hi, to)
}

// slow is a store whose marks are old when they come, and whose releases take time.
type slow struct{ generator.Store }

func (s slow) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	m, ok, err := s.Store.Mark(ctx, key)
	time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
	return m, ok, err
}

func (s slow) Release(ctx context.Context, key string, hi, to int64) error {
	time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
	return s.Store.Release(ctx, key, hi, to)
}

// drawTogether draws by clients until some are refused.
func drawTogether(t *testing.T, servers []generator.AllGenerator) (got []generator.Range) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			g := servers[i%len(servers)]
			for refused := 0; refused < 3; {
				n := 1 + rand.Int64N(70)
				runs, err := g.NextAll(ctx, n)
				if rand.IntN(4) == 0 {
					var r generator.Range
					r, err = g.Next(ctx, 2)
					mu.Lock()
					got = append(got, runs...)
					mu.Unlock()
					runs, n = []generator.Range{r}, r.Count
				}
				if errors.Is(err, generator.ErrRetry) {
					continue
				}
				if err != nil {
					if !errors.Is(err, generator.ErrExhausted) {
						t.Error(err)
					}
					refused++
					continue
				}
				mu.Lock()
				for _, r := range runs {
					n -= r.Count
				}
				got = append(got, runs...)
				mu.Unlock()
				if n != 0 {
					t.Errorf("%d ids too few", n)
				}
			}
		})
	}
	clients.Wait()
	return got
}
