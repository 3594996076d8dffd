package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestTurns: no more statements have a turn at a time than there are places, all
// get theirs, and who waits leaves with its context.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &Turns{places: make(chan struct{}, 2)}
		var running, most atomic.Int32
		var work sync.WaitGroup
		for range 10 {
			work.Go(func() {
				turn := turns.Turn()
				defer turn.End()
				for range 100 {
					if err := turn.Take(t.Context()); err != nil {
						t.Error(err)
						return
					}
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					running.Add(-1)
				}
			})
		}
		work.Wait()
		if n := most.Load(); n > 2 || len(turns.places) != 0 {
			t.Errorf("%d had a turn at a time, %d have one still", n, len(turns.places))
		}
		a, b, c := turns.Turn(), turns.Turn(), turns.Turn()
		ctx, cancel := context.WithCancel(t.Context())
		if err := errors.Join(a.Take(ctx), b.Take(ctx), a.Take(ctx)); err != nil {
			t.Fatal(err)
		}
		left := make(chan error)
		go func() { left <- c.Take(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) || c.Held() {
			t.Errorf("who waited leaves with %v", err)
		}
		a.End()
		a.End()
		if err := c.Take(t.Context()); err != nil || !c.Held() {
			t.Errorf("a place is free, and it is %v", err)
		}
	})
}
