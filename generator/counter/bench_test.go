package counter

import (
	"context"
	"testing"

	"nextid/generator"
	"nextid/generator/store/sqlite"
)

// BenchmarkEmbeddedStore makes one durable commit per number, or one for all
// waiting draws.
func BenchmarkEmbeddedStore(b *testing.B) {
	for name, parallelism := range map[string]int{"1 client": 0, "64 clients": 32} {
		b.Run(name, func(b *testing.B) {
			store, err := sqlite.Open(b.Context(), sqlite.Config{Dir: b.TempDir(), Owner: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			k := Kind(store, generator.SystemClock{}, "bench")
			o, err := k.Normalize(nil)
			if err != nil {
				b.Fatal(err)
			}
			g, err := k.Open(b.Context(), generator.Definition{Name: "bills", Kind: KindName, Options: o})
			if err != nil {
				b.Fatal(err)
			}
			defer g.(*Generator).Close(context.Background())
			b.ResetTimer()
			if parallelism == 0 {
				for b.Loop() {
					if _, err := g.Next(b.Context(), 1); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.SetParallelism(parallelism)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := g.Next(b.Context(), 1); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
