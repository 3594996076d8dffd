package worker

import (
	"context"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

// What a store that goes back forgets must be over when the servers have
// waited for a slice and the skew of their clocks. So no slice may reach
// further, also when the line was pushed ahead: by answers that were lost, or
// by another server with the same planned worker id.
func TestNoSliceReachesFurtherThanServersWait(t *testing.T) {
	for _, change := range []func(*Config){func(*Config) {}, static(7)} {
		inWorld(t, false, func(w *world) {
			p := w.open(w.server(change))
			id := p.Lease().Worker
			near := func() {
				t.Helper()
				if ahead := p.Lease().Hi - w.now(); ahead > 61_000 {
					t.Fatalf("the slice reaches %d ms ahead", ahead)
				}
			}
			w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailAfter(nil))
			for range 600 {
				use(p, time.Second)
				_ = p.Extend(w.t.Context(), p.Lease().Hi) // no answer comes
			}
			if ahead := w.hi(id) - w.now(); ahead > 61_000 {
				t.Errorf("lost answers have pushed the line %d ms ahead: a planned worker id waits for that long", ahead)
			}
			near()
			w.store.Clear()
			for range 120 {
				_ = p.Extend(w.t.Context(), max(p.Lease().Hi, w.now()))
				near()
				time.Sleep(time.Second)
			}
			if l := p.Lease(); l.Hi <= w.now() {
				t.Errorf("no slice two minutes after the answers came again: %+v at %d", *l, w.now())
			}
		})
		inWorld(t, false, func(w *world) {
			p := w.open(w.server(change))
			old := p.Lease()
			w.store.Inject(generatortest.Reserve, 1, generatortest.FailAfter(nil))
			_ = p.Extend(w.t.Context(), old.Hi)
			w.taken(old.Worker, 0, 10*time.Minute) // the gap is not our own alone
			err := p.Extend(w.t.Context(), old.Hi)
			if l := p.Lease(); l.Hi > w.now()+61_000 {
				t.Fatalf("lease %+v at %d", *l, w.now())
			}
			if l := p.Lease(); err == nil && l.Worker == old.Worker {
				t.Errorf("lease %+v on a line that others have pushed ahead", *l)
			}
			if p.wish.Firm {
				wantErr(t, err, generator.ErrNotNow, "reserved until", "lost")
			}
		})
	}
}

// TestAClockThatIsSetBackDuringAClaim is the same to a server as one that is
// set back a moment later: its ids go on.
func TestAClockThatIsSetBackDuringAClaim(t *testing.T) {
	for _, change := range []func(*Config){func(*Config) {}, static(7)} {
		for _, during := range []bool{true, false} {
			inWorld(t, false, func(w *world) {
				if during {
					w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error {
						w.clock.Step(-time.Hour)
						return call(ctx)
					})
				}
				p := w.open(w.server(change))
				if !during {
					w.clock.Step(-time.Hour)
				}
				first := p.Lease().Worker
				for range 300 {
					if err := p.Extend(w.t.Context(), max(p.Lease().Hi, p.Now()/1000)); err != nil {
						t.Fatalf("during the claim %t: %v", during, err)
					}
					if far := p.Furthest(); far < p.Now()/1000 {
						t.Fatalf("during the claim %t: nothing may be reserved that is further than %v behind our time",
							during, time.Duration(p.Now()/1000-far)*time.Millisecond)
					}
					time.Sleep(time.Second)
				}
				if now := p.Lease().Worker; now != first {
					t.Errorf("during the claim %t: worker id %d became %d", during, first, now)
				}
			})
		}
	}
}

func TestTicksThatNoSliceHoldsAreRefused(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		inWorld(t, exclusive, func(w *world) {
			s := w.server()
			_, err := s.Open(w.t.Context(), Width{Worker: bits}, time.Minute)
			_, strict := s.Strict(w.t.Context(), Width{Worker: bits}, time.Minute, start)
			if exclusive { // no server waits for its slices
				if err != nil || strict != nil {
					t.Fatal(err, strict)
				}
				return
			}
			wantErr(t, err, generator.ErrOption, "too short")
			wantErr(t, strict, generator.ErrOption, "too short")
			if _, err := s.Open(w.t.Context(), Width{Worker: bits}, 30*time.Second); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestStrictGrantsReachNoFurtherThanServersWait(t *testing.T) {
	inWorld(t, false, func(w *world) {
		s, err := w.server().Strict(w.t.Context(), Width{Worker: bits}, time.Second, start)
		if err != nil {
			t.Fatal(err)
		}
		w.store.Inject(generatortest.Reserve, 3, generatortest.FailAfter(nil))
		for range 10 {
			l, err := s.Grant(w.t.Context(), time.Hour, 0)
			if err == nil && l.Hi > w.now()+62_000 {
				t.Errorf("a grant %+v at %d", *l, w.now())
			}
		}
	})
}
