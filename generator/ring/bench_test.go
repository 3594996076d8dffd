package ring

import (
	"context"
	"log/slog"
	"testing"

	"nextid/generator"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// baidu has the size of Baidu's ring (13 sequence bits, boost_power 3,
// padding_factor 50). It may borrow as much as a benchmark needs.
const baidu = `{"max_borrow":"24h"}`

func benchGenerator(tb testing.TB, options string) *Generator {
	tb.Helper()
	pools := worker.New(worker.Config{
		Store: memory.New(memory.Config{Exclusive: true}), Logger: slog.New(slog.DiscardHandler),
	})
	k := Kind(pools)
	gen, err := k.Open(tb.Context(), define(tb, k, options))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		gen.(generator.Closer).Close(context.Background())
		pools.Close(context.Background())
	})
	return gen.(*Generator)
}

func TestTryNextAllocatesNothing(t *testing.T) {
	g := benchGenerator(t, `{"boost_power":10,"max_borrow":"5h"}`)
	missed := 0
	for _, n := range []int64{1, 100} {
		if allocs := testing.AllocsPerRun(1000, func() {
			if _, ok := g.TryNext(n); !ok {
				missed++
			}
		}); allocs != 0 {
			t.Errorf("TryNext(%d) allocates %v times", n, allocs)
		}
	}
	if missed != 0 {
		t.Errorf("%d draws had no answer", missed)
	}
}

// BenchmarkNext draws one id a call, as services do with Baidu's generator. No call
// is refused.
func BenchmarkNext(b *testing.B) {
	g := benchGenerator(b, baidu)
	for b.Loop() {
		if _, err := g.Next(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNextParallel draws with one goroutine per processor (-cpu 2).
func BenchmarkNextParallel(b *testing.B) {
	g := benchGenerator(b, baidu)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := g.Next(context.Background(), 1); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkNextBatch draws more ids a second than Baidu's layout has in a day.
func BenchmarkNextBatch(b *testing.B) {
	g := benchGenerator(b, `{"bits":"time 31, worker 12, sequence 20","unit":"1s","epoch":"2026-01-01","max_borrow":"24h"}`)
	ids := int64(0)
	for b.Loop() {
		r, err := g.Next(b.Context(), 100)
		if err != nil {
			b.Fatal(err)
		}
		ids += r.Count
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ids), "ns/id")
}
