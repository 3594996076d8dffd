package snowflake

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// At a low rate each id is the first one of its tick. Whoever shards by the
// id modulo a number then needs sequences that do not all begin at 0.
func TestLowBitsAtALowRate(t *testing.T) {
	const ids = 20_000
	for _, c := range []struct {
		options string
		even    bool
	}{
		{`{"layout":"twitter"}`, false},
		{`{}`, true},
		{`{"layout":"rollback"}`, true},
		{`{"sequence_start":"random"}`, true},
		{`{"sequence_start":"carry"}`, true},
		{`{"bits":"time 41, worker 2, sequence 11","sequence_start":"random"}`, true},
		{`{"bits":"time 41, worker 2, sequence 11","sequence_start":"carry"}`, true},
	} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(static(1)), "orders", c.options)
			source := rand.New(rand.NewPCG(1, 2))
			counts := map[int64][]int{2: make([]int, 2), 10: make([]int, 10), 16: make([]int, 16), 1024: make([]int, 1024)}
			for range ids {
				time.Sleep(time.Millisecond + time.Duration(source.Int64N(int64(20*time.Millisecond))))
				r, err := g.Next(w.t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				for m, n := range counts {
					n[r.First%m]++
				}
			}
			for m, n := range counts {
				if deviation := chiSquare(n, ids); deviation > 6 == c.even {
					t.Errorf("%s: ids modulo %d are %.1f standard deviations from even: %v", c.options, m, deviation, n[:min(len(n), 16)])
				}
			}
		})
	}
}

// chiSquare is by how many standard deviations counts are less even than
// chance would have them. Less than 0 is more even.
func chiSquare(counts []int, total int) float64 {
	expected, sum := float64(total)/float64(len(counts)), 0.0
	for _, n := range counts {
		d := float64(n) - expected
		sum += d * d / expected
	}
	free := float64(len(counts) - 1)
	return (sum - free) / math.Sqrt(2*free)
}

// A sequence of many bits leaves the time before the epoch no room in a slot.
func TestSequencesOfManyBits(t *testing.T) {
	for _, bits := range []string{"time 39, worker 1, sequence 23", "time 32, worker 1, sequence 30"} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", `{"bits":"`+bits+`","epoch":"2026-11-01"}`)
			if r := w.next(g, 1000); r.Count != 1000 {
				t.Errorf("%s: %+v", bits, r)
			}
		})
	}
}
