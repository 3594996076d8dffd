package shards

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"nextid/migrations/appdb"
)

// Progression is the set of numbers Offset, Offset+Increment, Offset+2·Increment, …
// with 1 ≤ Offset ≤ Increment. AUTO_INCREMENT draws it with auto_increment_offset
// and auto_increment_increment. A sequence draws it with START WITH Offset and
// INCREMENT BY Increment.
type Progression struct{ Offset, Increment int64 }

// every is the progression of a server without settings.
var every = Progression{1, 1}

func (p Progression) String() string {
	return fmt.Sprintf("%d, %d, %d, …", p.Offset, p.Offset+p.Increment, p.Offset+2*p.Increment)
}

// through returns the progression with an increment that contains n.
func through(n, increment int64) Progression {
	return Progression{(n-1)%increment + 1, increment}
}

// has reports whether n is in the progression.
func (p Progression) has(n int64) bool { return n >= p.Offset && (n-p.Offset)%p.Increment == 0 }

// first returns the least number of p that is at least n, and whether it fits an
// int64. If not, the number is the greatest int64.
func (p Progression) first(n int64) (int64, bool) {
	if n <= p.Offset {
		return p.Offset, true
	}
	missing := (p.Increment - (n-p.Offset)%p.Increment) % p.Increment
	return appdb.Plus(n, missing), n <= math.MaxInt64-missing
}

// meet returns the least number from n on that is in both progressions, and whether
// one exists that fits an int64. None exists if the offsets differ modulo the
// greatest common divisor of the increments (Chinese remainder theorem).
func (p Progression) meet(q Progression, n int64) (int64, bool) {
	if !p.together(q) {
		return 0, false
	}
	v, ok := p.first(max(n, q.Offset))
	if !ok {
		return 0, false
	}
	// k steps of p from v lead to a number of q: k·a ≡ d modulo m.
	g := gcd(p.Increment, q.Increment)
	a, m := p.Increment/g, q.Increment/g
	d := (q.Offset - v) / g // exact: the offsets are equal modulo g
	k := new(big.Int).ModInverse(big.NewInt(a), big.NewInt(m))
	k.Mod(k.Mul(k, big.NewInt(d)), big.NewInt(m))
	k.Add(k.Mul(k, big.NewInt(p.Increment)), big.NewInt(v))
	return k.Int64(), k.IsInt64()
}

// together reports whether the progressions have a number in common.
func (p Progression) together(q Progression) bool {
	return (p.Offset-q.Offset)%gcd(p.Increment, q.Increment) == 0
}

// halves splits p into two disjoint progressions.
func (p Progression) halves() (stay, give Progression) {
	return Progression{p.Offset, 2 * p.Increment}, Progression{p.Offset + p.Increment, 2 * p.Increment}
}

// gcd returns the greatest common divisor.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// spare returns a progression that is disjoint from all taken ones and has one of
// their increments, the greatest first, and whether there is one.
func spare(taken []Progression) (Progression, bool) {
	for _, like := range slices.SortedFunc(slices.Values(taken), func(p, q Progression) int { return cmp.Compare(q.Increment, p.Increment) }) {
		for offset := int64(1); offset <= min(like.Increment, maxIncrementMySQL); offset++ {
			free := Progression{offset, like.Increment}
			if !slices.ContainsFunc(taken, free.together) {
				return free, true
			}
		}
	}
	return Progression{}, false
}

// The greatest increments.
const (
	maxIncrementMySQL    = 65535   // limit of auto_increment_increment and auto_increment_offset
	maxIncrementPostgres = 1 << 32 // leaves 2^31 numbers of a bigint
)
