package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/audit"
	"nextid/generator/layout"
	"nextid/generator/node"
	"nextid/generator/store/shared"
	"nextid/generator/store/sqlite"
	"nextid/generator/ticket"
	"nextid/generator/worker"
	"nextid/generator/workerid"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/ids"
)

// engine holds what is below the protocols. Run opens and closes it.
type engine struct {
	store    generator.Store
	meter    *storeMeter      // measures store
	clock    *node.ClockWatch // nil: the store has no clock of its own
	pools    *worker.Pools
	registry *generator.Registry
	nodes    *node.Nodes
	sql      *sqlfuncs.Server
	trail    *audit.Trail           // nil: none
	config   atomic.Pointer[Config] // in force
	forecast *forecast
	feeder   *feeder

	closers []func(context.Context) error // of the parts, in the order in which they were opened
}

// releaseTimeout bounds how long closing gives reservations back to the store.
const releaseTimeout = 5 * time.Second

// closing adds a part that close closes before those that were added earlier.
func (e *engine) closing(f func(context.Context) error) { e.closers = append(e.closers, f) }

// close gives unused reservations back and closes the store. The generators close
// before the worker pools, since they report to the pools what they used.
func (e *engine) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	var errs []error
	for _, f := range slices.Backward(e.closers) {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// openEngine locks the data directory and opens what is below the protocols. It
// starts the background goroutines last.
func (s *Server) openEngine(ctx context.Context) (*engine, error) {
	e := &engine{}
	if err := e.open(ctx, s); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *engine) open(ctx context.Context, s *Server) error {
	c, log := s.config, s.log
	if c.Store.Shared() && c.Data != "" { // an embedded store locks its directory itself
		// The high-water marks belong to one server: two would each take the other for a
		// store that went back.
		data, err := sqlite.Lock(c.Data)
		if err != nil {
			return err
		}
		e.closing(func(context.Context) error { return data.Close() })
	}
	store, err := s.awaitStore(ctx)
	if err != nil {
		return err
	}
	e.closing(func(context.Context) error { return store.Close() })
	if err := checkCopied(ctx, store); err != nil {
		return err
	}
	seed, err := firstWorker(ctx, store, &c, log)
	if err != nil {
		return err
	}
	clock := node.ClockConfig{Limit: c.ClockLimit, Logger: log}
	if clock.Store, _ = store.(generator.Timekeeper); clock.Store != nil {
		// Ids would carry wrong times, and a clock that is ahead would reserve future time.
		if err := node.CheckClock(ctx, clock); err != nil {
			return &Error{
				What: err.Error(), Err: err,
				Hint: fmt.Sprintf("Set the clock right, of this machine or of the store's. clock_limit (%s) says how much they may differ; 0s lets them.",
					formatDuration(c.ClockLimit)),
			}
		}
	}
	e.store, e.meter = meter(store)
	keep, guard := e.store, (*generator.Guard)(nil) // no guard: no other server uses the store
	if !store.Exclusive() {
		guard = generator.NewGuard(e.store)
		keep = guard
	}
	wish, err := workerid.Open(c.WorkerID, workerid.Config{Store: e.store, Dir: c.Data, Port: c.port(), Logger: log})
	if err != nil {
		return &Error{What: err.Error(), Hint: "See docs/stores.md on --worker-id, or use auto.", Err: err}
	}
	grants, _ := store.(generator.TimeGranter)
	e.pools = worker.New(worker.Config{
		Store: keep, Grants: grants, Keeper: clock.Store, ClockLimit: c.ClockLimit, Source: wish, Seed: seed,
		Slice: c.WorkerSlice, Borrow: c.WorkerBorrow, Owner: owner(), Logger: log,
	})
	e.closing(e.pools.Close)
	if clock.Doubt = e.pools.Doubt; clock.Store != nil {
		e.clock = node.NewClockWatch(clock)
		e.closing(func(context.Context) error { e.clock.Close(); return nil })
	}
	if c.Audit.File != "" {
		if e.trail, err = audit.Open(c.Audit, log); err != nil {
			return &Error{What: err.Error(), Hint: "audit.file must be a file that the server may write to.", Err: err}
		}
		e.closing(e.trail.Close)
	}
	autoCreate := c.AutoCreate
	if autoCreate == autoCreateOff {
		autoCreate = ""
	}
	e.registry, err = generator.NewRegistry(generator.Config{
		Store: e.store, AutoCreate: autoCreate, AutoOptions: c.autoOptions(),
		Declared: c.Generators, MaxNames: c.MaxNames, Guard: guard, Audited: c.Audit.Records,
		Kinds: c.build.Kinds(Parts{
			Store: e.store, Keep: keep, Pools: e.pools, Clock: generator.SystemClock{}, Owner: owner(), Layout: c.Layout, Passwords: c.databasePasswords(), Logger: log,
		}),
	})
	if err != nil {
		return err
	}
	e.closing(e.registry.Close)
	if err := e.registry.Declare(ctx); err != nil {
		return err
	}
	e.feeder = newFeeder(e.registry, c.databasePasswords(), log)
	if e.sql, err = sqlfuncs.NewServer(e.sqlConfig(&c, s.served, log)); err != nil {
		return err
	}
	e.apply(c)
	e.openAtStart(ctx, c.OpenAtStart, log)
	if err := s.access.remember(ctx, e.store); err != nil {
		return err
	}
	e.forecast = newForecast(e.registry, func() int { return len(e.pools.Held()) }, store.Exclusive(), log)
	background := []func(context.Context){e.forecast.run, e.registry.Watch, e.feeder.run, giveBack}
	if watched, ok := store.(*shared.Store); ok {
		background = append(background, watched.Watch)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	for _, run := range background {
		work.Go(func() { run(ctx) })
	}
	e.closing(func(context.Context) error { stop(); work.Wait(); return nil })
	return nil
}

// sqlConfig returns the configuration of the SQL layer.
func (e *engine) sqlConfig(c *Config, served endpoints, log *slog.Logger) sqlfuncs.Config {
	place := c.Store.In(c.Data).String()
	own := ids.Config{
		Sequence: c.sequence(), NoTableCreate: !c.AutoCreateTables, Takeover: c.takeover, Workers: e.pools, Feeds: e.feeder.answer, Settings: e.settings,
		Nodes: func(ctx context.Context) ([]generator.Node, error) {
			nodes, err := e.nodes.List(ctx)
			for i := range nodes {
				nodes[i].Store = place
			}
			return nodes, err
		},
		Own: func() (generator.Node, []generator.WorkerMark) {
			self := e.nodes.Own()
			self.Store = place
			var workers []generator.WorkerMark
			for _, h := range e.pools.Held() {
				workers = append(workers, generator.WorkerMark{Bits: int(h.Bits), ID: h.Worker, Mark: generator.Mark{Hi: h.Until.UnixMilli(), Owner: owner()}})
			}
			return self, workers
		},
	}
	if e.trail != nil { // else Trail would not be nil, but an interface that holds nil
		own.Trail = e.trail
	}
	return sqlfuncs.Config{
		Registry: e.registry, Functions: c.build.functions, Version: Version(), Limits: c.SQL, Memory: limitMemory(c.Memory, log),
		Layout: c.Layout, IDs: own, Variables: mysqlVariables(c, served), Parameters: postgresParameters(c, served),
		Counters: func() map[string]string { return mysqlCounters(served) },
	}
}

// takeover implements import_generator with package ticket.
func (c *Config) takeover(
	ctx context.Context, name, system, dsn string, options json.RawMessage, agree func(ids.Position) error,
) (ids.Position, error) {
	r, err := ticket.TakeOver(ctx, ticket.TakeoverRequest{
		Name: name, System: system, DSN: dsn, Options: options,
		Agree: func(r ticket.Takeover) error { return agree(ids.Position(r)) },
	}, c.databasePasswords())
	return ids.Position(r), err
}

// databasePasswords returns a function that reads the file database_passwords, or
// nil without one. Each use reads the file again, so it can be changed while the
// server runs.
func (c *Config) databasePasswords() ticket.Passwords {
	if c.DatabasePasswords == "" {
		return nil
	}
	return func() ([]byte, error) { return readPrivate("file of passwords", c.DatabasePasswords) }
}

// firstWorker returns the seed of an embedded store, which determines its first
// worker id if worker_id is auto. It logs that the store is new.
func firstWorker(ctx context.Context, store generator.Store, c *Config, log *slog.Logger) (seed uint64, err error) {
	s, ok := store.(generator.Seeder)
	if !ok {
		return 0, nil
	}
	seed = s.Seed()
	used, err := store.Reserved(ctx, generator.WorkerKeyPrefix)
	if l, known := layout.Preset(c.Layout); known == nil && err == nil && len(used) == 0 {
		worker := workerid.Redacted(c.WorkerID)
		if c.WorkerID == workerid.Auto {
			worker = fmt.Sprintf("%d of %d, at random", seed%uint64(max(l.Workers()-1, 1)), l.Workers()) // as package worker chooses
		}
		log.Info("a new store. Servers with stores of their own can issue the same ids: an id space needs one store", "worker_id", worker)
	}
	return seed, err
}

// openTimeout bounds how long openAtStart delays the ready line.
const openTimeout = 5 * time.Second

// openAtStart opens generators, so that their first draw is as fast as the next.
// Generators that cannot be opened are opened by their first draw.
func (e *engine) openAtStart(ctx context.Context, names []string, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for _, name := range names {
		entry, err := e.registry.Get(ctx, name)
		var gen generator.Generator
		if err == nil {
			gen, err = entry.Generator(ctx)
		}
		if p, ok := gen.(generator.Peeker); ok { // that of a segment reserves
			_, err = p.Peek(ctx)
		}
		if err != nil {
			log.Warn("a generator cannot be opened at the start; its first draw will try again", "generator", name, "error", err)
		}
	}
}

// describe returns this server's row of nextid.nodes.
func (s *Server) describe(e *engine) generator.Node {
	n := generator.Node{PID: os.Getpid(), Version: Version(), Ready: s.notReady() == nil, Started: s.started}
	if o := e.clock.Offset(); o.Known {
		n.StoreAhead = &o.Ahead
	}
	n.Host, _ = os.Hostname() // "" if it is not known
	if len(s.served) > 0 {
		n.Address = s.served[0].listener.Addr().String()
	}
	var workers []string
	for _, h := range e.pools.Held() {
		workers = append(workers, fmt.Sprintf("%d/%d", h.Bits, h.Worker))
	}
	n.Workers = strings.Join(workers, " ")
	e.registry.Counted(func(c generator.Counted) bool {
		n.Issued += c.Counts.Issued
		return true
	})
	return n
}
