// Package httpstatus serves the state of a server over HTTP, for load balancers and
// monitoring:
//
//	/healthz  200 while the process answers (liveness)
//	/readyz   200 while clients should connect, else 503 and the reason (readiness)
//	/metrics  metrics in Prometheus's text format
//
// Server answers on one listener, with the functions of its Config. It has a limit
// of its own on connections.
package httpstatus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"nextid/wire"
)

// Config configures a Server. Its functions are called from several goroutines. All
// but TLS and Connections are required.
type Config struct {
	// Ready returns the reason for which no client should connect, nil if clients
	// should.
	Ready func() error
	// Notes returns warnings for an operator, a line each. Every client can read
	// them.
	Notes func() []string
	// Metrics answers /metrics.
	Metrics http.Handler
	// Authorize checks a request for /metrics from another machine.
	Authorize func(*http.Request) error
	// Pages answers every other path.
	Pages http.Handler
	// TLS gives the configuration of the next connection; nil for plain HTTP.
	TLS func() *tls.Config

	Connections int // limit on open connections; 0: 1024
	Logger      *slog.Logger
}

// connections limits the open connections. One more closes another, so that idle
// connections, and half a request, do not keep a probe out. See wire.Places.
const connections = 1024

// Server answers on one listener.
type Server struct {
	cfg  Config
	http http.Server

	mu     sync.Mutex
	places *wire.Places[net.Conn]
}

// New returns a Server.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, places: wire.NewPlaces[net.Conn](cmp.Or(cfg.Connections, connections))}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.Handle("/", cfg.Pages)
	s.http = http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 8 << 10,
		WriteTimeout: 30 * time.Second, // the metrics of many generators have some 100 KiB
		ConnState:    s.limit, ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// limit bounds the open connections. A request makes its connection the newest. So of
// the connections of an address, the one that has been idle for the longest time is
// closed.
func (s *Server) limit(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.places.Leave(c); !held && state != http.StateNew || state == http.StateClosed || state == http.StateHijacked {
		return
	}
	tcp, _ := c.RemoteAddr().(*net.TCPAddr)
	oldest, full := s.places.Take(c, wire.ClientAddress(tcp.AddrPort().Addr()))
	if secure, ok := oldest.(*tls.Conn); ok {
		oldest = secure.NetConn() // Close of TLS would wait for the client
	}
	if full {
		_ = oldest.Close() // the goroutine that serves it gets an error and ends
	}
}

// Serve answers until Shutdown, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	if s.cfg.TLS != nil {
		l = tls.NewListener(l, &tls.Config{
			MinVersion: tls.VersionTLS12,
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				c := s.cfg.TLS().Clone()
				c.NextProtos = []string{"http/1.1"}
				return c, nil
			},
		})
	}
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown lets running answers finish until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// ready answers /readyz: the state in the first line, then the notes.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	code, text := http.StatusOK, "ready"
	if err := s.cfg.Ready(); err != nil {
		code, text = http.StatusServiceUnavailable, err.Error()
	}
	answer(w, code, strings.Join(append([]string{text}, s.cfg.Notes()...), "\n")+"\n")
}

// metrics answers /metrics. Clients on this machine need no password.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	remote, err := netip.ParseAddrPort(r.RemoteAddr) // an error over a Unix socket
	if err == nil && !remote.Addr().Unmap().IsLoopback() && s.cfg.Authorize(r) != nil {
		w.Header().Set("WWW-Authenticate", `Basic realm="nextid", charset="UTF-8"`)
		answer(w, http.StatusUnauthorized, "a user of nextid and its password are needed\n")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.cfg.Metrics.ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text) // the client may have hung up
}
