package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"nextid/sqlfuncs"
	"nextid/wire"
)

// connections limits the open connections. One more closes another, so that idle
// connections, and half a request, do not keep a probe out. See wire.Places.
const connections = 1024

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

// Serve answers until Shutdown, and then returns nil. It closes l. Meanwhile it keeps
// the history.
func (s *Server) Serve(l net.Listener) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go s.keepHistory(ctx)
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
	probed(w, code, strings.Join(append([]string{text}, s.cfg.Notes()...), "\n")+"\n")
}

// metrics answers /metrics. Clients on this machine need no password.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	remote, err := netip.ParseAddrPort(r.RemoteAddr) // an error over a Unix socket
	name, password, _ := r.BasicAuth()
	if err == nil && !remote.Addr().Unmap().IsLoopback() && s.cfg.Login(r, name, password, &sqlfuncs.SessionOptions{}) != nil {
		w.Header().Set("WWW-Authenticate", challenge)
		probed(w, http.StatusUnauthorized, "a user of nextid and its password are needed\n")
		return
	}
	noStore(w.Header())
	s.cfg.Metrics.ServeHTTP(w, r)
}

// probed answers a probe.
func probed(w http.ResponseWriter, code int, text string) {
	noStore(w.Header())
	w.Header().Set("Content-Type", typeText)
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text) // the client may have hung up
}

// noStore sets the headers of all answers but the page's files.
func noStore(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}
