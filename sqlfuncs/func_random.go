package sqlfuncs

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"math/bits"

	"nextid/sqlfuncs/datum"
)

// prng is xoroshiro128** (Blackman and Vigna, 2018), which PostgreSQL uses:
// the same seed gives the same numbers. The zero prng seeds itself.
type prng struct{ s0, s1 uint64 }

// splitMix is SplitMix64 (Steele, Lea and Flood, 2014), which makes seeds.
func splitMix(state *uint64) uint64 {
	*state += 0x9E3779B97F4A7C15
	z := *state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (g *prng) seed(state uint64) {
	g.s0 = splitMix(&state)
	g.s1 = splitMix(&state)
}

func (g *prng) next() uint64 {
	if g.s0 == 0 && g.s1 == 0 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // does not fail
		g.seed(binary.LittleEndian.Uint64(b[:]))
	}
	s0, s1 := g.s0, g.s0^g.s1
	v := bits.RotateLeft64(s0*5, 7) * 9
	g.s0 = bits.RotateLeft64(s0, 24) ^ s1 ^ s1<<16
	g.s1 = bits.RotateLeft64(s1, 37)
	return v
}

// float is a number from 0 up to 1, of 52 bits.
func (g *prng) float() float64 { return math.Ldexp(float64(g.next()>>12), -52) }

// void is what functions return that return nothing.
var void = datum.Value{Type: datum.Void, Valid: true}
