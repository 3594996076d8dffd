package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"nextid/generator"
	"nextid/generator/node"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/shared"
	"nextid/generator/worker"
)

// slice is the time that servers reserve: short, so that much happens in few
// virtual seconds. The rest of shared.Config.Wait is for clocks that differ.
const (
	slice = 2 * time.Second
	await = slice + 3*time.Second
	skew  = 500 * time.Millisecond // greatest difference of sane clocks from the true time; clock_limit
)

// clients sets how many connections draw from a server.
const clients = 2

// server is one process: its clocks, its tasks, its memory.
type server struct {
	world *world
	id    int
	seat  int    // configuration: which of the servers it is, over restarts and clones
	born  *clone // the cloning that it or an ancestor came out of, or nil

	tasks     []*task
	living    []*task
	running   *task
	groups    map[*sync.WaitGroup]int
	deadlines map[context.Context]time.Duration
	group     sync.WaitGroup // of the tasks that are not the servers' own

	dead, stopped bool
	later         []func() // what happens when it stands still no more
	cut           bool     // from the network
	mute          bool     // the store hears it, and its connections break before they answer

	offset int64         // of the wall clock, ns
	lag    time.Duration // how long both clocks stood still
	frozen int64         // Unix ns at which the wall clock stands, 0 if it goes

	past      []happening // everything that it was told, to make clones
	inputs    []int64     // and what it read
	repeating bool        // it is being made from another server's past
	moment    time.Duration
	read      int // inputs that were repeated

	store   generator.Store
	pools   *worker.Pools
	clock   *node.ClockWatch
	open    map[string]generator.Generator
	opening bool
	leaving bool
	waiting [clients]bool        // for an answer to a draw
	gone    [clients]bool        // they waited when the server was cloned: their connections are not the clone's
	granted map[string][]stretch // what the store answered to it
	last    map[track]int64      // the last id of a connection, to see their order
}

type stretch struct{ lo, hi int64 }

// track holds what one connection draws of one name.
type track struct {
	client int
	name   *name
}

// happening is one step of a server's past.
type happening struct {
	at     time.Duration
	launch func(*server) // a task from outside begins, or
	task   int           // this one goes on
	what   told
}

var discard = slog.New(slog.DiscardHandler)

func (w *world) newServer(seat int) *server {
	w.servers++
	return &server{
		world: w, id: w.servers, seat: seat,
		groups: map[*sync.WaitGroup]int{}, deadlines: map[context.Context]time.Duration{},
		open: map[string]generator.Generator{}, granted: map[string][]stretch{}, last: map[track]int64{},
	}
}

// now is virtual time, also while the past is repeated.
func (s *server) now() time.Duration {
	if s.repeating {
		return s.moment
	}
	return s.world.now
}

// input is something that the server learns from outside in passing.
func (s *server) input(read func() int64) int64 {
	if s.repeating {
		s.read++
		return s.inputs[s.read-1]
	}
	v := read()
	if s.world.plan.clones && s.running != nil { // nil: the simulator itself looks
		s.inputs = append(s.inputs, v)
	}
	return v
}

// Wall implements generator.Clock.
func (s *server) Wall() int64 {
	return s.input(func() int64 {
		if s.frozen != 0 {
			return s.frozen
		}
		return beginning + int64(s.world.now-s.lag) + s.offset
	})
}

// Monotonic implements generator.Clock.
func (s *server) Monotonic() time.Duration {
	return time.Duration(s.input(func() int64 { return int64(s.world.now - s.lag) }))
}

// launch begins a task of the server from outside.
func (s *server) launch(f func(*server)) {
	if !s.repeating {
		s.past = append(s.past, happening{at: s.world.now, launch: f})
	}
	s.start(&s.group, func() { f(s) })
}

// kill ends the server as kill -9 does.
func (s *server) kill() {
	s.dead = true
	for _, t := range s.tasks {
		if !t.ended {
			t.thread.stop()
		}
	}
}

// boot opens the store, waiting for it as a real server does, and lets the
// clients in.
func (s *server) boot() {
	ctx := context.Background()
	for s.store == nil {
		store, err := s.openStore(ctx)
		if err != nil {
			s.world.note("server %d cannot open the store: %v", s.id, err)
			if s.Sleep(ctx, time.Second) != nil {
				return
			}
			continue
		}
		s.store = store
	}
	grants, _ := s.store.(generator.TimeGranter)
	keeper, clock := s.store.(generator.Timekeeper)
	s.pools = worker.New(worker.Config{
		Store: s.store, Grants: grants, Keeper: keeper, ClockLimit: skew, Clock: s, Source: s.world.source(s.seat), Borrow: s.world.plan.borrow, Owner: s.owner(), Slice: slice, Logger: discard,
	})
	if clock {
		s.clock = node.NewClockWatch(node.ClockConfig{Store: keeper, Limit: skew, Clock: s, Doubt: s.pools.Doubt, Logger: discard})
	}
	for client := range clients {
		s.start(&s.group, func() { s.client(client) })
	}
}

func (s *server) owner() string { return fmt.Sprint("server ", s.id) }

func (s *server) openStore(ctx context.Context) (generator.Store, error) {
	if s.world.plan.embedded {
		return embedded{s}, nil
	}
	return shared.New(ctx, engine{s}, shared.Config{
		Owner: s.owner(), Failover: s.world.plan.failover, Skip: 100_000, Wait: await, Lanes: 2, Clock: s, Logger: discard,
	})
}

// client draws for ever, as one connection.
func (s *server) client(client int) {
	ctx := context.Background()
	for !s.leaving {
		name := s.world.names[s.input(func() int64 { return s.world.rand.Int64N(int64(len(s.world.names))) })]
		n := 1 + s.input(func() int64 { return s.world.rand.Int64N(4) })
		g, err := s.generator(ctx, name)
		for i := int64(0); err == nil && i < n; i += 2 {
			var r generator.Range
			s.waiting[client] = true
			r, err = g.Next(ctx, n)
			if s.waiting[client] = false; err == nil && !s.gone[client] {
				s.world.judge.take(s, client, name, r)
			}
			s.gone[client] = false
		}
		if err != nil {
			s.refused(ctx, name, err)
		}
		most := 3 * time.Second
		if s.world.plan.lostClaim {
			most = 500 * time.Millisecond // the times in question are short
		}
		pause := s.input(func() int64 { return int64(s.world.between(time.Millisecond, most)) })
		if s.Sleep(ctx, time.Duration(pause)) != nil {
			return
		}
	}
}

// refused does what the operator does about a name that has stopped.
func (s *server) refused(ctx context.Context, name *name, err error) {
	if !s.repeating {
		s.world.note("server %d: %s: %v", s.id, name.Name, err)
	}
	recoverer, ok := s.store.(generator.Recoverer)
	if !ok || name.flake || !errors.Is(err, generator.ErrRegressed) {
		return
	}
	if s.world.plan.lossy && s.world.chance(20) { // at the worst moment
		s.world.after(s.world.between(0, 50*time.Millisecond), s.world.failOver)
	}
	key := generator.NameKey(name.Name)
	atLeast := s.input(func() int64 { return s.world.database.ever[key] })
	if err := recoverer.Recover(ctx, key, atLeast); err == nil && !s.repeating {
		s.world.note("server %d: %s recovered at %d", s.id, name.Name, atLeast)
	}
}

// generator opens a generator at its first use.
func (s *server) generator(ctx context.Context, name *name) (generator.Generator, error) {
	for s.opening {
		if err := s.Sleep(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
	if g := s.open[name.Name]; g != nil {
		return g, nil
	}
	if s.leaving {
		return nil, errNoAnswer
	}
	s.opening = true
	defer func() { s.opening = false }()
	kind := segment.Kind(s.store, s, s.owner())
	if name.flake {
		kind = snowflake.Kind(s.pools, "twitter")
	}
	g, err := kind.Open(ctx, name.Definition)
	if err != nil {
		return nil, err
	}
	s.open[name.Name] = g
	return g, nil
}

// leave ends the server in order: what is unused goes back to the store.
func (s *server) leave() {
	ctx := context.Background()
	s.leaving = true
	for s.opening {
		if s.Sleep(ctx, 10*time.Millisecond) != nil {
			return
		}
	}
	var errs []error
	for _, name := range s.world.names {
		if g := s.open[name.Name]; g != nil {
			errs = append(errs, g.(generator.Closer).Close(ctx))
		}
	}
	if s.clock != nil {
		s.clock.Close()
	}
	if s.pools != nil {
		errs = append(errs, s.pools.Close(ctx))
	}
	if err := errors.Join(errs...); err != nil && !s.repeating {
		s.world.note("server %d gave back nothing: %v", s.id, err)
	}
	if !s.repeating {
		s.world.ended(s)
	}
}

// clone is a copy of a server that both go on with.
type clone struct {
	parent *clone
	held   map[string]int64 // by key: what both may give out lies below
}

// copied makes a server with the same past.
func (s *server) copied() *server {
	c := s.world.newServer(s.seat)
	c.offset, c.lag, c.frozen = s.offset, s.lag, s.frozen
	c.inputs, c.repeating = s.inputs, true
	for _, h := range s.past {
		c.moment = h.at
		if h.launch != nil {
			c.launch(h.launch)
		} else {
			c.step(c.tasks[h.task], h.what)
		}
	}
	c.repeating, c.gone = false, c.waiting
	c.past, c.inputs = append([]happening(nil), s.past...), append([]int64(nil), s.inputs...)
	for _, t := range c.tasks {
		if !t.ended && t.wait != nil {
			if t.wait.until == 0 && t.wait.ready == nil && t.wait.ctx == nil {
				c.goOn(t, told{}) // it had not begun
			} else if t.wait.until > 0 {
				c.alarm(t)
			}
		}
	}
	c.poll()
	return c
}
