package wire

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// Server serves one protocol on any number of listeners. NewMachine is
// required; other zero fields have useful defaults. It must not be copied.
type Server struct {
	// NewMachine makes the protocol's side of a new connection. It must not wait: it
	// runs in the accept loop.
	NewMachine func(c *Conn) Machine

	Limits Limits
	Logger *slog.Logger // nil: slog.Default()

	// TLS holds the certificates; nil for plaintext only. ALPN is the protocol's
	// name for RFC 7301: a client that offers only other names is refused. "" does
	// not negotiate.
	TLS  *TLS
	ALPN string

	// Took is called with the duration of each statement of the slow path. It may be
	// nil.
	Took func(time.Duration)

	once     sync.Once
	base     context.Context // parent of all statements' contexts; ends when Shutdown gives up
	cancel   context.CancelCauseFunc
	draining atomic.Bool
	stopping chan struct{} // closed when draining begins
	polling  sync.Once
	poller   atomic.Pointer[poller] // nil: not started, or there is none on this system
	refusals Throttle
	endings  Throttle
	panics   Throttle

	mu        sync.Mutex
	listeners []net.Listener
	conns     map[int32]*Conn
	loggingIn *Places[*Conn] // connections that have not logged in
	loggedIn  census         // connections that have
	done      Traffic        // of closed connections, and the counts of refusals and errors
	recent    Traffic        // see Recent
	summed    time.Duration  // when recent was summed up, by monotonic; 0: never
	work      sync.WaitGroup
}

// ErrServerClosed is returned by Serve after Shutdown.
var ErrServerClosed = errors.New("server closed")

// ErrShutdown is the cause of the contexts that a shutdown has ended, and the
// error for the client (57P01, admin_shutdown).
var ErrShutdown error = sqlstate.New(sqlstate.AdminShutdown, "terminating connection due to administrator command")

// ErrLost ends the statements of a client that has closed its connection.
var ErrLost error = sqlstate.New(sqlstate.ConnectionFailure, "connection to client lost")

const (
	// acceptPauseMin and acceptPauseMax bound the pause after a failed accept,
	// which doubles each time: file descriptors may become free.
	acceptPauseMin = 5 * time.Millisecond
	acceptPauseMax = time.Second

	// networkFactor times PerIP is the limit of a network: a /64 may be one host
	// with many addresses, or a whole local network.
	networkFactor = 4

	// cutGrace bounds the last write of a connection that is cut off.
	cutGrace = 500 * time.Millisecond
)

func (s *Server) init() {
	s.once.Do(func() {
		s.Limits, s.Logger = s.Limits.WithDefaults(), cmp.Or(s.Logger, slog.Default())
		s.base, s.cancel = context.WithCancelCause(context.Background())
		s.stopping = make(chan struct{})
		s.conns = map[int32]*Conn{}
		s.done.Refused, s.done.Errors = map[string]int64{}, map[string]int64{}
		s.loggingIn, s.loggedIn = NewPlaces[*Conn](s.Limits.PreAuth), newCensus()
	})
}

// Serve accepts connections until Shutdown, and then returns
// ErrServerClosed. It closes l.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	defer func() { _ = l.Close() }() // closed by Shutdown already, or of no use any more
	s.mu.Lock()
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	pause := time.Duration(0)
	for !s.draining.Load() { // Shutdown closes the listeners that were there before
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(c)
			continue
		case s.draining.Load():
			continue
		case errors.Is(err, net.ErrClosed):
			return err
		}
		// No file descriptor is free, or the client has hung up. Try again.
		pause = min(max(2*pause, acceptPauseMin), acceptPauseMax)
		s.Logger.Warn("cannot accept a connection", "error", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-s.stopping:
		}
	}
	return ErrServerClosed
}

// start serves a connection in a goroutine of its own, unless the server shuts
// down.
func (s *Server) start(nc net.Conn) {
	c := newConn(s, nc)
	if !s.register(c) {
		s.refused(c, RefusedDraining, "the server is shutting down")
		c.cutOff() // nothing may block the accept loop
		c.dismiss(Shutdown)
		c.close()
		return
	}
	go c.serve()
}

// adopt hands a connection over to the event loop, if there is one. The caller
// then holds the claim on the connection's socket.
func (s *Server) adopt(c *Conn) bool {
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
		s.Logger.Debug("a connection keeps its goroutine", "connection", c.ID, "reason", err)
		return false
	}
	c.socket, c.nc = socket, socket
	_ = socket.SetReadDeadline(at(c.deadline)) // it was open a moment ago
	socket.expired.Store(c.interrupted())
	return true
}

// register gives a new connection its id. Unless the server shuts down, it adds the
// connection to loggingIn. Admit checks the limits on connections: only then can the
// client get the error.
func (s *Server) register(c *Conn) bool {
	s.mu.Lock()
	s.done.Accepted++
	c.ID = s.nextIDLocked()
	running := !s.draining.Load()
	if running {
		c.preLogin = &preLogin{}
		c.preLogin.ctx, c.preLogin.giveUp = context.WithCancelCause(s.base)
		if oldest, full := s.loggingIn.Take(c, c.IP); full {
			oldest.evict()
		}
		s.conns[c.ID] = c
		s.work.Add(1) // under the lock: never beside Shutdown's Wait
	}
	s.mu.Unlock()
	c.machine = s.NewMachine(c)
	return running
}

// lastID belongs to all servers, so that ids are unique in the process.
var lastID atomic.Int32

// nextIDLocked returns a positive id that no open connection of the server has.
// Clients get it as process id (PostgreSQL) or connection id (MySQL), both of 32
// bits.
func (s *Server) nextIDLocked() int32 {
	for {
		id := lastID.Add(1) & math.MaxInt32
		if id != 0 && s.conns[id] == nil {
			return id
		}
	}
}

// count counts a connection as logged in. why is a key of Traffic.Refused.
func (s *Server) count(c *Conn) (err *sqlstate.Error, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, in := s.Limits.Connections, s.loggedIn.total
	if !c.Local {
		limit -= s.Limits.ReservedForSocket
	}
	switch {
	case s.draining.Load():
		return sqlstate.New(sqlstate.CannotConnectNow, "the server is shutting down"), RefusedDraining
	case in >= limit:
		return sqlstate.New(sqlstate.TooManyConnections, "sorry, too many clients already").
			WithHint("Use a connection pool, or raise limits.connections in the configuration."), RefusedLimit
	case !c.IP.IsValid(): // a Unix socket
	case s.loggedIn.addresses[c.IP] >= s.Limits.PerIP:
		return sqlstate.New(sqlstate.TooManyConnections, "too many connections from %s", c.IP).
			WithHint("Use a connection pool, or raise limits.connections_per_ip in the configuration."), RefusedAddress
	case s.loggedIn.networks[Network(c.IP)] >= networkFactor*s.Limits.PerIP:
		return sqlstate.New(sqlstate.TooManyConnections, "too many connections from %s", Network(c.IP)).
			WithHint("Use a connection pool, or raise limits.connections_per_ip in the configuration: a /64 of IPv6 may have %d times as many.", networkFactor), RefusedAddress
	}
	if !s.loggingIn.Leave(c) {
		return errEvicted, RefusedBeforeLogin
	}
	c.admitted = true
	s.loggedIn.add(c.IP, 1)
	return nil, ""
}

// forget removes a closed connection, and adds its counters to done.
func (s *Server) forget(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.ID)
	s.done.add(&c.counters)
	if c.preLogin != nil {
		c.preLogin.giveUp(nil)
	}
	if c.admitted {
		s.loggedIn.add(c.IP, -1)
		return
	}
	s.loggingIn.Leave(c) // unless it was evicted
}

// refused counts a refused connection and logs it, at most one line a second.
// why is a key of Traffic.Refused.
func (s *Server) refused(c *Conn, why, reason string) {
	s.mu.Lock()
	s.done.Refused[why]++
	s.mu.Unlock()
	if n, ok := s.refusals.Next(time.Now()); ok {
		s.Logger.Warn("connection refused", "remote", c.Remote, "reason", reason, "not_logged", n)
	}
}

// closed logs the end of a connection that the server has served, at most one
// line a second.
func (s *Server) closed(c *Conn, reason string) {
	if n, ok := s.endings.Next(time.Now()); ok {
		s.Logger.Warn("connection closed", "connection", c.ID, "remote", c.Remote, "reason", reason, "not_logged", n)
	}
}

// panicked logs a panic of a connection, at most one line a second: a client that
// triggers a bug must not fill the disk. The deferred function that has recovered
// calls panicked, so the panic is still on the stack.
func (s *Server) panicked(c *Conn, while string, cause any) {
	if n, ok := s.panics.Next(time.Now()); ok {
		s.Logger.Error("panic in a connection", "while", while, "connection", c.ID, "panic", cause, "skipped", n, "stack", string(debug.Stack()))
	}
}

// Connections returns the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Shutdown stops accepting, sends an error to idle connections and closes them, and
// lets running statements finish. When ctx ends it cuts off the connections that are
// left. It returns when every connection is closed, with the error of ctx if some
// were cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.init()
	s.mu.Lock()
	if !s.draining.Swap(true) {
		close(s.stopping)
	}
	for _, l := range s.listeners {
		_ = l.Close() // Serve returns ErrServerClosed
	}
	s.mu.Unlock()
	s.eachConn((*Conn).interrupt)
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
	s.eachConn((*Conn).cutOff)
	select {
	case <-done:
	case <-time.After(2 * cutGrace):
		s.eachConn((*Conn).abandon)
		<-done
	}
	return ctx.Err()
}

// eachConn calls f for every connection, with mu held.
func (s *Server) eachConn(f func(*Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		f(c)
	}
}

// Throttle bounds log lines to Lines a second, to one if Lines is 0.
type Throttle struct {
	Lines int

	mu      sync.Mutex
	since   time.Time // when the second began
	logged  int       // in it
	skipped int
}

// Next reports whether to log now, and the number of lines that were left out since
// the last one.
func (t *Throttle) Next(now time.Time) (skipped int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= time.Second {
		t.since, t.logged = now, 0
	}
	if t.logged >= max(1, t.Lines) {
		t.skipped++
		return 0, false
	}
	t.logged++
	skipped, t.skipped = t.skipped, 0
	return skipped, true
}

// staleWait bounds the attempt to connect to an existing socket file.
const staleWait = time.Second

// Listen opens an address: host:port, or the path of a Unix socket, which begins with
// / or a dot. If the path is a directory, the socket is file in it, the name that the
// protocol's clients look for. A socket file without a listener is replaced. Every
// user of the machine may connect, as with PostgreSQL's default.
func Listen(address, file string) (net.Listener, error) {
	if address == "" || !strings.Contains("/.", address[:1]) {
		return net.Listen("tcp", address)
	}
	path := address
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, file)
	}
	if err := removeStale(path); err != nil {
		return nil, &net.OpError{Op: "listen", Net: "unix", Addr: &net.UnixAddr{Name: path, Net: "unix"}, Err: err}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeStale removes the socket file that a killed server left behind. It returns
// an error for another file, and EADDRINUSE for a socket with a listener.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // no file, or net.Listen returns the error
	}
	if info.Mode()&os.ModeSocket == 0 {
		return errors.New("the file exists and is not a socket")
	}
	c, err := net.DialTimeout("unix", path, staleWait)
	switch {
	case err == nil:
		_ = c.Close() // a server listens
		return syscall.EADDRINUSE
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return err
}
