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
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// Config configures a Server. Ready and Metrics are required; both are called
// from several goroutines.
type Config struct {
	// Ready returns the reason for which no client should connect, nil if clients
	// should.
	Ready func() error
	// Notes returns warnings for an operator, a line each. Every client can read
	// them. nil: none.
	Notes func() []string
	// Metrics answers /metrics.
	Metrics http.Handler
	// Authorize checks a request for /metrics from another machine. name and
	// password are from HTTP's Basic authentication, empty without. If Authorize is
	// nil, every client may read the metrics.
	Authorize func(ctx context.Context, remote net.Addr, secure bool, name, password string) error
	// Pages answers every other path; may be nil.
	Pages http.Handler
	// TLS gives the configuration of the next connection; nil for plain HTTP.
	TLS func() *tls.Config

	Logger *slog.Logger // nil: slog.Default()
}

// Limits on clients. The metrics of many generators have some 100 KiB.
const (
	headerTimeout  = 5 * time.Second
	requestTimeout = 10 * time.Second
	answerTimeout  = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	headerBytes    = 8 << 10
	connections    = 64
)

// Server answers on one listener.
type Server struct {
	cfg  Config
	http http.Server
}

// New returns a Server.
func New(cfg Config) *Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	s := &Server{cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	if cfg.Pages != nil {
		mux.Handle("/", cfg.Pages)
	}
	s.http = http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Serve answers until Shutdown, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	l = limit(l, connections)
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

func (s *Server) health(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") }

// ready answers /readyz: the state in the first line, then the notes.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	code, text := http.StatusOK, "ready"
	if err := s.cfg.Ready(); err != nil {
		code, text = http.StatusServiceUnavailable, err.Error()
	}
	lines := []string{text}
	if s.cfg.Notes != nil {
		lines = append(lines, s.cfg.Notes()...)
	}
	answer(w, code, strings.Join(lines, "\n")+"\n")
}

// metrics answers /metrics. Clients on this machine need no password.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if remote := remoteAddr(r); s.cfg.Authorize != nil && !local(remote) {
		name, password, _ := r.BasicAuth()
		if err := s.cfg.Authorize(r.Context(), remote, r.TLS != nil, name, password); err != nil {
			w.Header().Set("WWW-Authenticate", `Basic realm="nextid", charset="UTF-8"`)
			answer(w, http.StatusUnauthorized, "a user of nextid and its password are needed\n")
			return
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.cfg.Metrics.ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text)) // the client may have hung up
}

// remoteAddr returns the client's address, nil over a Unix socket.
func remoteAddr(r *http.Request) net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	if err != nil {
		return nil
	}
	return addr
}

// local reports whether an address is on this machine.
func local(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}
