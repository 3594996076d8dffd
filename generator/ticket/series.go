package ticket

import "nextid/generator"

// series is the set of numbers that equal offset modulo increment, as with MySQL's
// auto_increment_increment, or Tinyid's delta and remainder.
type series struct{ offset, increment int64 }

// from returns the least number of the series at or above v.
func (s series) from(v int64) int64 { return v + generator.Gap(s.offset, s.increment, v) }

// holds reports whether a ticket database with this series issues a number.
func (s series) holds(v int64) bool { return v >= s.offset && s.from(v) == v }

// above returns the least ticket of the series that is greater than v.
func (s series) above(v int64) int64 { return s.from(max(v+1, s.offset)) }

// maxDelta is the greatest increment for which joinSeries looks for a wider series.
const maxDelta = 1 << 16

// joinSeries returns the widest series whose numbers all belong to one of the
// databases. Both of two make all numbers, one of two every second one. Numbers of
// databases that are not taken over stay theirs.
func joinSeries(found []position) (series, error) {
	delta := max(found[0].increment, 1)
	own := make(map[int64]bool, len(found))
	for _, p := range found {
		if max(p.increment, 1) != delta {
			return series{}, generator.OptionError("Take them over one by one, under different names.",
				"the databases count in steps of %d and of %d", delta, max(p.increment, 1))
		}
		own[generator.Modulo(p.offset, delta)] = true
	}
	widest := series{generator.Modulo(found[0].offset, delta), delta}
	if delta > maxDelta {
		return widest, nil
	}
	for increment := int64(1); increment < delta; increment++ {
		for offset := range increment {
			if delta%increment == 0 && all(own, offset, increment, delta) {
				return series{offset, increment}, nil
			}
		}
	}
	return widest, nil
}

// all reports whether own contains every number below delta that equals offset
// modulo increment.
func all(own map[int64]bool, offset, increment, delta int64) bool {
	for v := offset; v < delta; v += increment {
		if !own[v] {
			return false
		}
	}
	return true
}
