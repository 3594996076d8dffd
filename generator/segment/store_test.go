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

func TestASlowStore(t *testing.T) {
	t.Run("is waited for, by all with one reservation", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{}`)
			gate := make(chan struct{})
			w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
			var wg sync.WaitGroup
			for client := range 50 {
				wg.Go(func() {
					r, err := g.Next(w.t.Context(), 1)
					if err != nil {
						t.Error(err)
						return
					}
					w.log.Add(history.Event{Name: "orders", Client: client, Range: r})
				})
			}
			synctest.Wait()
			close(gate)
			wg.Wait()
			if n := w.store.Calls(generatortest.Reserve); n != 1 {
				t.Errorf("%d reservations for 50 draws", n)
			}
		})
	})
	t.Run("but no longer than the deadline", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"deadline":"2s"}`)
			w.store.Inject(generatortest.Reserve, 1, generatortest.Hang())
			_, err := g.Next(w.t.Context(), 1)
			wantErr(t, err, generator.ErrRetry, "within 2s")
			if got := w.clock.Monotonic(); got != 2*time.Second {
				t.Errorf("answered after %v", got)
			}
		})
	})
	t.Run("and no longer than the caller", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{}`)
			gate := make(chan struct{})
			w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
			defer cancel()
			if _, err := g.Next(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the context's", err)
			}
			close(gate) // its reservation is there for the next caller
			synctest.Wait()
			wantIDs(t, w.draw(g, 1), 1)
		})
	})
	// The store was away when the reservation began, and is back when the draw comes.
	t.Run("is asked again after a failure that began before the draw", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"step":100,"prefetch_at":0.5}`)
			gate := make(chan struct{})
			w.next(g, 1)
			w.store.Inject(generatortest.Reserve, 1, func(context.Context, func(context.Context) error) error {
				<-gate
				return generatortest.ErrUnreachable
			})
			for drawn := int64(1); drawn < 100; {
				drawn += w.next(g, 99).Count // begins the reservation, and empties the buffer
			}
			var err error
			var draw sync.WaitGroup
			draw.Go(func() { _, err = g.Next(w.t.Context(), 1) })
			synctest.Wait()
			close(gate)
			draw.Wait()
			if err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("does not matter while a buffer has ids", func(t *testing.T) {
		inWorld(t, func(w *world) {
			g := w.open(`{"step":100}`)
			w.next(g, 1)
			w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error {
				time.Sleep(2 * time.Second)
				return call(ctx)
			})
			w.draw(g, 99)
			if got := w.clock.Monotonic(); got != 0 {
				t.Errorf("waited %v", got)
			}
			w.next(g, 1)
			if got := w.clock.Monotonic(); got != 2*time.Second {
				t.Errorf("the empty buffer was filled after %v", got)
			}
		})
	})
}

func TestAStoreThatIsDown(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":100,"prefetch_at":0.5}`)
		w.draw(g, 60)
		synctest.Wait() // both buffers are full
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailBefore(nil))
		w.draw(g, 140)
		before := w.clock.Monotonic()
		_, err := g.Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrNotNow, "orders")
		if w.clock.Monotonic() != before {
			t.Error("the answer took a while")
		}
		calls := w.store.Calls(generatortest.Reserve)
		time.Sleep(10 * time.Minute)
		if n := w.store.Calls(generatortest.Reserve) - calls; n < 60 || n > 300 {
			t.Errorf("%d tries in 10 minutes", n)
		}
		w.store.Clear()
		time.Sleep(2 * retryMost)
		before, waits := w.clock.Monotonic(), g.Stats().Waits
		wantIDs(t, w.draw(g, 1), 201)
		if w.clock.Monotonic() != before || g.Stats().Waits != waits {
			t.Error("the background did not notice that the store is back")
		}
	})
}

func TestTheErrorOfTheStoreIsTold(t *testing.T) {
	for kind, want := range map[error]error{
		generator.ErrRegressed: generator.ErrRegressed, generator.ErrRetry: generator.ErrRetry, generator.ErrNotNow: generator.ErrNotNow,
		context.DeadlineExceeded: generator.ErrNotNow,
	} {
		for _, options := range []string{`{}`, `{"strict":true}`} {
			inWorld(t, func(w *world) {
				var err error = &generator.Error{Kind: kind, Message: "injected"}
				if errors.Is(kind, context.DeadlineExceeded) {
					err = kind
				}
				w.store.Inject(generatortest.Reserve, 1, generatortest.FailBefore(err))
				_, got := w.open(options).Next(w.t.Context(), 1)
				wantErr(t, got, want)
			})
		}
	}
}

// Rule R3: what a lost answer granted is never given out.
func TestLostAnswersAreNeverUsed(t *testing.T) {
	for what, fault := range map[string]generatortest.Fault{
		"lost": generatortest.FailAfter(nil), "late": generatortest.HangAfter(),
	} {
		for _, options := range []string{`{"step":10}`, `{"strict":true,"step":10}`} {
			t.Run(what, func(t *testing.T) {
				inWorld(t, func(w *world) {
					g := w.open(options)
					for range 20 {
						w.store.Inject(generatortest.Reserve, 1, fault)
						for range 25 {
							if r, err := g.Next(w.t.Context(), 1); err == nil {
								w.record(g, r)
							}
						}
						time.Sleep(time.Minute)
					}
					if w.log.Len() < 100 {
						t.Errorf("only %d ids", w.log.Len())
					}
				})
			})
		}
	}
}
