package segment

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
)

// What is in the memory of a cloned process must not be given out: every
// answer comes of a reservation that began after the request.
func TestStrictAnswersOnlyFromReservationsThatBeganAfterTheRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true}`)
		for n := range int64(20) {
			before := w.hi0()
			if r := w.next(g, n+1); r.First < before || r.Count != n+1 {
				t.Errorf("run %+v, the store stood at %d when it was asked for", r, before)
			}
			if got, want := w.hi(), max(before, 1)+n+1; got != want {
				t.Errorf("the store stands at %d after %d ids, want %d: exactly what was asked for", got, n+1, want)
			}
			if r, ok := g.TryNext(1); ok {
				t.Errorf("id %d from memory", r.First)
			}
		}
	})
}

// hi0 is hi, 0 before the first reservation.
func (w *world) hi0() int64 {
	if w.store.Calls(generatortest.Reserve) == 0 {
		return 0
	}
	return w.hi()
}

func TestStrictDrawsThatWaitTogetherShareAReservation(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true}`)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		var wg sync.WaitGroup
		draw := func(client int, n int64) {
			wg.Go(func() {
				r, err := g.Next(w.t.Context(), n)
				if err != nil || r.Count != n {
					t.Errorf("%+v, %v", r, err)
					return
				}
				w.log.Add(history.Event{Name: "orders", Client: client, Range: r})
			})
		}
		draw(0, 1)
		synctest.Wait() // its reservation has begun, so the others need another one
		for client := range 50 {
			draw(client+1, int64(client)+1)
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		if n := w.store.Calls(generatortest.Reserve); n != 2 {
			t.Errorf("%d reservations, want 2", n)
		}
		if got, want := w.hi(), int64(1+1+50*51/2); got != want {
			t.Errorf("the store stands at %d, want %d", got, want)
		}
	})
}

func TestOneStrictDrawDoesNotDisturbAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true,"deadline":"10s"}`)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		ctx, cancel := context.WithCancel(w.t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := g.Next(ctx, 3)
			left <- err
		}()
		synctest.Wait()
		stayed := make(chan generator.Range, 2)
		for range 2 {
			go func() {
				r, err := g.Next(w.t.Context(), 2)
				if err != nil {
					t.Error(err)
				}
				stayed <- r
			}()
		}
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the context's", err)
		}
		close(gate)
		for client := range 2 {
			w.log.Add(history.Event{Name: "orders", Client: client + 1, Range: <-stayed})
		}
		wantIDs(t, w.draw(g, 1), 8) // 1 to 3 are lost
	})
}

func TestStrictWaitsNoLongerThanItsDeadline(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true,"deadline":"1s"}`)
		w.store.Inject(generatortest.Reserve, 1, generatortest.Hang())
		_, err := g.Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrRetry, "within 1s")
		if got := w.clock.Monotonic(); got != time.Second {
			t.Errorf("answered after %v", got)
		}
	})
}

func TestAStrictBatchThatReachesTheBoundServesWhatThereIs(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true,"max":10}`)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		var wg sync.WaitGroup
		var mu sync.Mutex
		given, refused := int64(0), 0
		for client := range 9 {
			wg.Go(func() {
				r, err := g.Next(w.t.Context(), 3)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					wantErr(t, err, generator.ErrExhausted)
					refused++
					return
				}
				given += r.Count
				w.log.Add(history.Event{Name: "orders", Client: client, Range: r})
			})
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		if given != 10 || refused != 5 {
			t.Errorf("%d ids given and %d draws refused, want 10 and 5", given, refused)
		}
	})
}

func TestStrictClosesWithDrawsWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true}`)
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.Hang())
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := g.Next(w.t.Context(), 1)
				done <- err
			}()
			synctest.Wait()
		}
		w.close(g)
		for range 2 {
			if err := <-done; err == nil {
				t.Error("an id without a store")
			}
		}
		if w.clock.Monotonic() != 0 {
			t.Errorf("took %v", w.clock.Monotonic())
		}
	})
}

// TestStrictBesideSetval: a reservation that setval has passed over is no end
// of the numbers.
func TestStrictBesideSetval(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true}`)
		w.next(g, 1)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error {
			err := call(ctx)
			<-gate // the answer is late
			return err
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			if r, err := g.Next(w.t.Context(), 1); err != nil || r.First <= 1000 {
				t.Errorf("%+v, %v", r, err)
			}
		})
		synctest.Wait() // its reservation is on its way
		wg.Go(func() {
			if err := g.Raise(w.t.Context(), 1000, true); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(gate)
		wg.Wait()
	})
}

// A request whose reservation comes after Close gets nothing: the name may have been
// dropped meanwhile, and another kind may continue above its ids.
func TestStrictRequestThatOutlivesItsGenerator(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"strict":true,"max":1000}`)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		var work sync.WaitGroup
		work.Go(func() {
			if runs, err := g.NextAll(w.t.Context(), 10); !errors.Is(err, generator.ErrNotNow) {
				t.Errorf("%v, %v", runs, err)
			}
		})
		synctest.Wait()
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		close(gate)
		work.Wait()
	})
}
