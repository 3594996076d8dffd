package main

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/server"
)

// ask sends one HTTP request to the server.
func (s *process) ask(path string) (code int, body string) {
	s.t.Helper()
	code, body, err := askHTTP(s.t.Context(), "http://"+s.http+path)
	if err != nil {
		s.t.Fatal(err)
	}
	return code, body
}

func askHTTP(ctx context.Context, url string) (code int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(b), err
}

func TestStatusOverHTTP(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil, "--http", "127.0.0.1:0")
	conn := s.connect()
	for range 3 {
		draw(t, conn, "orders")
	}
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if code, body := s.ask(path); code != http.StatusOK || body != want {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	_, metrics := s.ask("/metrics")
	for _, line := range []string{
		"nextid_ready 1", `nextid_connections{protocol="pg"} 1`,
		"nextid_ids_total 3", `nextid_generator_ids_total{generator="orders",kind="snowflake"} 3`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics does not have %s:\n%s", line, metrics)
		}
	}
	if !regexp.MustCompile(`(?m)^nextid_worker_id\{bits="10",strict="false"\} \d+$`).MatchString(metrics) { // the first worker id of a new store is random
		t.Errorf("/metrics does not have the worker id:\n%s", metrics)
	}
}

// TestTwoServersOnOneMachine: a second server starts although the default address
// of HTTP is taken, since the user did not choose it.
func TestTwoServersOnOneMachine(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", server.DefaultConfig().HTTP.String())
	if err == nil {
		defer l.Close()
	} // else another program has the address
	s := startServer(t, []string{"NEXTID_HTTP=" + server.DefaultConfig().HTTP.String()}, "--http", server.DefaultConfig().HTTP.String())
	draw(t, s.connect(), "orders")
	if s.http != "" || !strings.Contains(strings.Join(s.lines, "\n"), "no health checks and metrics") {
		t.Errorf("HTTP on %q:\n%s", s.http, strings.Join(s.lines, "\n"))
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", other.Addr().String())
	if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "--http") {
		t.Errorf("another address that is taken: exit code %d\n%s", r.code, r.stderr)
	}
	r = runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "0.0.0.0:0")
	if r.code != exitFailed || !strings.Contains(r.stderr, "http: 0.0.0.0:0 can be reached from other machines") &&
		!strings.Contains(r.stderr, "--http: 0.0.0.0:0 can be reached") {
		t.Errorf("an exposed address: exit code %d\n%s", r.code, r.stderr)
	}
}

// refusedWhileStarting checks the errors that clients get while the server waits
// for its store.
func refusedWhileStarting(t *testing.T, postgres, my string) {
	t.Helper()
	for _, mode := range []string{"disable", "prefer", "require"} {
		_, err := pgx.Connect(t.Context(), "postgres://app@"+postgres+"/?sslmode="+mode)
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "57P03" || !strings.Contains(pg.Message, "waits for its store") {
			t.Errorf("PostgreSQL, sslmode=%s, before the store answers: %v", mode, err)
		}
	}
	db, err := sql.Open("mysql", "app@tcp("+my+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.PingContext(t.Context())
	if e, ok := errors.AsType[*mysql.MySQLError](err); !ok || e.Number != 1053 || !strings.Contains(e.Message, "waits for its store") {
		t.Errorf("MySQL, before the store answers: %v", err)
	}
}

// TestReadinessOfAStoreThatIsAway: the server is alive but not ready while it waits
// for its store at the start. In an outage later it issues reserved ids, becomes
// not ready before they end, and answers 57P03 afterwards. It recovers with the
// store.
func TestReadinessOfAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	place := dbtest.Redis(t)
	url := place.URL
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	place.Kill()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	const slice = 8 * time.Second
	postgres, my := dbtest.FreeAddr(t), dbtest.FreeAddr(t)
	cert, key := dbtest.Certificate(t, t.TempDir())
	s := spawn(t, serveCommand("--store", url, "--http", address, "--worker-slice", slice.String(), "--pg", postgres, "--mysql", my,
		"--tls-cert", cert, "--tls-key", key), nil)
	s.waitLine("waiting for the store")
	refusedWhileStarting(t, postgres, my)
	s.http = address
	if code, body := s.ask("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "starting") {
		t.Errorf("/readyz before the store answers: %d %q", code, body)
	}
	if code, _ := s.ask("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz before the store answers: %d", code)
	}
	place.Start()
	s.isReady(s.waitLine("nextid ready:"))

	conn := s.connect()
	draw(t, conn, "orders")
	if code, body := s.ask("/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d %q", code, body)
	}
	place.Kill()
	var pg *pgconn.PgError
	ready, unready, drawn := 0, 0, 0
	for end := time.Now().Add(patience); time.Now().Before(end); pause(t, 50*time.Millisecond) {
		code, body := s.ask("/readyz")
		_, err := drawOnce(t.Context(), conn, "orders")
		if err != nil {
			if !errors.As(err, &pg) || pg.Code != "57P03" {
				t.Fatalf("when the reservation ended: %v", err)
			}
			break
		}
		drawn++
		if code == http.StatusOK {
			ready++
		} else if unready++; !strings.Contains(body, `of generator "orders" lasts for`) {
			t.Errorf("/readyz: %d %q", code, body)
		}
	}
	if pg == nil || ready == 0 || unready < 5 {
		t.Errorf("%d ids without the store, ready for %d of them and not for %d; at the end %v", drawn, ready, unready, pg)
	}
	if code, _ := s.ask("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz without the store: %d", code)
	}
	if code, body := s.ask("/metrics"); code != http.StatusOK || !strings.Contains(body, "\nnextid_store_up 0\n") {
		t.Errorf("/metrics without the store: %d\n%s", code, body)
	}
	place.Start()
	for end := time.Now().Add(2 * patience); ; pause(t, 100*time.Millisecond) {
		if conn.IsClosed() { // 57P03 may end a connection
			conn = s.connect()
		}
		_, err := drawOnce(t.Context(), conn, "orders")
		code, body := s.ask("/readyz")
		if err == nil && code == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the store is back, but %v, %q", err, body)
		}
	}
	if s.signal(15); s.wait() != exitOK {
		t.Errorf("exit code %d", s.cmd.ProcessState.ExitCode())
	}
}

// lastingAddress returns an IPv4 address of this machine besides the loopback. It
// avoids 198.18.0.0/15 (RFC 2544), where other tests add and remove interfaces.
func lastingAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	_, passing, _ := net.ParseCIDR("198.18.0.0/15")
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && !passing.Contains(n.IP) {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no lasting address but the loopback")
	return ""
}

// TestStatusForOtherMachines: with TLS, and /metrics with a password.
func TestStatusForOtherMachines(t *testing.T) {
	t.Parallel()
	own := lastingAddress(t)
	data := t.TempDir()
	addUser(t, "secret", "monitor", "--data", data)
	cert, key := dbtest.NewAuthority(t).Server().Write(t, t.TempDir(), "server")
	s := startServer(t, nil, "--data", data, "--http", own+":0", "--tls-cert", cert, "--tls-key", key)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // the test does not check the name
	ask := func(path, password string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.http+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			r.SetBasicAuth("monitor", password)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for _, c := range []struct {
		path, password string
		want           int
	}{
		{"/readyz", "", 200}, {"/healthz", "", 200}, {"/metrics", "", 401}, {"/metrics", "wrong", 401}, {"/metrics", "secret", 200},
	} {
		if got := ask(c.path, c.password); got != c.want {
			t.Errorf("%s with password %q: %d, want %d", c.path, c.password, got, c.want)
		}
	}
	if _, _, err := askHTTP(t.Context(), "http://"+s.http+"/metrics"); err == nil {
		if code, body, _ := askHTTP(t.Context(), "http://"+s.http+"/metrics"); code == 200 {
			t.Errorf("without TLS: %s", body)
		}
	}
}
