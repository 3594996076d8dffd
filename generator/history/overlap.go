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
// ranges: the cost depends on the number of ranges, not of ids.
//
// It goes through the runs in the order of their least id. A run is open until its
// greatest id has passed. Two open runs with the same step and residue would have
// common ids. So each pair of step and residue has at most one open run.
func checkDisjoint(tracks []track) error {
	s := sweep{open: make(map[uint64]map[uint64]run)}
	for _, r := range sortedRuns(tracks) {
		if other, id, found := s.add(r); found {
			return fmt.Errorf("%w: %q gave %d in %v and in %v", ErrDuplicate, tracks[0].name, id,
				tracks[other.track].event(int(other.index)), tracks[r.track].event(int(r.index)))
		}
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

// sweep holds the open runs, by step and residue.
type sweep struct {
	open map[uint64]map[uint64]run
}

// add adds the next run. If an open run has an id of r, it returns that run and the
// least such id.
func (s *sweep) add(r run) (other run, id int64, found bool) {
	for step, class := range s.open {
		var o run
		var v int64
		var hit bool
		if n := r.count(); step == r.step || n <= uint64(len(class)) {
			o, v, hit = lookup(class, step, r, n)
		} else {
			o, v, hit = scan(class, r)
		}
		if hit && (!found || v < id) {
			other, id, found = o, v, true
		}
		if len(class) == 0 {
			delete(s.open, step)
		}
	}
	class := s.open[r.step]
	if class == nil {
		class = make(map[uint64]run)
		s.open[r.step] = class
	}
	class[residue(r.lo, r.step)] = r
	return other, id, found
}

// lookup tests r's ids one by one against a class of runs with one step. If r has
// the same step, its first id decides.
func lookup(class map[uint64]run, step uint64, r run, n uint64) (run, int64, bool) {
	if step == r.step {
		n = 1
	}
	for k := range n {
		v := int64(uint64(r.lo) + k*r.step)
		if o, ok := class[residue(v, step)]; ok && v <= o.hi {
			return o, v, true
		}
	}
	return run{}, 0, false
}

// scan compares r with every open run of a class and drops the closed ones.
func scan(class map[uint64]run, r run) (other run, id int64, found bool) {
	for key, o := range class {
		if o.hi < r.lo {
			delete(class, key)
			continue
		}
		if v, hit := meet(o, r); hit && (!found || v < id) {
			other, id, found = o, v, true
		}
	}
	return other, id, found
}

// meet returns the least id that is both in o and in r, where o.lo ≤ r.lo.
//
// With g = gcd of the steps, r.lo + k·r.step ≡ o.lo (mod o.step) has the
// solutions k ≡ need/g · (r.step/g)⁻¹ (mod o.step/g), if g divides need.
func meet(o, r run) (int64, bool) {
	need := (o.step - distance(o.lo, r.lo)%o.step) % o.step
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

// residue returns v mod step, which is equal for all ids of a run. It counts from
// the least int64, so that negative ids need no special case.
func residue(v int64, step uint64) uint64 { return (uint64(v) ^ 1<<63) % step }
