package snowflake

import (
	"context"
	"errors"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/worker"
)

func TestIDsComeFromAcknowledgedSlicesOnlyAndEndWithThem(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.open(w.kind(), "orders", "")
		w.next(g, 1)
		end := time.UnixMilli(g.pool.Lease().Hi).Sub(start)
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailAfter(nil)) // every commit works, every answer is lost
		for {
			time.Sleep(100 * time.Millisecond)
			r, err := g.Next(w.t.Context(), 1)
			if err != nil {
				wantErr(t, err, generator.ErrNotNow)
				break
			}
			w.record(g, r)
		}
		if got := w.elapsed(); got < end-time.Second || got > end+time.Second {
			t.Errorf("issued until +%v, the slice ended at +%v", got, end)
		}
		w.store.Clear()
		time.Sleep(time.Minute)
		w.next(g, 1)
	})
}

func TestAStoreThatHangsIsReportedInTime(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", "")
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.Hang())
		time.Sleep(time.Minute) // the slice is over
		before := w.elapsed()
		if _, err := g.Next(w.t.Context(), 1); err == nil {
			t.Fatal("an id without a slice")
		}
		if got := w.elapsed() - before; got > 6*time.Second {
			t.Errorf("answered after %v", got)
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if _, err := g.Next(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
	})
}

func TestBusyGeneratorsNeverWaitForTheStore(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		inWorld(t, exclusive, func(w *world) {
			k := w.kind()
			a, b := w.open(k, "a", ""), w.open(k, "b", `{"layout":"leaf"}`)
			for range 60_000 {
				time.Sleep(time.Millisecond)
				w.log.Add(history.Event{Name: "a", Range: must(a.Next(w.t.Context(), 1))})
				w.log.Add(history.Event{Name: "b", Range: must(b.Next(w.t.Context(), 1))})
			}
			if n := a.Stats().Waits + b.Stats().Waits; n != 0 {
				t.Errorf("%d waits in a minute", n)
			}
			if n := w.store.Calls(generatortest.Reserve); n > 45 {
				t.Errorf("%d reservations in a minute", n)
			}
		})
	}
}

// Among many names each is drawn from seldom: a draw of one that slept through
// a renewal of the slice must not take the slow path for that.
func TestASeldomNameFollowsTheSliceWithoutWaiting(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.kind()
		busy, seldom := w.open(k, "busy", ""), w.open(k, "seldom", "")
		w.record(seldom, must(seldom.Next(w.t.Context(), 1)))
		for range 3 {
			slept := seldom.window.Load()
			for range 1000 { // ten seconds: longer than any slice of an embedded store
				time.Sleep(10 * time.Millisecond)
				w.record(busy, must(busy.Next(w.t.Context(), 1)))
			}
			r, ok := seldom.TryNext(1)
			if !ok {
				t.Fatal("the slice has changed, and TryNext does not answer")
			}
			w.record(seldom, r)
			if seldom.window.Load() == slept {
				t.Fatal("the slice has not changed")
			}
		}
	})
}

func must(r generator.Range, err error) generator.Range {
	if err != nil {
		panic(err)
	}
	return r
}

// Another server has taken our worker id, and the pool moves to a lower one:
// in the tick of the change its ids would be smaller.
func TestIDsGrowWhenTheWorkerIDChanges(t *testing.T) {
	const options = `{"bits":"time 41, worker 2, sequence 12"}`
	inWorld(t, false, func(w *world) {
		for range 3 {
			w.open(w.kind(), "x", options)
			w.pools[len(w.pools)-1].Close(w.t.Context()) // as a crash: the generator is open
		}
		g := w.open(w.kind(), "orders", options)
		time.Sleep(61 * time.Second) // the crashed servers' ids become free
		w.next(g, 1)
		old := g.pool.Lease()
		if old.Worker != 3 {
			t.Fatalf("worker id %d", old.Worker)
		}
		_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{
			Key:     key(g.Layout, old.Worker),
			AtLeast: old.Hi, N: 300_000, Limit: generator.NoLimit,
		})
		if err != nil {
			t.Fatal(err)
		}
		w.next(g, 1)
		if err := g.pool.Extend(w.t.Context(), old.Hi); err != nil { // the pool moves in the same millisecond
			t.Fatal(err)
		}
		g.window.Store(g.NewWindow(g.pool.Lease()))
		if r, ok := g.TryNext(1); ok {
			w.record(g, r)
		}
		for range 65 {
			time.Sleep(time.Second)
			w.next(g, 1)
		}
		if p, _ := g.Explain(w.next(g, 1).First); *p.Worker == 3 {
			t.Error("still on worker id 3, which another server uses")
		}
	})
}

// A draw may hold a window while another goroutine moves on to a slice of
// another worker id.
func TestAnOldWindowIsSafeInsideItsBounds(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", `{"max_ahead":"1s"}`)
		w.next(g, 1)
		old := g.window.Load()
		newer := g.NewWindow(&worker.Lease{Worker: 900, Lo: old.Lease.Hi, Hi: old.Lease.Hi + 1000, Soon: old.Lease.Hi + 500})
		g.window.Store(newer)
		g.slot.Store(newer.First + 5) // another goroutine drew from the new slice
		g.window.Store(old)
		if r, ok := g.TryNext(1); ok {
			t.Errorf("id %d from the old slice after ids of the new one", r.First)
		}
		g.slot.Store(old.Last - 1)
		time.Sleep(time.UnixMilli(old.Lease.Hi).Sub(start) - time.Millisecond)
		r, ok := g.TryNext(10)
		if !ok || r.Count != 1 {
			t.Errorf("run %+v at the end of the old slice, want its last id", r)
		}
		if r, ok := g.TryNext(1); ok && g.window.Load() == old { // else the pool, which the last id woke, was quick to renew
			t.Errorf("id %d beyond the old slice", r.First)
		}
	})
}
