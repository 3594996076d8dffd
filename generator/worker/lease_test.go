package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

// use wakes the pool as a busy generator does, every 10 ms for d.
func use(p *Pool, d time.Duration) {
	for end := p.pools.cfg.Clock.Monotonic() + d; p.pools.cfg.Clock.Monotonic() < end; {
		if p.Now() >= p.Lease().Soon*1000 {
			p.Wake()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestABusyPoolExtendsItsSliceWithoutAGap(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		inWorld(t, exclusive, func(w *world) {
			p := w.open(w.server())
			first := p.Lease()
			for range 30 {
				use(p, time.Second)
				if l := p.Lease(); l.Hi <= w.now() {
					t.Fatalf("the slice ended at %d, now is %d", l.Hi, w.now())
				}
			}
			l := p.Lease()
			if l.Worker != first.Worker || l.Lo != first.Lo {
				t.Errorf("lease %+v does not go on from %+v", *l, *first)
			}
			if l.Hi != w.hi(l.Worker) || l.Hi > w.now()+w.pools[0].cfg.Slice.Milliseconds() {
				t.Errorf("the lease ends at %d, the store says %d, now is %d", l.Hi, w.hi(l.Worker), w.now())
			}
			if n := w.store.Calls(generatortest.Reserve); n > 32 {
				t.Errorf("%d reservations in 30 s", n)
			}
		})
	}
}

func TestAnIdleEmbeddedServerWritesNothing(t *testing.T) {
	inWorld(t, true, func(w *world) {
		p := w.open(w.server())
		before := w.store.Calls(generatortest.Reserve)
		time.Sleep(time.Hour)
		if n := w.store.Calls(generatortest.Reserve) - before; n != 0 {
			t.Errorf("%d reservations in an idle hour", n)
		}
		old := p.Lease()
		if err := p.Extend(w.t.Context(), w.now()); err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Lo != w.now() || l.Hi != w.now()+3000 || l.Worker != old.Worker {
			t.Errorf("lease %+v after an idle hour, want a new slice from %d", *l, w.now())
		}
	})
}

func TestAnIdleServerOfASharedStoreKeepsItsWorkerID(t *testing.T) {
	inWorld(t, false, func(w *world) {
		p := w.open(w.server(static(7)))
		for range 100 {
			time.Sleep(time.Minute)
			if l := p.Lease(); l.Hi <= w.now() || l.Worker != 7 {
				t.Fatalf("lease %+v at %d: the id looks unused", *l, w.now())
			}
			if ahead := w.hi(7) - w.now(); ahead > 61_000 {
				t.Fatalf("the line reaches %d ms ahead: a crash would block the id for that long", ahead)
			}
		}
	})
}

// Rule R3: an answer that was lost is as if nothing had been gained.
func TestLostAnswersAreNeverUsed(t *testing.T) {
	for what, fault := range map[string]generatortest.Fault{
		"failed": generatortest.FailBefore(nil), "lost": generatortest.FailAfter(nil),
		"hung": generatortest.Hang(), "late": generatortest.HangAfter(),
	} {
		for _, exclusive := range []bool{true, false} {
			t.Run(what, func(t *testing.T) {
				inWorld(t, exclusive, func(w *world) {
					p := w.open(w.server())
					old := p.Lease()
					w.store.Inject(generatortest.Reserve, 1, fault)
					if err := p.Extend(w.t.Context(), old.Hi); err == nil {
						t.Fatal("extended without an answer")
					}
					if p.Lease() != old {
						t.Fatalf("lease %+v after a lost answer, had %+v", *p.Lease(), *old)
					}
					if err := p.Extend(w.t.Context(), old.Hi); err != nil {
						t.Fatal(err)
					}
					wantGranted(w, p.Lease())
					if l := p.Lease(); l.Worker != old.Worker {
						t.Errorf("took the gap of its own lost slice for another server's: worker %d, had %d", l.Worker, old.Worker)
					}
				})
			})
		}
	}
}

// wantGranted checks that every millisecond of a lease was acknowledged.
func wantGranted(w *world, l *Lease) {
	w.t.Helper()
	at := l.Lo
	for _, g := range w.store.Grants() {
		if strings.HasSuffix(g.Key, "/"+string(rune('0'+l.Worker))) && g.Lo <= at && at < g.Hi {
			at = g.Hi
		}
	}
	if at < l.Hi {
		w.t.Errorf("lease %+v is only granted to %d: %+v", *l, at, w.store.Grants())
	}
}

// Rule R4: somebody else has reserved time on our worker id.
func TestAnIDThatAnotherServerUsesIsLeft(t *testing.T) {
	inWorld(t, false, func(w *world) {
		p := w.open(w.server())
		old := p.Lease()
		w.taken(old.Worker, old.Hi, time.Minute)
		if err := p.Extend(w.t.Context(), old.Hi); err != nil {
			t.Fatal(err)
		}
		l := p.Lease()
		if l.Worker == old.Worker {
			t.Errorf("still on worker id %d", l.Worker)
		}
		if l.Lo < old.Hi {
			t.Errorf("the new slice begins at %d, inside the old one to %d: ids of a name would fall", l.Lo, old.Hi)
		}
		if got, want := w.hi(old.Worker), old.Hi+60_000; got != want {
			t.Errorf("the other server's line ends at %d, want %d: our grant was not given back", got, want)
		}
		w.wantLog("in use by another server")
	})
	inWorld(t, false, func(w *world) {
		p := w.open(w.server(static(7)))
		old := p.Lease()
		w.taken(7, old.Hi, 100*time.Millisecond)
		if err := p.Extend(w.t.Context(), old.Hi); err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Worker != 7 || l.Lo != old.Hi+100 {
			t.Errorf("static id: lease %+v, want worker 7 behind the other server's slice", *l)
		}
	})
}

func TestTheSliceOutlastsAStoreThatIsAwayAndGoesOnWithoutARestart(t *testing.T) {
	inWorld(t, false, func(w *world) {
		p := w.open(w.server())
		old := p.Lease()
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailBefore(nil))
		use(p, 55*time.Second)
		if p.Lease() != old {
			t.Fatalf("lease %+v without a store", *p.Lease())
		}
		if err := p.Extend(w.t.Context(), old.Hi); err == nil {
			t.Fatal("extended without a store")
		}
		if n := strings.Count(w.log.String(), "cannot extend"); n < 1 || n > 8 {
			t.Errorf("%d log lines in 55 s", n)
		}
		w.store.Clear()
		time.Sleep(2 * retryMost)
		if l := p.Lease(); l == old || l.Hi < w.now() {
			t.Errorf("lease %+v long after the store came back at %d", *l, w.now())
		}
		wantGranted(w, p.Lease())
	})
}

func TestCallersWaitForASlowStoreWithTheirContext(t *testing.T) {
	inWorld(t, false, func(w *world) {
		p := w.open(w.server())
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		old := p.Lease()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if err := p.Extend(ctx, old.Hi); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v, want the context's", err)
		}
		done := make(chan error, 1)
		go func() { done <- p.Extend(w.t.Context(), old.Hi) }()
		synctest.Wait()
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Lo != old.Lo || l.Hi <= old.Hi {
			t.Errorf("lease %+v: the slow answer was thrown away", *l)
		}
	})
}

// Rule R6.
func TestCloseGivesBackUnusedTime(t *testing.T) {
	inWorld(t, true, func(w *world) {
		s := w.server()
		p := w.open(s)
		w.open(s)
		p.Leave(w.now() + 100)
		p.Leave(w.now() + 50)
		if p.UsedUntil() != w.now()+100 {
			t.Errorf("used until %d, want %d", p.UsedUntil(), w.now()+100)
		}
		if err := s.Close(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := w.hi(0), w.now()+100; got != want {
			t.Errorf("the line ends at %d after a clean stop, want %d", got, want)
		}
		time.Sleep(100 * time.Millisecond)
		if l := w.open(w.server()).Lease(); l.Lo != w.now() {
			t.Errorf("the next server starts at %d, now is %d", l.Lo, w.now())
		}
	})
}

func TestCloseKeepsTheSliceOfAGeneratorThatMayStillStamp(t *testing.T) {
	inWorld(t, true, func(w *world) {
		s := w.server()
		p := w.open(s)
		w.open(s)
		p.Leave(w.now() + 1)
		hi := p.Lease().Hi
		if err := s.Close(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.hi(0); got != hi {
			t.Errorf("the line ends at %d, but a generator may stamp until %d", got, hi)
		}
	})
}

func TestClosedPoolsClaimAndExtendNothing(t *testing.T) {
	inWorld(t, true, func(w *world) {
		s := w.server()
		p := w.open(s)
		if err := s.Close(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		before := w.store.Calls(generatortest.Reserve)
		wantErr(t, p.Extend(w.t.Context(), p.Lease().Hi), generator.ErrNotNow)
		for _, width := range []uint8{bits, bits + 1} {
			_, err := s.Open(w.t.Context(), Width{Worker: width}, time.Millisecond)
			wantErr(t, err, generator.ErrNotNow)
		}
		p.Wake()
		time.Sleep(time.Minute)
		if n := w.store.Calls(generatortest.Reserve); n != before {
			t.Errorf("%d reservations after Close", n-before)
		}
	})
}

func TestStampedBoundsEverythingBefore(t *testing.T) {
	stamped := func(w *world, s *Pools) int64 {
		w.t.Helper()
		ms, err := s.IssuedUntil(w.t.Context(), Width{Worker: bits}, time.Now())
		if err != nil {
			w.t.Fatal(err)
		}
		return ms
	}
	inWorld(t, true, func(w *world) {
		first := w.server()
		if ms := stamped(w, first); ms > 0 {
			t.Errorf("an empty store: stamped until %d", ms)
		}
		hi := w.open(first).Lease().Hi
		crash(first)
		second := w.server()
		if ms := stamped(w, second); ms != hi {
			t.Errorf("before the claim: stamped until %d, the crashed server may have until %d", ms, hi)
		}
		p := w.open(second)
		if ms := stamped(w, second); ms != p.Lease().Lo {
			t.Errorf("after the claim: stamped until %d, want our beginning %d", ms, p.Lease().Lo)
		}
		p.Leave(p.Lease().Lo + 77)
		if ms := stamped(w, second); ms != p.Lease().Lo+77 {
			t.Errorf("stamped until %d, a generator left at %d", ms, p.Lease().Lo+77)
		}
	})
	inWorld(t, false, func(w *world) {
		p := w.open(w.server())
		s := w.server()
		w.open(s)
		if ms := stamped(w, s); ms < p.Lease().Hi {
			t.Errorf("stamped until %d, another server may stamp until %d", ms, p.Lease().Hi)
		}
	})
}

// TestWhyThereIsNoSliceIsKnown: a server whose slice is over says what the store
// answers, until it has one again.
func TestWhyThereIsNoSliceIsKnown(t *testing.T) {
	inWorld(t, false, func(w *world) {
		s := w.server()
		p := w.open(s)
		why := &generator.Error{Kind: generator.ErrNotNow, Message: "no worker id before noon"}
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailBefore(why))
		use(p, time.Second)
		if err := s.Refused(); err != nil {
			t.Errorf("while a slice is in hand: %v", err)
		}
		use(p, time.Minute)
		if err := s.Refused(); !errors.Is(err, why) {
			t.Errorf("without a slice: %v, want %v", err, why)
		}
		w.store.Clear()
		use(p, time.Minute)
		if err := s.Refused(); err != nil {
			t.Errorf("with a slice again: %v", err)
		}
	})
}
