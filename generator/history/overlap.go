package history

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
)

// run is a range in ascending form: lo, lo+step, …, hi.
type run struct {
	lo, hi int64
	step   uint64
	track  int32 // index into the tracks given to checkDisjoint
	index  int32 // index into that track's ranges
}

// checkDisjoint looks for an id in two ranges of one name. It does not expand
// ranges: the cost depends on the number of ranges, not of ids. It goes through them
// in the order of their least id. A run is open until its greatest id has passed.
func checkDisjoint(tracks []track) error {
	var open []run
	for _, r := range sortedRuns(tracks) {
		open = slices.DeleteFunc(open, func(o run) bool { return o.hi < r.lo })
		for _, o := range open {
			if id, found := meet(o, r); found {
				return fmt.Errorf("%w: %q gave %d in %v and in %v", ErrDuplicate, tracks[0].name, id,
					tracks[o.track].event(int(o.index)), tracks[r.track].event(int(r.index)))
			}
		}
		open = append(open, r)
	}
	return nil
}

// sortedRuns returns the ranges of all tracks as runs, in the order of their least
// id.
func sortedRuns(tracks []track) []run {
	n := 0
	for _, t := range tracks {
		n += len(t.ranges)
	}
	runs := make([]run, 0, n)
	for ti, t := range tracks {
		for ri, r := range t.ranges {
			lo, hi := bounds(r)
			runs = append(runs, run{lo: lo, hi: hi, step: stepSize(r), track: int32(ti), index: int32(ri)})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.lo, b.lo) })
	return runs
}

// meet returns the least id that is both in o and in r, where o.lo ≤ r.lo.
//
// With g = gcd of the steps, r.lo + k·r.step ≡ o.lo (mod o.step) has the
// solutions k ≡ need/g · (r.step/g)⁻¹ (mod o.step/g), if g divides need.
func meet(o, r run) (int64, bool) {
	need := (o.step - distance(o.lo, r.lo)%o.step) % o.step
	if need == 0 || r.step == o.step { // its first id decides
		return r.lo, need == 0 && r.lo <= o.hi
	}
	step, modulus := new(big.Int).SetUint64(r.step), new(big.Int).SetUint64(o.step)
	inverse, k, rest := new(big.Int), new(big.Int).SetUint64(need), new(big.Int)
	g := new(big.Int).GCD(inverse, nil, step, modulus)
	if k.DivMod(k, g, rest); rest.Sign() != 0 {
		return 0, false
	}
	if k.Mul(k, inverse).Mod(k, modulus.Div(modulus, g)); k.Uint64() >= r.count() {
		return 0, false
	}
	v := int64(uint64(r.lo) + k.Uint64()*r.step)
	return v, v <= o.hi
}

// count returns the number of ids. It cannot overflow: a Range has less than 2^63
// ids.
func (r run) count() uint64 { return distance(r.lo, r.hi)/r.step + 1 }
