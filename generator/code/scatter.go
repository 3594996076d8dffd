package code

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Limits of the width of a permutation. With fewer bits an observer could list all
// of it.
const (
	minBits = 16
	maxBits = 63
)

// rounds is the number of rounds of the Feistel network. Luby and Rackoff's proof
// needs four with a perfect round function; narrow halves need more. NIST's FF1 has
// ten.
const rounds = 10

// permutation is a keyed bijection of the numbers 0 … 2^bits-1. Unscatter is its
// inverse. It is a Feistel network over the bits. If their number is odd, the
// halves differ by one bit, so that no cycle walking is needed. The round function
// is SipHash-2-4 of one word.
//
// It hides the order and the number of ids from observers without the key. It is
// not meant for other secrets.
type permutation struct {
	key         [2]uint64
	high, low   uint8 // bits of the halves
	highM, lowM uint64
	domainM     uint64
	roundTweaks [rounds]uint64
	reversed    uint8     // width of a bit reversal, else 0
	_           [0]func() // not comparable, so that the key does not become a map key
}

// newPermutation returns the permutation of a key over width bits, from 2 to 63.
// SHA-256 reduces the key to 128 bits.
func newPermutation(key string, width int) *permutation {
	sum := sha256.Sum256([]byte("nextid scatter 1\x00" + key))
	p := &permutation{
		key:  [2]uint64{binary.LittleEndian.Uint64(sum[0:]), binary.LittleEndian.Uint64(sum[8:])},
		high: uint8(width / 2), low: uint8(width - width/2),
	}
	p.highM, p.lowM, p.domainM = 1<<p.high-1, 1<<p.low-1, 1<<width-1
	for i := range p.roundTweaks {
		p.roundTweaks[i] = uint64(i)<<56 | uint64(width)<<48
	}
	return p
}

// newReversal returns the permutation that reverses the order of the bits. It is
// its own inverse, has no key and hides nothing. It spreads consecutive numbers
// over a table that is partitioned by key ranges, like Spanner's bit-reversed
// sequences with 63 bits.
func newReversal(width int) *permutation {
	return &permutation{reversed: uint8(width), domainM: 1<<width - 1}
}

// reverse reverses the low bits of id.
func (p *permutation) reverse(id int64) int64 {
	return int64(bits.Reverse64(uint64(id)) >> (64 - p.reversed))
}

// Holds reports whether id is in the domain of the permutation.
func (p *permutation) Holds(id int64) bool { return uint64(id)&^p.domainM == 0 }

// Scatter returns the image of a number in the domain.
func (p *permutation) Scatter(id int64) int64 {
	if p.reversed > 0 {
		return p.reverse(id)
	}
	h, l := uint64(id)>>p.low, uint64(id)&p.lowM
	for i := 0; i < rounds; i += 2 {
		h ^= p.round(i, l) & p.highM
		l ^= p.round(i+1, h) & p.lowM
	}
	return int64(h<<p.low | l)
}

// Unscatter returns the inverse of Scatter.
func (p *permutation) Unscatter(id int64) int64 {
	if p.reversed > 0 {
		return p.reverse(id)
	}
	h, l := uint64(id)>>p.low, uint64(id)&p.lowM
	for i := rounds - 2; i >= 0; i -= 2 {
		l ^= p.round(i+1, h) & p.lowM
		h ^= p.round(i, l) & p.highM
	}
	return int64(h<<p.low | l)
}

// round is SipHash-2-4 of one word, whose highest bytes hold the round and the
// width. All inputs have this length. So the final block with the length, which the
// general form appends, is left out.
func (p *permutation) round(i int, half uint64) uint64 {
	m := p.roundTweaks[i] | half
	v0, v1 := p.key[0]^0x736f6d6570736575, p.key[1]^0x646f72616e646f6d
	v2, v3 := p.key[0]^0x6c7967656e657261, p.key[1]^0x7465646279746573
	v3 ^= m
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= m
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
