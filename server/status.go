package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/node"
	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/httpstatus"
	"nextid/wire/web"
)

// statusPort is the default port of --http.
const statusPort = 8433

// status serves health checks, metrics, the page and the JSON API over HTTP. It
// answers before the store is open, and until everything has drained. running is
// nil before clients are served.
type status struct {
	config   *Config
	log      *slog.Logger
	access   *access
	listener net.Listener // nil: off
	server   *httpstatus.Server
	web      *web.Server
	started  time.Time

	stopHistory context.CancelFunc
	history     sync.WaitGroup

	running  atomic.Pointer[running]
	draining atomic.Bool
}

// running holds what a server has once clients are served.
type running struct {
	engine    *engine
	endpoints endpoints
}

var (
	errStarting = errors.New("the server is starting: it waits for its store")
	errDraining = errors.New("the server is stopping")
)

// openStatus listens and serves. If the address is off, status does nothing.
func (m *Server) openStatus(log *slog.Logger, access *access) (*status, error) {
	s := &status{config: &m.config, log: log, access: access, started: time.Now()}
	a := m.config.HTTP
	if a.Off() {
		return s, nil
	}
	l, err := a.listen("http.sock", "--http")
	if err != nil {
		// The user did not choose the default address. A second server on a machine often
		// gets other ports for SQL only.
		if a == DefaultConfig().HTTP && errors.Is(err, syscall.EADDRINUSE) {
			log.Warn("no health checks and metrics: the default address of --http is taken", "http", a.String())
			return s, nil
		}
		return nil, err
	}
	s.web = web.New(web.Config{SQL: s.sql, Login: s.login, RequiresLogin: access.policy.RequiresLogin, Status: s.state, Outage: s.outage, Issued: s.issued})
	ctx, cancel := context.WithCancel(context.Background())
	s.stopHistory = cancel
	s.history.Go(func() { s.web.KeepHistory(ctx) })
	cfg := httpstatus.Config{
		Ready: s.ready, Notes: s.notes, Metrics: s.metrics(), Authorize: s.authorize, Pages: s.web, Logger: log,
	}
	if access.tls != nil && !a.Local() {
		cfg.TLS = func() *tls.Config { return access.tls.Config() }
	}
	s.listener, s.server = l, httpstatus.New(cfg)
	go func() {
		if err := s.server.Serve(l); err != nil {
			log.Error("health checks and metrics ended", "http", l.Addr().String(), "error", err)
		}
	}()
	return s, nil
}

// close ends the history and the HTTP server.
func (s *status) close() {
	if s.server == nil {
		return
	}
	s.stopHistory()
	s.history.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		s.log.Warn("a health check was cut off", "error", err)
	}
}

// ready implements /readyz. nil means that clients should come.
func (s *status) ready() error {
	r := s.running.Load()
	switch {
	case s.draining.Load():
		return errDraining
	case r == nil:
		return errStarting
	}
	if err := s.layoutEnded(r); err != nil {
		return err
	}
	return node.Ready(r.engine.store, r.engine.registry, node.ReadyMargin(r.engine.pools.Slice()), time.Now())
}

// layoutEnded returns an error if new names would get no ids: the time of ids is
// beyond the end of the default layout.
func (s *status) layoutEnded(r *running) error {
	l, err := layout.Preset(r.engine.layout)
	now := r.engine.pools.Now()
	if err != nil || l.TickOf(now) <= l.MaxTick() {
		return nil //nolint:nilerr // a layout of no preset is not what new names get
	}
	return fmt.Errorf("the time of ids is %s, and layout %s ends before: set the clock right, and see nextid repair", now.UTC().Format(time.RFC3339), l.Name)
}

// notes returns the notes of /readyz. They name no host, since any client may read
// them.
func (s *status) notes() []string {
	r := s.running.Load()
	if r == nil {
		return nil
	}
	var notes []string
	outage := node.OutageOf(r.engine.store, r.engine.registry)
	if outage != nil && s.ready() == nil { // otherwise ready returns the outage
		note := fmt.Sprintf("%v; ids go on until what is reserved is used up", outage.Err)
		if name, lasts := outage.Shortest(); name != "" {
			note += fmt.Sprintf(", first those of generator %q in %s", name, lasts.Round(time.Second))
		}
		notes = append(notes, note)
	}
	if e, ok := errors.AsType[*generator.Error](r.engine.pools.Refused()); ok && errors.Is(e, generator.ErrNotNow) {
		notes = append(notes, "ids that hold the time wait: "+e.Message)
	}
	notes = append(notes, r.engine.forecast.latest.Load().notes...)
	if o := r.engine.clock.Offset(); o.Alarm {
		notes = append(notes, fmt.Sprintf("the clock of this server differs from that of the store by %v", o.Ahead.Round(time.Millisecond)))
	}
	if outage != nil && len(outage.Direct) > 0 {
		notes = append(notes, fmt.Sprintf("generators that ask the store for every id wait for it: %q, of %d", outage.Direct[0], len(outage.Direct)))
	}
	r.engine.registry.Counted(func(c generator.Counted) bool {
		if d, ok := c.Details(); ok && d.Note != "" {
			notes = append(notes, d.Note)
		}
		return true
	})
	return notes
}

// authorize checks a reader of /metrics on another machine.
func (s *status) authorize(ctx context.Context, remote net.Addr, secure bool, name, password string) error {
	return s.login(ctx, remote, secure, name, password, &sqlfuncs.SessionOptions{})
}

// login checks the user of an HTTP request. remote is nil on a Unix socket.
func (s *status) login(ctx context.Context, remote net.Addr, secure bool, name, password string, o *sqlfuncs.SessionOptions) error {
	c := &wire.Conn{Local: remote == nil}
	if remote != nil {
		c.Remote = remote.String()
		if port, err := netip.ParseAddrPort(c.Remote); err == nil {
			c.IP = wire.ClientAddress(port.Addr())
		}
	}
	if secure {
		c.TLS = &wire.Secured{}
	}
	return s.access.policy.CheckPassword(ctx, name, password, c, o)
}

// sql returns the SQL layer, or nil before there is an engine.
func (s *status) sql() *sqlfuncs.Server {
	if r := s.running.Load(); r != nil {
		return r.engine.sql
	}
	return nil
}

// state returns the state that the page shows.
func (s *status) state() web.Status {
	state := web.Status{
		Version: Version(), Store: s.config.Store.In(s.config.Data).String(), Started: s.started.UTC(), Ready: true, Notes: s.notes(),
	}
	if err := s.ready(); err != nil {
		state.Ready, state.Reason = false, err.Error()
	}
	if r := s.running.Load(); r != nil {
		state.Kinds = r.engine.registry.Kinds()
	}
	return state
}

// outage implements web.Config.Outage.
func (s *status) outage() *web.Outage {
	r := s.running.Load()
	if r == nil {
		return nil
	}
	o := node.OutageOf(r.engine.store, r.engine.registry)
	if o == nil {
		return nil
	}
	out := &web.Outage{Since: o.Since.UTC(), Hint: HintOf(o.Err), Lasts: map[string]float64{}, Readable: r.engine.store.Exclusive()}
	if down, ok := errors.AsType[*generator.StoreDown](o.Err); ok {
		out.Error = OneLine(down.Err.Error())
	}
	for name, lasts := range o.Lasts {
		out.Lasts[name] = lasts.Seconds()
	}
	for _, name := range o.Direct {
		out.Lasts[name] = 0
	}
	return out
}

// issued yields the number of ids that this server issued under each name.
func (s *status) issued(yield func(name string, ids int64) bool) {
	r := s.running.Load()
	if r == nil {
		return
	}
	r.engine.registry.Counted(func(c generator.Counted) bool { return yield(c.Name, c.Counts.Issued) })
}

// where returns the HTTP address for the ready line.
func (s *status) where() string {
	if s.listener == nil {
		return ""
	}
	return fmt.Sprintf(", HTTP on %s", s.listener.Addr())
}

// paste returns the URL of the page, for the lines below the ready line.
func (s *status) paste() []string {
	if s.listener == nil {
		return nil
	}
	host, port, ok := reachable(s.listener.Addr())
	if !ok {
		return nil
	}
	scheme := "http"
	if s.access.tls != nil && !s.config.HTTP.Local() {
		scheme = "https"
	}
	return []string{scheme + "://" + net.JoinHostPort(host, port) + "/"}
}
