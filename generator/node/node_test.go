package node

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// world is a store and the servers on it, in a bubble of virtual time.
type world struct {
	t     *testing.T
	store *generatortest.Faulty
	all   []*Nodes
}

func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: generatortest.NewFaulty(memory.New(memory.Config{}))}
		defer func() {
			w.store.Clear()
			for _, n := range w.all {
				_ = n.Close(context.Background())
			}
		}()
		f(w)
	})
}

// server starts one whose clock is off by ahead.
func (w *world) server(host string, ahead time.Duration) *Nodes {
	issued := int64(0)
	n := New(Config{
		Store: w.store, Clock: generatortest.NewClock(start.Add(ahead + time.Since(epoch))), Logger: slog.New(slog.DiscardHandler),
		Self: func() generator.Node {
			issued += 1000 // in 10 s
			return generator.Node{Host: host, PID: 1, Version: "1", Ready: true, Issued: issued, Started: start}
		},
	})
	w.all = append(w.all, n)
	synctest.Wait()
	return n
}

// epoch marks where every bubble's time begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func crash(n *Nodes) {
	n.stop()
	n.work.Wait()
}

func (w *world) list(n *Nodes) map[string]generator.Node {
	w.t.Helper()
	list, err := n.List(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	byHost := map[string]generator.Node{}
	for _, one := range list {
		byHost[one.Host] = one
	}
	return byHost
}

func TestServersSeeEachOther(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b, c := w.server("a", 0), w.server("b", 0), w.server("c", 0)
		time.Sleep(35 * time.Second)
		for _, n := range w.all {
			list := w.list(n)
			for i, host := range []string{"a", "b", "c"} {
				one := list[host]
				if one.Number != i || one.State != generator.NodeUp || one.Self != (n == w.all[i]) || !one.Ready {
					t.Errorf("%+v", one)
				}
				if one.Rate < 99 || one.Rate > 101 {
					t.Errorf("%s issues %g ids a second", host, one.Rate)
				}
			}
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
		crash(c)
		if list := w.list(a); list["b"].State != generator.NodeStopped || list["b"].Ready || list["c"].State != generator.NodeUp {
			t.Errorf("at once: %+v", list)
		}
		time.Sleep(lease)
		if list := w.list(a); list["b"].State != generator.NodeStopped || list["c"].State != generator.NodeLost || list["c"].Ready {
			t.Errorf("later: %+v", list)
		}
		w.server("d", 0)
		if list := w.list(a); len(list) != 3 || list["d"].Number != 1 || list["c"].State != generator.NodeLost {
			t.Errorf("a new server: %+v", list)
		}
	})
}

// TestPlacesAreTakenByOneServerEach, also when many come at the same moment
// and when one was away for so long that its place went to another.
func TestPlacesAreTakenByOneServerEach(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 20 {
			w.server("host"+string(rune('a'+i)), 0)
		}
		if list := w.list(w.all[0]); len(list) != 20 {
			t.Errorf("%d servers: %v", len(list), list)
		}
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailAfter(nil)) // each answer is lost
		time.Sleep(2 * lease)
		w.store.Clear()
		time.Sleep(renewEvery)
		list := w.list(w.all[0])
		seen := map[int]bool{}
		for _, one := range list {
			if one.State != generator.NodeUp || seen[one.Number] {
				t.Errorf("after the store was away: %+v", one)
			}
			seen[one.Number] = true
		}
		if len(seen) != 20 {
			t.Errorf("%d servers after the store was away", len(seen))
		}
	})
}

func TestClocksThatDiffer(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.server("a", 0)
		w.server("ahead", time.Minute)
		w.server("behind", -time.Minute)
		time.Sleep(35 * time.Second)
		list := w.list(a)
		for _, host := range []string{"ahead", "behind"} {
			if got := list[host]; got.State != generator.NodeUp {
				t.Errorf("%s is %s", host, got.State)
			}
		}
	})
}

// TestLeavingGivesBackOnlyWhatIsOnesOwn. A server whose clock is ahead takes the
// place of another, has its clock put right, and leaves: the key must not fall
// below what the other one saw of it, which would take that for a store that
// went back.
func TestLeavingGivesBackOnlyWhatIsOnesOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.server("a", 0)
		seen := w.list(a)["a"].Until
		clock := generatortest.NewClock(start.Add(11*time.Minute + time.Since(epoch)))
		b := New(Config{
			Store: w.store, Clock: clock, Logger: slog.New(slog.DiscardHandler),
			Self: func() generator.Node { return generator.Node{Host: "b"} },
		})
		w.all = append(w.all, b)
		synctest.Wait()
		if list := w.list(b); list["b"].Number != 0 {
			t.Fatalf("b did not take the place of a: %+v", list)
		}
		clock.Step(-11 * time.Minute)
		time.Sleep(renewEvery + renewEvery/2) // it writes once more, above what it has
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		m, _, err := w.store.Mark(t.Context(), generator.NodeKeyPrefix+"0")
		if hi := time.UnixMilli(m.Hi); err != nil || hi.Before(seen) {
			t.Errorf("the key stands at %v, a had it until %v (%v)", hi, seen, err)
		}
	})
}

func TestAStoreOfOneProcessListsIt(t *testing.T) {
	n := New(Config{Store: memory.New(memory.Config{Exclusive: true}), Self: func() generator.Node { return generator.Node{Host: "here"} }})
	list, err := n.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Host != "here" || !list[0].Self || list[0].State != generator.NodeUp {
		t.Errorf("%+v, %v", list, err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDescriptionsFitAStore(t *testing.T) {
	long := strings.Repeat("ä", 200)
	ahead := -365 * 24 * time.Hour
	d := describe(generator.Node{
		Host: long, Version: long, Address: long, Workers: long, PID: 1 << 22, Issued: 1 << 62, Ready: true, Started: start, StoreAhead: &ahead,
	}, "3w5e11264sgsf", start.UnixMilli())
	text := d.encode()
	if len(text) > maxOwner {
		t.Errorf("%d bytes", len(text))
	}
	if got := decode(text); got.Issued != 1<<62 || got.Host == "" || got.Instance != d.Instance {
		t.Errorf("%+v", got)
	}
	if got := decode(text).node().StoreAhead; got == nil || *got != ahead {
		t.Errorf("ahead of the store by %v, want %v", got, ahead)
	}
	if got := decode(`{"i":"an older version's"}`).node(); got.StoreAhead != nil {
		t.Errorf("an older version: %+v", got)
	}
	if got := decode("process 7 on x"); got != (description{}) {
		t.Errorf("another text: %+v", got)
	}
}

// broken is a store of one process that works again when it is written.
type broken struct {
	generator.Store

	mu     sync.Mutex
	err    error
	writes int
}

func (b *broken) Probe() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *broken) Reserve(ctx context.Context, r generator.Reservation) (int64, int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writes++; b.writes == 3 {
		b.err = nil
	}
	if b.err != nil {
		return 0, 0, b.err
	}
	return b.Store.Reserve(ctx, r)
}

// state returns how often it was written.
func (b *broken) state(breaks bool) (writes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if breaks {
		b.err = generatortest.ErrUnreachable
	}
	return b.writes
}

func TestAStoreOfOneProcessIsWrittenWhenItFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broken{Store: memory.New(memory.Config{Exclusive: true})}
		n := New(Config{Store: b, Self: func() generator.Node { return generator.Node{} }})
		time.Sleep(time.Minute)
		if writes := b.state(true); writes != 0 {
			t.Errorf("%d writes to a store that works", writes)
		}
		time.Sleep(time.Minute)
		if writes := b.state(false); writes != 3 || b.Probe() != nil {
			t.Errorf("%d writes, %v", writes, b.Probe())
		}
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
