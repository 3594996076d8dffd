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

// slice is the length of time slices. It is short, so that much happens in a few
// virtual seconds. The rest of shared.Config.Wait is for clocks that differ.
const (
	slice = 2 * time.Second
	await = slice + 3*time.Second
	skew  = 500 * time.Millisecond // greatest error of a correct clock; clock_limit
)

// clients is the number of connections that draw from a server.
const clients = 2

// server is one simulated process: its clocks, tasks and memory.
type server struct {
	world *world
	id    int
	seat  int    // number of the configured server, kept over restarts and clones
	born  *clone // the cloning from which it or an ancestor came, or nil

	tasks     []*task
	living    []*task
	running   *task
	groups    map[*sync.WaitGroup]int
	deadlines map[context.Context]time.Duration
	group     sync.WaitGroup // of the tasks that belong to the simulator

	dead, stopped bool
	later         []func() // events postponed until the server runs again
	cut           bool     // off the network
	mute          bool     // its requests reach the store, but their answers are lost

	offset int64         // of the wall clock, ns
	lag    time.Duration // time for which both clocks stood still
	frozen int64         // Unix ns at which the wall clock is stopped; 0 if it runs

	past      []happening // all its steps, for making clones
	inputs    []int64     // all values that it read from outside
	repeating bool        // it is being made from the past of another server
	moment    time.Duration
	read      int // number of inputs that were repeated

	store   generator.Store
	pools   *worker.Pools
	clock   *node.ClockWatch
	open    map[string]generator.Generator
	opening bool
	leaving bool
	waiting [clients]bool         // a draw is waiting for its answer
	gone    [clients]bool         // draws that waited when the server was cloned: the clone does not have their connections
	granted map[string][]interval // reservations whose answers arrived
	last    map[track]int64       // last position of each connection and name, for the order
}

type interval struct{ lo, hi int64 }

// track is one connection's draws from one name.
type track struct {
	client int
	name   *name
}

// happening is one step of a server's past.
type happening struct {
	at     time.Duration
	launch func(*server) // a new task from outside
	task   int           // or the number of the task that resumes
	what   outcome
}

var discard = slog.New(slog.DiscardHandler)

func (w *world) newServer(seat int) *server {
	w.servers++
	return &server{
		world: w, id: w.servers, seat: seat,
		groups: map[*sync.WaitGroup]int{}, deadlines: map[context.Context]time.Duration{},
		open: map[string]generator.Generator{}, granted: map[string][]interval{}, last: map[track]int64{},
	}
}

// now returns the virtual time, also while the past is repeated.
func (s *server) now() time.Duration {
	if s.repeating {
		return s.moment
	}
	return s.world.now
}

// input returns a value that the server reads from outside, and records it.
func (s *server) input(read func() int64) int64 {
	if s.repeating {
		s.read++
		return s.inputs[s.read-1]
	}
	v := read()
	if s.world.plan.clones && s.running != nil { // nil: the simulator itself reads it
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

// launch starts a task of the server from outside.
func (s *server) launch(f func(*server)) {
	if !s.repeating {
		s.past = append(s.past, happening{at: s.world.now, launch: f})
	}
	s.start(&s.group, func() { f(s) })
}

// kill ends the server like kill -9.
func (s *server) kill() {
	s.dead = true
	for _, t := range s.tasks {
		if !t.ended {
			t.thread.stop()
		}
	}
}

// boot opens the store, retrying like a real server, and starts the clients.
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

// client draws as one connection until the server leaves.
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
		switch { // the interesting times are short
		case s.world.plan.lostClaim:
			most = 500 * time.Millisecond
		case s.world.plan.recovers:
			most = 150 * time.Millisecond
		}
		pause := s.input(func() int64 { return int64(s.world.between(time.Millisecond, most)) })
		if s.Sleep(ctx, time.Duration(pause)) != nil {
			return
		}
	}
}

// refused recovers a name that has stopped, as an operator does.
func (s *server) refused(ctx context.Context, name *name, err error) {
	if !s.repeating {
		s.world.note("server %d: %s: %v", s.id, name.Name, err)
	}
	recoverer, ok := s.store.(generator.Recoverer)
	if !ok || name.flake || !errors.Is(err, generator.ErrRegressed) {
		return
	}
	if plan := s.world.plan; plan.lossy && s.world.chance(20) || plan.recovers && s.world.chance(40) { // at the worst moment
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

// leave ends the server cleanly: unused numbers and time go back to the store.
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

// clone is one cloning of a server. Original and copy both have it.
type clone struct {
	parent *clone
	held   map[string]int64 // ends of what both may issue, by key
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
				c.goOn(t, outcome{}) // the task had not begun
			} else if t.wait.until > 0 {
				c.alarm(t)
			}
		}
	}
	c.poll()
	return c
}
