package counter

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/store/memory"
)

// world is a store and the history of all draws.
type world struct {
	t      *testing.T
	store  *generatortest.Faulty
	log    history.Log
	opened []*Generator
}

// inWorld runs f in a bubble of virtual time, and checks the history.
func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: generatortest.NewFaulty(memory.New(memory.Config{}))}
		defer func() {
			w.store.Clear()
			w.closeAll()
			if err := w.log.Check(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

func (w *world) closeAll() {
	for _, g := range w.opened {
		if err := g.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *world) open(options string) *Generator {
	w.t.Helper()
	k := Kind(w.store, generator.SystemClock{}, "test")
	o, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		w.t.Fatal(err)
	}
	g, err := k.Open(w.t.Context(), generator.Definition{Name: "bills", Kind: KindName, Options: o})
	if err != nil {
		w.t.Fatal(err)
	}
	w.opened = append(w.opened, g.(*Generator))
	return g.(*Generator)
}

func (w *world) next(g *Generator, n int64) generator.Range {
	w.t.Helper()
	r, err := g.Next(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.log.Add(history.Event{Name: "bills", Client: slices.Index(w.opened, g), Range: r})
	return r
}

func (w *world) wants(g *Generator, n int64, want generator.Range) {
	w.t.Helper()
	if got := w.next(g, n); got != want {
		w.t.Errorf("drew %+v, want %+v", got, want)
	}
}

// pause lets virtual time pass.
func pause(d time.Duration) { <-time.After(d) }

func one(id int64) generator.Range { return generator.Range{First: id, Step: 1, Count: 1} }

// sorted lists the numbers of the ranges in order.
func sorted(ranges []generator.Range) []int64 {
	var ids []int64
	for _, r := range ranges {
		for i := range r.Count {
			ids = append(ids, r.First+i*r.Step)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestCounterSeries(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		options string
		want    []int64
	}{
		{``, []int64{1, 2, 3}},
		{`{"start":1,"increment":5}`, []int64{1, 6, 11}}, // Redis node A of five
		{`{"start":2,"increment":5}`, []int64{2, 7, 12}}, // node B
		{`{"start":-7,"increment":3}`, []int64{-7, -4, -1, 2, 5}},
		{`{"start":1000}`, []int64{1000, 1001}},
	} {
		inWorld(t, func(w *world) {
			g := w.open(tc.options)
			for _, want := range tc.want {
				if r := w.next(g, 1); r.First != want {
					t.Errorf("%s: %d, want %d", tc.options, r.First, want)
				}
			}
		})
	}
}

// Five Redis nodes, each with its own start, never issue the same number.
func TestFiveNodesWithStartAndStep(t *testing.T) {
	inWorld(t, func(w *world) {
		for node := range int64(5) {
			w.store = generatortest.NewFaulty(memory.New(memory.Config{}))
			o, _ := json.Marshal(map[string]int64{"start": node + 1, "increment": 5})
			g := w.open(string(o))
			w.wants(g, 3, generator.Range{First: node + 1, Step: 5, Count: 3})
			w.wants(g, 1, generator.Range{First: node + 16, Step: 5, Count: 1})
		}
		if n := w.log.Len(); n != 20 {
			t.Errorf("%d numbers", n)
		}
	})
}

// Several servers use one store, and some clients leave early. The issued numbers
// have no gap.
func TestNoNumberIsLeftOut(t *testing.T) {
	for range 5 {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		inWorld(t, func(w *world) {
			latency := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			w.store.Inject(generatortest.Reserve, 1<<30, func(ctx context.Context, call func(context.Context) error) error {
				mu.Lock()
				d := time.Duration(latency.IntN(20)) * time.Millisecond
				mu.Unlock()
				pause(d)
				err := call(ctx)
				pause(d)
				return err
			})
			var given []generator.Range
			var wg sync.WaitGroup
			for server := range 3 {
				g := w.open(`{"increment":2}`)
				for c := range 8 {
					client := 8*server + c
					random := rand.New(rand.NewPCG(seed, uint64(client)+2))
					wg.Go(func() {
						for range 40 {
							ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(random.IntN(200))*time.Millisecond)
							r, err := g.Next(ctx, random.Int64N(3)+1)
							cancel()
							if err != nil {
								continue
							}
							mu.Lock()
							given = append(given, r)
							mu.Unlock()
							w.log.Add(history.Event{Name: "bills", Client: 100 + client, Range: r})
						}
					})
				}
			}
			wg.Wait()
			// A number without a waiting draw will still be issued by the server that has
			// it. Draw until all reservations under way have arrived.
			w.store.Clear()
			pause(time.Second)
			for _, g := range w.opened {
				for g.Stats().Buffered > 0 {
					given = append(given, w.next(g, 1))
				}
			}
			for i, id := range sorted(given) {
				if id != int64(1+2*i) {
					t.Fatalf("number %d is %d, want %d", i, id, 1+2*i)
				}
			}
		})
	}
}

// A number that was asked for after another was issued is greater, on any server.
func TestOrderOverServers(t *testing.T) {
	inWorld(t, func(w *world) {
		servers := []*Generator{w.open(``), w.open(``), w.open(``)}
		w.store.Inject(generatortest.Reserve, 1<<30, func(ctx context.Context, call func(context.Context) error) error {
			pause(rand.N(5 * time.Millisecond))
			err := call(ctx)
			pause(rand.N(5 * time.Millisecond))
			return err
		})
		var newest atomic.Int64
		var wg sync.WaitGroup
		for c := range 24 {
			g := servers[c%3]
			wg.Go(func() {
				for range 50 {
					before := newest.Load()
					r, err := g.Next(w.t.Context(), 1)
					if err != nil || r.First <= before {
						t.Errorf("got %+v, %v after %d was given", r, err, before)
						return
					}
					for {
						seen := newest.Load()
						if seen >= r.First || newest.CompareAndSwap(seen, r.First) {
							break
						}
					}
				}
			})
		}
		wg.Wait()
		if n := newest.Load(); n != 24*50 {
			t.Errorf("the last number is %d, want %d", n, 24*50)
		}
	})
}

func TestDrawsThatWaitTogetherShareAReservation(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(``)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := g.Next(w.t.Context(), 1); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		if n := w.store.Calls(generatortest.Reserve); n > 2 {
			t.Errorf("%d reservations for 100 draws, want 2", n)
		}
	})
}

func TestNumberOfAClientThatLeftGoesToTheNext(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"deadline":"1s"}`)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrRetry) {
			t.Errorf("%v, want ErrRetry after the deadline", err)
		}
		close(gate)
		synctest.Wait()
		w.wants(g, 1, one(1))
		w.wants(g, 2, generator.Range{First: 2, Step: 1, Count: 2})
	})
}

func TestCloseReturnsUnusedNumbers(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"deadline":"1s"}`)
		w.wants(g, 3, generator.Range{First: 1, Step: 1, Count: 3})
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		if _, err := g.Next(w.t.Context(), 5); !errors.Is(err, generator.ErrRetry) {
			t.Errorf("%v, want ErrRetry", err)
		}
		close(gate)
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
			t.Errorf("%v after Close, want ErrNotNow", err)
		}
		w.wants(w.open(``), 1, one(4))
	})
}

// A draw that waits while the generator is altered or the server drains gets its
// number: a request that is cut off would leave a gap.
func TestCloseWaitsForDraws(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(``)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		var wg sync.WaitGroup
		for client := range 2 {
			wg.Go(func() {
				r, err := g.Next(w.t.Context(), 1)
				if err != nil {
					t.Error(err)
				}
				w.log.Add(history.Event{Name: "bills", Client: 10 + client, Range: r})
			})
			synctest.Wait()
		}
		wg.Go(func() {
			if err := g.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(gate)
		wg.Wait()
		w.wants(w.open(``), 1, one(3))
	})
}

func TestCloseEndsWithItsContext(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(``)
		w.store.Inject(generatortest.Reserve, 1, generatortest.Hang())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
				t.Errorf("%v, want ErrNotNow", err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

func TestLostAnswerIsAGapAndNeverARepeat(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(``)
		w.wants(g, 1, one(1))
		w.store.Inject(generatortest.Reserve, 1, generatortest.FailAfter(nil))
		if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
			t.Errorf("%v, want ErrNotNow", err)
		}
		w.wants(g, 1, one(3))
		w.store.Inject(generatortest.Reserve, 1, generatortest.FailBefore(nil))
		if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
			t.Errorf("%v, want ErrNotNow", err)
		}
		w.wants(g, 1, one(4))
	})
}

func TestMaximum(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"start":1,"increment":3,"max":9}`)
		w.wants(g, 2, generator.Range{First: 1, Step: 3, Count: 2})
		w.wants(g, 5, generator.Range{First: 7, Step: 3, Count: 1})
		_, err := g.Next(w.t.Context(), 1)
		if !errors.Is(err, generator.ErrExhausted) || !strings.Contains(err.Error(), "maximum value (9)") {
			t.Errorf("%v, want ErrExhausted", err)
		}
	})
}

func TestRaise(t *testing.T) {
	inWorld(t, func(w *world) {
		g, other := w.open(`{"start":1,"increment":5,"max":1000}`), w.open(`{"start":1,"increment":5,"max":1000}`)
		raise := func(v int64, used bool) {
			t.Helper()
			if err := g.Raise(w.t.Context(), v, used); err != nil {
				t.Error(err)
			}
		}
		raise(0, true) // below the start: nothing happens
		w.wants(g, 1, generator.Range{First: 1, Step: 5, Count: 1})
		raise(21, false)
		w.wants(g, 1, generator.Range{First: 21, Step: 5, Count: 1})
		raise(31, true)
		w.wants(other, 1, generator.Range{First: 36, Step: 5, Count: 1})
		w.wants(g, 1, generator.Range{First: 41, Step: 5, Count: 1})
		raise(7, true) // 7 is below: no number is left out
		w.wants(g, 1, generator.Range{First: 46, Step: 5, Count: 1})
		raise(48, true)
		raise(100, false)
		w.wants(g, 2, generator.Range{First: 101, Step: 5, Count: 2})
		for _, v := range []int64{1001, 1<<63 - 1} {
			if err := g.Raise(w.t.Context(), v, true); !errors.Is(err, generator.ErrOption) {
				t.Errorf("raise to %d: %v, want ErrOption", v, err)
			}
		}
		raise(999, true) // 996 is the last of the series
		for _, g := range []*Generator{g, other} {
			if r, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrExhausted) {
				t.Errorf("%+v, %v, want ErrExhausted", r, err)
			}
		}
	})
}

// Neither setval nor a look at the next number leaves a number with a server, from
// which it would come after greater ones.
func TestNoServerKeepsANumber(t *testing.T) {
	t.Parallel()
	for _, options := range []string{``, `{"holds":true}`} {
		inWorld(t, func(w *world) {
			first, second := w.open(options), w.open(options)
			if next, err := first.Peek(w.t.Context()); err != nil || next != 1 {
				w.t.Errorf("the next is %d, %v", next, err)
			}
			w.wants(second, 1, one(1))
			w.wants(first, 1, one(2))
			if err := first.Raise(w.t.Context(), 10, true); err != nil {
				w.t.Fatal(err)
			}
			if next, err := second.Peek(w.t.Context()); err != nil || next != 11 {
				w.t.Errorf("after setval the next is %d, %v", next, err)
			}
			w.wants(second, 1, one(11))
			w.wants(first, 1, one(12))
			// The store has the number back, although its answer was lost.
			w.store.Inject(generatortest.Release, 1, generatortest.FailAfter(nil))
			if err := first.Raise(w.t.Context(), 20, true); err != nil {
				w.t.Fatal(err)
			}
			w.wants(second, 1, one(21))
			w.wants(first, 1, one(22))
		})
	}
}

func TestErrRegressedReachesTheClient(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(``)
		w.store.Inject(generatortest.Reserve, 1, generatortest.FailBefore(&generator.Error{Kind: generator.ErrRegressed, Message: "gone back"}))
		if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrRegressed) {
			t.Errorf("%v, want ErrRegressed", err)
		}
	})
}

// A counter that is created again after a drop continues above all earlier numbers.
func TestRetireAndRecover(t *testing.T) {
	inWorld(t, func(w *world) {
		k := Kind(w.store, generator.SystemClock{}, "test")
		g := w.open(`{"start":-100}`)
		d := generator.Definition{Name: "bills", Kind: KindName, Options: json.RawMessage(`{"start":-100,"increment":1,"deadline":"5s"}`)}
		w.wants(g, 5, generator.Range{First: -100, Step: 1, Count: 5})
		if err := k.(generator.Retirer).Retire(w.t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if r := w.next(w.open(`{"start":-100}`), 1); r.First <= 100 {
			t.Errorf("%d after a drop, want more than 100", r.First)
		}
		if err := k.(generator.Recoverable).Recover(w.t.Context(), d, 5000); err != nil {
			t.Fatal(err)
		}
		w.wants(w.open(``), 1, one(5000))

		// Held numbers do not come back, also one that only its reservation names.
		g = w.open(`{"holds":true}`)
		for range 2 {
			if _, err := g.Hold(w.t.Context(), time.Second, generator.HeldBy{}); err != nil {
				t.Fatal(err)
			}
			w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error { return call(ctx) })
			w.store.Inject(generatortest.Reserve, 1, generatortest.FailBefore(nil))
		}
		w.store.Clear()
		d.Options = json.RawMessage(`{"start":1,"increment":1,"deadline":"5s","holds":true}`)
		if err := k.(generator.Retirer).Retire(w.t.Context(), d); err != nil {
			t.Fatal(err)
		}
		pause(time.Minute)
		if n, err := w.open(`{"holds":true}`).Hold(w.t.Context(), time.Second, generator.HeldBy{}); err != nil || n < 5003 {
			t.Errorf("%d, %v: a number came back that was held before the drop", n, err)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`{"increment":0}`:               "increment must be between 1",
		`{"increment":-1}`:              "increment must be between 1",
		`{"max":0}`:                     "start (1) cannot be greater than max (0)",
		`{"max":"x"}`:                   "max must be a whole number",
		`{"deadline":"1ms"}`:            "deadline must be between",
		`{"step":5}`:                    `unknown option "step"`,
		`{"start":"a"}`:                 "option start must be a whole number",
		`{"description":"a\nb"}`:        "control characters",
		`{"start":9223372036854775807}`: "start must be between",
	} {
		_, err := Kind(nil, nil, "").Normalize(json.RawMessage(options))
		if !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	stored, err := Kind(nil, nil, "").Normalize(json.RawMessage(`{"max":10,"description":"invoices"}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"start":1,"increment":1,"max":10,"deadline":"5s","description":"invoices"}`; string(stored) != want {
		t.Errorf("%s, want %s", stored, want)
	}
	for change, want := range map[string]string{
		`{"max":null}`:    `{"start":1,"increment":1,"deadline":"5s","description":"invoices"}`,
		`{"max":20}`:      `{"start":1,"increment":1,"max":20,"deadline":"5s","description":"invoices"}`,
		`{"start":2}`:     "",
		`{"increment":2}`: "",
	} {
		got, err := Kind(nil, nil, "").Alter(stored, json.RawMessage(change))
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("alter %s: %s, %v, want %q", change, got, err, want)
		}
	}
}

// The numbers of a counter that begins far below zero are counted from there.
func TestStatsBelowZero(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		g := w.open(`{"start":-100,"increment":10,"max":99}`)
		if s := g.Stats(); s.Left != 20 || s.ReservedUntil != 0 || g.Place(-50).Reserved {
			t.Errorf("at first %+v", s)
		}
		if r, err := g.Next(w.t.Context(), 3); err != nil || r.First != -100 {
			t.Fatal(r, err)
		}
		if s := g.Stats(); s.Left != 17 || s.ReservedUntil != -70 || !g.Place(-80).Reserved || g.Place(-70).Reserved {
			t.Errorf("after three numbers %+v", s)
		}
	})
	inWorld(t, func(w *world) {
		g := w.open(`{"start":-4611686018427387903,"max":9223372036854775800}`)
		if s := g.Stats(); s.Left != math.MaxInt64 {
			t.Errorf("%+v", s)
		}
	})
}

// After setval to the bound, no number is left.
func TestRaiseToTheBoundLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		options string
		to      int64
		used    bool
		next    int64 // 0: exhausted
	}{
		{`{"max":100}`, 100, true, 0},
		{`{"max":100}`, 100, false, 100},
		{`{"max":100}`, 99, true, 100},
		{`{"max":100,"increment":10}`, 91, true, 0},
		{`{"max":91,"increment":10}`, 91, true, 0},
		{`{"max":91,"increment":10}`, 85, true, 91},
		{`{"max":100,"increment":10}`, 95, false, 0},
		{`{"start":9223372034707290000,"increment":500}`, 9223372036854775500, true, 0},
		{`{"start":9223372034707290000,"increment":500}`, 9223372036854775800, true, 0},
		{`{"start":9223372034707290000,"increment":1}`, 9223372036854775805, true, 9223372036854775806},
		{`{"start":9223372034707290000,"increment":1}`, 9223372036854775806, true, 0},
		{`{"start":-7,"increment":3,"max":5}`, 5, true, 0},
		{`{"start":-7,"increment":3,"max":5}`, 3, true, 5},
	} {
		inWorld(t, func(w *world) {
			g := w.open(tc.options)
			if err := g.Raise(w.t.Context(), tc.to, tc.used); err != nil {
				t.Fatalf("%s: Raise(%d, %v): %v", tc.options, tc.to, tc.used, err)
			}
			r, err := g.Next(w.t.Context(), 1)
			switch {
			case tc.next == 0 && !errors.Is(err, generator.ErrExhausted):
				t.Errorf("%s: after Raise(%d, %v) it gives %v, %v; want no number", tc.options, tc.to, tc.used, r, err)
			case tc.next != 0 && (err != nil || r.First != tc.next):
				t.Errorf("%s: after Raise(%d, %v) it gives %v, %v; want %d", tc.options, tc.to, tc.used, r, err, tc.next)
			}
		})
	}
}

// TestARequestThatIsTooLargeTakesNothingFromOthers draws while another server asks for
// more than is left.
func TestARequestThatIsTooLargeTakesNothingFromOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		large, others := w.open(`{"max":10}`), w.open(`{"max":10}`)
		w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error {
			w.wants(others, 2, generator.Range{First: 1, Step: 1, Count: 2}) // ten numbers were left when it was asked
			return call(ctx)
		})
		drawn := false
		draw := func() {
			drawn = true
			if runs, err := others.NextAll(w.t.Context(), 2); err != nil || runs[0].First != 3 {
				t.Errorf("%v, %v, but 3 and 4 are left", runs, err)
			}
		}
		w.store.Inject(generatortest.Release, 1, func(ctx context.Context, call func(context.Context) error) error {
			draw()
			return call(ctx)
		})
		if _, err := large.NextAll(w.t.Context(), 10); !errors.Is(err, generator.ErrExhausted) {
			t.Errorf("ten of eight numbers: %v", err)
		}
		if !drawn {
			draw()
		}
	})
}
