package shared

import (
	"context"
	"strings"
	"sync"
	"time"

	"nextid/generator"
)

// rounds is the group commit. A lane takes all asks that wait at a moment,
// carries them out in one round trip, and takes the next. Lanes bound how
// many connections reservations use.
type rounds struct {
	engine    Engine
	highWater *highWater
	health    *health
	timeout   time.Duration
	clock     generator.Runtime

	wake chan struct{} // one token a lane at most

	mu      sync.Mutex
	waiting []*call
	flying  map[string]bool // keys in a round: a key is in one at a time
	closed  bool

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
}

// call is one ask and who waits for it.
type call struct {
	ctx    context.Context
	ask    Ask
	answer Answer
	back   bool // a grant that goes back behind before, which the high-water mark shows
	before position
	err    error
	done   chan struct{} // closed when all of them are final
}

// maxRound bounds the asks of one round trip.
const maxRound = 128

func newRounds(engine Engine, w *highWater, h *health, cfg Config) *rounds {
	r := &rounds{
		engine: engine, highWater: w, health: h, timeout: cfg.Timeout, clock: cfg.Clock,
		wake: make(chan struct{}, cfg.Lanes), flying: map[string]bool{},
	}
	r.ctx, r.stop = context.WithCancel(context.Background())
	for range cfg.Lanes {
		r.clock.Go(&r.work, r.lane)
	}
	return r
}

// do waits for the answer to an ask. A caller whose ctx ends first gets an
// error at once; what the store granted then, if anything, is not used.
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

// poke wakes a lane, if one sleeps.
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

// take removes the calls of the next round: one for each key, in the order
// in which they came, and none for a key that is in a round already.
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

// run carries out one round. Its deadline is its own: that of a caller would
// take the others down.
func (r *rounds) run(calls []*call) {
	ctx, cancel := context.WithTimeout(r.ctx, r.timeout)
	defer cancel()
	asks := make([]Ask, len(calls))
	for i, c := range calls {
		asks[i] = c.ask
	}
	answers, err := r.engine.Advance(ctx, asks)
	if r.ctx.Err() == nil {
		r.health.note(err)
	}
	for i, c := range calls {
		if c.err = err; err != nil {
			continue
		}
		c.answer = answers[i]
		c.err = c.answer.Err
		if a := &c.answer; c.err == nil && a.Outcome == Granted && c.ask.Key != epochKey {
			// Here, where the grants of a key still come in their order.
			c.before, c.back = r.highWater.grant(c.ask.Key, a.Lo, position{a.Hi, a.Seq})
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

// close ends the lanes. Calls that wait get an error.
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

// issuedBy reports whether ids are issued by the reservations of a key.
func issuedBy(key string) bool {
	return nameOf(key) != "" || strings.HasPrefix(key, generator.WorkerKeyPrefix)
}

// nameOf is the generator's name in a key, "" for other keys.
func nameOf(key string) string {
	if prefix := generator.NameKey(""); len(key) > len(prefix) && key[:len(prefix)] == prefix {
		return key[len(prefix):]
	}
	return ""
}
