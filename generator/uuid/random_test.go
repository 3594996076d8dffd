package uuid

import (
	"math/bits"
	"sync"
	"testing"
)

// No byte is returned twice, whatever the sizes and goroutines.
func TestBytesAreHandedOutOnce(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[[8]byte]bool{}
	for i := range 4 {
		wg.Go(func() {
			for n := range 3000 {
				b := make([]byte, 8+(n*(i+1))%40)
				if n == 7 {
					b = make([]byte, randomSize)
				}
				fillRandom(b)
				mu.Lock()
				for ; len(b) >= 8; b = b[8:] {
					if seen[[8]byte(b)] {
						t.Errorf("% x twice", b[:8])
					}
					seen[[8]byte(b)] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestBytesAreRandom(t *testing.T) {
	b := make([]byte, 100*16)
	for i := 0; i < len(b); i += 16 {
		fillRandom(b[i : i+16])
	}
	ones := 0
	for _, v := range b {
		ones += bits.OnesCount8(v)
	}
	if half := len(b) * 4; ones < half-500 || ones > half+500 { // 9 standard deviations
		t.Errorf("%d of %d bits are 1", ones, len(b)*8)
	}
	fillRandom(nil)
}

func BenchmarkRead(b *testing.B) {
	var id [10]byte
	for b.Loop() {
		fillRandom(id[:])
	}
}
