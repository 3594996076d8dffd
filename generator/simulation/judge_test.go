package simulation

import (
	"fmt"
	"strconv"

	"nextid/generator"
)

// judge checks every id that a client got.
type judge struct {
	world     *world
	seen      map[*name]map[int64]*server
	greatest  map[*name]int64 // greatest position; for an embedded store
	count     int
	tolerated int
	faults    int
	err       error
}

func (j *judge) init(w *world) {
	j.world, j.seen, j.greatest = w, map[*name]map[int64]*server{}, map[*name]int64{}
	for _, n := range w.names {
		j.seen[n] = map[int64]*server{}
		j.greatest[n] = -1 << 63
	}
}

func (j *judge) fail(format string, args ...any) {
	if j.err == nil {
		j.err = fmt.Errorf(format, args...)
		j.world.note("FAILED: %v", j.err)
	}
}

// take checks the ids that a connection received.
func (j *judge) take(s *server, client int, n *name, r generator.Range) {
	at := track{client, n}
	before, follows := s.last[at]
	s.last[at] = n.position(r.Last())
	if s.repeating { // it was checked in the original
		return
	}
	if j.world.log != nil {
		j.world.note("server %d: %s gives %d to %d", s.id, n.Name, r.First, r.Last())
	}
	first := n.position(r.First)
	if follows && first <= before {
		j.fail("order: %s gave %d to a connection of server %d that had a later one", n.Name, r.First, s.id)
	}
	if j.world.plan.embedded && !n.strict && first <= j.greatest[n] {
		j.fail("order: %s gave %d on an embedded store that had given a later one", n.Name, r.First)
	}
	j.greatest[n] = n.position(r.Last())
	for i := range r.Count {
		id := r.First + i*r.Step
		j.count++
		if other, ok := j.seen[n][id]; ok {
			j.twice(s, other, n, id)
		}
		j.seen[n][id] = s
		j.covered(s, n, id)
	}
}

// position returns the rank of an id among those of its name: later ids have
// greater positions.
func (n *name) position(id int64) int64 {
	if n.falling {
		return -id
	}
	return id
}

// interval returns what must be reserved for an id: positions, or Unix ms.
func (n *name) interval(id int64) interval {
	if !n.flake {
		p := n.position(id)
		return interval{p, p + 1}
	}
	tick, _, _, _ := n.layout.Unpack(id)
	from := n.layout.Epoch.UnixMicro() + tick*n.layout.Unit.Microseconds()
	return interval{from / 1000, (from + n.layout.Unit.Microseconds() + 999) / 1000}
}

// key returns the key under which an id is reserved.
func (n *name) key(id int64) string {
	if !n.flake {
		return generator.NameKey(n.Name)
	}
	_, worker, _, _ := n.layout.Unpack(id)
	return generator.WorkerKeyPrefix + strconv.Itoa(int(n.layout.WorkerBits())) + "/" + strconv.FormatInt(worker, 10)
}

// twice handles an id that was issued before. That is tolerated for ids that a
// server held when it was cloned. Both copies may issue them, or one gives them
// back and a third server gets them. A strict generator holds none.
func (j *judge) twice(s, other *server, n *name, id int64) {
	if !n.strict && (s.heldTwice(n, id) || other.heldTwice(n, id)) {
		j.tolerated++
		return
	}
	j.fail("duplicate: %s gave %d on server %d and on server %d", n.Name, id, other.id, s.id)
}

func (s *server) heldTwice(n *name, id int64) bool {
	for c := s.born; c != nil; c = c.parent {
		if hi, ok := c.held[n.key(id)]; ok && n.interval(id).hi <= hi {
			return true
		}
	}
	return false
}

// covered checks that an id is inside a reservation whose answer had reached the
// server.
func (j *judge) covered(s *server, n *name, id int64) {
	need := n.interval(id)
	for _, g := range s.granted[n.key(id)] {
		if g.lo <= need.lo && need.lo < g.hi {
			need.lo = g.hi
		}
	}
	if need.lo < need.hi {
		j.fail("not reserved: %s gave %d on server %d", n.Name, id, s.id)
	}
}
