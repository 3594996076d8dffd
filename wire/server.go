package wire

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// Server serves one protocol on any number of listeners. NewMachine is
// required; other zero fields have useful defaults. It must not be copied.
type Server struct {
	// NewMachine makes the protocol's side of a new connection. It must not
	// wait: it runs in the accept loop.
	NewMachine func(c *Conn) Machine

	Limits Limits
	Logger *slog.Logger // nil: slog.Default()

	// TLS is what connections may change to, nil for plaintext only. ALPN is
	// the protocol's name in TLS's negotiation of protocols (RFC 7301): a
	// client that names others only is refused. "" leaves it out.
	TLS  *TLS
	ALPN string

	// Took is told how long a statement took that had to be run; nil: nobody is.
	Took func(time.Duration)

	once     sync.Once
	base     context.Context // of all statements; ends when Shutdown gives up
	cancel   context.CancelCauseFunc
	draining atomic.Bool
	stopping chan struct{} // closed when draining begins
	polling  sync.Once
	poller   atomic.Pointer[poller] // nil: not needed yet, or there is none
	refusals throttle
	endings  throttle
	panics   panicLog

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[int32]*conn
	strangers *Places[*conn] // of conns, on their way to a login
	loggedIn  census         // of conns, the others
	done      Traffic        // but for what conns have counted
	work      sync.WaitGroup
}

// ErrServerClosed is what Serve returns after Shutdown.
var ErrServerClosed = errors.New("server closed")

// ErrShutdown is the cause of contexts that a shutdown cut off, and what the
// client is told (57P01, admin_shutdown).
var ErrShutdown error = sqlstate.New(sqlstate.AdminShutdown, "terminating connection due to administrator command")

// ErrLost ends the statements of a client that has closed its connection.
var ErrLost error = sqlstate.New(sqlstate.ConnectionFailure, "connection to client lost")

const (
	// acceptPauseMin and acceptPauseMax bound the wait after a failed accept,
	// which doubles: file descriptors come back when clients leave.
	acceptPauseMin = 5 * time.Millisecond
	acceptPauseMax = time.Second

	// networkShare is how many times PerIP connections a network may have: a
	// /64 may be one host with many addresses, or a whole local network.
	networkShare = 4

	// cutGrace is how long a connection that is cut off gets to tell its
	// client.
	cutGrace = 500 * time.Millisecond
)

func (s *Server) init() {
	s.once.Do(func() {
		s.Limits = s.Limits.WithDefaults()
		if s.Logger == nil {
			s.Logger = slog.Default()
		}
		s.base, s.cancel = context.WithCancelCause(context.Background())
		s.stopping = make(chan struct{})
		s.listeners = map[net.Listener]struct{}{}
		s.conns = map[int32]*conn{}
		s.strangers, s.loggedIn = NewPlaces[*conn](s.Limits.PreAuth), newCensus()
	})
}

// Serve accepts connections until Shutdown, and then returns
// ErrServerClosed. It closes l.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	defer func() { _ = l.Close() }() // closed by Shutdown already, or of no use any more
	if !s.addListener(l) {
		return ErrServerClosed
	}
	pause := time.Duration(0)
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(c)
			continue
		case s.draining.Load():
			return ErrServerClosed
		case errors.Is(err, net.ErrClosed):
			return err
		}
		// Out of file descriptors, or a client that left: it passes.
		pause = min(max(2*pause, acceptPauseMin), acceptPauseMax)
		s.Logger.Warn("cannot accept a connection", "error", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-s.stopping:
		}
	}
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

// start runs a connection in a goroutine of its own, or turns it away.
func (s *Server) start(nc net.Conn) {
	c := newConn(s, nc)
	if !s.register(c) {
		s.refused(c.info.Remote, RefusedDraining, "the server is shutting down")
		c.turnAway()
		return
	}
	go c.serve()
}

// adopt leaves a connection to the poller, if it can. The caller then holds
// the connection's socket.
func (s *Server) adopt(c *conn) bool {
	if _, ok := c.nc.(syscall.Conn); !ok {
		return false // tests
	}
	s.polling.Do(func() {
		p, err := newPoller()
		if err != nil {
			s.Logger.Debug("every connection keeps its goroutine", "reason", err)
			return
		}
		s.poller.Store(p)
	})
	p := s.poller.Load()
	if p == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	socket, err := p.adopt(c)
	if err != nil {
		s.Logger.Debug("a connection keeps its goroutine", "connection", c.info.ID, "reason", err)
		return false
	}
	c.socket, c.nc = socket, socket
	_ = socket.SetReadDeadline(at(c.deadline)) // it was open a moment ago
	socket.expired.Store(c.called())
	return true
}

// register gives a new connection its id and a place among those that have not
// logged in, unless the server is stopping. Whether there is room for it at all
// is found out when it logs in, since only then can the client be told.
func (s *Server) register(c *conn) bool {
	s.mu.Lock()
	s.done.Accepted++
	c.info.ID = s.nextIDLocked()
	room := !s.draining.Load()
	if room {
		c.stranger = &stranger{}
		c.stranger.ctx, c.stranger.giveUp = context.WithCancelCause(s.base)
		if oldest, full := s.strangers.Take(c, c.info.IP); full {
			oldest.yield()
		}
		s.conns[c.info.ID] = c
		s.work.Add(1) // under the lock: never beside Shutdown's Wait
	}
	s.mu.Unlock()
	c.machine = s.NewMachine(&c.info)
	return room
}

// lastID is shared by all servers, so that ids are unique in the process.
var lastID atomic.Int32

func (s *Server) nextIDLocked() int32 {
	for {
		id := lastID.Add(1) & math.MaxInt32
		if id != 0 && s.conns[id] == nil {
			return id
		}
	}
}

// admit counts a connection as logged in.
func (s *Server) admit(c *conn) error {
	err, why := s.count(c)
	if err != nil {
		s.refused(c.info.Remote, why, err.Message)
		return err
	}
	return nil
}

// count does it, or says why there is no room.
func (s *Server) count(c *conn) (err *sqlstate.Error, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room, in := s.Limits.Connections, s.loggedIn.total
	if !c.info.Local {
		room -= s.Limits.ReservedForSocket
	}
	switch {
	case s.draining.Load():
		return sqlstate.New(sqlstate.CannotConnectNow, "the server is shutting down"), RefusedDraining
	case in >= room:
		return sqlstate.New(sqlstate.TooManyConnections, "sorry, too many clients already").
			WithHint("Use a connection pool, or raise limits.connections in the configuration."), RefusedLimit
	case c.info.IP.IsValid() && s.loggedIn.addresses[c.info.IP] >= s.Limits.PerIP:
		return sqlstate.New(sqlstate.TooManyConnections, "too many connections from %s", c.info.IP).
			WithHint("Use a connection pool, or raise limits.connections_per_ip in the configuration."), RefusedAddress
	case c.info.IP.IsValid() && s.loggedIn.networks[Network(c.info.IP)] >= networkShare*s.Limits.PerIP:
		return sqlstate.New(sqlstate.TooManyConnections, "too many connections from %s", Network(c.info.IP)).
			WithHint("Use a connection pool, or raise limits.connections_per_ip in the configuration: a /64 of IPv6 may have %d times as many.", networkShare), RefusedAddress
	case !s.strangers.Leave(c):
		return errYielded, RefusedBeforeLogin
	}
	c.admitted = true
	s.loggedIn.add(c.info.IP, 1)
	return nil, ""
}

// forget counts a connection out.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.info.ID)
	s.done.add(&c.info.counters)
	if c.stranger != nil {
		c.stranger.giveUp(nil)
	}
	if c.admitted {
		s.loggedIn.add(c.info.IP, -1)
		return
	}
	s.strangers.Leave(c) // unless it had to yield
}

// refused counts connections that are turned away, and logs them, but not
// every one of a flood. why is a key of Traffic.Refused.
func (s *Server) refused(remote, why, reason string) {
	s.noteRefusal(why)
	if n, ok := s.refusals.next(time.Now()); ok {
		s.Logger.Warn("connection refused", "remote", remote, "reason", reason, "not_logged", n)
	}
}

// closed logs why the server ends a connection that was served, but not every one of
// a flood.
func (s *Server) closed(c *conn, reason string) {
	if n, ok := s.endings.next(time.Now()); ok {
		s.Logger.Warn("connection closed", "connection", c.info.ID, "remote", c.info.Remote, "reason", reason, "not_logged", n)
	}
}

// Connections is the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Shutdown stops accepting, tells idle clients to go and lets running
// statements finish. When ctx ends it cuts off the rest. It returns when
// every connection is gone, with ctx's error if some had to be cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.init()
	s.mu.Lock()
	if !s.draining.Swap(true) {
		close(s.stopping)
	}
	for l := range s.listeners {
		_ = l.Close() // Serve reports nothing either: it knows that this is wanted
	}
	s.mu.Unlock()
	s.eachConn((*conn).nudge)
	done := make(chan struct{})
	go func() { s.work.Wait(); close(done) }()
	defer func() {
		if p := s.poller.Swap(nil); p != nil {
			p.close()
		}
	}()
	select {
	case <-done:
		s.cancel(ErrShutdown)
		return nil
	case <-ctx.Done():
	}
	s.cancel(ErrShutdown)
	s.eachConn((*conn).cutOff)
	select {
	case <-done:
	case <-time.After(2 * cutGrace):
		s.eachConn((*conn).abandon)
		<-done
	}
	return ctx.Err()
}

func (s *Server) eachConn(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		f(c)
	}
}

// throttle lets one log line through a second.
type throttle struct {
	mu      sync.Mutex
	last    time.Time
	skipped int
}

// next reports whether to log now, and how many lines were left out before.
func (t *throttle) next(now time.Time) (skipped int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.last.IsZero() && now.Sub(t.last) < time.Second {
		t.skipped++
		return 0, false
	}
	skipped, t.last, t.skipped = t.skipped, now, 0
	return skipped, true
}
