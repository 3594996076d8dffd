package snowflake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/worker"
)

// openStrict opens a strict generator.
func (w *world) openStrict(k generator.Kind, name, options string) *strictGenerator {
	w.t.Helper()
	g, err := k.Open(w.t.Context(), define(w.t, k, name, options))
	if err != nil {
		w.t.Fatal(err)
	}
	return g.(*strictGenerator)
}

// take draws once.
func (w *world) take(g generator.Generator, name string, client int, n int64) generator.Range {
	w.t.Helper()
	r, err := g.Next(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.log.Add(history.Event{Name: name, Client: client, Range: r})
	return r
}

const strict = `{"strict": true}`

// TestStrictAsksForEachDraw: each answer is inside a reservation that began
// after the request, and draws that wait at the same time share one.
func TestStrictAsksForEachDraw(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.openStrict(w.kind(), "orders", strict)
		for i := range 10 {
			w.take(g, "orders", 0, 1)
			if calls := w.store.Calls(generatortest.Reserve); calls != i+1 {
				t.Fatalf("%d reservations for %d draws", calls, i+1)
			}
		}
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		before := w.store.Calls(generatortest.Reserve)
		var work sync.WaitGroup
		draws := func(first, clients int) {
			for i := range clients {
				work.Go(func() {
					for drawn := int64(0); drawn < 3; {
						drawn += w.take(g, "orders", first+i, 3-drawn).Count
					}
				})
			}
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		draws(0, 1)
		draws(1, 100) // while the reservation of the first is on its way
		close(gate)
		work.Wait()
		if calls := w.store.Calls(generatortest.Reserve) - before; calls != 2 {
			t.Errorf("%d reservations, want one for the first draw and one for the 100 after it", calls)
		}
		for _, id := range []int64{w.take(g, "orders", 0, 1).First} {
			p, err := g.Explain(id)
			if err != nil || p.Time.Sub(w.clock.Time()).Abs() > 10*time.Millisecond {
				t.Errorf("id of %v at %v, %v", p.Time, w.clock.Time(), err)
			}
		}
	})
}

// TestStrictClonesNeverRepeat: two processes that hold the very same memory
// issue nothing twice. The same with a generator that is not strict repeats
// at once, which shows that the test can see it.
func TestStrictClonesNeverRepeat(t *testing.T) {
	for _, isStrict := range []bool{true, false} {
		inWorld(t, false, func(w *world) {
			var twins [2]generator.Generator
			if isStrict {
				a := w.openStrict(w.kind(static(7)), "orders", strict)
				w.take(a, "orders", 0, 1)
				b := w.openStrict(w.kind(static(7)), "orders", strict)
				b.slot.Store(a.slot.Load())
				twins = [2]generator.Generator{a, b}
			} else {
				a := w.open(w.kind(), "orders", "{}")
				b := w.open(w.kind(), "orders", "{}")
				w.take(a, "orders", 0, 1)
				b.window.Store(a.window.Load())
				b.slot.Store(a.slot.Load())
				twins = [2]generator.Generator{a, b}
			}
			var log history.Log
			for i := range 200 {
				for client, g := range twins {
					r, err := g.Next(w.t.Context(), int64(i%5+1))
					if err != nil {
						t.Fatal(err)
					}
					log.Add(history.Event{Name: "orders", Client: client, Range: r})
				}
			}
			if err := log.Check(); (err == nil) != isStrict {
				t.Errorf("strict %v: %v", isStrict, err)
			}
		})
	}
}

// TestStrictLosesWhatIsNotCertain: a lost answer is a gap, the store's pause
// an error, and neither repeats an id.
func TestStrictLosesWhatIsNotCertain(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.openStrict(w.kind(), "orders", strict)
		worker := w.take(g, "orders", 0, 1).First >> 12 & 1023
		for range 5 {
			w.store.Inject(generatortest.Reserve, 1, generatortest.FailAfter(nil))
			if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
				t.Fatalf("a lost answer: %v", err)
			}
			if now := w.take(g, "orders", 0, 1).First >> 12 & 1023; now != worker {
				t.Errorf("after a lost answer worker id %d, before %d", now, worker)
			}
		}
		w.store.Inject(generatortest.Reserve, 1, generatortest.HangAfter())
		began := time.Now()
		if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrRetry) || time.Since(began) != strictPatience {
			t.Errorf("a store that hangs: %v after %v", err, time.Since(began))
		}
		w.take(g, "orders", 0, 1)
		if err := g.Close(w.t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
			t.Errorf("closed: %v", err)
		}
	})
}

// TestStrictAndOthersKeepApart: they have two worker ids, and a name that
// changes from one to the other goes on above itself.
func TestStrictAndOthersKeepApart(t *testing.T) {
	for i, exclusive := range []bool{false, true, false, true} {
		inWorld(t, exclusive, func(w *world) {
			k := w.kind()
			if i > 1 {
				k = w.kind(func(c *worker.Config) { c.Source = wishing{} })
			}
			plain := w.open(k, "plain", "{}")
			g := w.openStrict(k, "strict", strict)
			for range 50 {
				a, b := w.take(plain, "plain", 0, 1).First>>12&1023, w.take(g, "strict", 0, 1).First>>12&1023
				if a == b {
					t.Fatalf("exclusive %v: both have worker id %d", exclusive, a)
				}
			}
			for i := range 6 { // as alter_generator does
				options := []string{strict, "{}"}[i%2]
				one, err := k.Open(w.t.Context(), define(t, k, "changing", options))
				if err != nil {
					t.Fatal(err)
				}
				for range 20 {
					w.take(one, "changing", 0, 100)
				}
				if err := one.(generator.Closer).Close(w.t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	inWorld(t, false, func(w *world) { // one planned worker id is not enough for both
		k := w.kind(static(7))
		w.open(k, "plain", "{}")
		_, err := k.Open(w.t.Context(), define(t, k, "strict", strict))
		if !errors.Is(err, generator.ErrOption) {
			t.Errorf("a strict generator beside another on a planned worker id: %v", err)
		}
		k = w.kind(static(8))
		g := w.openStrict(k, "strict", strict)
		if id := w.take(g, "strict", 0, 1).First >> 12 & 1023; id != 8 {
			t.Errorf("worker id %d", id)
		}
		if _, err := k.Open(w.t.Context(), define(t, k, "plain", "{}")); !errors.Is(err, generator.ErrOption) {
			t.Errorf("another generator beside a strict one on a planned worker id: %v", err)
		}
	})
}

// wishing is a source that would like to have worker id 7.
type wishing struct{}

func (wishing) Wish(context.Context, worker.Width) (worker.Wish, error) {
	return worker.Wish{ID: 7}, nil
}

func (wishing) String() string { return "wishing" }

// TestStrictInEveryLayout: of every unit, epoch and way to begin a tick.
func TestStrictInEveryLayout(t *testing.T) {
	for _, options := range []string{
		`"layout": "twitter"`, `"layout": "sonyflake"`, `"layout": "cosid-s"`, `"layout": "cockroach"`, `"layout": "js"`, `"layout": "leaf"`,
		`"bits": "time 41, worker 10, sequence 12", "unit": "7ms", "epoch": "2020-01-01T00:00:00.003Z"`,
		`"bits": "time 41, worker 10, sequence 12", "unit": "1500us"`,
		`"sequence_start": "random"`, `"sequence_start": "carry"`, `"sequence_start": "5"`, `"sequence_start": "0-99"`,
		`"on_rollback": "wait"`, `"on_rollback": "refuse"`,
	} {
		inWorld(t, false, func(w *world) {
			a := w.openStrict(w.kind(), "orders", `{"strict": true, `+options+`}`)
			b := w.openStrict(w.kind(), "orders", `{"strict": true, `+options+`}`)
			var work sync.WaitGroup
			for client := range 4 {
				work.Go(func() {
					for i := range 10 {
						r := w.take([]generator.Generator{a, b}[client%2], "orders", client, int64(1+i*i*i))
						p, err := a.Explain(r.Last())
						if err != nil || p.Time.Sub(w.clock.Time()).Abs() > 5*time.Second {
							t.Errorf("%s: id of %v at %v, %v", options, p.Time, w.clock.Time(), err)
						}
					}
				})
			}
			work.Wait()
		})
	}
}

// TestStrictRaise: setval holds, also over a restart.
func TestStrictRaise(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.openStrict(w.kind(), "orders", strict)
		id := w.take(g, "orders", 0, 1).First
		if err := g.Raise(w.t.Context(), id+2000, true); err != nil {
			t.Fatal(err)
		}
		if next := w.take(g, "orders", 0, 1).First; next <= id+2000 {
			t.Errorf("%d after setval to %d", next, id+2000)
		}
		if err := g.Raise(w.t.Context(), math.MaxInt64>>1, true); !errors.Is(err, generator.ErrOption) {
			t.Errorf("the far future: %v", err)
		}
		if s := g.Stats(); s.Issued != 2 || s.Lasts != 0 || s.Buffered != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestStrictWorkerIDThatGoesToAnother: the server claims the next one.
func TestStrictWorkerIDThatGoesToAnother(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.openStrict(w.kind(), "orders", strict)
		first := w.take(g, "orders", 0, 1).First >> 12 & 1023
		_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{
			Key: fmt.Sprintf("worker/10/%d", first), AtLeast: w.clock.Wall() / 1e6, N: 60_000, Limit: generator.NoLimit, Owner: "another",
		})
		if err != nil {
			t.Fatal(err)
		}
		r := w.take(g, "orders", 0, 1)
		if next := r.First >> 12 & 1023; next == first {
			t.Errorf("still worker id %d", next)
		}
		if p, _ := g.Explain(r.First); p.Time.Sub(w.clock.Time()).Abs() > time.Second {
			t.Errorf("id of %v at %v", p.Time, w.clock.Time())
		}
	})
}
