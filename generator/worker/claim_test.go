package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

func TestClaimReservesASliceFromNowOn(t *testing.T) {
	for _, c := range []struct {
		exclusive bool
		slice     time.Duration
	}{{true, 3 * time.Second}, {false, time.Minute}} {
		inWorld(t, c.exclusive, func(w *world) {
			l := w.open(w.server()).Lease()
			if l.Worker != 0 || l.Lo != w.now() || l.Hi != w.now()+c.slice.Milliseconds() {
				t.Errorf("exclusive %v: lease %+v, want worker 0 for %v from %d", c.exclusive, *l, c.slice, w.now())
			}
			if l.Hi != w.hi(0) {
				t.Errorf("the lease ends at %d, the store says %d", l.Hi, w.hi(0))
			}
		})
	}
}

// lossy is a store that may lose claims, with a clock of its own.
type lossy struct{ now func() time.Time }

func (l lossy) Time(context.Context) (earliest, latest time.Time, err error) {
	return l.now(), l.now(), nil
}

func (lossy) EarliestTime(context.Context, int64) (int64, error) { return 0, nil }

// TestAClockThatJumpedAheadClaimsNothing: the ids of a claim that a failover loses must
// lie in time that is over when the next servers claim.
func TestAClockThatJumpedAheadClaimsNothing(t *testing.T) {
	inWorld(t, false, func(w *world) {
		ahead := 4 * time.Second
		store := lossy{func() time.Time { return time.UnixMilli(w.now()).Add(-ahead) }}
		s := w.server(func(c *Config) { c.Grants, c.Keeper, c.ClockLimit = store, store, 5*time.Second })
		ahead = 8 * time.Second
		_, err := s.Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
		wantErr(t, err, generator.ErrNotNow, "8s ahead")
		ahead = -time.Hour
		l := w.open(s).Lease()
		ahead = time.Hour // of a server that has a worker id
		time.Sleep(time.Minute)
		if now := w.open(s).Lease(); now.Worker != l.Worker || now.Hi <= l.Hi {
			t.Errorf("%+v after %+v", now, l)
		}
	})
}

func TestServersOfOneStoreGetDifferentWorkerIDs(t *testing.T) {
	inWorld(t, false, func(w *world) {
		const servers = 16
		pools := make([]*Pool, servers)
		var wg sync.WaitGroup
		for i := range servers {
			s := w.server()
			wg.Go(func() {
				pool, err := s.Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
				if err != nil {
					t.Error(err)
					return
				}
				pools[i] = pool
			})
		}
		wg.Wait()
		seen := map[int64]bool{}
		for _, p := range pools {
			if l := p.Lease(); seen[l.Worker] {
				t.Errorf("worker id %d was claimed twice", l.Worker)
			} else {
				seen[l.Worker] = true
			}
		}
	})
}

func TestAutoTakesTheLeastRecentlyUsedFreeID(t *testing.T) {
	inWorld(t, false, func(w *world) {
		w.taken(0, w.now()-9_000, time.Second)
		w.taken(2, w.now()-9_000, time.Second)
		if l := w.open(w.server()).Lease(); l.Worker != 1 {
			t.Errorf("claimed %d, want 1, which was never used", l.Worker)
		}
	})
	inWorld(t, false, func(w *world) {
		for id, age := range []int64{5000, 8000, -1000, 7000} {
			w.taken(int64(id), w.now()-age-1000, time.Second)
		}
		p, err := w.server().Open(w.t.Context(), Width{Worker: 2}, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Worker != 0 {
			t.Errorf("another width: claimed %d, want 0", l.Worker)
		}
	})
	inWorld(t, false, func(w *world) {
		for id, age := range []int64{5000, 8000, -1000, 7000} {
			_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{
				Key:     "worker/2/" + string(rune('0'+id)),
				AtLeast: w.now() - age - 1000, N: 1000, Limit: generator.NoLimit,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		p, err := w.server().Open(w.t.Context(), Width{Worker: 2}, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Worker != 1 {
			t.Errorf("claimed %d, want 1, which was used longest ago", l.Worker)
		}
	})
}

func TestWideWorkerFieldsReuseOldIDs(t *testing.T) {
	inWorld(t, false, func(w *world) {
		for id := range int64(manyIDs) {
			w.taken(id, w.now()-100_000-(id*7)%manyIDs, time.Second) // id 585 is the oldest: 585·7 mod 1024 = 1023
		}
		pools := w.server()
		for id := range int64(manyIDs) { // the same marks for a width of 22 bits
			_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{
				Key:     newPool(pools, Width{Worker: 22}, Wish{}).key(id),
				AtLeast: w.hi(id) - 1, N: 1, Limit: generator.NoLimit,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		p, err := pools.Open(w.t.Context(), Width{Worker: 22}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Worker != 585 {
			t.Errorf("claimed %d, want 585, which was used longest ago", l.Worker)
		}
	})
}

func TestStaticWorkerID(t *testing.T) {
	t.Run("is claimed and no other", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			if l := w.open(w.server(static(7))).Lease(); l.Worker != 7 {
				t.Errorf("claimed %d, want 7", l.Worker)
			}
		})
	})
	t.Run("must fit the layout", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			_, err := w.server(static(1<<bits)).Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
			wantErr(t, err, generator.ErrOption, "1024", "10 worker bits")
		})
	})
	t.Run("is refused while another server holds it", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			w.open(w.server(static(7)))
			began := w.clock.Monotonic()
			_, err := w.server(static(7)).Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
			wantErr(t, err, generator.ErrNotNow, "worker id 7", "2026-11-21T08:01:00Z")
			if waited := w.clock.Monotonic() - began; waited > 15*time.Second {
				t.Errorf("refused after %v", waited)
			}
		})
	})
	t.Run("is waited for when it frees soon", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			w.taken(7, w.now(), 14*time.Second)
			free := w.hi(7)
			l := w.open(w.server(static(7))).Lease()
			if l.Worker != 7 || l.Lo < free || w.now() != free {
				t.Errorf("lease %+v at %d, want worker 7 from %d on", *l, w.now(), free)
			}
		})
	})
	t.Run("is refused when another server takes it in the same moment", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error {
				w.taken(7, w.now(), time.Minute)
				return call(ctx)
			})
			_, err := w.server(static(7)).Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
			wantErr(t, err, generator.ErrNotNow, "worker id 7", "2026-11-21T08:01:00Z")
			if got, want := w.hi(7), w.now()+60_000; got != want {
				t.Errorf("the line ends at %d: the slice was not given back (want %d)", got, want)
			}
		})
	})
	t.Run("works at once after a crash on an embedded store", func(t *testing.T) {
		inWorld(t, true, func(w *world) {
			first := w.server(static(7))
			hi := w.open(first).Lease().Hi
			crash(first)
			if l := w.open(w.server(static(7))).Lease(); l.Lo != hi || w.clock.Monotonic() != 0 {
				t.Errorf("lease %+v after %v, want one from %d at once", *l, w.clock.Monotonic(), hi)
			}
		})
	})
}

func TestAllWorkerIDsTaken(t *testing.T) {
	fill := func(w *world, d time.Duration) *Pools {
		for id := range 2 {
			_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{
				Key:     "worker/1/" + string(rune('0'+id)),
				AtLeast: w.now() + int64(id), N: d.Milliseconds(), Limit: generator.NoLimit,
			})
			if err != nil {
				w.t.Fatal(err)
			}
		}
		return w.server()
	}
	t.Run("a claim waits for the first to become free", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			p, err := fill(w, 10*time.Second).Open(w.t.Context(), Width{Worker: 1}, time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if l := p.Lease(); l.Worker != 0 || w.clock.Monotonic() != 10*time.Second {
				t.Errorf("claimed %d after %v, want 0 after 10 s", l.Worker, w.clock.Monotonic())
			}
		})
	})
	t.Run("and says when it will work if that is long", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			_, err := fill(w, 20*time.Second).Open(w.t.Context(), Width{Worker: 1}, time.Millisecond)
			wantErr(t, err, generator.ErrNotNow, "all 2 worker ids", "2026-11-21T08:00:20Z")
		})
	})
	t.Run("a caller can leave earlier", func(t *testing.T) {
		inWorld(t, false, func(w *world) {
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
			defer cancel()
			if _, err := fill(w, 10*time.Second).Open(ctx, Width{Worker: 1}, time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the context's", err)
			}
		})
	})
}

// Rule R1 on an embedded store: whatever the clock says, nothing that was
// stamped before is stamped again, and no draw waits.
func TestEmbeddedStoreClaimsAboveEverythingBefore(t *testing.T) {
	for _, step := range []time.Duration{0, -time.Second, -time.Hour, -10 * 365 * 24 * time.Hour} {
		inWorld(t, true, func(w *world) {
			first := w.server()
			hi := w.open(first).Lease().Hi
			crash(first)
			w.clock.Step(step)
			second := w.server()
			l := w.open(second).Lease()
			if l.Lo < hi {
				t.Errorf("step %v: slice from %d, the crashed server's reached to %d", step, l.Lo, hi)
			}
			if now := second.time.now() / 1000; now < hi {
				t.Errorf("step %v: our time is %d, before %d", step, now, hi)
			}
			if n := l.Hi - l.Lo; n > minPiece.Milliseconds() {
				t.Errorf("step %v: reserved %d ms although ahead of the clock", step, n)
			}
			w.wantLog("ahead of the clock")
		})
	}
}

func TestCrashLoopDoesNotRunFarAhead(t *testing.T) {
	inWorld(t, true, func(w *world) {
		for range 200 {
			s := w.server()
			w.open(s)
			crash(s)
			time.Sleep(10 * time.Millisecond)
		}
		if lead := time.Duration(w.hi(199)-w.now()) * time.Millisecond; lead > 3*time.Second+200*minPiece {
			t.Errorf("200 crashes in 2 s took the time line %v ahead", lead)
		}
	})
}

func TestLongTicksGetLongSlices(t *testing.T) {
	inWorld(t, true, func(w *world) {
		first := w.server()
		w.open(first)
		crash(first)
		p, err := w.server().Open(w.t.Context(), Width{Worker: bits}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Hi-l.Lo < 2000 {
			t.Errorf("a slice of %d ms for ticks of 1 s", l.Hi-l.Lo)
		}
	})
}

func TestDamagedTimeLinesAreRefused(t *testing.T) {
	for _, key := range []string{"worker/10/x", "worker/10/-1", "worker/10/1024", "worker/10/"} {
		inWorld(t, true, func(w *world) {
			_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{Key: key, N: 1, Limit: generator.NoLimit})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.server().Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
			wantErr(t, err, generator.ErrRegressed, key)
		})
	}
}

func TestFailedClaimIsTriedAgainAtTheNextUse(t *testing.T) {
	for what, op := range map[string]generatortest.Op{"list": generatortest.Reserved, "reserve": generatortest.Reserve} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, false, func(w *world) {
				s := w.server()
				w.store.Inject(op, 1, generatortest.FailBefore(nil))
				if _, err := s.Open(w.t.Context(), Width{Worker: bits}, time.Millisecond); err == nil {
					t.Fatal("claimed without a store")
				}
				w.open(s)
			})
		})
	}
}

// Two callers claim one id, however many wait.
func TestCallersShareOneClaim(t *testing.T) {
	inWorld(t, false, func(w *world) {
		s := w.server()
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := s.Open(w.t.Context(), Width{Worker: bits}, time.Millisecond); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		if n := w.store.Calls(generatortest.Reserve); n != 1 {
			t.Errorf("%d reservations for one claim", n)
		}
	})
}

// TestWorkerIDsThatRunOut: the log says so from 80 % on.
func TestWorkerIDsThatRunOut(t *testing.T) {
	inWorld(t, false, func(w *world) {
		for i := range 16 {
			p, err := w.server().Open(w.t.Context(), Width{Worker: 4}, time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Contains(w.log.String(), "the worker ids run out"); said != (i+1 >= 13) {
				t.Errorf("with worker id %d and %d in use: said %v", p.Lease().Worker, i+1, said)
			}
		}
		w.wantLog("in_use=13 of=16")
	})
}
