package code

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// Every width up to 18 is checked number by number, for several keys.
func TestPermutationsAreBijections(t *testing.T) {
	for width := 2; width <= 18; width++ {
		for _, key := range []string{"", "a key of a test", "another key"} {
			p := newPermutation(key, width)
			seen := make([]bool, 1<<width)
			for id := range int64(1) << width {
				image := p.Scatter(id)
				if !p.Holds(image) || seen[image] {
					t.Fatalf("%d bits, key %q: %d becomes %d, which is outside or had a number already", width, key, id, image)
				}
				seen[image] = true
				if back := p.Unscatter(image); back != id {
					t.Fatalf("%d bits, key %q: %d becomes %d and then %d", width, key, id, image, back)
				}
			}
		}
	}
}

func TestScatterReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 63).Draw(t, "bits")
		p := newPermutation(rapid.String().Draw(t, "key"), width)
		id := rapid.Int64Range(0, 1<<width-1).Draw(t, "id")
		image := p.Scatter(id)
		if image < 0 || !p.Holds(image) {
			t.Fatalf("%d bits: %d becomes %d, which has more bits", width, id, image)
		}
		if back := p.Unscatter(image); back != id {
			t.Fatalf("%d bits: %d becomes %d and then %d", width, id, image, back)
		}
	})
}

// The permutation of a key is part of the meaning of stored ids. It must never
// change.
func TestScatterStaysTheSame(t *testing.T) {
	for _, c := range []struct {
		key      string
		width    int
		id, want int64
	}{
		{"correct horse battery staple", 63, 0, 1783491621777986889},
		{"correct horse battery staple", 63, 1, 8330194429383507097},
		{"correct horse battery staple", 53, 1, 6769644417413689},
		{"correct horse battery staple", 40, 123456789, 759121561266},
		{"another key of this test", 40, 123456789, 306987050315},
	} {
		if got := newPermutation(c.key, c.width).Scatter(c.id); got != c.want {
			t.Errorf("%q, %d bits: %d becomes %d, want %d", c.key, c.width, c.id, got, c.want)
		}
	}
}

// SipHash-2-4's round, by the test vector of its paper (appendix A): the state
// after the first two rounds with the key 00 … 0f.
func TestSipRound(t *testing.T) {
	v0, v1, v2, v3 := uint64(0x7469686173716475), uint64(0x6b617f6d656e6665), uint64(0x6b7f62616d677361), uint64(0x7c6d6c6a717c6d7b)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	if v0 != 0x4d07749cdd0858e0 || v1 != 0x0d52f6f62a4f59a4 || v2 != 0x634cb3577b01fd3d || v3 != 0xa5224d6f55c7d9c8 {
		t.Errorf("state %016x %016x %016x %016x", v0, v1, v2, v3)
	}
}

// Images of neighbors differ in about half of the bits, and their order is random.
func TestImagesOfNeighborsAreUnrelated(t *testing.T) {
	const n = 4096
	for _, width := range []int{20, 40, 53, 63} {
		p := newPermutation("a key of a test", width)
		flipped, rises := 0, 0
		for id := range int64(n) {
			a, b := p.Scatter(id), p.Scatter(id+1)
			flipped += bits.OnesCount64(uint64(a ^ b))
			if a < b {
				rises++
			}
		}
		if part := float64(flipped) / float64(n*width); part < 0.48 || part > 0.52 {
			t.Errorf("%d bits: neighbors differ in %.3f of their bits", width, part)
		}
		if part := float64(rises) / n; part < 0.45 || part > 0.55 {
			t.Errorf("%d bits: %.3f of the neighbors rise", width, part)
		}
	}
}

// Each bit of a number changes each bit of its image with probability ½.
func TestScatterAvalanche(t *testing.T) {
	const width, n = 63, 512
	p := newPermutation("a key of a test", width)
	for in := range width {
		var flips [width]int
		for id := range int64(n) {
			d := p.Scatter(id*0x1234567) ^ p.Scatter(id*0x1234567^1<<in)
			for out := range width {
				flips[out] += int(d >> out & 1)
			}
		}
		for out, f := range flips {
			if f < n/2-130 || f > n/2+130 { // more than 11 standard deviations
				t.Fatalf("bit %d changes bit %d in %d of %d numbers", in, out, f, n)
			}
		}
	}
}

func BenchmarkScatter(b *testing.B) {
	p := newPermutation("a key of a benchmark", 63)
	var id int64
	for b.Loop() {
		id = p.Scatter(id)
	}
}
