package sqlite_test

import (
	"fmt"
	"testing"

	"nextid/generator"
	"nextid/generator/store/sqlite"
)

// BenchmarkReserve measures durable reservations, of one caller and of sixteen
// callers whose calls share transactions.
func BenchmarkReserve(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s, err := sqlite.Open(b.Context(), sqlite.Config{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.SetParallelism((callers + 1) / 2) // times GOMAXPROCS, 2 on the usual machine
			if callers == 1 {
				for b.Loop() {
					reserveOne(b, s, "name/orders")
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					reserveOne(b, s, "name/orders")
				}
			})
		})
	}
}

func reserveOne(b *testing.B, s generator.Store, key string) {
	_, _, err := s.Reserve(b.Context(), generator.Reservation{Key: key, N: 1000, Limit: generator.NoLimit})
	if err != nil {
		b.Error(err)
	}
}
