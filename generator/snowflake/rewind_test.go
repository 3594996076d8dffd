package snowflake

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// rewound1 is a draw of one id of a generator with rollback bits: its time,
// and the value of its rollback field.
func (w *world) rewound1(g *Generator) (at time.Time, bits int64) {
	w.t.Helper()
	r, err := g.Next(w.t.Context(), 1)
	if err != nil {
		w.t.Fatal(err)
	}
	w.log.Add(history.Event{Name: g.name, Client: int(w.log.Len()), Range: r}) // no order over a clock that is set back
	if why := coveredRewound(w.store, g, r); why != "" {
		w.t.Fatal(why)
	}
	tick, _, bits, _ := g.Layout.Unpack(r.First)
	return g.Layout.TimeOf(tick), bits
}

// coveredRewound says what is wrong with a run: a tick that is not wholly
// inside one acknowledged reservation of its worker id, or of the line of its
// rollback value.
func coveredRewound(s *generatortest.Faulty, g *Generator, r generator.Range) string {
	for _, id := range []int64{r.First, r.Last()} {
		tick, worker, bits, _ := g.Layout.Unpack(id)
		line := key(g.Layout, worker)
		if bits > 0 {
			line = g.pool.Line(g.name, worker, bits)
		}
		lo, hi := g.Layout.TimeOf(tick), g.Layout.TimeOf(tick+1)
		for _, grant := range s.Grants() {
			if grant.Key == line && !lo.Before(time.UnixMilli(grant.Lo)) && lo.Before(time.UnixMilli(grant.Hi)) {
				lo = time.UnixMilli(grant.Hi)
			}
		}
		if lo.Before(hi) {
			return fmt.Sprintf("an id of %v is outside every acknowledged slice of %s", g.Layout.TimeOf(tick), line)
		}
	}
	return ""
}

func TestAClockSetBackRaisesTheRollbackBits(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.open(w.kind(static(7)), "orders", `{"layout":"rollback"}`)
		expect := func(bits int64) {
			t.Helper()
			before := w.elapsed()
			at, got := w.rewound1(g)
			if off := at.Sub(w.clock.Time()).Abs(); got != bits || off > 10*time.Millisecond || w.elapsed() != before {
				t.Fatalf("rollback %d, %v off the clock, after waiting for %v; want rollback %d at once", got, off, w.elapsed()-before, bits)
			}
		}
		expect(0)
		w.clock.Step(-5 * time.Millisecond) // no more than clocks do
		if _, bits := w.rewound1(g); bits != 0 {
			t.Fatalf("5 ms raised the bits to %d", bits)
		}
		for bits := range int64(3) {
			w.clock.Step(-time.Hour)
			expect(bits + 1)
			time.Sleep(time.Second)
			expect(bits + 1)
		}
	})
}

// Each value of the bits is used up to some moment. A clock that is set back
// before all of them gets an error, until it has passed one.
func TestRollbackBitsAreBounded(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.open(w.kind(static(7)), "orders", `{"layout":"rollback"}`)
		w.rewound1(g)
		for bits := range int64(3) {
			w.clock.Step(-20 * time.Second)
			for range 10 {
				if _, got := w.rewound1(g); got != bits+1 {
					t.Fatalf("rollback %d, want %d", got, bits+1)
				}
				time.Sleep(time.Second)
			}
		}
		w.clock.Step(-20 * time.Second)
		for range 3 {
			_, err := g.Next(w.t.Context(), 1)
			wantErr(t, err, generator.ErrNotNow, "set back again", "worker id 7", "until 2026-11-21T07:59:2")
		}
		time.Sleep(21 * time.Second)
		if _, bits := w.rewound1(g); bits != 3 {
			t.Errorf("rollback %d, want the value that ended first", bits)
		}
		// A value that is free in a moment is waited for.
		w.clock.Step(-3 * time.Second)
		before := w.elapsed()
		if _, err := g.Next(w.t.Context(), 1); err != nil {
			t.Error(err)
		}
		if waited := w.elapsed() - before; waited > 6*time.Second {
			t.Errorf("waited for %v", waited)
		}
	})
	// The ids of a dropped name may reach some centuries ahead, which no Duration holds.
	inWorld(t, false, func(w *world) {
		if _, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{Key: generator.NameKey("orders"), N: 1 << 60, Limit: generator.NoLimit}); err != nil {
			t.Fatal(err)
		}
		g := w.open(w.kind(static(7)), "orders", `{"bits":"time 47, worker 4, rollback 2, sequence 10"}`)
		w.clock.Step(-time.Hour)
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		_, err := g.Next(ctx, 1)
		wantErr(t, err, generator.ErrNotNow, "issues again at 2")
	})
}

// What a restart finds in the store keeps it from using a value again.
func TestRollbackBitsOutlastARestart(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		inWorld(t, exclusive, func(w *world) {
			seen := map[int64]bool{}
			for i := range 6 {
				w.clock.Set(start.Add(time.Hour))
				if i > 0 {
					w.clock.Set(start.Add(30 * time.Minute)) // each start finds the clock there again
				}
				w.store.Clear()
				k := w.kind(static(7), func(c *worker.Config) { c.StartWait = time.Nanosecond })
				gen, err := k.Open(w.t.Context(), define(t, k, "orders", `{"layout":"rollback"}`))
				if err != nil { // a fixed worker id of a shared store is held until its slice ends
					continue
				}
				g := gen.(*Generator)
				for range 3 {
					r, err := g.Next(w.t.Context(), 1)
					if err != nil {
						break
					}
					if seen[r.First] {
						t.Fatalf("start %d gave %d again", i, r.First)
					}
					seen[r.First] = true
					if why := coveredRewound(w.store, g, r); why != "" {
						t.Fatal(why)
					}
				}
			}
			if len(seen) < 3 {
				t.Errorf("%d ids", len(seen))
			}
		})
	}
}

func TestRollbackBitsReturnToZeroWithTheClock(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.open(w.kind(static(7)), "orders", `{"layout":"rollback"}`)
		first, _ := w.rewound1(g)
		w.clock.Step(-time.Minute)
		if _, bits := w.rewound1(g); bits != 1 {
			t.Fatalf("rollback %d", bits)
		}
		w.clock.Step(2 * time.Minute)
		time.Sleep(3 * time.Second)
		if at, bits := w.rewound1(g); bits != 0 || !at.After(first) {
			t.Errorf("rollback %d at %v", bits, at)
		}
	})
}

func TestRollbackBitsNeedTheirField(t *testing.T) {
	o, err := builtKind.Normalize(json.RawMessage(`{"bits":"time 41, worker 8, rollback 2, sequence 12"}`))
	if err != nil {
		t.Fatal(err)
	}
	var stored Options
	if err := json.Unmarshal(o, &stored); err != nil || stored.OnRollback != Bits {
		t.Errorf("a layout with a rollback field has on_rollback %q (%v)", stored.OnRollback, err)
	}
}

// Whatever clocks, stores and restarts do, no id of a name with rollback bits
// comes twice, and each lies inside an acknowledged reservation.
func TestNoScheduleRepeatsAnIDWithRollbackBits(t *testing.T) {
	drawn, raised := int64(0), 0
	generatortest.CheckInBubbles(t, func(t *rapid.T) {
		s := &schedule{t: t, exclusive: rapid.Bool().Draw(t, "embedded store"), clock: generatortest.NewClock(start), names: []string{"bits"}}
		s.store = generatortest.NewFaulty(memory.New(memory.Config{Exclusive: s.exclusive, Clock: s.clock}))
		defer func() {
			s.store.Clear()
			s.end(false)
		}()
		for range rapid.IntRange(3, 30).Draw(t, "events") {
			s.event()
		}
		if err := s.log.Check(); err != nil {
			t.Fatal(err)
		}
		drawn += s.log.Len()
		raised += s.raised
	})
	if drawn == 0 || raised == 0 {
		t.Errorf("%d ids, %d of them with rollback bits", drawn, raised)
	}
}
