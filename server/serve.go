package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/node"
	"nextid/generator/workerid"
	"nextid/sqlfuncs"
	"nextid/wire/web"
)

// Server is one nextid server. New makes it, and Run serves until its context ends.
type Server struct {
	config  Config        // only the goroutine of Run changes it, on a reload
	level   slog.LevelVar // of log
	log     *slog.Logger
	access  *access
	started time.Time

	http      *web.Server // nil: off
	httpAt    net.Listener
	served    endpoints              // the protocols; ready guards them
	answering sync.Once              // see answer
	failed    chan error             // see answer
	engine    atomic.Pointer[engine] // nil while the store is awaited
	draining  atomic.Bool

	reloads chan struct{} // asks Run for a reload
	ready   chan struct{} // closed once clients are served

	stop    context.CancelFunc
	stopped context.Context // ended by Close
	ended   chan struct{}   // closed when Run has returned
	result  error           // of Run
	runs    atomic.Bool
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
	if err := config.build.check(); err != nil {
		return nil, err
	}
	if found := config.Validate(); len(found) > 0 {
		return nil, found
	}
	s := &Server{
		config: config, started: time.Now(),
		failed: make(chan error, len(protocols)), reloads: make(chan struct{}, 1), ready: make(chan struct{}), ended: make(chan struct{}),
	}
	s.log = s.logger()
	s.stopped, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Reload makes a running server read its configuration, users, rules and
// certificates again. It does not wait for that. What cannot be read stays as it
// was.
func (s *Server) Reload() {
	select {
	case s.reloads <- struct{}{}:
	default: // a reload that has not begun yet reads the same
	}
}

// Ready returns a channel that is closed once clients are served.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Addr returns the address on which a server that is Ready serves a protocol: pg,
// mysql or http. It returns nil if the protocol is off.
func (s *Server) Addr(protocol string) net.Addr {
	if protocol == "http" && s.http != nil {
		return s.httpAt.Addr()
	}
	return s.served.addr(protocol)
}

// SQL returns the SQL layer of a server that is Ready, for sessions in this
// process. Before, it returns nil.
func (s *Server) SQL() *sqlfuncs.Server {
	if e := s.engine.Load(); e != nil {
		return e.sql
	}
	return nil
}

// Close ends Run as the end of its context does, waits for it, and returns its
// error.
func (s *Server) Close() error {
	s.stop()
	if !s.runs.Load() {
		return nil
	}
	<-s.ended
	return s.result
}

// Run opens everything, prints the ready line, and serves until ctx ends or Close
// is called. Then it drains: running statements finish, and unused reservations go
// back to the store. It returns nil after a clean drain. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	if s.runs.Swap(true) {
		return errors.New("a server runs once")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopped, cancel)()
	s.result = s.run(ctx)
	close(s.ended)
	return s.result
}

// run opens everything and serves. The listeners open before the store, so that a
// wrong address is reported at once and clients get an error while the store is
// awaited.
func (s *Server) run(ctx context.Context) (err error) {
	if s.access, err = openAccess(s.config, s.log); err != nil {
		return err
	}
	if err := s.openHTTP(); err != nil {
		return err
	}
	defer s.closeHTTP()
	defer func() { s.served.close() }()
	if err := s.listen(); err != nil {
		return err
	}
	e, err := s.openEngine(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop before it was ready
		}
		return err
	}
	return errors.Join(s.serve(ctx, e), e.close())
}

// serve answers on the endpoints until ctx ends and everything has drained.
// It also runs the reloads.
func (s *Server) serve(ctx context.Context, e *engine) error {
	if s.config.Store.Scheme == StoreMemory {
		s.log.Warn("the store is lost when the server stops: ids will repeat after a restart", "store", s.config.Store.String())
	}
	s.access.announce()
	s.warnOfExposure()
	e.nodes = node.New(node.Config{Store: e.store, Self: func() generator.Node { return s.describe(e) }, Logger: s.log})
	e.closing(e.nodes.Close)
	s.engine.Store(e)
	s.answer()
	close(s.ready)
	s.announce()
	for ctx.Err() == nil {
		select {
		case err := <-s.failed:
			return errors.Join(err, s.served.shutdown(0))
		case <-s.reloads:
			s.reload(ctx, e)
		case <-ctx.Done():
		}
	}
	s.draining.Store(true)
	s.log.Info("draining", "drain_delay", s.config.DrainDelay, "drain_timeout", s.config.DrainTimeout)
	select { // load balancers see /readyz fail while clients are still served
	case err := <-s.failed:
		return errors.Join(err, s.served.shutdown(0))
	case <-time.After(s.config.DrainDelay):
	}
	if err := s.served.shutdown(s.config.DrainTimeout); err != nil {
		return &Error{
			What: fmt.Sprintf("some statements did not end within %s and were cut off", formatDuration(s.config.DrainTimeout)),
			Hint: "Set drain_timeout higher if that is too short.", Err: err,
		}
	}
	return nil
}

// warnOfExposure warns of addresses that other machines reach without users or TLS.
func (s *Server) warnOfExposure() {
	for _, a := range s.config.addresses() {
		lacks := s.config.exposed(a.Address)
		switch {
		case a.Local() || !s.config.AllowPlaintext:
		case lacks != "":
			s.log.Warn("other machines can reach this server without protection", a.key, a.String(), "missing", lacks)
		case !s.config.RequireTLS:
			s.log.Warn("other machines may use this server without TLS: allow_plaintext is set", a.key, a.String())
		}
	}
}

// announce prints the ready line with every address, and commands to paste. In a
// log of JSON, or of WithLogger, it logs the line alone.
func (s *Server) announce() {
	user := "USER"
	if s.config.usersFile() == "" {
		user = openUser
	}
	var served, paste []string
	for _, p := range s.served {
		served = append(served, fmt.Sprintf("%s on %s", p.protocol.name, p.listener.Addr()))
		paste = append(paste, p.protocol.paste(p.listener.Addr(), user))
	}
	if s.http != nil {
		served = append(served, fmt.Sprintf("HTTP on %s", s.httpAt.Addr()))
		paste = append(paste, s.pageURL()...)
	}
	line := fmt.Sprintf("nextid ready: %s (store %s, worker id %s)",
		strings.Join(served, ", "), s.config.Store.In(s.config.Data), workerid.Redacted(s.config.WorkerID))
	if s.config.LogFormat == LogJSON || s.config.build.logger != nil {
		s.log.Info(line) //nolint:sloglint // the one line that scripts wait for
		return
	}
	fmt.Fprintln(s.config.build.output, line)
	for _, p := range paste {
		fmt.Fprintln(s.config.build.output, "  "+p)
	}
}

// logger returns the logger of WithLogger, or one with the configured form and
// level.
func (s *Server) logger() *slog.Logger {
	if s.config.build.logger != nil {
		return s.config.build.logger
	}
	s.level.Set(s.config.LogLevel)
	options := &slog.HandlerOptions{Level: &s.level}
	if s.config.LogFormat == LogJSON {
		return slog.New(slog.NewJSONHandler(s.config.build.output, options))
	}
	return slog.New(slog.NewTextHandler(s.config.build.output, options))
}
