package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nextid/sqlfuncs"
	"nextid/wire"
)

// serve starts a server for a test, with a limit on its connections.
func serve(t *testing.T, cfg Config, l net.Listener, limit int) {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	if cfg.Notes == nil {
		cfg.Notes = func() []string { return nil }
	}
	cfg.RequiresLogin, cfg.Issued = func() bool { return false }, func(func(string, int64) bool) {}
	s := New(cfg)
	s.places = wire.NewPlaces[net.Conn](limit)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func get(t *testing.T, url string, change ...func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Header
}

func TestProbes(t *testing.T) {
	var trouble atomic.Pointer[error]
	l := listen(t)
	serve(t, Config{
		Ready:   func() error { return *trouble.Load() },
		Metrics: up,
	}, l, connections)
	url := "http://" + l.Addr().String()
	for _, step := range []struct {
		trouble error
		code    int
		body    string
	}{{nil, 200, "ready\n"}, {errors.New("the store is away"), 503, "the store is away\n"}, {nil, 200, "ready\n"}} {
		trouble.Store(&step.trouble)
		if code, body, _ := get(t, url+"/readyz"); code != step.code || body != step.body {
			t.Errorf("/readyz with %v: %d %q", step.trouble, code, body)
		}
		if code, body, _ := get(t, url+"/healthz"); code != 200 || body != "ok\n" {
			t.Errorf("/healthz with %v: %d %q", step.trouble, code, body)
		}
	}
	if code, body, h := get(t, url+"/metrics"); code != 200 || body != "up 1\n" ||
		!strings.HasPrefix(h.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("/metrics: %d %q %v", code, body, h)
	}
	answer, err := http.Post(url+"/readyz", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusNotFound {
		t.Errorf("POST: %s", answer.Status)
	}
}

// elsewhere is a listener that gives its clients an address of another machine.
type elsewhere struct{ net.Listener }

type elsewhereConn struct{ net.Conn }

func (l elsewhere) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return elsewhereConn{c}, err
}

func (elsewhereConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711}
}

func TestMetricsForOtherMachinesNeedAPassword(t *testing.T) {
	cfg := Config{
		Ready:   func() error { return nil },
		Metrics: up,
		Login: func(r *http.Request, name, password string, _ *sqlfuncs.SessionOptions) error {
			if r.RemoteAddr != "192.0.2.7:4711" || r.TLS != nil {
				t.Errorf("asked about %v, TLS %v", r.RemoteAddr, r.TLS)
			}
			if name == "monitor" && password == "secret" {
				return nil
			}
			return errors.New("no")
		},
	}
	far, near := listen(t), listen(t)
	serve(t, cfg, elsewhere{far}, connections)
	serve(t, cfg, near, connections)
	with := func(name, password string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(name, password) }
	}
	url := "http://" + far.Addr().String()
	if code, body, h := get(t, url+"/metrics"); code != 401 || strings.Contains(body, "up") || h.Get("WWW-Authenticate") == "" {
		t.Errorf("without a password: %d %q", code, body)
	}
	if code, _, _ := get(t, url+"/metrics", with("monitor", "wrong")); code != 401 {
		t.Errorf("with a wrong password: %d", code)
	}
	if code, _, _ := get(t, url+"/metrics", with("monitor", "secret")); code != 200 {
		t.Errorf("with the password: %d", code)
	}
	if code, _, _ := get(t, url+"/readyz"); code != 200 {
		t.Errorf("/readyz: %d", code)
	}
	if code, _, _ := get(t, "http://"+near.Addr().String()+"/metrics"); code != 200 {
		t.Errorf("on this machine: %d", code)
	}
}

// Connections that are idle, or send half a request, must not keep a probe out.
func TestProbesGetInBesideIdleConnections(t *testing.T) {
	const limit = 64
	l := listen(t)
	serve(t, Config{Ready: func() error { return nil }, Metrics: up}, l, limit)
	var held []net.Conn
	for i := range 2 * limit {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		request := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
		if i%2 == 0 {
			request = request[:len(request)/2]
		}
		if _, err := c.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 { // idle from now on
			if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
				t.Fatal(err)
			}
		}
		held = append(held, c)
	}
	probe := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Second}
	for range 10 {
		answer, err := probe.Get("http://" + l.Addr().String() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
			t.Errorf("/healthz: %s", answer.Status)
		}
	}
	open := 0
	for _, c := range held {
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	if open > limit {
		t.Errorf("%d connections are open, want at most %d", open, limit)
	}
}

// Programs that keep their connections do not close each other's. Above the limit, the
// connection that has been idle for the longest time is closed.
func TestClientsKeepTheirConnections(t *testing.T) {
	for limit, clients := range map[int]int{connections: 200, 3: 3} {
		l := listen(t)
		serve(t, Config{Ready: func() error { return nil }, Metrics: up}, l, limit)
		answered := func(c net.Conn) bool {
			if _, err := c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
				return false
			}
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			return err == nil && answer.Body.Close() == nil
		}
		dial := func() net.Conn {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		var all []net.Conn
		for range clients {
			all = append(all, dial())
			if !answered(all[len(all)-1]) {
				t.Fatalf("limit %d: no answer to connection %d", limit, len(all))
			}
		}
		for i, c := range all {
			if !answered(c) {
				t.Fatalf("limit %d: connection %d of %d was closed", limit, i+1, clients)
			}
		}
		if limit == 3 && (!answered(all[0]) || !answered(dial()) || !answered(all[0]) || answered(all[1])) {
			t.Error("the connection that was closed is not the one that was idle for the longest time")
		}
	}
}

// up answers /metrics.
var up = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte("up 1\n"))
})
