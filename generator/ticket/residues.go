package ticket

import "nextid/generator"

// residues is the numbers that agree with offset modulo increment:
// AUTO_INCREMENT's under auto_increment_increment, Tinyid's under delta and
// remainder.
type residues struct{ offset, increment int64 }

// first is the least number of the series at v or above.
func (s residues) first(v int64) int64 { return v + modulo(s.offset-v, s.increment) }

func modulo(a, m int64) int64 { return (a%m + m) % m }

// maxDelta bounds the increment of databases that share the numbers.
const maxDelta = 1 << 16

// joinSeries is the widest series of which every number belongs to one of the
// databases: both of two make all numbers, one of two every second one. What
// belongs to a database that is not taken over is left to it.
func joinSeries(found []position) (residues, error) {
	delta := max(found[0].increment, 1)
	own := make(map[int64]bool, len(found))
	for _, p := range found {
		if max(p.increment, 1) != delta {
			return residues{}, generator.OptionError("Take them over one by one, under different names.",
				"the databases count in steps of %d and of %d", delta, max(p.increment, 1))
		}
		own[modulo(p.offset, delta)] = true
	}
	if delta > maxDelta {
		return residues{modulo(found[0].offset, delta), delta}, nil
	}
	for increment := int64(1); increment < delta; increment++ {
		if delta%increment != 0 {
			continue
		}
		for offset := range increment {
			if all(own, offset, increment, delta) {
				return residues{offset, increment}, nil
			}
		}
	}
	return residues{modulo(found[0].offset, delta), delta}, nil
}

// all reports whether every number below delta that agrees with offset modulo
// increment is there.
func all(own map[int64]bool, offset, increment, delta int64) bool {
	for v := offset; v < delta; v += increment {
		if !own[v] {
			return false
		}
	}
	return true
}
