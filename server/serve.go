package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/audit"
	"nextid/generator/layout"
	"nextid/generator/node"
	"nextid/generator/store/shared"
	"nextid/generator/worker"
	"nextid/generator/workerid"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/ids"
)

// Server is one nextid server. New makes it, and Run serves until its context ends.
// The fields served, status and engine are set before ready is closed and do not
// change afterwards.
type Server struct {
	config Config
	level  slog.LevelVar // of the log

	reloads chan struct{} // asks Run for a reload
	ready   chan struct{} // closed once clients are served
	served  endpoints     // the protocols, see ready
	status  *status
	engine  *engine

	stop    context.CancelFunc
	stopped context.Context // ended by Close
	ended   chan struct{}   // closed when Run has returned
	result  error           // of Run
	started atomic.Bool
}

// Once holds what one start accepts and the next one must not.
type Once struct {
	Adopt bool // a store that was copied, moved or restored
	Clock bool // a clock that is far ahead of the embedded store
}

// New returns a server for Run. It is built of the options and of those that the
// Config was loaded with. The error of a wrong Config is Mistakes.
func New(config Config, options ...Option) (*Server, error) {
	config.build = config.build.with(options)
	if err := config.build.err; err != nil {
		return nil, err
	}
	if found := config.Validate(); len(found) > 0 {
		return nil, found
	}
	s := &Server{config: config, reloads: make(chan struct{}, 1), ready: make(chan struct{}), ended: make(chan struct{})}
	s.stopped, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Reload makes a running server read its configuration, users, rules and
// certificates again. It does not wait for that. What cannot be read stays as it
// was.
func (m *Server) Reload() {
	select {
	case m.reloads <- struct{}{}:
	default: // a reload that has not begun yet reads the same
	}
}

// Ready returns a channel that is closed once clients are served.
func (m *Server) Ready() <-chan struct{} { return m.ready }

// Addr returns the address on which a server that is Ready serves a protocol: pg,
// mysql or http. It returns nil if the protocol is off.
func (m *Server) Addr(protocol string) net.Addr {
	for _, p := range m.served {
		if p.protocol.key == protocol {
			return p.listener.Addr()
		}
	}
	if protocol == "http" && m.status != nil && m.status.listener != nil {
		return m.status.listener.Addr()
	}
	return nil
}

// SQL returns the SQL layer of a server that is Ready, for sessions in this
// process.
func (m *Server) SQL() *sqlfuncs.Server { return m.engine.sql }

// Close ends Run as the end of its context does, waits for it, and returns its
// error.
func (m *Server) Close() error {
	m.stop()
	if m.started.Load() {
		<-m.ended
	}
	return m.result
}

// releaseTimeout bounds how long closing gives reservations back to the store.
const releaseTimeout = 5 * time.Second

// Run opens everything, prints the ready line, and serves until ctx ends or Close
// is called. Then it drains: running statements finish, and unused reservations go
// back to the store. It returns nil after a clean drain. It may be called once.
func (m *Server) Run(ctx context.Context) error {
	if m.started.Swap(true) {
		return errors.New("a server runs once")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.stopped, cancel)()
	m.result = m.run(ctx)
	close(m.ended)
	return m.result
}

// run opens everything and serves. The listeners open before the store, so that a
// wrong address is reported at once and clients get an error while the store is
// awaited.
func (m *Server) run(ctx context.Context) error {
	log := m.logger()
	access, err := openAccess(m.config, log)
	if err != nil {
		return err
	}
	status, err := m.openStatus(log, access)
	if err != nil {
		return err
	}
	defer status.close()
	endpoints, err := m.listen()
	defer endpoints.close() // does nothing after serving, which closes them
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
// It also runs the reloads.
func (m *Server) serve(ctx context.Context, log *slog.Logger, endpoints endpoints, access *access, status *status, e *engine) error {
	if m.config.Store.Scheme == StoreMemory {
		log.Warn("the store is lost when the server stops: ids will repeat after a restart", "store", m.config.Store.String())
	}
	access.announce()
	for _, a := range m.config.addresses() {
		m.warnOfExposure(log, a)
	}
	e.nodes = node.New(node.Config{Store: e.store, Self: func() generator.Node { return e.describe(endpoints, status) }, Logger: log})
	served := make(chan error, len(endpoints))
	for i := range endpoints {
		p := &endpoints[i]
		p.server = p.protocol.serve(m, log, access, e)
		p.server.Took = p.observer()
		go func() {
			served <- fmt.Errorf("serve %s: %w", p.listener.Addr(), p.server.Serve(p.listener))
		}()
	}
	status.running.Store(&running{e, endpoints})
	m.served, m.status, m.engine = endpoints, status, e
	close(m.ready)
	m.announce(log, endpoints, status)
	for serving := true; serving; {
		select {
		case err := <-served:
			return errors.Join(err, endpoints.shutdown(ctx, 0))
		case <-m.reloads:
			m.reload(log, access, e)
		case <-ctx.Done():
			serving = false
		}
	}
	status.draining.Store(true)
	log.Info("draining", "drain_delay", m.config.DrainDelay, "drain_timeout", m.config.DrainTimeout)
	select { // load balancers see /readyz fail while clients are still served
	case err := <-served:
		return errors.Join(err, endpoints.shutdown(ctx, 0))
	case <-time.After(m.config.DrainDelay):
	}
	if err := endpoints.shutdown(ctx, m.config.DrainTimeout); err != nil {
		return &Error{
			Message: fmt.Sprintf("some statements did not end within %s and were cut off", formatDuration(m.config.DrainTimeout)),
			Hint:    "Set drain_timeout higher if that is too short.", Cause: err,
		}
	}
	return nil
}

// warnOfExposure warns of an address that other machines reach without users or
// TLS.
func (m *Server) warnOfExposure(log *slog.Logger, a listening) {
	if a.Local() || !m.config.AllowPlaintext {
		return
	}
	if lacks := m.config.exposed(a.Address); lacks != "" {
		log.Warn("other machines can reach this server without protection", a.key, a.String(), "missing", lacks)
	} else if !m.config.RequireTLS {
		log.Warn("other machines may use this server without TLS: allow_plaintext is set", a.key, a.String())
	}
}

// announce prints the ready line with every address, and commands to paste. In a
// log of JSON, or of WithLogger, it logs the line alone.
func (m *Server) announce(log *slog.Logger, endpoints endpoints, status *status) {
	served := make([]string, len(endpoints))
	var paste []string
	for i, p := range endpoints {
		served[i] = fmt.Sprintf("%s on %s", p.protocol.name, p.listener.Addr())
		paste = append(paste, p.protocol.paste(p.listener.Addr(), m.userToPaste()))
	}
	line := fmt.Sprintf("nextid ready: %s%s (store %s, worker id %s)",
		strings.Join(served, ", "), status.where(), m.config.Store.In(m.config.Data), workerid.Redacted(m.config.WorkerID))
	if m.config.LogFormat == LogJSON || m.config.build.logger != nil {
		log.Info(line) //nolint:sloglint // the one line that scripts wait for
		return
	}
	fmt.Fprintln(m.config.build.output, line)
	for _, p := range append(paste, status.paste()...) {
		fmt.Fprintln(m.config.build.output, "  "+p)
	}
}

// openUser is the user in printed commands of a server without users. Any name
// works there.
const openUser = "nextid"

// userToPaste returns the user in printed commands.
func (m *Server) userToPaste() string {
	if m.config.usersFile() == "" {
		return openUser
	}
	return "USER"
}

// logger returns the logger of WithLogger, or one with the configured form and
// level.
func (m *Server) logger() *slog.Logger {
	if m.config.build.logger != nil {
		return m.config.build.logger
	}
	m.level.Set(m.config.LogLevel)
	options := &slog.HandlerOptions{Level: &m.level}
	if m.config.LogFormat == LogJSON {
		return slog.New(slog.NewJSONHandler(m.config.build.output, options))
	}
	return slog.New(slog.NewTextHandler(m.config.build.output, options))
}

// engine holds what is below the protocols. Run opens and closes it.
type engine struct {
	store    generator.Store
	meter    *storeMeter      // measures store
	clock    *node.ClockWatch // nil: the store has no clock of its own
	pools    *worker.Pools
	registry *generator.Registry
	nodes    *node.Nodes
	layout   string // of snowflakes without one of their own
	sql      *sqlfuncs.Server
	trail    *audit.Trail           // nil: none
	config   atomic.Pointer[Config] // in force
	forecast *forecast
	feeder   *feeder

	data io.Closer // the lock of the data directory

	stop context.CancelFunc // ends work
	work sync.WaitGroup     // background goroutines
}

// openEngine locks the data directory and opens what is below the protocols.
func (m *Server) openEngine(ctx context.Context, log *slog.Logger, endpoints endpoints) (*engine, error) {
	data, err := lockData(m.config)
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

// openStoreAndAll opens the store and all that uses it. It starts the background
// goroutines last. On an error it closes what it has opened.
func (m *Server) openStoreAndAll(ctx context.Context, log *slog.Logger, endpoints endpoints) (*engine, error) {
	store, err := awaitStore(ctx, m.config, endpoints, log)
	if err != nil {
		return nil, err
	}
	if err := checkCopied(ctx, store); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	e := &engine{layout: m.config.Layout}
	e.store, e.meter = meter(store)
	watched, watches := store.(*shared.Store)
	seed, err := firstWorker(ctx, store, m.config.Layout, log)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	keeper, _ := store.(generator.Timekeeper) // nil: the store has no clock of its own
	grants, _ := store.(generator.TimeGranter)
	store = e.store
	clock := node.ClockConfig{Store: keeper, Limit: m.config.ClockLimit, Logger: log}
	if keeper != nil {
		if err := checkClock(ctx, clock); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	wish, err := workerid.Open(m.config.WorkerID, workerid.Config{Store: store, Dir: m.config.Data, Port: m.config.port(), Logger: log})
	if err != nil {
		return nil, errors.Join(&Error{Message: err.Error(), Hint: "See docs/stores.md on --worker-id, or use auto.", Cause: err}, store.Close())
	}
	var guard *generator.Guard // on a shared store
	reserve := store
	if !store.Exclusive() {
		guard = generator.NewGuard(store)
		reserve = guard
	}
	e.pools = worker.New(worker.Config{
		Store: reserve, Grants: grants, Keeper: keeper, ClockLimit: m.config.ClockLimit, Source: wish, Seed: seed, Slice: m.config.WorkerSlice, Borrow: m.config.WorkerBorrow, Owner: owner(), Logger: log,
	})
	if clock.Doubt = e.pools.Doubt; keeper != nil {
		e.clock = node.NewClockWatch(clock)
	}
	if err := e.openTrail(m.config.Audit, log); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if err := e.build(ctx, m.config, endpoints, guard, log); err != nil {
		return nil, errors.Join(err, e.close())
	}
	e.openAtStart(ctx, m.config.OpenAtStart, log)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	e.forecast = newForecast(e.registry, func() int { return len(e.pools.Held()) }, e.store.Exclusive(), log)
	e.work.Go(func() { e.forecast.run(background) })
	if watches {
		e.work.Go(func() { watched.Watch(background) })
	}
	e.work.Go(func() { e.registry.Watch(background) })
	e.work.Go(func() { e.feeder.run(background) })
	e.work.Go(func() { giveBack(background) })
	return e, nil
}

// firstWorker returns the seed of an embedded store, which determines its first
// worker id. It logs that id if the store is new.
func firstWorker(ctx context.Context, store generator.Store, layoutName string, log *slog.Logger) (seed uint64, err error) {
	s, ok := store.(generator.Seeder)
	if !ok {
		return 0, nil
	}
	seed = s.Seed()
	used, err := store.Reserved(ctx, generator.WorkerKeyPrefix)
	if l, known := layout.Preset(layoutName); known == nil && err == nil && len(used) == 0 {
		log.Info("a new store: its first worker id is random. Servers with stores of their own can issue the same ids: an id space needs one store",
			"bits", l.WorkerBits(), "worker", seed%(1<<l.WorkerBits()))
	}
	return seed, err
}

// checkClock returns an error if this machine's clock is far from the store's. Ids
// would carry wrong times, and a clock that is ahead would reserve future time.
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

// openTrail opens the audit trail if there is one.
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

// parts returns the Parts for the kinds of this server.
func (e *engine) parts(c Config, guard *generator.Guard, log *slog.Logger) Parts {
	p := Parts{Store: e.store, Keep: e.store, Pools: e.pools, Owner: owner(), Layout: c.Layout, Passwords: c.databasePasswords(), Logger: log}
	if guard != nil {
		p.Keep = guard
	}
	return p
}

// build makes the registry and the SQL layer.
func (e *engine) build(ctx context.Context, c Config, endpoints endpoints, guard *generator.Guard, log *slog.Logger) (err error) {
	autoCreate := c.AutoCreate
	if autoCreate == autoCreateOff {
		autoCreate = ""
	}
	e.registry, err = generator.NewRegistry(generator.Config{
		Store: e.store, Kinds: c.build.makeKinds(e.parts(c, guard, log)), AutoCreate: autoCreate,
		AutoOptions: c.autoOptions(), Declared: c.Generators, MaxNames: c.MaxNames, Guard: guard, Audited: c.Audit.Records,
	})
	if err != nil {
		return err
	}
	if err := e.registry.Declare(ctx); err != nil {
		return err
	}
	var trail ids.Trail // a nil interface, not one with a nil *audit.Trail in it
	if e.trail != nil {
		trail = e.trail
	}
	e.feeder = newFeeder(e.registry, c.databasePasswords(), log)
	e.sql, err = sqlfuncs.NewServer(sqlfuncs.Config{
		Registry: e.registry, Functions: c.build.functions, Trail: trail, Version: Version(), Limits: c.SQL, Memory: limitMemory(c.Memory, log), Layout: c.Layout, Takeover: c.takeover,
		Variables: mysqlVariables(&c, endpoints), Parameters: postgresParameters(&c, endpoints), Settings: e.settings, Sequence: c.sequence(), NoTableCreate: !c.AutoCreateTables,
		Feeds: e.feeder.answer, Workers: e.pools,
		Counters: func() map[string]string { return mysqlCounters(endpoints) },
		Nodes: func(ctx context.Context) ([]generator.Node, error) {
			nodes, err := e.nodes.List(ctx)
			for i := range nodes {
				nodes[i].Store = c.Store.In(c.Data).String()
			}
			return nodes, err
		},
		Own: func() (generator.Node, []generator.WorkerMark) {
			self := e.nodes.Own()
			self.Store = c.Store.In(c.Data).String()
			var workers []generator.WorkerMark
			for _, h := range e.pools.Held() {
				workers = append(workers, generator.WorkerMark{Bits: int(h.Bits), ID: h.Worker, Mark: generator.Mark{Hi: h.Until.UnixMilli(), Owner: owner()}})
			}
			return self, workers
		},
	})
	if err == nil {
		e.apply(c)
	}
	return err
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
		if err == nil {
			var gen generator.Generator
			if gen, err = entry.Generator(ctx); err == nil {
				if p, ok := gen.(generator.Peeker); ok { // Peek reserves
					_, err = p.Peek(ctx)
				}
			}
		}
		if err != nil {
			log.Warn("a generator cannot be opened at the start; its first draw will try again", "generator", name, "error", err)
		}
	}
}

// close gives unused reservations back and closes the store. The generators close
// before the worker pools, since they report to the pools what they used.
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

// describe returns this server's row of nextid.nodes.
func (e *engine) describe(endpoints endpoints, status *status) generator.Node {
	n := generator.Node{PID: os.Getpid(), Version: Version(), Ready: status.ready() == nil, Started: status.started}
	if o := e.clock.Offset(); o.Known {
		n.StoreAhead = &o.Ahead
	}
	n.Host, _ = os.Hostname() // "" if it is not known
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
