package shared

import (
	"context"
	"strings"
	"sync"
	"time"

	"nextid/generator"
)

// rounds is the group commit. A lane takes all waiting asks, carries them out in
// one round trip, and takes the next ones. The number of lanes bounds the
// connections that reservations use.
type rounds struct {
	store *Store
	clock generator.Runtime
	wake  chan struct{} // at most one token per lane

	mu      sync.Mutex
	waiting []*call
	flying  map[string]bool // keys in a running round; a key is in one round at a time
	closed  bool

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
}

// call is one ask, and the channel on which its caller waits.
type call struct {
	ctx    context.Context
	ask    Ask
	answer Answer
	back   bool // the grant is below the high-water mark before
	before position
	err    error
	done   chan struct{} // closed when the other fields are final
}

// maxRound is the greatest number of asks of one round trip.
const maxRound = 128

func newRounds(s *Store) *rounds {
	r := &rounds{store: s, clock: s.cfg.Clock, wake: make(chan struct{}, s.cfg.Lanes), flying: map[string]bool{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	for range cap(r.wake) {
		r.clock.Go(&r.work, r.lane)
	}
	return r
}

// do waits for the answer to an ask. If ctx ends first, it returns an error at
// once; a later grant is not used.
func (r *rounds) do(ctx context.Context, ask Ask) (*call, error) {
	if ctx.Err() != nil {
		return nil, generator.StoreLateError(ctx)
	}
	c := &call{ctx: ctx, ask: ask, done: make(chan struct{})}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, generator.StoreClosedError()
	}
	r.waiting = append(r.waiting, c)
	r.mu.Unlock()
	r.poke()
	if r.clock.Receive(ctx, c.done) != nil {
		return nil, generator.StoreLateError(ctx)
	}
	return c, c.err
}

// poke wakes a lane that waits, if there is one.
func (r *rounds) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *rounds) lane() {
	for r.clock.Receive(r.ctx, r.wake) == nil {
		for {
			calls := r.take()
			if len(calls) == 0 {
				break
			}
			r.run(calls)
		}
	}
}

// take removes the calls of the next round: one per key, in their order, and none
// for a key in a running round.
func (r *rounds) take() []*call {
	r.mu.Lock()
	defer r.mu.Unlock()
	var taken []*call
	rest := r.waiting[:0]
	for _, c := range r.waiting {
		switch key := c.ask.Key; {
		case c.ctx.Err() != nil:
			c.err = generator.StoreLateError(c.ctx)
			close(c.done)
		case len(taken) < maxRound && !r.flying[key]:
			r.flying[key] = true
			taken = append(taken, c)
		default:
			rest = append(rest, c)
		}
	}
	clear(r.waiting[len(rest):])
	r.waiting = rest
	return taken
}

// run carries out one round. It has its own deadline: a caller's would end the
// calls of other callers, too.
func (r *rounds) run(calls []*call) {
	ctx, cancel := r.store.bounded(r.ctx)
	defer cancel()
	asks := make([]Ask, len(calls))
	for i, c := range calls {
		asks[i] = c.ask
	}
	answers, err := r.store.engine.Advance(ctx, asks)
	if r.ctx.Err() == nil {
		r.store.health.note(&r.store.health.round, err, time.Now())
	}
	for i, c := range calls {
		if c.err = err; err != nil {
			continue
		}
		c.answer = answers[i]
		c.err = c.answer.Err
		if a := &c.answer; c.err == nil && a.Outcome == Granted && c.ask.Key != epochKey {
			// Recorded here, where the grants of a key still come in their order.
			c.before, c.back = r.store.highWater.grant(c.ask.Key, a.Lo, position{a.Hi, a.Seq})
		}
	}
	r.mu.Lock()
	for _, c := range calls {
		delete(r.flying, c.ask.Key)
		close(c.done)
	}
	more := len(r.waiting) > 0
	r.mu.Unlock()
	if more {
		r.poke()
	}
}

// close ends the lanes. Waiting calls get an error.
func (r *rounds) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
	r.clock.Join(&r.work)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.waiting {
		c.err = generator.StoreClosedError()
		close(c.done)
	}
	r.waiting = nil
}

// issuedBy reports whether ids are issued from the reservations of a key.
func issuedBy(key string) bool {
	return nameOf(key) != "" || strings.HasPrefix(key, generator.WorkerKeyPrefix)
}

// nameOf returns the generator's name in a key, "" for other keys.
func nameOf(key string) string {
	name, ok := strings.CutPrefix(key, generator.NameKey(""))
	if !ok {
		return ""
	}
	return name
}
