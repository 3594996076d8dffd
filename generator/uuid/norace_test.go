//go:build !race

// With the race detector, sync.Pool drops some of its content.

package uuid

import "testing"

func TestReadAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() {
		var b [10]byte
		fillRandom(b[:])
	}); n != 0 {
		t.Errorf("allocates %v times", n)
	}
}
