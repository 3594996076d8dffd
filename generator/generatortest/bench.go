package generatortest

import (
	"fmt"
	"sync"
	"testing"

	"nextid/generator"
)

// BenchStore measures single reservations, and 64 keys that are reserved at the
// same time, which a store with group commit combines.
func BenchStore(b *testing.B, s generator.Store) {
	for _, waiting := range []int{1, 64} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			for b.Loop() {
				var all sync.WaitGroup
				for i := range waiting {
					all.Go(func() {
						if _, _, err := s.Reserve(b.Context(), request(fmt.Sprint("name/bench", i), 1, 1000)); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
			b.ReportMetric(float64(b.N*waiting)/b.Elapsed().Seconds(), "reservations/s")
		})
	}
}
