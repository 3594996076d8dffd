package segment

import (
	"context"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/memory"
)

func benchGenerator(tb testing.TB, options string) *Generator {
	tb.Helper()
	k := Kind(memory.New(memory.Config{}), generator.SystemClock{}, "test")
	gen, err := k.Open(tb.Context(), define(tb, k, options))
	if err != nil {
		tb.Fatal(err)
	}
	g := gen.(*Generator)
	tb.Cleanup(func() { g.Close(context.Background()) })
	if _, err := g.Next(tb.Context(), 1); err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestTryNextAllocatesNothing(t *testing.T) {
	g := benchGenerator(t, `{"step":100000000,"max_step":100000000}`)
	for _, n := range []int64{1, 1000} {
		if allocs := testing.AllocsPerRun(1000, func() {
			if _, ok := g.TryNext(n); !ok {
				t.Error("no answer")
			}
		}); allocs != 0 {
			t.Errorf("TryNext(%d) allocates %v times", n, allocs)
		}
	}
}

// TestTryNextTakesNoLock: not at the mark of a buffer either, where Next asks for
// the next one.
func TestTryNextTakesNoLock(t *testing.T) {
	g := benchGenerator(t, `{"step":1000,"prefetch_at":0.5}`) // which has drawn one
	g.mu.Lock()
	done := make(chan int64, 1)
	go func() {
		drawn := int64(1)
		for _, ok := g.TryNext(1); ok; _, ok = g.TryNext(1) {
			drawn++
		}
		done <- drawn
	}()
	select {
	case drawn := <-done:
		if drawn != 500 || g.flight != nil {
			t.Errorf("%d ids were drawn before the mark, want 500, flight %v", drawn, g.flight)
		}
	case <-time.After(10 * time.Second):
		t.Error("TryNext waits for a lock")
	}
	g.mu.Unlock()
	if r, err := g.Next(t.Context(), 1); err != nil || r.First != 501 {
		t.Errorf("%+v, %v, want 501", r, err)
	}
	if g.current.Load().reaches(1) {
		t.Error("Next has left the mark where it was")
	}
	if r, ok := g.TryNext(1); !ok || r.First != 502 {
		t.Errorf("behind the mark: %+v, %v, want 502", r, ok)
	}
}

func benchmarkTryNext(b *testing.B, n int64) {
	g := benchGenerator(b, `{"step":1000000}`)
	ids := int64(0)
	for b.Loop() {
		r, ok := g.TryNext(n)
		if !ok {
			var err error
			if r, err = g.Next(b.Context(), n); err != nil {
				b.Fatal(err)
			}
		}
		ids += r.Count
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ids), "ns/id")
}

func BenchmarkTryNext(b *testing.B) {
	b.Run("1", func(b *testing.B) { benchmarkTryNext(b, 1) })
	b.Run("1000", func(b *testing.B) { benchmarkTryNext(b, 1000) })
}

func BenchmarkTryNextParallel(b *testing.B) {
	g := benchGenerator(b, `{"step":1000000}`)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, ok := g.TryNext(1); !ok {
				if _, err := g.Next(b.Context(), 1); err != nil {
					b.Error(err)
					return
				}
			}
		}
	})
}
