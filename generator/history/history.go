// Package history checks what a test saw of a generator: no id twice, and
// the ids of one client in order.
//
// Every test that draws ids records them in a Log and ends in Log.Check.
// The Log also reads what child processes printed (ReadLines), so that a
// test that kills servers keeps one history over all of them.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"nextid/generator"
)

// What Check finds; each error that it returns wraps one of these.
var (
	ErrDuplicate = errors.New("id given twice")
	ErrOrder     = errors.New("ids out of order")
	ErrMalformed = errors.New("malformed range")
)

// Event is one acknowledged draw: client got the ids of Range from the
// generator Name.
type Event struct {
	Name   string
	Client int
	Range  generator.Range
}

// String writes the event the way the errors of this package name it.
func (e Event) String() string {
	return fmt.Sprintf("%s to client %d", formatRange(e.Range), e.Client)
}

func formatRange(r generator.Range) string {
	if r.Count == 1 {
		return fmt.Sprintf("[%d]", r.First)
	}
	return fmt.Sprintf("[%d, step %d, %d ids]", r.First, r.Step, r.Count)
}

// Log is a history of draws. The zero value is empty and ready; it is safe
// for concurrent use.
//
// A client is one thing that draws in order: a goroutine, a connection, a
// child process. The order of its events is the order of its Add calls.
type Log struct {
	mu      sync.RWMutex
	clients map[int]*client
}

// client is the part of a Log that belongs to one client.
type client struct {
	mu        sync.Mutex
	tracks    map[string]*track
	malformed error // the first malformed event
}

// track holds what one client drew of one name.
type track struct {
	ranges []generator.Range // in the order of Add
	ids    int64
	max    int64
}

// Add records an event. A malformed range (no ids, or ids outside int64) is
// not recorded; Check reports it.
func (l *Log) Add(e Event) {
	c := l.client(e.Client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !wellFormed(e.Range) {
		if c.malformed == nil {
			c.malformed = fmt.Errorf("%w: %q gave %v", ErrMalformed, e.Name, e)
		}
		return
	}
	t := c.tracks[e.Name]
	if t == nil {
		t = &track{max: math.MinInt64}
		c.tracks[e.Name] = t
	}
	_, hi := bounds(e.Range)
	t.ranges = append(t.ranges, e.Range)
	t.ids = addSaturated(t.ids, e.Range.Count)
	t.max = max(t.max, hi)
}

func (l *Log) client(id int) *client {
	l.mu.RLock()
	c := l.clients[id]
	l.mu.RUnlock()
	if c != nil {
		return c
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c = l.clients[id]; c == nil {
		c = &client{tracks: make(map[string]*track)}
		if l.clients == nil {
			l.clients = make(map[int]*client)
		}
		l.clients[id] = c
	}
	return c
}

// Len returns how many ids were recorded, over all names.
func (l *Log) Len() int64 {
	var n int64
	for _, s := range l.snapshot() {
		n = addSaturated(n, s.ids)
	}
	return n
}

// Max returns the greatest id of name; ok is false when there is none.
func (l *Log) Max(name string) (id int64, ok bool) {
	for _, s := range l.snapshot() {
		if s.name == name && (!ok || s.max > id) {
			id, ok = s.max, true
		}
	}
	return id, ok
}

// Check reports the first malformed range, the first range of a client that
// does not lie strictly after the client's previous one of that name
// (strictly before it for a descending range), and for each name one id that
// was given twice. It returns nil for a history without any of these.
func (l *Log) Check() error {
	if err := l.malformed(); err != nil {
		return err
	}
	tracks := l.snapshot()
	var errs []error
	for _, s := range tracks {
		errs = append(errs, s.checkOrder())
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

func (l *Log) malformed() error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(l.clients)) {
		c := l.clients[id]
		c.mu.Lock()
		err := c.malformed
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// frozen is a track as it was at one moment.
type frozen struct {
	track
	name   string
	client int
}

func (s *frozen) event(i int) Event {
	return Event{Name: s.name, Client: s.client, Range: s.ranges[i]}
}

// checkOrder compares neighbours only: "after" is transitive.
func (s *frozen) checkOrder() error {
	for i := 1; i < len(s.ranges); i++ {
		prevLo, prevHi := bounds(s.ranges[i-1])
		lo, hi := bounds(s.ranges[i])
		descending := s.ranges[i].Step < 0
		if (!descending && lo > prevHi) || (descending && hi < prevLo) {
			continue
		}
		return fmt.Errorf("%w: %q gave %d after %d: event %d %v follows %v",
			ErrOrder, s.name, s.ranges[i].First, s.ranges[i-1].Last(), i, s.event(i), s.event(i-1))
	}
	return nil
}

// snapshot returns all tracks, ordered by name and client. The ranges are
// shared with the Log, which only ever appends to them.
func (l *Log) snapshot() []frozen {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var all []frozen
	for id, c := range l.clients {
		c.mu.Lock()
		for name, t := range c.tracks {
			all = append(all, frozen{track: *t, name: name, client: id})
		}
		c.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b frozen) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.client, b.client))
	})
	return all
}

// wellFormed reports whether r holds at least one id, no id twice, and all
// of them fit into int64.
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

// stepSize is |Step|; it fits for every int64. A single id has step 1.
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

// distance is hi-lo for lo ≤ hi; it fits for every pair of int64.
func distance(lo, hi int64) uint64 { return uint64(hi) - uint64(lo) }

func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
