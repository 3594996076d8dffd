package snowflake

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/worker"
)

// Ids of the past of three servers, which start again and again, beside those of the
// present: none twice, each at its time or soon after it.
func TestIDsOfThePast(t *testing.T) {
	for _, tc := range []struct {
		options string
		within  time.Duration
	}{
		{`{}`, time.Second},
		{`{"layout":"sonyflake"}`, time.Hour}, // one of a tick of 10 ms, and 256 shares
		{`{"layout":"baidu","epoch":"2024-01-01"}`, time.Hour},
		{`{"layout":"rollback"}`, time.Second},
	} {
		t.Run(tc.options, func(t *testing.T) {
			inWorld(t, false, func(w *world) {
				ids := map[int64]bool{}
				add := func(id int64) {
					if ids[id] {
						w.t.Fatalf("%d came twice", id)
					}
					ids[id] = true
				}
				random := rand.New(rand.NewPCG(1, 2))
				open := func() *Generator { return w.open(w.kind(), "posts", tc.options) }
				servers := []*Generator{open(), open(), open()}
				for i := range 5_000 {
					if i%500 == 499 { // it dies, and its share with it
						servers[random.IntN(3)] = open()
					}
					g := servers[random.IntN(3)]
					at := start.Add(-2*time.Hour - time.Duration(random.IntN(3))*24*time.Hour)
					if i%3 == 0 {
						at = start.Add(-24*time.Hour - time.Duration(random.Int64N(int64(400*24*time.Hour))))
					}
					id, err := g.NextAt(w.t.Context(), at)
					if err != nil {
						w.t.Fatal(err)
					}
					add(id)
					if parts, err := g.Explain(id); err != nil || parts.Time.Add(g.Layout.Unit).Before(at) || parts.Time.Sub(at) > tc.within {
						w.t.Fatalf("an id of %v carries %v, %v", at, parts.Time, err)
					}
					if r, err := g.Next(w.t.Context(), 1); err != nil {
						w.t.Fatal(err)
					} else {
						add(r.First)
					}
				}
			})
		})
	}
}

func TestNoIDsOfThePast(t *testing.T) {
	before := start.Add(-48 * time.Hour)
	for what, tc := range map[string]struct {
		options   string
		at        time.Time
		exclusive bool
		change    func(*worker.Config)
		kind      error
	}{
		"the present":             {`{}`, start.Add(-time.Minute), false, nil, generator.ErrOption},
		"before the epoch":        {`{"epoch":"2026-01-01"}`, start.AddDate(-1, 0, 0), false, nil, generator.ErrOption},
		"another one's worker id": {`{}`, before, false, static(1023), generator.ErrExhausted},
		"an island":               {`{}`, before, true, static(1), generator.ErrWrongKind},
	} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, tc.exclusive, func(w *world) {
				change := tc.change
				if change == nil {
					change = func(*worker.Config) {}
				}
				g := w.open(w.kind(change), "posts", tc.options)
				if id, err := g.NextAt(w.t.Context(), tc.at); !errors.Is(err, tc.kind) {
					w.t.Errorf("%d, %v; want %v", id, err, tc.kind)
				}
				w.next(g, 1)
			})
		})
	}
}

// No server claims the worker id that was set aside: not one that prefers it, and
// not one without a preference, whose ids stay at the present.
func TestTheWorkerIDOfThePast(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		inWorld(t, exclusive, func(w *world) {
			g := w.open(w.kind(), "posts", `{"bits":"time 41, worker 1, sequence 12"}`)
			if _, err := g.NextAt(w.t.Context(), start.Add(-48*time.Hour)); err != nil {
				w.t.Fatal(err)
			}
			k := w.kind(static(1))
			if _, err := k.Open(w.t.Context(), define(w.t, k, "likes", `{"bits":"time 41, worker 1, sequence 12"}`)); err == nil {
				w.t.Error("a server was given the worker id of the past")
			}
			other := w.open(w.kind(), "tags", `{"bits":"time 41, worker 2, sequence 12"}`)
			if parts, err := other.Explain(w.next(other, 1).First); err != nil || parts.Time.Sub(start) > time.Minute {
				w.t.Errorf("%+v, %v", parts, err)
			}
		})
	}
}

// A share that could not be had leaves the one in hand as it was.
func TestARefusedShareChangesNothing(t *testing.T) {
	inWorld(t, false, func(w *world) {
		options := `{"bits":"time 33, worker 10, sequence 1","unit":"10s"}`
		a, b := w.open(w.kind(), "posts", options), w.open(w.kind(), "posts", options)
		at := start.Add(-72 * time.Hour)
		first, err := a.NextAt(w.t.Context(), at)
		if err != nil {
			w.t.Fatal(err)
		}
		for err == nil { // until an hour is full, and no share is left
			_, err = b.NextAt(w.t.Context(), start.Add(-48*time.Hour))
		}
		second, again := b.NextAt(w.t.Context(), at)
		if !errors.Is(err, generator.ErrExhausted) || again != nil || second == first {
			w.t.Errorf("%v, then %d beside %d, %v", err, second, first, again)
		}
	})
}

// A name has so many shares, and one that was dropped none.
func TestSharesOfThePastEnd(t *testing.T) {
	inWorld(t, false, func(w *world) {
		options := `{"bits":"time 41, worker 10, sequence 1"}`
		for range 2 {
			if _, err := w.open(w.kind(), "posts", options).NextAt(w.t.Context(), start.Add(-48*time.Hour)); err != nil {
				w.t.Fatal(err)
			}
		}
		k := w.kind()
		g := w.open(k, "posts", options)
		if _, err := g.NextAt(w.t.Context(), start.Add(-48*time.Hour)); !errors.Is(err, generator.ErrExhausted) {
			w.t.Errorf("a third share of two: %v", err)
		}

		g = w.open(k, "likes", options)
		if _, err := g.NextAt(w.t.Context(), start.Add(-48*time.Hour)); err != nil || g.Issued() != 1 {
			w.t.Errorf("%d ids of the past, %v", g.Issued(), err)
		}
		if err := k.(generator.Retirer).Retire(w.t.Context(), define(w.t, k, "likes", options)); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.open(w.kind(), "likes", options).NextAt(w.t.Context(), start.Add(-48*time.Hour)); !errors.Is(err, generator.ErrExhausted) {
			w.t.Errorf("a name that was dropped: %v", err)
		}
	})
}
