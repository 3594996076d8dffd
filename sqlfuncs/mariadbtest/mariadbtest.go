// Package mariadbtest starts a private MariaDB for tests that compare nextid
// with the real thing or use it as a store. Only tests import it.
package mariadbtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// server is one MariaDB in a directory of its own.
type server struct {
	daemon  string
	install string
	dir     string
	socket  string
	cmd     *exec.Cmd
	exited  chan error
}

// startTimeout bounds how long a server may take until it answers, and
// stopTimeout how long it may take to end.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// Start runs a new MariaDB server until the test ends and returns its
// address, host:port on loopback, and its Unix socket. The account root has
// all rights, no password, and may come over both; the database test exists.
// settings are extra server options, "max-connections=200". It skips the test
// when MariaDB is not installed.
func Start(t testing.TB, settings ...string) (addr, socket string) {
	t.Helper()
	s := &server{}
	var err error
	if s.daemon, err = program("mariadbd", "mysqld"); err == nil {
		s.install, err = program("mariadb-install-db", "mysql_install_db")
	}
	if err != nil {
		t.Skipf("needs the Debian package mariadb-server: %v", err)
	}
	if err := s.init(); err != nil {
		t.Fatalf("mariadbtest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Errorf("mariadbtest: %v", err)
		}
	})
	port, err := s.start(settings)
	if err != nil {
		t.Fatalf("mariadbtest: %v", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), s.socket
}

// program finds the first of several names of a program; Debian keeps the
// server in /usr/sbin, which is not on everybody's path.
func program(names ...string) (string, error) {
	for _, name := range names {
		for _, candidate := range []string{name, "/usr/sbin/" + name} {
			if path, err := exec.LookPath(candidate); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("no %s", names[0])
}

// init makes the directory and the system tables in it.
func (s *server) init() error {
	// Not t.TempDir: its long path does not fit into a socket's address, and
	// its parent belongs to root.
	dir, err := os.MkdirTemp("", "mdb")
	if err != nil {
		return err
	}
	s.dir, s.socket = dir, filepath.Join(dir, "s")
	if os.Getuid() == 0 {
		if err := giveTo("mysql", dir); err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
	}
	// A directory for temporary tables of its own: each server that starts
	// deletes those that it finds.
	args := []string{
		"--no-defaults", "--datadir=" + s.data(), "--tmpdir=" + dir, "--auth-root-authentication-method=normal",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=8M",
		"--tmpdir=" + s.dir, // a server that starts deletes the temporary tables of others in /tmp
	}
	out, err := exec.Command(s.install, append(args, s.asUser()...)...).CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w: %s", s.install, err, out), os.RemoveAll(dir))
	}
	return nil
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// asUser is the option that makes the server give up root's rights.
func (s *server) asUser() []string {
	if os.Getuid() == 0 {
		return []string{"--user=mysql"}
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
		if err = s.tryStart(port, settings); err == nil {
			return port, nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return 0, fmt.Errorf("%w\n%s", err, log)
}

func (s *server) tryStart(port int, settings []string) error {
	args := []string{
		"--no-defaults", "--datadir=" + s.data(), "--socket=" + s.socket,
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port), "--pid-file=" + filepath.Join(s.dir, "pid"),
		"--log-error=" + filepath.Join(s.dir, "log"), "--tmpdir=" + s.dir,
		"--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0",
		"--innodb-doublewrite=0", "--sync-binlog=0", "--key-buffer-size=64K", "--performance-schema=OFF",
		"--default-time-zone=+00:00", "--character-set-server=utf8mb4",
	}
	args = append(args, s.asUser()...)
	for _, setting := range settings {
		args = append(args, "--"+setting)
	}
	s.cmd = exec.Command(s.daemon, args...)
	s.cmd.Dir = s.dir // the server's user cannot enter ours
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.exited = make(chan error, 1)
	go func() { s.exited <- s.cmd.Wait() }()
	deadline := time.After(startTimeout)
	for {
		if c, err := net.Dial("unix", s.socket); err == nil {
			return c.Close()
		}
		select {
		case err := <-s.exited:
			s.cmd = nil
			return fmt.Errorf("%s ended: %w", s.daemon, err)
		case <-deadline:
			return errors.Join(errors.New("the server does not answer"), s.stop())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends the server; nothing in it is worth a clean shutdown.
func (s *server) stop() error {
	if s.cmd == nil {
		return nil
	}
	defer func() { s.cmd = nil }()
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.exited: //nolint:errcheck // it was killed
		return nil
	case <-time.After(stopTimeout):
		return errors.New("the server does not end")
	}
}

// remove stops the server and deletes its directory.
func (s *server) remove() error {
	return errors.Join(s.stop(), os.RemoveAll(s.dir))
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
