// Package history checks the draws of a test: no id is issued twice, and the ids of
// each client are in order.
//
// A test records its draws in a Log and ends with Log.Check. ReadLines adds the
// draws that child processes printed. So a test that kills servers has one history
// of all of them.
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
	return fmt.Sprintf("%s to client %d", formatRange(e.Range), e.Client)
}

func formatRange(r generator.Range) string {
	if r.Count == 1 {
		return fmt.Sprintf("[%d]", r.First)
	}
	return fmt.Sprintf("[%d, step %d, %d ids]", r.First, r.Step, r.Count)
}

// Log is a history of draws. The zero value is empty. It may be used by several
// goroutines at once.
//
// A client is something that draws one after the other: a goroutine, a connection,
// a child process. The order of its events is the order of its Add calls.
type Log struct {
	mu      sync.RWMutex
	clients map[int]*client
}

// client holds the events of one client.
type client struct {
	mu        sync.Mutex
	tracks    map[string]*track
	malformed error // first malformed event
}

// track holds the draws of one client from one name.
type track struct {
	ranges []generator.Range // in the order of Add
	ids    int64
	max    int64
}

// Add records an event. A malformed range (no ids, or ids outside int64) is not
// recorded, but reported by Check.
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

// client returns the events of a client, and adds the client if it is new.
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

// Len returns the number of ids recorded, over all names.
func (l *Log) Len() int64 {
	var n int64
	for _, s := range l.snapshot() {
		n = addSaturated(n, s.ids)
	}
	return n
}

// Max returns the greatest id of name. ok is false if there is none.
func (l *Log) Max(name string) (id int64, ok bool) {
	for _, s := range l.snapshot() {
		if s.name == name && (!ok || s.max > id) {
			id, ok = s.max, true
		}
	}
	return id, ok
}

// Check reports the first malformed range. For each client and name it reports the
// first range out of order: not wholly above the one before, or below for
// descending ranges. For each name it reports one id that was issued twice. It
// returns nil if there is none of these.
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

// malformed returns the first malformed event of the client with the least number.
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

// frozen is a copy of a track.
type frozen struct {
	track
	name   string
	client int
}

func (s *frozen) event(i int) Event {
	return Event{Name: s.name, Client: s.client, Range: s.ranges[i]}
}

// checkOrder compares neighbors only, since the order is transitive.
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

// snapshot returns all tracks, ordered by name and client. Their ranges are those
// of the Log, which only appends to them.
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

func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
