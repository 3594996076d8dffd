package clienttest

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nextid/dbtest"
)

var (
	update = flag.Bool("update", false, "write the table of docs/clients.md")
	all    = os.Getenv("TEST_CLIENTS") == "all"
	named  = strings.Fields(os.Getenv("TEST_CLIENTS"))

	binary   string // nextid
	programs string // where the clients' compiled programs go
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(mainCode(m))
}

func mainCode(m *testing.M) int {
	dir, err := os.MkdirTemp("", "nextid-clienttest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary, programs = filepath.Join(dir, "nextid"), filepath.Join(dir, "programs")
	var cover []string
	if os.Getenv("GOCOVERDIR") != "" { // coverage by the clients, see make test-clients
		// The counters are written by main's package, which has to be counted, too.
		cover = []string{"-cover", "-covermode=set", "-coverpkg=nextid/sqlfuncs/...,nextid/cmd/nextid"}
	}
	if err := dbtest.Build(dir, append(cover, "nextid/cmd/nextid")...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if all {
		if err := installAll(); err != nil {
			fmt.Fprintln(os.Stderr, "install the clients:", err)
			return 1
		}
	}
	return m.Run()
}

// server is a nextid on ports of loopback. It can be started again on the same
// ports.
type server struct {
	t           *testing.T
	data        string
	port, mysql string // of PostgreSQL's and MySQL's protocol
	cmd         *exec.Cmd
}

// startServer starts nextid on a free port and returns the port.
func startServer(t *testing.T) string {
	t.Helper()
	return newServer(t).port
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, data: t.TempDir(), port: "0", mysql: "0"}
	s.start()
	t.Cleanup(s.stop)
	return s
}

// start starts the server. The ready line names its ports.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(binary, "serve", "--data", s.data, "--pg", "127.0.0.1:"+s.port, "--mysql", "127.0.0.1:"+s.mysql, "--http", "off")
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready := regexp.MustCompile(`nextid ready: PostgreSQL on 127\.0\.0\.1:(\d+), MySQL on 127\.0\.0\.1:(\d+)`)
	lines := bufio.NewScanner(stderr)
	var said strings.Builder
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
			s.port, s.mysql = m[1], m[2]
			return
		}
		said.WriteString(lines.Text() + "\n")
	}
	s.t.Fatalf("the server ended before it was ready:\n%s", &said)
}

func (s *server) stop() {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the server did not stop cleanly: %v", err)
	}
}

// wanted reports whether TEST_CLIENTS includes a client.
func wanted(c *client) bool {
	return all || slices.Contains(named, c.name) || len(named) == 0 && c.quick
}

// report holds the results of a client's checks.
type report struct {
	version    string
	core, meta int      // checks that passed
	failed     []string // the others, with the reason
	output     string
}

func TestClients(t *testing.T) {
	server := newServer(t)
	apps := map[string]func() string{
		"postgres": sync.OnceValue(func() string { return dbtest.QuickPostgres(t) }),
		"mariadb": sync.OnceValue(func() string {
			_, socket := dbtest.QuickMariaDB(t, "plugin-maturity=unknown") // the maturity of Debian's CONNECT
			return socket
		}),
	}
	var mu sync.Mutex
	reports := map[string]report{}
	t.Run("all", func(t *testing.T) {
		for _, c := range clients {
			if !wanted(&c) || c.module != "" {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.skipWithout(t)
				env := []string{"PORT=" + server.port}
				if c.mysql {
					env[0] = "PORT=" + server.mysql
				}
				if c.app != "" {
					env = append(env, "APP="+apps[c.app]())
				}
				r := runChecks(t, c.name, env...)
				if len(r.failed) > 0 || r.core == 0 {
					t.Fatalf("%d checks passed, failed:\n%s\n\noutput:\n%s",
						r.core+r.meta, strings.Join(r.failed, "\n"), r.output)
				}
				mu.Lock()
				defer mu.Unlock()
				reports[c.name] = r
			})
		}
	})
	if all && !t.Failed() {
		checkTable(t, reports)
	}
}

// runChecks runs the checks of one client and reads its verdicts.
func runChecks(t *testing.T, name string, env ...string) (r report) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "scripts/run", name)
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "USER=postgres", "PASSWORD=nextid", "DB=nextid",
		"CHECKS=core,meta", "BIN="+programs)
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r.output = string(out)
	for line := range strings.Lines(r.output) {
		line = strings.TrimSpace(line)
		verdict, rest, _ := strings.Cut(line, " "+name+" ")
		switch {
		case verdict == "version":
			r.version = rest
		case verdict == "ok" && strings.HasPrefix(rest, "meta "):
			r.meta++
		case verdict == "ok":
			r.core++
		case verdict == "FAIL":
			r.failed = append(r.failed, line)
		}
	}
	if err != nil && len(r.failed) == 0 {
		r.failed = append(r.failed, "exit status: "+err.Error())
	}
	return r
}
