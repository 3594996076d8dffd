package worker

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

// wishes is a Source that says the same to everybody, or a list in turn.
type wishes struct {
	mu   sync.Mutex
	list []Wish
	err  error
	n    int
}

func (s *wishes) Wish(context.Context, Width) (Wish, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return Wish{}, s.err
	}
	s.n++
	return s.list[min(s.n, len(s.list))-1], nil
}

func (*wishes) String() string { return "wishes" }

func from(s Source) func(*Config) { return func(c *Config) { c.Source = s } }

// TestTwoServersWithOneWish: whatever a source says, the store gives the id
// to one of them only, also when both ask in the same moment.
func TestTwoServersWithOneWish(t *testing.T) {
	for _, together := range []bool{false, true} {
		inWorld(t, false, func(w *world) {
			source := &wishes{list: []Wish{{ID: 7, Note: "both would have been 7"}}}
			servers := []*Pools{w.server(from(source)), w.server(from(source))}
			gate := make(chan struct{})
			if together { // both have seen that the id is free
				w.store.Inject(generatortest.Reserve, 2, generatortest.Wait(gate))
			}
			pools := make([]*Pool, 2)
			var work sync.WaitGroup
			for i, s := range servers {
				work.Go(func() { pools[i] = w.open(s) })
			}
			synctest.Wait()
			close(gate)
			work.Wait()
			a, b := pools[0].Lease().Worker, pools[1].Lease().Worker
			if a == b || a != 7 && b != 7 {
				t.Errorf("the servers are %d and %d", a, b)
			}
			for _, p := range pools {
				if l := p.Lease(); l.Lo > w.now() {
					t.Errorf("a slice in the future: %+v", *l)
				}
			}
			w.wantLog("would like to have is taken", "both would have been 7", "source=wishes")
		})
	}
}

// TestOneFirmWishOfTwoServersIsRefused: the second server waits for no longer
// than StartWait, and gets the id when the first is gone.
func TestOneFirmWishOfTwoServersIsRefused(t *testing.T) {
	inWorld(t, false, func(w *world) {
		first := w.server(static(7), func(c *Config) { c.Owner = "the first server" })
		pool := w.open(first)
		second := w.server(static(7))
		for range 3 { // the first one renews meanwhile
			_, err := second.Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
			wantErr(t, err, generator.ErrNotNow, "worker id 7 is held by another server (the first server) until")
			time.Sleep(time.Minute)
		}
		pool.Leave(0)
		if err := first.Close(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if l := w.open(second).Lease(); l.Worker != 7 || l.Lo < pool.Lease().Lo {
			t.Errorf("after the first server stopped: %+v", *l)
		}
	})
}

// TestWishesThatComeRound: the source is asked again while what it says is
// taken, and in the end any id will do.
func TestWishesThatComeRound(t *testing.T) {
	inWorld(t, false, func(w *world) {
		for id := range int64(3) {
			w.taken(id, w.now(), time.Minute)
		}
		source := &wishes{list: []Wish{{ID: 0, Again: true}, {ID: 1, Again: true}, {ID: 5, Again: true}}}
		if l := w.open(w.server(from(source))).Lease(); l.Worker != 5 {
			t.Errorf("worker id %d, want 5", l.Worker)
		}
		source = &wishes{list: []Wish{{ID: 0, Again: true}}}
		if l := w.open(w.server(from(source))).Lease(); l.Worker != 3 || source.n != maxWishes {
			t.Errorf("worker id %d after %d wishes", l.Worker, source.n)
		}
	})
}

// TestAWishIsGivenUpForAnotherHolder: who took the id from us meanwhile has it.
func TestAWishIsGivenUpForAnotherHolder(t *testing.T) {
	inWorld(t, false, func(w *world) {
		source := &wishes{list: []Wish{{ID: 7}}}
		pool := w.open(w.server(from(source)))
		w.taken(7, pool.Lease().Hi, time.Minute)
		if err := pool.Extend(w.t.Context(), pool.Lease().Hi); err != nil {
			t.Fatal(err)
		}
		if l := pool.Lease(); l.Worker == 7 {
			t.Errorf("still worker id 7: %+v", *l)
		}
	})
}

func TestWishesOutsideTheWidth(t *testing.T) {
	inWorld(t, false, func(w *world) {
		source := &wishes{list: []Wish{{ID: 1 << bits}}}
		if l := w.open(w.server(from(source))).Lease(); l.Worker != 0 {
			t.Errorf("a wish that does not fit: worker id %d", l.Worker)
		}
		away := &wishes{err: &generator.Error{Kind: generator.ErrNotNow, Message: "away"}}
		s := w.server(from(away))
		if _, err := s.Open(w.t.Context(), Width{Worker: bits}, time.Millisecond); !errors.Is(err, generator.ErrNotNow) {
			t.Errorf("a source that fails: %v", err)
		}
		away.err, away.list = nil, []Wish{{ID: 9}}
		if l := w.open(s).Lease(); l.Worker != 9 {
			t.Errorf("when it is back: worker id %d", l.Worker)
		}
	})
}

// TestPairsAreOfALayout: datacenter 3, worker 7 is one id in 5+5 bits and
// another in 4+6, and a server that uses both layouts holds both.
func TestPairsAreOfALayout(t *testing.T) {
	inWorld(t, false, func(w *world) {
		s := w.server(from(pair{}))
		for _, c := range []struct {
			width Width
			want  int64
		}{{Width{5, 5}, 3<<5 | 7}, {Width{4, 6}, 3<<6 | 7}, {Width{5, 5}, 3<<5 | 7}} {
			pool, err := s.Open(w.t.Context(), c.width, time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if l := pool.Lease(); l.Worker != c.want {
				t.Errorf("%v: worker id %d, want %d", c.width, l.Worker, c.want)
			}
		}
		if held := s.Held(); len(held) != 2 || held[0].Worker != 103 || held[1].Worker != 199 {
			t.Errorf("held: %+v", held)
		}
	})
}

type pair struct{}

func (pair) Wish(_ context.Context, w Width) (Wish, error) {
	return Wish{ID: 3<<w.Worker | 7, Firm: true}, nil
}

func (pair) String() string { return "3/7" }
