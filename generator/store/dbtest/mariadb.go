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
	server := program(t, "mariadb-server", "mariadbd", "/usr/sbin/mariadbd")
	install := program(t, "mariadb-server", "mariadb-install-db")
	client := program(t, "mariadb-client", "mariadb-admin")
	dir, cred := directory(t, "mysql")
	s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: "MariaDB", cred: cred, quit: syscall.SIGTERM}
	data, socket := filepath.Join(dir, "data"), s.Socket()
	if err := s.run(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal",
		"--tmpdir="+dir, "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0"); err != nil {
		t.Fatal(err)
	}
	s.argv = func() []string {
		argv := []string{
			server, "--no-defaults", "--datadir=" + data, "--socket=" + socket, "--bind-address=127.0.0.1", "--port=" + port(s.Addr),
			"--pid-file=" + filepath.Join(dir, "pid"), "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=16M",
			"--performance-schema=off", "--tmpdir=" + dir, "--skip-name-resolve", "--max-connections=60",
		}
		for _, setting := range settings {
			argv = append(argv, "--"+setting)
		}
		return argv
	}
	s.ready = func() error { return s.run(client, "--no-defaults", "--socket="+socket, "-uroot", "ping") }
	return s.begin()
}

// Socket is the Unix socket of a MariaDB.
func (s *Server) Socket() string { return filepath.Join(s.Dir, "s") }

// MySQLURL is the URL of a database on the server, for a user without
// password.
func (s *Server) MySQLURL(user, database string) string {
	return fmt.Sprintf("mysql://%s@%s/%s", user, s.Addr, database)
}
