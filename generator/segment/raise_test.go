package segment

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

func TestRaise(t *testing.T) {
	for _, c := range []struct {
		options string
		drawn   int64
		to      int64
		next    int64
	}{
		{`{}`, 5, 3, 6},                           // passed already
		{`{}`, 5, 5, 6},                           //
		{`{}`, 5, -100, 6},                        // below everything
		{`{}`, 5, 500, 501},                       // in the buffer
		{`{}`, 5, 1000, 1001},                     // its last number
		{`{}`, 5, 1_000_000, 1_000_001},           // beyond it
		{`{}`, 0, 500, 501},                       // before the first draw
		{`{}`, 0, 0, 1},                           //
		{`{"increment":10,"start":5}`, 2, 22, 25}, // between two ids
		{`{"increment":10,"start":5}`, 2, 25, 35}, //
		{`{"increment":10,"start":5,"step":2,"max_step":2}`, 2, 99, 105}, //
		{`{"increment":-1}`, 5, -3, -6},                                  // descending: down
		{`{"increment":-1}`, 5, -500, -501},                              //
		{`{"increment":-1}`, 5, 100, -6},                                 //
		{`{"increment":-1}`, 5, -1_000_000, -1_000_001},                  //
		{`{"strict":true}`, 5, 500, 501},                                 //
		{`{"strict":true,"increment":10,"start":5}`, 2, 22, 25},          //
		{`{"step":10,"prefetch_at":0}`, 5, 12, 13},                       // in the second buffer
	} {
		for _, used := range []bool{true, false} {
			inWorld(t, func(w *world) {
				g := w.open(c.options)
				if c.drawn > 0 {
					w.draw(g, c.drawn)
				}
				synctest.Wait()
				to := c.to
				if !used { // the position after it is still free
					to += g.direction
				}
				if err := g.Raise(w.t.Context(), to, used); err != nil {
					t.Fatalf("%s: Raise(%d, %v): %v", c.options, to, used, err)
				}
				r := w.next(g, 1)
				if r.First != c.next {
					t.Errorf("%s: after %d ids, Raise(%d, %v) leads to %d, want %d", c.options, c.drawn, to, used, r.First, c.next)
				}
			})
		}
	}
}

// setval was answered, so a crash must not forget it.
func TestRaiseIsDurable(t *testing.T) {
	for _, to := range []int64{500, 1000, 5000} {
		for _, options := range []string{`{}`, `{"strict":true}`} {
			inWorld(t, func(w *world) {
				g := w.open(options)
				w.draw(g, 1)
				if err := g.Raise(w.t.Context(), to, true); err != nil {
					t.Fatal(err)
				}
				if id := w.draw(w.open(options), 1)[0]; id <= to {
					t.Errorf("%s: id %d after a crash, raised above %d", options, id, to)
				}
			})
		}
	}
}

// What Close gives back must not lead below what Raise promised, for a
// successor that uses other numbers, either.
func TestRaiseHoldsForASuccessorWithAnotherIncrement(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"increment":10}`)
		w.draw(g, 2)
		if err := g.Raise(w.t.Context(), 25, true); err != nil {
			t.Fatal(err)
		}
		w.close(g)
		wantIDs(t, w.draw(w.open(`{}`), 1), 26)
	})
}

// What another server gives back must not lead below, either.
func TestRaisePassesTheBlocksOfOthers(t *testing.T) {
	for _, options := range []string{`{}`, `{"max":1000}`} {
		inWorld(t, func(w *world) {
			other, g := w.open(options), w.open(options)
			w.draw(other, 1)
			if err := g.Raise(w.t.Context(), 500, true); err != nil {
				t.Fatal(err)
			}
			w.close(g)
			w.close(other)
			if r, err := w.open(options).Next(w.t.Context(), 1); err == nil && r.First <= 500 {
				t.Errorf("%s: id %d after Raise(500)", options, r.First)
			}
		})
	}
}

func TestRaiseToTheBoundExhausts(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"max":100}`)
		w.draw(g, 1)
		wantErr(t, g.Raise(w.t.Context(), 101, true), generator.ErrOption, "out of the bounds")
		wantErr(t, g.Raise(w.t.Context(), math.MaxInt64, true), generator.ErrOption, "out of the bounds")
		if err := g.Raise(w.t.Context(), 100, true); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := g.Next(w.t.Context(), 1)
			wantErr(t, err, generator.ErrExhausted)
		}
		other := w.open(`{"max":100}`)
		_, err := other.Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrExhausted)
		if err := other.Raise(w.t.Context(), 50, true); err != nil {
			t.Errorf("on a server that has no number: %v", err)
		}
	})
	inWorld(t, func(w *world) {
		g := w.open(`{"increment":-1}`)
		wantErr(t, g.Raise(w.t.Context(), math.MinInt64, true), generator.ErrOption, "out of the bounds")
	})
}

func TestRaiseTellsTheErrorOfTheStore(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{}`)
		w.draw(g, 1)
		w.store.Inject(generatortest.Reserve, 1, generatortest.FailBefore(nil))
		wantErr(t, g.Raise(w.t.Context(), 5000, true), generator.ErrNotNow)
		if id := w.draw(g, 1)[0]; id <= 5000 {
			t.Errorf("id %d: a raise that failed may have worked, so it must hold here", id)
		}
	})
}

// A buffer that is on its way when Raise comes must not bring lower ids.
func TestRaiseWhileAFetchIsOnItsWay(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":10,"prefetch_at":0}`)
		gate := make(chan struct{})
		w.next(g, 1)
		synctest.Wait()
		w.draw(g, 9)
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		w.draw(g, 1) // 11: its buffer asks for 21 to 30
		done := make(chan error, 1)
		go func() { done <- g.Raise(w.t.Context(), 25, true) }()
		synctest.Wait()
		time.Sleep(time.Second)
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if id := w.draw(g, 1)[0]; id <= 25 {
			t.Errorf("id %d after Raise(25)", id)
		}
	})
}
