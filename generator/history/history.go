// Package history checks the draws of a test: no id is issued twice, and the ids of
// each client are in order.
//
// A test records its draws in a Log and ends with Log.Check.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"nextid/generator"
)

// Errors of Check. Each error that it returns wraps one of them.
var (
	ErrDuplicate = errors.New("id given twice")
	ErrOrder     = errors.New("ids out of order")
	ErrMalformed = errors.New("malformed range")
)

// Event is one acknowledged draw: client received the ids of Range from the
// generator Name.
type Event struct {
	Name   string
	Client int
	Range  generator.Range
}

// String returns the event in the form of this package's errors.
func (e Event) String() string {
	if r := e.Range; r.Count != 1 {
		return fmt.Sprintf("[%d, step %d, %d ids] to client %d", r.First, r.Step, r.Count, e.Client)
	}
	return fmt.Sprintf("[%d] to client %d", e.Range.First, e.Client)
}

// Log is a history of draws. The zero value is empty. It may be used by several
// goroutines at once.
//
// A client is something that draws one after the other: a goroutine, a connection,
// a child process. The order of its events is the order of its Add calls.
type Log struct {
	mu        sync.Mutex
	tracks    map[source]*track
	malformed error // first malformed event
}

// source is a client that draws from a name.
type source struct {
	name   string
	client int
}

// track holds the draws of one source.
type track struct {
	source
	ranges []generator.Range // in the order of Add
	ids    int64
	max    int64
}

// Add records an event. A malformed range (no ids, or ids outside int64) is not
// recorded, but reported by Check.
func (l *Log) Add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !wellFormed(e.Range) {
		if l.malformed == nil {
			l.malformed = fmt.Errorf("%w: %q gave %v", ErrMalformed, e.Name, e)
		}
		return
	}
	from := source{e.Name, e.Client}
	t := l.tracks[from]
	if t == nil {
		if l.tracks == nil {
			l.tracks = map[source]*track{}
		}
		t = &track{source: from, max: math.MinInt64}
		l.tracks[from] = t
	}
	_, hi := bounds(e.Range)
	t.ranges = append(t.ranges, e.Range)
	t.ids += e.Range.Count
	t.max = max(t.max, hi)
}

// Len returns the number of ids recorded, over all names.
func (l *Log) Len() int64 {
	var n int64
	for _, t := range l.snapshot() {
		n += t.ids
	}
	return n
}

// Max returns the greatest id of name. ok is false if there is none.
func (l *Log) Max(name string) (id int64, ok bool) {
	for _, t := range l.snapshot() {
		if t.name == name && (!ok || t.max > id) {
			id, ok = t.max, true
		}
	}
	return id, ok
}

// Check reports the first malformed range. For each client and name it reports the
// first range out of order: not wholly above the one before, or below for
// descending ranges. For each name it reports one id that was issued twice. It
// returns nil if there is none of these.
func (l *Log) Check() error {
	tracks := l.snapshot()
	l.mu.Lock()
	malformed := l.malformed
	l.mu.Unlock()
	if malformed != nil {
		return malformed
	}
	var errs []error
	for _, t := range tracks {
		errs = append(errs, t.checkOrder())
	}
	for len(tracks) > 0 {
		n := 1
		for n < len(tracks) && tracks[n].name == tracks[0].name {
			n++
		}
		errs = append(errs, checkDisjoint(tracks[:n]))
		tracks = tracks[n:]
	}
	return errors.Join(errs...)
}

func (t *track) event(i int) Event {
	return Event{Name: t.name, Client: t.client, Range: t.ranges[i]}
}

// checkOrder compares neighbors only, since the order is transitive.
func (t *track) checkOrder() error {
	for i := 1; i < len(t.ranges); i++ {
		prevLo, prevHi := bounds(t.ranges[i-1])
		lo, hi := bounds(t.ranges[i])
		descending := t.ranges[i].Step < 0
		if (!descending && lo > prevHi) || (descending && hi < prevLo) {
			continue
		}
		return fmt.Errorf("%w: %q gave %d after %d: event %d %v follows %v",
			ErrOrder, t.name, t.ranges[i].First, t.ranges[i-1].Last(), i, t.event(i), t.event(i-1))
	}
	return nil
}

// snapshot returns copies of all tracks, ordered by name and client. Their ranges
// are those of the Log, which only appends to them.
func (l *Log) snapshot() []track {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]track, 0, len(l.tracks))
	for _, t := range l.tracks {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b track) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.client, b.client))
	})
	return all
}

// wellFormed reports whether r holds at least one id, no id twice, and only ids
// that fit int64.
func wellFormed(r generator.Range) bool {
	switch {
	case r.Count < 1:
		return false
	case r.Count == 1:
		return true
	case r.Step == 0:
		return false
	case r.Step > 0:
		return uint64(r.Count-1) <= distance(r.First, math.MaxInt64)/stepSize(r)
	default:
		return uint64(r.Count-1) <= distance(math.MinInt64, r.First)/stepSize(r)
	}
}

// bounds returns the least and the greatest id of a well-formed range.
func bounds(r generator.Range) (lo, hi int64) {
	last := r.Last()
	return min(r.First, last), max(r.First, last)
}

// stepSize returns |Step|, which fits for every int64. A single id has step 1.
func stepSize(r generator.Range) uint64 {
	switch {
	case r.Count == 1:
		return 1
	case r.Step < 0:
		return -uint64(r.Step)
	default:
		return uint64(r.Step)
	}
}

// distance returns hi-lo for lo ≤ hi. It fits for every pair of int64.
func distance(lo, hi int64) uint64 { return uint64(hi) - uint64(lo) }

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
