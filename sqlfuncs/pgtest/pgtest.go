// Package pgtest starts a private PostgreSQL for tests that compare nextid
// with the real thing. Only tests import it.
package pgtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// installations is where Debian puts each major version's programs.
const installations = "/usr/lib/postgresql/*/bin"

// Bin returns the directory with the programs of the newest installed
// PostgreSQL (postgres, initdb, psql, pgbench). It skips the test when there
// is none.
func Bin(t testing.TB) string {
	t.Helper()
	dir, err := newest(installations)
	if err != nil {
		t.Skipf("needs the Debian package postgresql: %v", err)
	}
	return dir
}

// newest returns the directory of the highest version that has a server.
func newest(pattern string) (string, error) {
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "postgres"))
		return err != nil
	})
	if len(dirs) == 0 {
		return "", fmt.Errorf("no postgres in %s", pattern)
	}
	major := func(dir string) int {
		n, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err != nil {
			return 0
		}
		return n
	}
	return slices.MaxFunc(dirs, func(a, b string) int { return major(a) - major(b) }), nil
}

// Start runs a new PostgreSQL server with fsync off until the test ends and
// returns the URL of its database postgres, as a superuser without password,
// over loopback TCP. settings are extra server settings, "max_connections=200".
// The server also listens on a Unix socket, see SHOW unix_socket_directories.
// It skips the test when PostgreSQL is not installed.
func Start(t testing.TB, settings ...string) (dsn string) {
	t.Helper()
	s := &server{bin: Bin(t)}
	dsn, err := s.launch(settings)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return dsn
}

// shared is the server of a test program, once there is one.
var shared struct {
	mu     sync.Mutex
	server *server
	dsn    string
}

// Shared is like Start for tests that do not mind others on the same server:
// all calls in one test program return the same one, with max_connections
// 300. The program's TestMain must end with StopShared.
func Shared(t testing.TB) (dsn string) {
	t.Helper()
	bin := Bin(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil {
		s := &server{bin: bin}
		dsn, err := s.launch([]string{"max_connections=300"})
		if err != nil {
			t.Fatalf("pgtest: %v", err)
		}
		shared.server, shared.dsn = s, dsn
	}
	return shared.dsn
}

// StopShared stops the server of Shared, if a test has started it.
func StopShared() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil {
		return nil
	}
	defer func() { shared.server = nil }()
	return shared.server.remove()
}

// server is one PostgreSQL in a directory of its own.
type server struct {
	bin     string
	dir     string
	running bool
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// launch makes the cluster, starts the server and returns the URL of its
// database. After an error nothing is left of it.
func (s *server) launch(settings []string) (dsn string, err error) {
	if err := s.init(); err != nil {
		return "", err
	}
	port, err := s.start(settings)
	if err != nil {
		return "", errors.Join(err, s.remove())
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port), nil
}

// init makes the directory and the cluster in it.
func (s *server) init() error {
	// Not t.TempDir: its long path does not fit into a socket's address, and
	// its parent belongs to root.
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return err
	}
	s.dir = dir
	if os.Getuid() == 0 {
		if err := giveTo("postgres", dir); err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
	}
	err = s.run("initdb", "--pgdata="+s.data(), "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

// giveTo makes a user the owner of a directory.
func giveTo(name, dir string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// start starts the server on a free port. Another process may take the port
// before the server does, so it tries a few.
func (s *server) start(settings []string) (port int, err error) {
	for range 3 {
		if port, err = freePort(); err != nil {
			return 0, err
		}
		options := []string{
			"-c listen_addresses=127.0.0.1", "-p " + strconv.Itoa(port), "-k " + s.dir,
			"-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off",
			"-c timezone=UTC", "-c log_timezone=UTC",
		}
		for _, setting := range settings {
			options = append(options, "-c "+setting)
		}
		err = s.run("pg_ctl", "start", "-w", "-D", s.data(), "-l", filepath.Join(s.dir, "log"),
			"-o", strings.Join(options, " "))
		if err == nil {
			s.running = true
			return port, nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return 0, fmt.Errorf("%w\n%s", err, log)
}

// freePort returns a loopback TCP port that nobody listened on a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// remove stops the server and deletes its directory.
func (s *server) remove() error {
	var err error
	if s.running {
		err = s.run("pg_ctl", "stop", "-D", s.data(), "-m", "immediate")
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// run runs one of PostgreSQL's programs, as the user postgres when we are
// root: the server refuses to run as root.
func (s *server) run(program string, args ...string) error {
	args = append([]string{filepath.Join(s.bin, program)}, args...)
	if os.Getuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir // postgres cannot enter ours
	// A file, not a pipe: the server inherits it and would keep a pipe open.
	out, err := os.CreateTemp(s.dir, "out")
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s: %w: %s", program, err, text)
	}
	return nil
}
