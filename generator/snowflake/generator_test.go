package snowflake

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/layout"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

func TestAnIDHoldsTheTimeTheWorkerAndTheSequence(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(static(5<<5|9)), "orders", "")
		time.Sleep(1234 * time.Millisecond)
		for want := range int64(3) {
			id := w.next(g, 1).First
			p, err := g.Explain(id)
			if err != nil {
				t.Fatal(err)
			}
			if *p.Datacenter != 5 || *p.Worker != 9 || *p.Sequence != want || !p.Time.Equal(start.Add(1234*time.Millisecond)) {
				t.Errorf("id %d: %v, datacenter %d, worker %d, sequence %d", id, p.Time, *p.Datacenter, *p.Worker, *p.Sequence)
			}
		}
	})
}

func TestRunsEndWhereIDsStopBeingAnArithmeticRun(t *testing.T) {
	for _, c := range []struct {
		options     string
		first       int64 // count of the first run of 10000
		step        int64
		description string
	}{
		{`{"layout":"twitter"}`, 4096, 1, "the tick ends, and the worker bits follow"},
		{`{"layout":"sonyflake","max_ahead":"1s"}`, 10000, 1 << 16, "time and sequence are one number above the machine"},
		{`{"layout":"sonyflake","max_ahead":0}`, 256, 1 << 16, "the tick ends, and the next one has not begun"},
		{`{"layout":"cockroach","max_ahead":"1s"}`, 10000, 1 << 15, "every tick has one id"},
		{`{"bits":"time 41, sequence 12","max_ahead":"1s"}`, 10000, 1, "there is no worker id"},
	} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", c.options)
			r := w.next(g, 10000)
			if r.Count != c.first || r.Step != c.step {
				t.Errorf("%s: a run of %d ids with step %d, want %d with %d (%s)", c.options, r.Count, r.Step, c.first, c.step, c.description)
			}
			for left := 10000 - r.Count; left > 0; {
				left -= w.next(g, left).Count
			}
		})
	}
}

func TestAUsedUpTickIsWaitedForWithoutMaxAhead(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", `{"max_ahead":0}`)
		for tick := range 20 {
			for left := int64(4096); left > 0; {
				r := w.next(g, 1000)
				if at := w.at(g, r.Last()); at != w.elapsed() || at != time.Duration(tick)*time.Millisecond {
					t.Fatalf("tick %d: id of +%v at +%v", tick, at, w.elapsed())
				}
				left -= r.Count
			}
		}
		if n := g.Stats().Waits; n != 19 {
			t.Errorf("%d waits for 20 ticks", n)
		}
	})
}

func TestIDsRunAheadByAtMostMaxAhead(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 100 * time.Millisecond} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", fmt.Sprintf(`{"max_ahead":"%v"}`, ahead))
			furthest := time.Duration(0)
			for range 300 {
				r := w.next(g, 4096)
				lead := w.at(g, r.Last()) - w.elapsed()
				if lead > ahead {
					t.Fatalf("max_ahead %v: an id %v ahead", ahead, lead)
				}
				furthest = max(furthest, lead)
			}
			if furthest != ahead {
				t.Errorf("max_ahead %v: ids ran ahead by %v only", ahead, furthest)
			}
		})
	}
}

// TestTheFirstTickIsThePresentOne: with ticks longer than max_ahead, too.
func TestTheFirstTickIsThePresentOne(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		for bits, unit := range map[int]time.Duration{41: time.Millisecond, 38: 10 * time.Millisecond, 32: time.Second, 28: time.Minute} {
			inWorld(t, exclusive, func(w *world) {
				time.Sleep(65*time.Second + 7*time.Millisecond)
				kind := w.kind(func(c *worker.Config) { c.Slice = 5 * time.Minute })
				g := w.open(kind, "orders", fmt.Sprintf(`{"bits":"time %d, worker 10, sequence 12","unit":"%v","epoch":"2026-01-01"}`, bits, unit))
				if lead, want := w.at(g, w.next(g, 1).First), w.elapsed().Truncate(unit); lead != want {
					t.Errorf("exclusive %v, unit %v: the first id is of +%v, want +%v", exclusive, unit, lead, want)
				}
			})
		}
	}
}

// The greatest n of next_ids is answered without a timer.
func TestTenThousandIDsNeedNoWaitByDefault(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", "")
		for left := int64(10000); left > 0; {
			left -= w.next(g, left).Count
		}
		if w.elapsed() != 0 || g.Stats().Waits != 0 {
			t.Errorf("took %v and %d waits", w.elapsed(), g.Stats().Waits)
		}
	})
}

// TestSmallDrawsDoNotWaitForLargeOnes: large draws take each tick as it begins. They
// leave a share from the moment when a small draw waits.
func TestSmallDrawsDoNotWaitForLargeOnes(t *testing.T) {
	for _, options := range []string{`{"max_ahead":0}`, `{}`, `{"sequence_start":"random"}`, `{"layout":"sonyflake"}`} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", options)
			ctx, stop := context.WithCancel(w.t.Context())
			var large sync.WaitGroup
			defer large.Wait()
			defer stop()
			var taken atomic.Int64
			for range 8 {
				large.Go(func() {
					for {
						r, err := g.Next(ctx, 500) // as a statement that draws a million does
						if err != nil {
							return
						}
						taken.Add(r.Count)
					}
				})
			}
			unit := g.Layout.Unit
			longest := time.Duration(0)
			for range 200 {
				time.Sleep(3*unit + unit/3)
				synctest.Wait() // the large draws take the tick first
				before := w.elapsed()
				patient, cancel := context.WithTimeout(ctx, 100*unit)
				_, err := g.Next(patient, 1)
				cancel()
				if err != nil {
					t.Fatalf("%s: %v", options, err)
				}
				longest = max(longest, w.elapsed()-before)
			}
			if longest > unit {
				t.Errorf("%s: a small draw waited %v, a tick is %v", options, longest, unit)
			}
			whole := int64(w.elapsed()/unit) << g.Layout.SequenceBits()
			if got := taken.Load(); got < whole*4/10 {
				t.Errorf("%s: large draws got %d of %d ids", options, got, whole)
			}
		})
	}
}

// A tick of a second would cost a second after every start otherwise.
func TestTheFirstIDDoesNotWaitForAWholeTick(t *testing.T) {
	for _, sleep := range []time.Duration{0, time.Millisecond, 999 * time.Millisecond} {
		inWorld(t, true, func(w *world) {
			time.Sleep(sleep)
			g := w.open(w.kind(), "orders", `{"layout":"baidu","epoch":"2024-01-01"}`)
			r := w.next(g, 1)
			if w.elapsed() != sleep {
				t.Errorf("waited %v", w.elapsed()-sleep)
			}
			if lead := w.at(g, r.First) - w.elapsed(); lead >= time.Second {
				t.Errorf("the id is %v ahead", lead)
			}
		})
	}
}

func TestTheEndOfTimeIsAnErrorAndNeverANegativeOrOldID(t *testing.T) {
	for _, options := range []string{
		`{"bits":"time 32, worker 10, sequence 4","epoch":"2026-10-02T14:57:13.704Z"}`, // ends 1000 ms after the start
		`{"bits":"time 32, sequence 30","epoch":"2026-10-02T14:57:13.704Z"}`,           // 62 bits: the slot fills them
		`{"bits":"time 33, sequence 30","epoch":"2026-08-13T21:54:26.408Z"}`,           // all 63 bits
		`{"bits":"time 20, worker 10","unit":"10ms","epoch":"2026-11-21T05:05:15.240Z","max_ahead":"1s"}`,
	} {
		inWorld(t, true, func(w *world) {
			k := w.kind()
			g := w.open(k, "orders", options)
			end := g.Layout.Last().Add(g.Layout.Unit).Sub(start)
			if end <= 0 || end > 2*time.Second {
				t.Fatalf("%s: ends at +%v", options, end)
			}
			for {
				r, err := g.Next(w.t.Context(), 1<<20)
				if err != nil {
					wantErr(t, err, generator.ErrExhausted, "orders", g.Layout.Last().Format("2006-01-02"))
					break
				}
				w.record(g, r)
				time.Sleep(g.Layout.Unit)
				if w.elapsed() > end+time.Minute {
					t.Fatalf("%s: still issues %v after the end", options, w.elapsed()-end)
				}
			}
			if w.elapsed() > end {
				t.Errorf("%s: the error came %v after the end", options, w.elapsed()-end)
			}
			for i := range 19 { // up to 30 years beyond, where a shifted tick would wrap around
				w.clock.Advance(time.Hour << i)
				if r, ok := g.TryNext(1); ok {
					t.Fatalf("%s: id %d after the end", options, r.First)
				}
				_, err := g.Next(w.t.Context(), 1)
				wantErr(t, err, generator.ErrExhausted)
			}
			g2, err := k.Open(w.t.Context(), define(t, k, "other", options))
			if err == nil {
				_, err = g2.Next(w.t.Context(), 1)
			}
			wantErr(t, err, generator.ErrExhausted)
			g.Stats()
		})
	}
}

// TestNothingFollowsTheGreatestID: a layout without worker bits can use all of an
// int64, whose greatest value is no slot.
func TestNothingFollowsTheGreatestID(t *testing.T) {
	const lastMinute = `{"bits":"time 20, sequence 43","unit":"1m","epoch":"2024-11-23T03:45:00Z"`
	for _, options := range []string{lastMinute + `,"strict":true}`, lastMinute + `}`} {
		inWorld(t, true, func(w *world) {
			k := w.kind()
			d := define(w.t, k, "orders", options)
			open := func() generator.Generator {
				g, err := k.Open(w.t.Context(), d)
				if err != nil {
					w.t.Fatal(err)
				}
				return g
			}
			g := open()
			if r, err := g.Next(w.t.Context(), 1); err != nil || r.First < math.MaxInt64>>43<<43 {
				w.t.Fatalf("%s: %v, %v", options, r, err)
			}
			if err := g.(generator.Raiser).Raise(w.t.Context(), math.MaxInt64, true); err != nil {
				w.t.Errorf("%s: setval: %v", options, err)
			}
			for range 2 {
				for range 3 {
					if r, err := g.Next(w.t.Context(), 1); err == nil {
						w.t.Fatalf("%s: %d follows", options, r.First)
					}
					time.Sleep(30 * time.Second) // to the end of the minute: strict draws wait for it
				}
				_, err := g.Next(w.t.Context(), 1)
				wantErr(w.t, err, generator.ErrExhausted, "orders")
				g.(generator.Closer).Close(w.t.Context())
				g = open() // continues after the times of the one before
			}
			g.(generator.Closer).Close(w.t.Context())
		})
	}
}

func TestAClockBeforeTheEpochIsSaid(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", `{"epoch":"2026-11-21T08:00:10Z"}`)
		_, err := g.Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrNotNow, "before 2026-11-21T08:00:10Z")
		g.Stats()
		time.Sleep(10 * time.Second)
		if p, _ := g.Explain(w.next(g, 1).First); !p.Time.Equal(start.Add(10 * time.Second)) {
			t.Errorf("first id of %v", p.Time)
		}
	})
}

func TestSequenceStart(t *testing.T) {
	sequences := func(w *world, options string, draws int64) (seen []int64) {
		g := w.open(w.kind(), "orders", options)
		for range 500 {
			time.Sleep(time.Millisecond)
			var p generator.Parts
			for range draws {
				p, _ = g.Explain(w.next(g, 1).First)
			}
			seen = append(seen, *p.Sequence)
		}
		return seen
	}
	t.Run("zero begins every tick with 0", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			for _, s := range sequences(w, `{"sequence_start":"zero"}`, 1) {
				if s != 0 {
					t.Fatalf("sequence %d", s)
				}
			}
		})
	})
	t.Run("carry goes on where the last tick left off", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			seen := sequences(w, `{"sequence_start":"carry","bits":"time 41, worker 5, sequence 6"}`, 1)
			for i, s := range seen {
				if want := int64(i) % 32; s != want {
					t.Fatalf("draw %d has sequence %d, want %d", i, s, want)
				}
			}
		})
	})
	t.Run("random spreads over the lower half", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			count := map[bool]int{}
			for _, s := range sequences(w, `{"sequence_start":"random"}`, 1) {
				if s >= 2048 {
					t.Fatalf("sequence %d leaves less than half of the tick", s)
				}
				count[s%2 == 1]++
			}
			if count[true] < 150 || count[false] < 150 {
				t.Errorf("%d odd and %d even ids", count[true], count[false])
			}
		})
	})
	for _, mode := range []string{Zero, Random, Carry} {
		t.Run(mode+" leaves half of every tick", func(t *testing.T) {
			inWorld(t, true, func(w *world) {
				g := w.open(w.kind(), "orders", `{"max_ahead":0,"sequence_start":"`+mode+`"}`)
				for range 50 {
					time.Sleep(time.Millisecond)
					if r := w.next(g, 4096); r.Count < 2048 {
						t.Fatalf("%d ids in a tick", r.Count)
					}
				}
			})
		})
	}
}

func TestClockSetBack(t *testing.T) {
	t.Run("continue: ids keep growing and no draw waits", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", "")
			for range 100 {
				w.clock.Step(-time.Minute)
				before := w.elapsed()
				w.next(g, 1)
				if w.elapsed() != before {
					t.Fatalf("waited %v", w.elapsed()-before)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if n := g.Stats().ClockBack; n == 0 {
				t.Error("no alarm")
			}
		})
	})
	t.Run("refuse: no id until the clock is right again", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", `{"on_rollback":"refuse"}`)
			w.next(g, 1)
			w.clock.Step(-time.Minute)
			_, err := g.Next(w.t.Context(), 1)
			wantErr(t, err, generator.ErrNotNow, "behind the ids", "59.9")
			w.clock.Step(time.Minute)
			w.next(g, 1)
		})
	})
	t.Run("wait: until the clock has caught up, or was set right", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", `{"on_rollback":"wait","rollback_wait":"2m","max_ahead":0}`)
			w.next(g, 1)
			w.clock.Step(-time.Minute)
			w.next(g, 1)
			if got := w.elapsed(); got < time.Minute || got > time.Minute+time.Second {
				t.Errorf("waited %v, want a minute", got)
			}
			w.clock.Step(-time.Hour)
			time.AfterFunc(time.Second, func() { w.clock.Step(time.Hour) })
			before := w.elapsed()
			w.next(g, 1)
			if got := w.elapsed() - before; got > 2*time.Second {
				t.Errorf("waited %v, the clock was right after 1 s", got)
			}
		})
	})
	t.Run("wait: no longer than rollback_wait", func(t *testing.T) {
		for options, want := range map[string]time.Duration{
			`{"on_rollback":"wait"}`: 5 * time.Second, `{"on_rollback":"wait","rollback_wait":"300ms"}`: 300 * time.Millisecond,
			`{"on_rollback":"wait","rollback_wait":"1s","strict":true}`: time.Second,
		} {
			inWorld(t, true, func(w *world) {
				k := w.kind()
				g, err := k.Open(w.t.Context(), define(w.t, k, "orders", options))
				if err == nil {
					defer func() { _ = g.(generator.Closer).Close(context.Background()) }()
					_, err = g.Next(w.t.Context(), 1)
				}
				if err != nil {
					t.Fatal(err)
				}
				w.clock.Step(-time.Minute)
				before := w.elapsed()
				_, err = g.Next(w.t.Context(), 1)
				wantErr(t, err, generator.ErrNotNow, "behind the ids")
				if got := w.elapsed() - before; got != want || generator.ReasonOf(err) != generator.ReasonClock {
					t.Errorf("%s: waited %v, reason %q", options, got, generator.ReasonOf(err))
				}
			})
		}
	})
	t.Run("a duration: a short lag is waited for, a longer one refused at once", func(t *testing.T) {
		for options, slow := range map[string]time.Duration{`{"on_rollback":"2s"}`: time.Second, `{"on_rollback":"2s","strict":true}`: 10 * time.Second} {
			inWorld(t, true, func(w *world) {
				k := w.kind()
				g, err := k.Open(w.t.Context(), define(w.t, k, "orders", options))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = g.(generator.Closer).Close(context.Background()) }()
				for _, c := range []struct{ back, least, most time.Duration }{{time.Second, slow, slow * 3 / 2}, {4 * time.Second, 0, 0}} {
					if _, err = g.Next(w.t.Context(), 1); err != nil {
						t.Fatal(err)
					}
					w.clock.Step(-c.back)
					before := w.elapsed()
					_, err = g.Next(w.t.Context(), 1)
					if got := w.elapsed() - before; got < c.least-slow/50 || got > c.most {
						t.Errorf("%s: waited %v for a clock %v behind", options, got, c.back)
					}
					if c.most > 0 && err != nil {
						t.Errorf("%s: %v", options, err)
					}
				}
				wantErr(t, err, generator.ErrNotNow, "behind the ids")
			})
		}
	})
	t.Run("wait: a waiting draw takes no time from the store", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", `{"on_rollback":"wait","rollback_wait":"2m"}`)
			w.next(g, 1)
			w.clock.Step(-time.Minute)
			before := w.store.Calls(generatortest.Reserve)
			w.next(g, 1)
			if n := w.store.Calls(generatortest.Reserve) - before; n > 2 {
				t.Errorf("%d reservations while one draw waited for a minute", n)
			}
		})
	})
	t.Run("refuse bears the lag of slewing", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", `{"on_rollback":"refuse","max_ahead":0}`)
			for range 100 {
				w.next(g, 1)
				w.clock.Step(-time.Millisecond)
			}
		})
	})
}

func TestClose(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.kind()
		g, unused := w.open(k, "orders", ""), w.open(k, "unused", "")
		time.Sleep(100 * time.Millisecond)
		w.next(g, 1)
		for range 2 {
			if err := g.Close(w.t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := unused.Close(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		if r, ok := g.TryNext(1); ok {
			t.Errorf("id %d after Close", r.First)
		}
		_, err := g.Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrNotNow, "closed")
		wantErr(t, g.Raise(w.t.Context(), 1<<62, true), generator.ErrNotNow, "closed")
		if got, want := g.pool.UsedUntil(), start.Add(101*time.Millisecond).UnixMilli(); got != want {
			t.Errorf("used until %d, want %d", got, want)
		}
		if err := w.pools[0].Close(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		second := w.open(w.kind(), "orders", "")
		if w.next(second, 1); w.elapsed() != 110*time.Millisecond {
			t.Errorf("the next server waited")
		}
		if lead := w.at(second, w.next(second, 1).First) - w.elapsed(); lead > 0 {
			t.Errorf("after a clean stop ids are %v ahead", lead)
		}
	})
}

func TestCrashThenRestartOnAnEmbeddedStoreGoesOnAboveAtOnce(t *testing.T) {
	for _, step := range []time.Duration{0, -time.Hour, time.Hour} {
		inWorld(t, true, func(w *world) {
			for range 30 { // more would be ahead of the clock by what package worker lets it
				before := w.elapsed()
				g := w.open(w.kind(), "orders", "")
				w.next(g, 100)
				if w.elapsed() != before {
					t.Fatalf("the restart cost %v", w.elapsed()-before)
				}
				time.Sleep(10 * time.Millisecond)
				w.next(g, 100)
				w.clock.Step(step) // the server crashes: nothing of it is used again
			}
		})
	}
}

func TestASuccessorGoesOnAbove(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.kind()
		for _, mode := range []string{Zero, Random, Carry} {
			g := w.open(k, "orders", `{"sequence_start":"`+mode+`"}`)
			for range 10 {
				w.next(g, 4096) // far ahead of the clock
			}
			if err := g.Close(w.t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestRaise(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(static(5)), "orders", "")
		id := w.next(g, 1).First
		for _, v := range []int64{-1, 0, 1, id - 1, id} {
			if err := g.Raise(w.t.Context(), v, true); err != nil {
				t.Errorf("Raise(%d): %v", v, err)
			}
		}
		if r := w.next(g, 1); r.First != id+1 {
			t.Errorf("raising to what was passed changed the next id to %d, want %d", r.First, id+1)
		}
		for _, v := range []int64{id + 1000, id | 1023<<12, id + 3<<22} { // same tick; its greatest worker; 3 ms ahead
			if err := g.Raise(w.t.Context(), v, true); err != nil {
				t.Fatalf("Raise(%d): %v", v, err)
			}
			if r := w.next(g, 1); r.First <= v {
				t.Errorf("id %d after Raise(%d)", r.First, v)
			}
		}
		wantErr(t, g.Raise(w.t.Context(), id+1000<<22, true), generator.ErrOption, "in the future")
		js := w.open(w.kind(), "js", `{"layout":"js"}`)
		wantErr(t, js.Raise(w.t.Context(), 1<<53, true), generator.ErrOption, "not an id of layout js")
	})
}

func TestRaiseSurvivesACrash(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", `{"max_ahead":"1s"}`)
		time.Sleep(2500 * time.Millisecond)
		v, err := g.Ceil(start.Add(3400 * time.Millisecond)) // beyond the slice in hand
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Raise(w.t.Context(), v, true); err != nil {
			t.Fatal(err)
		}
		if id := w.next(w.open(w.kind(), "orders", ""), 1).First; id <= v {
			t.Errorf("id %d after a crash, raised above %d", id, v)
		}
	})
}

func TestADrawOfNothingIsRefused(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", "")
		for _, n := range []int64{0, -1, -1 << 63} {
			if r, ok := g.TryNext(n); ok {
				t.Errorf("TryNext(%d) = %+v", n, r)
			}
		}
	})
}

func TestStats(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", "")
		w.next(g, 10)
		w.next(g, 5)
		time.Sleep(time.Second)
		s := g.Stats()
		if s.Issued != 15 || s.ReservedUntil != start.Add(3*time.Second).UnixMilli() || s.Step != 3000 {
			t.Errorf("stats %+v", s)
		}
		if want := int64(2000 * 4096); s.Buffered != want {
			t.Errorf("%d ids without the store, want %d", s.Buffered, want)
		}
	})
}

// Many goroutines, the real clock, slices of 50 ms, and a server that takes
// over: nothing repeats, and each goroutine sees its ids grow.
func TestConcurrentDrawsNeverRepeat(t *testing.T) {
	store := memory.New(memory.Config{})
	var log history.Log
	var wg sync.WaitGroup
	for server := range 2 {
		pools := worker.New(worker.Config{Store: store, Slice: 50 * time.Millisecond, Logger: discard})
		defer pools.Close(t.Context())
		k := Kind(pools, layout.Default)
		gen, err := k.Open(t.Context(), define(t, k, "orders", `{"sequence_start":"carry"}`))
		if err != nil {
			t.Fatal(err)
		}
		for client := range 4 {
			wg.Go(func() {
				for stop := time.Now().Add(300 * time.Millisecond); time.Now().Before(stop); {
					for n := range int64(200) {
						r, err := gen.Next(t.Context(), n%7+1)
						if err != nil {
							t.Error(err)
							return
						}
						log.Add(history.Event{Name: "orders", Client: server<<8 | client, Range: r})
					}
				}
			})
		}
	}
	wg.Wait()
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	if log.Len() < 1000 {
		t.Errorf("only %d ids", log.Len())
	}
}

// TestADrawReadsTwoCacheLines: many names are asked for in no order, so that a
// line more of each is a wait more of each draw.
func TestADrawReadsTwoCacheLines(t *testing.T) {
	const line = 64
	if size, slot := unsafe.Sizeof(Generator{}), unsafe.Offsetof(Generator{}.slot); size != 2*line || slot != line {
		t.Errorf("a generator has %d bytes, its slot is at %d; want %d and %d", size, slot, 2*line, line)
	}
}

// TestGeneratorsOfTheSameOptionsShareTheirTiming: what follows the clock and the
// slices is there once, not for each name.
func TestGeneratorsOfTheSameOptionsShareTheirTiming(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.kind()
		a, b, other := w.open(k, "a", "{}"), w.open(k, "b", "{}"), w.open(k, "c", `{"max_ahead":"1ms"}`)
		if a.timing != b.timing {
			t.Error("two names of the same options have timings of their own")
		}
		if a.timing == other.timing {
			t.Error("names of different options share a timing")
		}
		for i := range 2 * maxTimings {
			w.open(k, fmt.Sprintf("n%d", i), fmt.Sprintf(`{"max_ahead":"%dms"}`, i))
		}
		if w.open(k, "d", "{}").timing == a.timing {
			t.Errorf("more than %d timings are kept", maxTimings)
		}
	})
}
