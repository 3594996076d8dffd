package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/node"
	"nextid/generator/worker"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/audit"
	"nextid/sqlfuncs/ids"
)

// Main is the server as a value: a configuration, and Run.
type Main struct {
	Config Config
	Once   Once
	Reload <-chan os.Signal // each asks to read the configuration, users, rules and certificates again
	Stderr io.Writer        // the ready line and the log

	// Reread reads the configuration again; nil: it stays.
	Reread func() (Config, error)

	// Traffic runs beside the protocols, until its context ends; nil: none.
	Traffic func(context.Context, *sqlfuncs.Server)

	level slog.LevelVar // of the log
}

// Once is what a start accepts that the next one shall not.
type Once struct {
	Adopt bool // a store that was copied, moved or restored
	Clock bool // a clock that is far ahead of the embedded store
}

// releaseTimeout bounds giving back reservations to the store, after the
// last statement ended.
const releaseTimeout = 5 * time.Second

// Run opens everything, says that it is ready, and serves until ctx ends.
// Then it drains: running statements finish and reservations go back. It
// returns nil after a clean drain.
func (m *Main) Run(ctx context.Context) error {
	log := m.logger()
	access, err := openAccess(m.Config, log)
	if err != nil {
		return err
	}
	status, err := m.openStatus(log, access)
	if err != nil {
		return err
	}
	defer status.close()
	endpoints, err := m.listen()
	defer endpoints.close() // a second time after serving, which is harmless
	if err != nil {
		return err
	}
	e, err := m.openEngine(ctx, log, endpoints)
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop before it was ready
		}
		return err
	}
	if err := access.remember(ctx, e.store); err != nil {
		return errors.Join(err, e.close())
	}
	err = m.serve(ctx, log, endpoints, access, status, e)
	return errors.Join(err, e.close())
}

// serve answers on the endpoints until ctx ends and everything has drained.
func (m *Main) serve(ctx context.Context, log *slog.Logger, endpoints endpoints, access *access, status *status, e *engine) error {
	if m.Config.Store.Scheme == StoreMemory {
		log.Warn("the store forgets everything when the server stops: ids will repeat after a restart", "store", m.Config.Store.String())
	}
	access.announce()
	for _, a := range m.Config.addresses() {
		m.warnOfExposure(log, a)
	}
	e.nodes = node.New(node.Config{Store: e.store, Self: func() generator.Node { return e.describe(endpoints, status) }, Logger: log})
	served := make(chan error, len(endpoints))
	for i := range endpoints {
		p := &endpoints[i]
		p.server = p.protocol.serve(m, log, access, e)
		p.server.Took = p.measure()
		go func() {
			served <- fmt.Errorf("serve %s: %w", p.listener.Addr(), p.server.Serve(p.listener))
		}()
	}
	status.running.Store(&running{e, endpoints})
	m.announce(log, endpoints, status)
	if m.Traffic != nil {
		e.work.Go(func() { m.Traffic(ctx, e.sql) })
	}
	for serving := true; serving; {
		select {
		case err := <-served:
			return errors.Join(err, endpoints.shutdown(ctx, 0))
		case <-m.Reload:
			m.reload(log, access, status, e)
		case <-ctx.Done():
			serving = false
		}
	}
	status.draining.Store(true)
	log.Info("draining", "drain_delay", m.Config.DrainDelay, "drain_timeout", m.Config.DrainTimeout)
	select { // load balancers hear of it, while all is served
	case err := <-served:
		return errors.Join(err, endpoints.shutdown(ctx, 0))
	case <-time.After(m.Config.DrainDelay):
	}
	if err := endpoints.shutdown(ctx, m.Config.DrainTimeout); err != nil {
		return &Error{
			Message: fmt.Sprintf("some statements did not end within %s and were cut off", formatDuration(m.Config.DrainTimeout)),
			Hint:    "Set drain_timeout higher if that is too short.", Cause: err,
		}
	}
	return nil
}

// warnOfExposure says what plaintext lets others do.
func (m *Main) warnOfExposure(log *slog.Logger, a listening) {
	if a.Local() || !m.Config.AllowPlaintext {
		return
	}
	if lacks := m.Config.exposed(a.Address); lacks != "" {
		log.Warn("other machines can reach this server without protection", a.key, a.String(), "missing", lacks)
	} else if !m.Config.RequireTLS {
		log.Warn("other machines may use this server without TLS: allow_plaintext is set", a.key, a.String())
	}
}

// announce says that clients may come: a line with every address that is
// served and, for people, what to paste.
func (m *Main) announce(log *slog.Logger, endpoints endpoints, status *status) {
	served := make([]string, len(endpoints))
	var paste []string
	for i, p := range endpoints {
		served[i] = fmt.Sprintf("%s on %s", p.protocol.name, p.listener.Addr())
		paste = append(paste, p.protocol.paste(p.listener.Addr(), m.userToPaste()))
	}
	line := fmt.Sprintf("nextid ready: %s%s (store %s, worker id %s)",
		strings.Join(served, ", "), status.where(), m.Config.Store.In(m.Config.Data), node.RedactedSource(m.Config.WorkerID))
	if m.Config.LogFormat == LogJSON {
		log.Info(line) //nolint:sloglint // the one line that scripts wait for
		return
	}
	fmt.Fprintln(m.Stderr, line)
	for _, p := range append(paste, status.paste()...) {
		fmt.Fprintln(m.Stderr, "  "+p)
	}
}

// openUser is any name, on a server without users.
const openUser = "nextid"

// userToPaste stands for the user in commands to paste: nobody has to be one
// while there are none.
func (m *Main) userToPaste() string {
	if m.Config.usersFile() == "" {
		return openUser
	}
	return "USER"
}

func (m *Main) logger() *slog.Logger {
	m.level.Set(m.Config.LogLevel)
	options := &slog.HandlerOptions{Level: &m.level}
	if m.Config.LogFormat == LogJSON {
		return slog.New(slog.NewJSONHandler(m.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(m.Stderr, options))
}

// engine is what lies below the protocols.
type engine struct {
	store    generator.Store
	meter    *storeMeter      // of store
	clock    *node.ClockWatch // nil: the store has no clock of its own
	pools    *worker.Pools
	registry *generator.Registry
	nodes    *node.Nodes
	layout   string // of snowflakes that name none
	sql      *sqlfuncs.Server
	trail    *audit.Trail // nil: none
	config   atomic.Pointer[Config]
	forecast *forecast

	data io.Closer // the lock of the data directory

	stop context.CancelFunc // of work
	work sync.WaitGroup     // beside the protocols
}

func (m *Main) openEngine(ctx context.Context, log *slog.Logger, endpoints endpoints) (*engine, error) {
	data, err := lockData(m.Config)
	if err != nil {
		return nil, err
	}
	e, err := m.openStoreAndAll(ctx, log, endpoints)
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	e.data = data
	return e, nil
}

func (m *Main) openStoreAndAll(ctx context.Context, log *slog.Logger, endpoints endpoints) (*engine, error) {
	store, err := awaitStore(ctx, m.Config, m.Once, endpoints, log)
	if err != nil {
		return nil, err
	}
	if err := checkCopied(ctx, store); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	e := &engine{layout: m.Config.Layout}
	over, watch := watched(store)
	e.store, e.meter = meter(over)
	seed, err := firstWorker(ctx, store, m.Config.Layout, log)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	keeper, _ := store.(generator.Timekeeper) // nil: this machine's clock is the only one
	grants, _ := store.(generator.TimeGranter)
	store = e.store
	clock := node.ClockConfig{Store: keeper, Limit: m.Config.ClockLimit, Logger: log}
	if keeper != nil {
		if err := checkClock(ctx, clock); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	wish, err := node.OpenSource(m.Config.WorkerID, node.SourceConfig{Store: store, Dir: m.Config.Data, Port: m.Config.port(), Logger: log})
	if err != nil {
		return nil, errors.Join(&Error{Message: err.Error(), Hint: "See docs/operations.md on --worker-id, or use auto.", Cause: err}, store.Close())
	}
	var guard *generator.Guard // of a store that other servers use, too
	reserve := store
	if !store.Exclusive() {
		guard = generator.NewGuard(store)
		reserve = guard
	}
	e.pools = worker.New(worker.Config{
		Store: reserve, Grants: grants, Source: wish, Seed: seed, Slice: m.Config.WorkerSlice, Borrow: m.Config.WorkerBorrow, Owner: owner(), Logger: log,
	})
	if clock.Doubt = e.pools.Doubt; keeper != nil {
		e.clock = node.NewClockWatch(clock)
	}
	if err := e.openTrail(m.Config.Audit, log); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if err := e.build(ctx, m.Config, endpoints, guard, log); err != nil {
		return nil, errors.Join(err, e.close())
	}
	e.openAtStart(ctx, m.Config.OpenAtStart, log)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	e.forecast = newForecast(e.registry, e.store.Exclusive(), log)
	e.work.Go(func() { e.forecast.run(background) })
	if watch != nil {
		e.work.Go(func() { watch.watch(background) })
	}
	e.work.Go(func() { e.registry.Watch(background) })
	e.work.Go(func() { giveBack(background) })
	return e, nil
}

// firstWorker is where worker ids begin in a store of this server alone, and
// tells so when the store is new.
func firstWorker(ctx context.Context, store generator.Store, layoutName string, log *slog.Logger) (seed uint64, err error) {
	s, ok := store.(generator.Seeder)
	if !ok {
		return 0, nil
	}
	seed = s.Seed()
	used, err := store.Reserved(ctx, generator.WorkerKeyPrefix)
	if l, known := layout.Preset(layoutName); known == nil && err == nil && len(used) == 0 {
		log.Info("a new store: its worker ids begin at a random one. Servers with stores of their own do not know of each other: one id space is one store",
			"bits", l.WorkerBits(), "worker", seed%(1<<l.WorkerBits()))
	}
	return seed, err
}

// checkClock refuses to start with a clock that is far from the store's: the
// ids of this server would carry wrong times, and one that is ahead would
// reserve times that have not come.
func checkClock(ctx context.Context, c node.ClockConfig) error {
	err := node.CheckClock(ctx, c)
	if err == nil {
		return nil
	}
	return &Error{
		Message: err.Error(), Cause: err,
		Hint: fmt.Sprintf("Set the clock right, of this machine or of the store's. clock_limit (%s) says how much they may differ; 0s lets them.",
			formatDuration(c.Limit)),
	}
}

// openTrail opens the audit trail, where one is wanted.
func (e *engine) openTrail(c audit.Config, log *slog.Logger) error {
	if c.File == "" {
		return nil
	}
	trail, err := audit.Open(c, log)
	if err != nil {
		return &Error{Message: err.Error(), Hint: "audit.file must be a file that the server may write to.", Cause: err}
	}
	e.trail = trail
	return nil
}

func (e *engine) build(ctx context.Context, c Config, endpoints endpoints, guard *generator.Guard, log *slog.Logger) (err error) {
	autoCreate := c.AutoCreate
	if autoCreate == autoCreateOff {
		autoCreate = ""
	}
	e.registry, err = generator.NewRegistry(generator.Config{
		Store: e.store, Kinds: kinds(e.store, guard, e.pools, c, log), AutoCreate: autoCreate,
		AutoOptions: c.autoOptions(), Declared: c.Generators, MaxNames: c.MaxNames, Guard: guard, Audited: c.Audit.Records,
	})
	if err != nil {
		return err
	}
	if err := e.registry.Declare(ctx); err != nil {
		return err
	}
	var trail ids.Trail // nil, not a nil *audit.Trail
	if e.trail != nil {
		trail = e.trail
	}
	e.sql, err = sqlfuncs.NewServer(sqlfuncs.Config{
		Registry: e.registry, Trail: trail, Version: Version(), Limits: c.SQL, Memory: limitMemory(c.Memory, log), Layout: c.Layout, Takeover: c.takeover,
		Variables: mysqlVariables(&c, endpoints), Parameters: postgresParameters(&c, endpoints), Settings: e.settings, Sequence: c.sequence(), NoTableCreate: !c.AutoCreateTables,
		Counters: func() map[string]string { return mysqlCounters(endpoints) },
		Nodes: func(ctx context.Context) ([]generator.Node, error) {
			nodes, err := e.nodes.List(ctx)
			for i := range nodes {
				nodes[i].Store = c.Store.In(c.Data).String()
			}
			return nodes, err
		},
	})
	if err == nil {
		e.inForce(c)
	}
	return err
}

// openTimeout bounds how long generators that are to be opened at the start
// keep the server from listening.
const openTimeout = 5 * time.Second

// openAtStart makes generators ready, so that their first draw is as fast as the
// next. One that cannot be opened now is opened by its first draw.
func (e *engine) openAtStart(ctx context.Context, names []string, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for _, name := range names {
		entry, err := e.registry.Get(ctx, name)
		if err == nil {
			var gen generator.Generator
			if gen, err = entry.Generator(ctx); err == nil {
				if p, ok := gen.(generator.Peeker); ok { // which reserves
					_, err = p.Peek(ctx)
				}
			}
		}
		if err != nil {
			log.Warn("a generator cannot be opened at the start; its first draw will try again", "generator", name, "error", err)
		}
	}
}

// close gives reservations back and releases the store: generators first,
// since they tell the worker pools what they used.
func (e *engine) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	if e.stop != nil {
		e.stop()
		e.work.Wait()
	}
	if e.clock != nil {
		e.clock.Close()
	}
	var errs []error
	if e.registry != nil {
		errs = append(errs, e.registry.Close(ctx))
	}
	if e.nodes != nil {
		errs = append(errs, e.nodes.Close(ctx))
	}
	if e.trail != nil {
		errs = append(errs, e.trail.Close(ctx))
	}
	errs = append(errs, e.pools.Close(ctx), e.store.Close())
	if e.data != nil {
		errs = append(errs, e.data.Close())
	}
	return errors.Join(errs...)
}

// describe is this server as nextid.nodes shows it on all of them.
func (e *engine) describe(endpoints endpoints, status *status) generator.Node {
	n := generator.Node{PID: os.Getpid(), Version: Version(), Ready: status.ready() == nil, Started: status.started}
	if o := e.clock.Offset(); o.Known {
		n.StoreAhead = &o.Ahead
	}
	n.Host, _ = os.Hostname() // "" is as good as a made up name
	if len(endpoints) > 0 {
		n.Address = endpoints[0].listener.Addr().String()
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
