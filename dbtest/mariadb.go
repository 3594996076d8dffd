package dbtest

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// MariaDB starts a MariaDB with the settings that make it durable, and an
// empty database test. settings are server settings, such as
// "innodb_flush_log_at_trx_commit=0".
func MariaDB(t testing.TB, settings ...string) *Server {
	t.Helper()
	return newMariaDB(t).withSettings(settings...).begin()
}

func newMariaDB(t testing.TB) *Server {
	t.Helper()
	install := program(t, "mariadb-server", "mariadb-install-db")
	client := program(t, "mariadb-client", "mariadb-admin")
	dir, cred := directory(t, "mysql")
	s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: "MariaDB", cred: cred, quit: syscall.SIGTERM}
	if err := s.run(install, "--no-defaults", "--datadir="+filepath.Join(dir, "data"), "--auth-root-authentication-method=normal",
		"--tmpdir="+dir, "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0"); err != nil {
		t.Fatal(err)
	}
	s.ready = func() error { return s.run(client, "--no-defaults", "--socket="+s.Socket(), "-uroot", "ping") }
	return s
}

func (s *Server) withSettings(settings ...string) *Server {
	server := program(s.t, "mariadb-server", "mariadbd", "/usr/sbin/mariadbd")
	s.argv = func() []string {
		argv := []string{
			server, "--no-defaults", "--datadir=" + filepath.Join(s.Dir, "data"), "--socket=" + s.Socket(), "--bind-address=127.0.0.1", "--port=" + port(s.Addr),
			"--pid-file=" + filepath.Join(s.Dir, "pid"), "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=16M",
			"--performance-schema=off", "--tmpdir=" + s.Dir, "--skip-name-resolve", "--max-connections=60",
		}
		for _, setting := range settings {
			argv = append(argv, "--"+setting)
		}
		return argv
	}
	return s
}

// Socket is the Unix socket of a MariaDB.
func (s *Server) Socket() string { return filepath.Join(s.Dir, "s") }

// MySQLURL is the URL of a database on the server, for a user without
// password.
func (s *Server) MySQLURL(user, database string) string {
	return fmt.Sprintf("mysql://%s@%s/%s", user, s.Addr, database)
}
