package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

func TestLibrariesLeaseWorkerIDs(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		inWorld(t, exclusive, func(w *world) {
			p := w.server()
			own := w.open(p)
			time.Sleep(300 * time.Millisecond)
			now := w.now()
			lease := func(holder string) Lease {
				l, err := p.LeaseWorker(w.t.Context(), bits, holder)
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			a, b := lease("a"), lease("b")
			if a.Worker == b.Worker || a.Worker == own.Lease().Worker || b.Worker == own.Lease().Worker {
				t.Fatalf("leases of %d and %d, the server has %d", a.Worker, b.Worker, own.Lease().Worker)
			}
			if a.Lo > now || a.Lo%1000 != 0 || a.Hi%1000 != 0 || a.Hi > now+60_000 || a.Hi < now+58_000 {
				t.Errorf("lease %+v at %d", a, now)
			}
			_, err := p.RenewWorker(w.t.Context(), bits, a.Worker, a.Hi)
			wantErr(t, err, generator.ErrNotNow, "no more is reserved yet")
			time.Sleep(20 * time.Second)
			next, err := p.RenewWorker(w.t.Context(), bits, a.Worker, a.Hi)
			if err != nil || next.Lo != a.Hi || next.Hi < w.now()+58_000 {
				t.Errorf("renewed: %+v, %v", next, err)
			}
			_, err = p.RenewWorker(w.t.Context(), bits, a.Worker, a.Hi)
			wantErr(t, err, generator.ErrNotNow, `"lease `)
			back, err := p.ReleaseWorker(w.t.Context(), bits, b.Worker, b.Hi, w.now())
			if err != nil || back.Hi < w.now() || back.Hi > w.now()+1000 || w.hi(b.Worker) != back.Hi {
				t.Errorf("released: %+v, %v", back, err)
			}
			_, err = p.RenewWorker(w.t.Context(), bits, b.Worker, b.Hi)
			wantErr(t, err, generator.ErrNotNow, "no lease of worker id")
			_, err = p.RenewWorker(w.t.Context(), bits, 77, b.Hi)
			wantErr(t, err, generator.ErrNotNow, "nothing is reserved on it")
			for _, id := range []int64{own.Lease().Worker, -1} {
				if _, err := p.RenewWorker(w.t.Context(), bits, id, own.Lease().Hi); !errors.Is(err, generator.ErrNotNow) {
					t.Errorf("worker id %d is renewed as a lease: %v", id, err)
				}
			}
			// A server that claims anew neither takes a leased id nor follows its time.
			time.Sleep(5 * time.Second)
			successor := w.open(w.server()).Lease()
			if successor.Worker == a.Worker || successor.Lo > w.now() {
				t.Errorf("a new server begins with %+v at %d, leased is %+v", *successor, w.now(), next)
			}
		})
	}
}

func TestLeasesEndWithTheWorkerIDs(t *testing.T) {
	inWorld(t, false, func(w *world) {
		p := w.server()
		for range 2 {
			if _, err := p.LeaseWorker(w.t.Context(), 1, "x"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := p.LeaseWorker(w.t.Context(), 1, "x")
		wantErr(t, err, generator.ErrNotNow, "all 2 worker ids are in use; the first becomes free at")
		time.Sleep(time.Minute)
		if _, err = p.LeaseWorker(w.t.Context(), 1, "x"); err != nil {
			t.Error(err)
		}
	})
}

// Rule R4: two holders cannot have time on one line, however close their calls come.
func TestALineGoesToTheFirstOfTwoThatAskForIt(t *testing.T) {
	// during calls ask, and lets its reservation wait until other has run.
	during := func(w *world, ask func() (Lease, error), other func()) (l Lease, err error) {
		gate, done := make(chan struct{}), make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		go func() {
			defer close(done)
			l, err = ask()
		}()
		synctest.Wait()
		other()
		close(gate)
		<-done
		return l, err
	}
	for _, exclusive := range []bool{true, false} {
		inWorld(t, exclusive, func(w *world) { // a copy of the library renews the same lease
			p := w.server()
			a, err := p.LeaseWorker(w.t.Context(), bits, "a")
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
			renew := func() (Lease, error) { return p.RenewWorker(w.t.Context(), bits, a.Worker, a.Hi) }
			var first Lease
			second, err := during(w, renew, func() {
				if first, err = renew(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			})
			wantErr(t, err, generator.ErrNotNow, "another holder")
			if first.Lo != a.Hi || w.hi(a.Worker) != first.Hi {
				t.Errorf("renewed: %+v and %+v, the line ends at %d", first, second, w.hi(a.Worker))
			}
		})
		inWorld(t, exclusive, func(w *world) { // a server claims the worker id that a library is to get
			p := w.server()
			var own Lease
			l, err := during(w, func() (Lease, error) { return p.LeaseWorker(w.t.Context(), bits, "a") },
				func() { own = *w.open(p).Lease() })
			if err != nil || l.Worker == own.Worker || w.hi(own.Worker) != own.Hi {
				t.Errorf("leased: %+v, %v; the server has %+v, and its line ends at %d", l, err, own, w.hi(own.Worker))
			}
			m, _, err := w.store.Mark(w.t.Context(), p.library(bits).key(own.Worker))
			if _, _, leased := libraryOwner(m.Owner); err != nil || exclusive && leased {
				t.Errorf("the server's line looks leased: %+v, %v", m, err)
			}
		})
	}
}

// Servers and libraries issue ids with worker ids of two bits, each by a clock of its
// own: none has a millisecond of a worker id that another had.
func TestLibrariesAndServersNeverShareTime(t *testing.T) {
	generatortest.CheckInBubbles(t, func(t *rapid.T) {
		exclusive := rapid.Bool().Draw(t, "embedded store")
		store := generatortest.NewFaulty(memory.New(memory.Config{Exclusive: exclusive, Clock: generatortest.NewClock(start)}))
		type moment struct{ worker, ms int64 }
		used := map[moment]int{}
		use := func(who int, worker, ms int64) {
			if other, again := used[moment{worker, ms}]; again && other != who {
				t.Fatalf("%d and %d stamp worker id %d at %d", who, other, worker, ms)
			}
			used[moment{worker, ms}] = who
		}
		type library struct {
			who    int
			clock  *generatortest.Clock
			leases []Lease
			newest int64
		}
		var servers []*Pools
		var libraries []*library
		clocks := []*generatortest.Clock{}
		defer func() {
			store.Clear()
			for _, p := range servers {
				crash(p)
			}
		}()
		ctx := context.Background()
		whos := 0
		var all []held
		seen := map[int]*Lease{} // of the servers
		hold := func(who int, lease Lease) {
			wantAcknowledged(t, store, servers[0].library(2), &lease)
			judge(t, all, who, nil, &lease, false)
			all = append(all, held{who, lease})
		}
		newServer := func() {
			clock := generatortest.NewClock(start)
			clocks = append(clocks, clock)
			servers = append(servers, New(Config{Store: store, Clock: clock, Logger: discard}))
		}
		newServer()
		if !exclusive {
			newServer()
		}
		for range rapid.IntRange(10, 60).Draw(t, "events") {
			time.Sleep(time.Duration(rapid.IntRange(0, 15_000).Draw(t, "sleep")) * time.Millisecond)
			at := rapid.IntRange(0, len(servers)-1).Draw(t, "server")
			p := servers[at]
			event := rapid.SampledFrom([]string{"lease", "renew", "renew", "release", "draw", "draw", "draw", "clock", "crash", "fault"}).Draw(t, "event")
			var l *library
			if len(libraries) > 0 {
				l = libraries[rapid.IntRange(0, len(libraries)-1).Draw(t, "library")]
			}
			switch {
			case event == "lease":
				if lease, err := p.LeaseWorker(ctx, 2, "test"); err == nil {
					whos++
					clock := generatortest.NewClock(start)
					clocks = append(clocks, clock)
					libraries = append(libraries, &library{who: whos, clock: clock, leases: []Lease{lease}})
					hold(whos, lease)
				}
			case event == "renew" && l != nil:
				last := l.leases[len(l.leases)-1]
				if lease, err := p.RenewWorker(ctx, 2, last.Worker, last.Hi); err == nil {
					l.leases = append(l.leases, lease)
					hold(l.who, lease)
				}
			case event == "release" && l != nil:
				last := l.leases[len(l.leases)-1]
				_, _ = p.ReleaseWorker(ctx, 2, last.Worker, last.Hi, l.newest+1) // whatever it answers, nothing is used any more
				l.leases = []Lease{{Worker: last.Worker}}
				leave(all, l.who, l.newest+1)
			case event == "clock":
				drawClock(t, clocks[rapid.IntRange(0, len(clocks)-1).Draw(t, "clock of")])
			case event == "crash":
				crash(p)
				clocks = append(clocks, generatortest.NewClock(start))
				servers[at] = New(Config{Store: store, Clock: clocks[len(clocks)-1], Logger: discard})
			case event == "fault":
				drawFault(t, store)
			}
			for _, l := range libraries {
				now := l.clock.Wall() / 1e6
				for _, lease := range l.leases {
					if now >= max(lease.Lo, l.newest) && now < lease.Hi {
						use(l.who, lease.Worker, now)
						l.newest = now
					}
				}
			}
			for i, p := range servers {
				short, cancel := context.WithTimeout(ctx, 20*time.Second)
				pool, err := p.Open(short, Width{Worker: 2}, time.Millisecond)
				if err == nil {
					now, lease := pool.Now()/1000, pool.Lease()
					if lease != seen[i] {
						hold(-1-i, *lease)
						seen[i] = lease
					}
					if now >= lease.Lo && now < lease.Hi {
						use(-1-i, lease.Worker, now) // what a server's successor may not have is the concern of another test
					}
				}
				cancel()
			}
		}
	})
}
