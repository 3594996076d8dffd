package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/node"
	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/web"
)

// statusPort is the default port of --http.
const statusPort = 8433

// openHTTP serves health checks, metrics, the page and the JSON API, unless the
// address is off. They answer before the store is open, and until everything has
// drained.
func (s *Server) openHTTP() error {
	a := s.config.HTTP
	if a.Off() {
		return nil
	}
	l, err := a.listen("http.sock", "--http")
	// The user did not choose the default address. A second server on a machine often
	// gets other ports for SQL only.
	if a == DefaultConfig().HTTP && errors.Is(err, syscall.EADDRINUSE) {
		s.log.Warn("no health checks and metrics: the default address of --http is taken", "http", a.String())
		return nil
	}
	if err != nil {
		return err
	}
	cfg := web.Config{
		SQL: s.SQL, Login: s.login, RequiresLogin: s.access.policy.RequiresLogin, Status: s.state, Outage: s.outage, Issued: s.issued,
		Ready: s.notReady, Notes: s.notes, Metrics: s.metrics(), Logger: s.log,
	}
	if s.access.tls != nil && !a.Local() {
		cfg.TLS = func() *tls.Config { return s.access.tls.Config() }
	}
	s.httpAt, s.http = l, web.New(cfg)
	go func() {
		if err := s.http.Serve(l); err != nil {
			s.log.Error("health checks and metrics ended", "http", l.Addr().String(), "error", err)
		}
	}()
	return nil
}

// closeHTTP ends the HTTP server.
func (s *Server) closeHTTP() {
	if s.http == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.log.Warn("a health check was cut off", "error", err)
	}
}

// notReady implements /readyz. nil means that clients should come.
func (s *Server) notReady() error {
	e := s.engine.Load()
	switch {
	case s.draining.Load():
		return errors.New("the server is stopping")
	case e == nil:
		return errors.New("the server is starting: it waits for its store")
	}
	// New names would get no ids if the time of ids is beyond the end of the default
	// layout. Another layout than a preset is not what new names get.
	l, err := layout.Preset(s.config.Layout)
	if now := e.pools.Now(); err == nil && l.TickOf(now) > l.MaxTick() {
		return fmt.Errorf("the time of ids is %s, and layout %s ends before: set the clock right, and see nextid repair",
			now.UTC().Format(time.RFC3339), l.Name)
	}
	return node.Ready(e.store, e.registry, node.ReadyMargin(e.pools.Slice()), time.Now())
}

// notes returns the notes of /readyz. They name no host, since any client may read
// them.
func (s *Server) notes() (notes []string) {
	e := s.engine.Load()
	if e == nil {
		return nil
	}
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	outage := node.OutageOf(e.store, e.registry)
	if outage != nil && s.notReady() == nil { // otherwise notReady returns the outage
		first := ""
		if name, lasts := outage.Shortest(); name != "" {
			first = fmt.Sprintf(", first those of generator %q in %s", name, lasts.Round(time.Second))
		}
		note("%v; ids go on until what is reserved is used up%s", outage.Err, first)
	}
	if refused, ok := errors.AsType[*generator.Error](e.pools.Refused()); ok && errors.Is(refused, generator.ErrNotNow) {
		note("ids that hold the time wait: %s", refused.Message)
	}
	notes = append(notes, e.forecast.latest.Load().notes...)
	if o := e.clock.Offset(); o.Alarm {
		note("the clock of this server differs from that of the store by %v", o.Ahead.Round(time.Millisecond))
	}
	if outage != nil && len(outage.Direct) > 0 {
		note("generators that ask the store for every id wait for it: %q, of %d", outage.Direct[0], len(outage.Direct))
	}
	e.registry.Counted(func(c generator.Counted) bool {
		if d, ok := c.Details(); ok && d.Note != "" {
			notes = append(notes, d.Note)
		}
		return true
	})
	return notes
}

// login checks the user of an HTTP request.
func (s *Server) login(r *http.Request, name, password string, o *sqlfuncs.SessionOptions) error {
	c := &wire.Conn{}
	if remote, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.Remote, c.IP = r.RemoteAddr, wire.ClientAddress(remote.Addr())
	} else {
		c.Local = true // a Unix socket
	}
	if r.TLS != nil {
		c.TLS = &wire.Secured{}
	}
	return s.access.policy.CheckPassword(r.Context(), name, password, c, o)
}

// state returns the state that the page shows.
func (s *Server) state() web.Status {
	state := web.Status{Version: Version(), Store: s.config.Store.In(s.config.Data).String(), Started: s.started.UTC()}
	if e := s.engine.Load(); e != nil {
		state.Kinds = e.registry.Kinds()
	}
	return state
}

// outage implements web.Config.Outage.
func (s *Server) outage() *web.Outage {
	e := s.engine.Load()
	if e == nil {
		return nil
	}
	o := node.OutageOf(e.store, e.registry)
	if o == nil {
		return nil
	}
	out := &web.Outage{Since: o.Since.UTC(), Hint: HintOf(o.Err), Lasts: map[string]float64{}, Readable: e.store.Exclusive()}
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
func (s *Server) issued(yield func(name string, ids int64) bool) {
	if e := s.engine.Load(); e != nil {
		e.registry.Counted(func(c generator.Counted) bool { return yield(c.Name, c.Counts.Issued) })
	}
}

// pageURL returns the URL of the page, nothing on a Unix socket.
func (s *Server) pageURL() []string {
	host, port, ok := reachable(s.httpAt.Addr())
	if !ok {
		return nil
	}
	scheme := "http"
	if s.access.tls != nil && !s.config.HTTP.Local() {
		scheme = "https"
	}
	return []string{scheme + "://" + net.JoinHostPort(host, port) + "/"}
}
