//go:build !race

// The race detector makes sync.Pool forget what was put there.

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
