package segment

import (
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
	"nextid/generator/store/memory"
)

func TestNumbersOfEveryLine(t *testing.T) {
	for _, c := range []struct {
		options string
		want    []int64
	}{
		{`{}`, []int64{1, 2, 3, 4, 5}},
		{`{"start":0}`, []int64{0, 1, 2, 3, 4}},
		{`{"start":-2}`, []int64{-2, -1, 0, 1, 2}},
		{`{"start":1000,"step":1}`, []int64{1000, 1001, 1002, 1003, 1004}},
		{`{"increment":10,"start":5}`, []int64{5, 15, 25, 35, 45}},
		{`{"increment":10,"start":5,"step":2}`, []int64{5, 15, 25, 35, 45}},
		{`{"increment":10,"start":5,"offset":7}`, []int64{7, 17, 27, 37, 47}},
		{`{"increment":10,"start":5,"offset":-3}`, []int64{7, 17, 27, 37, 47}},
		{`{"increment":3,"offset":2}`, []int64{2, 5, 8, 11, 14}},
		{`{"increment":-1}`, []int64{-1, -2, -3, -4, -5}},
		{`{"increment":-1,"start":2}`, []int64{2, 1, 0, -1, -2}},
		{`{"increment":-10,"start":25,"step":2}`, []int64{25, 15, 5, -5, -15}},
		{`{"increment":-10,"start":25,"offset":3}`, []int64{23, 13, 3, -7, -17}},
		{`{"min":7}`, []int64{7, 8, 9, 10, 11}},
		{`{"increment":-2,"max":100}`, []int64{100, 98, 96, 94, 92}},
		{`{"strict":true,"increment":10,"start":5,"offset":7}`, []int64{7, 17, 27, 37, 47}},
	} {
		inWorld(t, func(w *world) { wantIDs(t, w.draw(w.open(c.options), 5), c.want...) })
		inWorld(t, func(w *world) { // one by one
			g := w.open(c.options)
			var ids []int64
			for range 5 {
				ids = append(ids, w.draw(g, 1)...)
			}
			wantIDs(t, ids, c.want...)
		})
	}
}

func TestTheBoundsAreTheLastNumbers(t *testing.T) {
	for _, c := range []struct {
		options string
		want    []int64 // all that there are
		says    string
	}{
		{`{"max":3}`, []int64{1, 2, 3}, "maximum value (3)"},
		{`{"max":3,"step":2}`, []int64{1, 2, 3}, "maximum value (3)"},
		{`{"max":3,"strict":true}`, []int64{1, 2, 3}, "maximum value (3)"},
		{`{"max":24,"increment":10,"start":5}`, []int64{5, 15}, "maximum value (24)"},
		{`{"max":24,"increment":10,"start":5,"strict":true}`, []int64{5, 15}, "maximum value (24)"},
		{`{"min":-2,"increment":-1}`, []int64{-1, -2}, "minimum value (-2)"},
		{`{"min":8,"max":10,"increment":-1,"step":2}`, []int64{10, 9, 8}, "minimum value (8)"},
		{`{"max":10,"start":10,"increment":10,"offset":3}`, nil, "maximum value (10)"},
		{`{"max":9223372036854775807,"start":9223372036854775804}`, []int64{math.MaxInt64 - 3, math.MaxInt64 - 2, math.MaxInt64 - 1}, "maximum value"},
		{`{"start":9223372036854775804}`, []int64{math.MaxInt64 - 3, math.MaxInt64 - 2, math.MaxInt64 - 1}, "maximum value"},
		{`{"start":9223372036854775800,"increment":2147483648}`, []int64{math.MaxInt64 - 7}, "maximum value"},
		{
			`{"increment":-1,"start":-9223372036854775805,"min":-9223372036854775808}`,
			[]int64{math.MinInt64 + 3, math.MinInt64 + 2},
			"minimum value",
		},
	} {
		inWorld(t, func(w *world) {
			g := w.open(c.options)
			var ids []int64
			for {
				r, err := g.Next(w.t.Context(), 2)
				if err != nil {
					wantErr(t, err, generator.ErrExhausted, c.says)
					break
				}
				w.record(g, r)
				for i := range r.Count {
					ids = append(ids, r.First+i*r.Step)
				}
				if len(ids) > 10 {
					t.Fatalf("%s: goes on beyond its bound: %v", c.options, ids)
				}
			}
			wantIDs(t, ids, c.want...)
			synctest.Wait()
			_, err := g.Next(w.t.Context(), 1)
			wantErr(t, err, generator.ErrExhausted)
		})
	}
}

func TestALargeRequestIsOneReservation(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":10,"prefetch_at":1}`)
		if r := w.next(g, 5000); r.Count != 5000 || w.store.Calls(generatortest.Reserve) != 1 {
			t.Errorf("%d ids in %d reservations", r.Count, w.store.Calls(generatortest.Reserve))
		}
	})
	inWorld(t, func(w *world) {
		g := w.open(`{"increment":1000,"step":10}`)
		r, err := g.Next(w.t.Context(), math.MaxInt64)
		if err != nil || r.First != 1 || r.Step != 1000 || r.Last() < math.MaxInt64-2000 {
			t.Errorf("everything: %+v, %v", r, err)
		}
	})
}

// Numbers of the last draw of a buffer come back also once the next buffer is there.
func TestGiveBackBesideTheNextBuffer(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":10,"max":1000}`)
		runs, err := g.NextAll(w.t.Context(), 30)
		if err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		if st := g.Stats(); st.Refills != 2 {
			w.t.Fatalf("%+v", st)
		}
		runs[0].First, runs[0].Count = 2, 29
		g.GiveBack(runs)
		for want := range int64(50) {
			if got := w.next(g, 1).First; got != want+2 {
				w.t.Fatalf("%d, want %d", got, want+2)
			}
		}
	})
}

func TestTheNextBufferIsFetchedInTheBackground(t *testing.T) {
	for _, c := range []struct {
		options string
		at      int64 // drawing this id asks for the next buffer; 0: never
	}{
		{`{"step":1000}`, 101},
		{`{"step":1000,"prefetch_at":0.5}`, 501},
		{`{"step":1000,"prefetch_at":0}`, 1},
		{`{"step":1000,"prefetch_at":1}`, 0},
		{`{"step":1}`, 1},
		{`{"step":5}`, 1},
	} {
		inWorld(t, func(w *world) {
			g := w.open(c.options)
			for id := range g.options.Step {
				w.next(g, 1)
				synctest.Wait()
				want := 1
				if c.at > 0 && id+1 >= c.at {
					want = 2
				}
				if n := w.store.Calls(generatortest.Reserve); n != want {
					t.Fatalf("%s: %d reservations after %d ids, want %d", c.options, n, id+1, want)
				}
			}
		})
	}
}

func TestABusyGeneratorDoesNotWait(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":1000,"max_step":1000}`)
		for i := range 10_000 {
			w.next(g, 1)
			if i%100 == 99 {
				synctest.Wait()
			}
		}
		if s := g.Stats(); s.Waits != 1 {
			t.Errorf("%d waits for 10000 ids, want 1 for the first", s.Waits)
		}
	})
}

// Leaf's rules: the third reservation is the first to be adapted.
func TestDynamicStep(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":1000,"max_step":10000,"prefetch_at":1}`)
		for i, c := range []struct {
			pause time.Duration
			want  int64
		}{
			{0, 1000},
			{0, 1000},
			{time.Minute, 2000},
			{14*time.Minute + 59*time.Second, 4000},
			{0, 8000},
			{0, 10000},
			{0, 10000},
			{15 * time.Minute, 10000},
			{29 * time.Minute, 10000},
			{30 * time.Minute, 5000},
			{time.Hour, 2500},
			{0, 5000},
			{time.Hour, 2500},
			{time.Hour, 1250},
			{time.Hour, 1000},
			{time.Hour, 1000},
		} {
			time.Sleep(c.pause)
			if r := w.next(g, math.MaxInt32); r.Count != math.MaxInt32 {
				t.Fatal("a large request was cut")
			}
			if got := g.Stats().Step; got != c.want {
				t.Errorf("reservation %d, %v after the one before: step %d, want %d", i+1, c.pause, got, c.want)
			}
		}
	})
	inWorld(t, func(w *world) { // the step is what is reserved
		g := w.open(`{"step":10,"max_step":40,"prefetch_at":1}`)
		for _, want := range []int64{10, 10, 20, 40, 40} {
			if r := w.next(g, 1); r.First != w.hi()-want {
				t.Errorf("a buffer from %d to %d, want %d ids", r.First, w.hi(), want)
			}
			w.draw(g, want-1)
		}
	})
}

func TestAFailedFetchDoesNotDoubleTheStep(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":10,"prefetch_at":1}`)
		w.draw(g, 10)
		w.draw(g, 10)
		w.store.Inject(generatortest.Reserve, 10, generatortest.FailBefore(nil))
		for range 10 {
			if _, err := g.Next(w.t.Context(), 1); err == nil {
				t.Fatal("an id without a store")
			}
		}
		w.next(g, 1)
		if got := g.Stats().Step; got != 20 {
			t.Errorf("step %d after one success, want 20", got)
		}
	})
}

func TestCloseGivesBackTheRest(t *testing.T) {
	t.Run("of one buffer", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"prefetch_at":1}`)
			w.draw(g, 7)
			w.close(g)
			w.close(g)
			wantIDs(t, w.draw(w.open(`{}`), 1), 8)
		})
	})
	t.Run("of both", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"step":10,"increment":10}`)
			w.draw(g, 7)
			synctest.Wait()
			w.close(g)
			wantIDs(t, w.draw(w.open(`{"increment":10}`), 1), 71)
		})
	})
	t.Run("of the second only, when another server reserved between", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"step":10,"prefetch_at":0.5}`)
			w.draw(g, 5)
			w.other(100)
			w.draw(g, 2)
			synctest.Wait()
			w.close(g)
			wantIDs(t, w.draw(w.open(`{}`), 1), 111)
		})
	})
	t.Run("and nothing below what was its own", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"step":1,"increment":10,"prefetch_at":0,"max_step":1}`)
			w.draw(g, 1)
			synctest.Wait()
			w.other(5)
			w.draw(g, 1)
			synctest.Wait() // the next buffer is [26, 36), behind the other server's numbers
			w.close(g)
			if got := w.hi(); got != 26 {
				t.Errorf("the store stands at %d, want 26", got)
			}
		})
	})
	t.Run("of the current one, when the next is begun", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"step":10,"prefetch_at":0.5}`)
			w.draw(g, 12)
			synctest.Wait()
			w.close(g)
			wantIDs(t, w.draw(w.open(`{}`), 1), 13)
		})
	})
	t.Run("of nothing", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.close(w.open(`{}`))
			if n := w.store.Calls(generatortest.Reserve) + w.store.Calls(generatortest.Release); n != 0 {
				t.Errorf("%d calls to the store", n)
			}
			g := w.open(`{"step":5,"prefetch_at":1}`)
			w.draw(g, 5)
			w.close(g)
			if n := w.store.Calls(generatortest.Release); n != 0 {
				t.Errorf("an empty buffer was given back")
			}
		})
	})
	t.Run("but not what another server has reserved behind it", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"prefetch_at":1}`)
			w.draw(g, 7)
			w.other(100)
			w.close(g)
			wantIDs(t, w.draw(w.open(`{}`), 1), 1101)
		})
	})
	t.Run("and a strict one keeps nothing to give", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"strict":true}`)
			w.draw(g, 7)
			w.close(g)
			if n := w.store.Calls(generatortest.Release); n != 0 {
				t.Errorf("released %d times", n)
			}
		})
	})
}

func TestAClosedGeneratorIssuesNothing(t *testing.T) {
	for _, options := range []string{`{}`, `{"strict":true}`} {
		inWorld(t, func(w *world) {
			g := w.open(options)
			w.draw(g, 5)
			w.close(g)
			if r, ok := g.TryNext(1); ok {
				t.Errorf("id %d", r.First)
			}
			_, err := g.Next(w.t.Context(), 1)
			wantErr(t, err, generator.ErrNotNow, "closed")
			wantErr(t, g.Raise(w.t.Context(), 1_000_000, true), generator.ErrNotNow, "closed")
			if s := g.Stats(); s.Issued != 5 || s.Buffered != 0 {
				t.Errorf("stats %+v", s)
			}
			calls := w.store.Calls(generatortest.Reserve)
			time.Sleep(time.Hour)
			if n := w.store.Calls(generatortest.Reserve); n != calls {
				t.Errorf("%d reservations after Close", n-calls)
			}
		})
	}
}

func TestCloseEndsAFetchThatIsOnItsWay(t *testing.T) {
	for what, fault := range map[string]generatortest.Fault{"hung": generatortest.Hang(), "late": generatortest.HangAfter()} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, func(w *world) {
				g := w.open(`{"step":10,"prefetch_at":0.5}`)
				w.draw(g, 5)
				w.store.Inject(generatortest.Reserve, 1, fault)
				w.draw(g, 1)
				synctest.Wait()
				if err := g.Close(w.t.Context()); err != nil || w.clock.Monotonic() != 0 {
					t.Errorf("Close took %v: %v", w.clock.Monotonic(), err)
				}
				if ids := w.draw(w.open(`{}`), 1); ids[0] <= 6 {
					t.Errorf("id %d again", ids[0])
				}
			})
		})
	}
}

func TestADrawOfNothingIsRefused(t *testing.T) {
	for _, options := range []string{`{}`, `{"strict":true}`} {
		inWorld(t, func(w *world) {
			g := w.open(options)
			w.next(g, 1)
			for _, n := range []int64{0, -1, math.MinInt64} {
				if r, ok := g.TryNext(n); ok {
					t.Errorf("TryNext(%d) = %+v", n, r)
				}
			}
		})
	}
}

func TestHugeDrawsDoNotWrapAround(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":10,"prefetch_at":1}`)
		w.draw(g, 1)
		if r := w.next(g, math.MaxInt64); r.First != 2 || r.Count != 9 {
			t.Errorf("run %+v, want the rest of the buffer", r)
		}
		next := int64(11)
		for range 5 { // the next buffer may have come already, or not
			r, ok := g.TryNext(math.MaxInt64)
			if ok && (r.First != next || r.Count < 1 || r.Count > 20) { // the step may have doubled
				t.Errorf("run %+v, want a buffer from %d on", r, next)
			}
			next += r.Count
		}
	})
}

func TestStats(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":100,"prefetch_at":0.5}`)
		if s := g.Stats(); s != (generator.Stats{Step: 100}) {
			t.Errorf("at first %+v", s)
		}
		w.draw(g, 60)
		synctest.Wait()
		want := generator.Stats{Issued: 60, ReservedUntil: 201, Buffered: 140, Step: 100, Waits: 1, Refills: 2, Lasts: math.MaxInt64}
		if s := g.Stats(); s != want { // no time has passed: nothing is known of the rate
			t.Errorf("after 60 ids %+v", s)
		}
		time.Sleep(3 * time.Second) // 60 ids in 3 s
		if s := g.Stats(); s.Lasts != 7*time.Second {
			t.Errorf("140 ids at 20 a second last for %v", s.Lasts)
		}
		if err := g.Raise(w.t.Context(), 90, true); err != nil {
			t.Fatal(err)
		}
		w.draw(g, 15)
		if s := g.Stats(); s.Issued != 75 || s.Buffered != 95 {
			t.Errorf("after 75 ids and a raise by 30 %+v", s)
		}
	})
	// A feed draws whole blocks: nothing in hand is no reason to take the server out of service.
	inWorld(t, func(w *world) {
		g := w.open(`{"step":100,"feeds":{"postgres://shop@a/shop orders.id":{"ahead":"24h"}}}`)
		for range 2 {
			if _, err := g.NextAll(w.t.Context(), 1000); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if s := g.Stats(); s.Lasts < 24*time.Hour {
			t.Errorf("a fed name lasts for %v, with %d in hand", s.Lasts, s.Buffered)
		}
	})
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true,"increment":-1}`)
		w.draw(g, 3)
		if s := g.Stats(); s.Issued != 3 || s.ReservedUntil != -4 || s.Buffered != 0 {
			t.Errorf("strict: %+v", s)
		}
	})
	// The whole line: its numbers and those that are left are more than an int64 holds.
	inWorld(t, func(w *world) {
		g := w.open(`{"start":-9223372036854775807,"max":9223372036854775800,"step":10}`)
		if s := g.Stats(); !s.Bounded || s.Left != math.MaxInt64 {
			t.Errorf("at first %+v", s)
		}
		w.draw(g, 1)
		if s := g.Stats(); s.Left != math.MaxInt64 {
			t.Errorf("after an id %+v", s)
		}
		if p := g.Place(9223372036854775800); p.Number != math.MaxInt64 {
			t.Errorf("the last number has the place %+v", p)
		}
	})
}

func TestPeekAtTheEnd(t *testing.T) {
	for _, options := range []string{`{"max":15,"strict":true}`, `{"max":12,"increment":10,"start":5,"strict":true}`, `{"max":9223372036854775807,"start":9223372036854775806,"increment":10,"strict":true}`} {
		inWorld(t, func(w *world) {
			g := w.open(options)
			if _, err := g.Peek(w.t.Context()); err != nil {
				t.Fatalf("%s: %v", options, err)
			}
			for err := error(nil); err == nil; {
				_, err = g.Next(w.t.Context(), 1)
			}
			next, err := g.Peek(w.t.Context())
			if !errors.Is(err, generator.ErrExhausted) {
				t.Errorf("%s: the next number is %d, %v", options, next, err)
			}
		})
	}
}

// Many goroutines, small steps and two servers: nothing repeats, and each
// goroutine sees its ids grow.
func TestConcurrentDrawsNeverRepeat(t *testing.T) {
	for _, options := range []string{`{"step":3,"max_step":7}`, `{"step":100}`, `{"strict":true}`, `{"increment":-7,"step":5,"max_step":5}`} {
		store := memory.New(memory.Config{})
		var log history.Log
		var wg sync.WaitGroup
		var gens []*Generator
		for server := range 2 {
			k := Kind(store, generatortest.NewClock(start), "test")
			gen, err := k.Open(t.Context(), define(t, k, options))
			if err != nil {
				t.Fatal(err)
			}
			gens = append(gens, gen.(*Generator))
			for client := range 4 {
				wg.Go(func() {
					for n := range int64(500) {
						r, err := gen.Next(t.Context(), n%5+1)
						if err != nil {
							t.Error(err)
							return
						}
						log.Add(history.Event{Name: "orders", Client: server<<8 | client, Range: r})
					}
				})
			}
		}
		wg.Wait()
		issued := int64(0)
		for _, g := range gens {
			issued += g.Stats().Issued
			if err := g.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := log.Check(); err != nil {
			t.Errorf("%s: %v", options, err)
		}
		if issued != log.Len() {
			t.Errorf("%s: counted %d ids, issued %d", options, issued, log.Len())
		}
	}
}

// The same at the highest rate that there is, on one buffer.
func TestConcurrentDrawsFromOneBufferNeverRepeat(t *testing.T) {
	g := benchGenerator(t, `{"step":100000000,"max_step":100000000}`)
	var log history.Log
	var wg sync.WaitGroup
	for client := range 4 {
		wg.Go(func() {
			for range 100_000 {
				if r, ok := g.TryNext(1); ok {
					log.Add(history.Event{Name: "orders", Client: client, Range: r})
				}
			}
		})
	}
	wg.Wait()
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	if log.Len() != 400_000 {
		t.Errorf("%d of 400000 draws had an answer", log.Len())
	}
}

// A range that begins between two ids may hold one less than its length says.
func TestTooFewNumbersAreLeftBehindAnotherSeries(t *testing.T) {
	for _, strict := range []bool{false, true} {
		inWorld(t, func(w *world) {
			g := w.open(fmt.Sprintf(`{"increment":10,"max":100,"strict":%v}`, strict))
			if _, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{Key: generator.NameKey("orders"), AtLeast: 1, N: 75, Limit: generator.NoLimit}); err != nil {
				t.Fatal(err)
			}
			if runs, err := g.NextAll(w.t.Context(), 3); !errors.Is(err, generator.ErrExhausted) {
				t.Errorf("strict %v: 3 of the numbers 81 and 91: %v, %v", strict, runs, err)
			}
			runs, err := g.NextAll(w.t.Context(), 2)
			if err != nil || len(runs) != 1 || runs[0] != (generator.Range{First: 81, Step: 10, Count: 2}) {
				t.Errorf("strict %v: %v, %v", strict, runs, err)
			}
		})
	}
}
