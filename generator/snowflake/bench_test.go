package snowflake

import (
	"context"
	"testing"
	"time"

	"nextid/generator/layout"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// benchGenerator is a generator on the real clock with sequence bits enough
// that no benchmark has to wait for a tick.
func benchGenerator(tb testing.TB, options string) *Generator {
	tb.Helper()
	pools := worker.New(worker.Config{Store: memory.New(memory.Config{Exclusive: true}), Logger: discard})
	k := Kind(pools, layout.Default)
	gen, err := k.Open(tb.Context(), define(tb, k, "orders", options))
	if err != nil {
		tb.Fatal(err)
	}
	g := gen.(*Generator)
	tb.Cleanup(func() {
		g.Close(context.Background())
		pools.Close(context.Background())
	})
	return g
}

const wide = `{"bits":"time 41, worker 2, sequence 20"}`

func TestTryNextAllocatesNothing(t *testing.T) {
	for _, options := range []string{wide, `{"bits":"time 41, worker 2, sequence 20","sequence_start":"random"}`} {
		g := benchGenerator(t, options)
		missed := 0
		for _, n := range []int64{1, 1000} {
			if allocs := testing.AllocsPerRun(1000, func() {
				if _, ok := g.TryNext(n); !ok {
					missed++
				}
			}); allocs != 0 {
				t.Errorf("TryNext(%d) allocates %v times", n, allocs)
			}
		}
		if missed > 10 { // a window that ends while the test runs
			t.Errorf("%d of 2000 draws had no answer", missed)
		}
	}
}

func benchmarkTryNext(b *testing.B, options string, n int64) {
	g := benchGenerator(b, options)
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
	b.Run("1", func(b *testing.B) { benchmarkTryNext(b, wide, 1) })
	b.Run("1/random", func(b *testing.B) {
		benchmarkTryNext(b, `{"bits":"time 41, worker 2, sequence 20","sequence_start":"random"}`, 1)
	})
	b.Run("1000", func(b *testing.B) { benchmarkTryNext(b, wide, 1000) })
	b.Run("1/twitter", func(b *testing.B) { benchmarkTryNext(b, `{}`, 1) }) // the layout's own limit: 244 ns
}

func BenchmarkTryNextParallel(b *testing.B) {
	g := benchGenerator(b, wide)
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

// BenchmarkNext10000 is SELECT * FROM next_ids('orders', 10000), now and
// then, with and without running ahead of the clock.
func BenchmarkNext10000(b *testing.B) {
	for _, ahead := range []string{"0s", "5ms"} {
		b.Run("max_ahead="+ahead, func(b *testing.B) {
			g := benchGenerator(b, `{"max_ahead":"`+ahead+`"}`)
			for b.Loop() {
				b.StopTimer()
				time.Sleep(10 * time.Millisecond)
				b.StartTimer()
				for left := int64(10000); left > 0; {
					r, err := g.Next(b.Context(), left)
					if err != nil {
						b.Fatal(err)
					}
					left -= r.Count
				}
			}
		})
	}
}
