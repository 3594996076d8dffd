package dbtest

import (
	"fmt"
	"net/url"
	"slices"
	"syscall"
	"testing"
)

var (
	smallMariaDB = []string{
		"innodb-log-file-size=8M", "innodb-buffer-pool-size=16M", "performance-schema=off", "skip-name-resolve", "max-connections=60",
	}
	// quickMariaDB turns off durability, for data that is not needed after the test.
	quickMariaDB = []string{
		"innodb-flush-log-at-trx-commit=0", "innodb-doublewrite=0", "sync-binlog=0", "key-buffer-size=64K",
		"default-time-zone=+00:00", "character-set-server=utf8mb4", "max-connections=151", "skip-name-resolve=0",
	}
)

// MariaDB starts a small MariaDB with an empty database test. The defaults make it
// durable. settings are server settings, such as "innodb_flush_log_at_trx_commit=0".
func MariaDB(t testing.TB, settings ...string) *Server {
	t.Helper()
	return newMariaDB(t, slices.Concat(smallMariaDB, settings)...).Begin()
}

// QuickMariaDB starts a MariaDB without durability, and returns its address and its
// Unix socket. The account root has all rights and no password, and may use both.
func QuickMariaDB(t testing.TB, settings ...string) (addr, socket string) {
	t.Helper()
	s := MariaDB(t, slices.Concat(quickMariaDB, settings)...)
	return s.Addr, s.Socket()
}

// newMariaDB makes a MariaDB with new data and settings.
func newMariaDB(t testing.TB, settings ...string) *Server {
	t.Helper()
	install := Program(t, "mariadb-server", "mariadb-install-db")
	server := Program(t, "mariadb-server", "mariadbd", "/usr/sbin/mariadbd")
	s := newServer(t, named("MariaDB", server), "mysql", syscall.SIGTERM)
	s.fill(install, "--no-defaults", "--datadir="+s.data(), "--auth-root-authentication-method=normal", "--tmpdir="+s.Dir,
		"--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0")
	s.argv = func(s *Server) []string {
		argv := []string{
			server, "--no-defaults", "--datadir=" + s.data(), "--socket=" + s.Socket(), "--bind-address=127.0.0.1", "--port=" + s.port(),
			"--pid-file=" + s.file("pid"), "--tmpdir=" + s.Dir,
		}
		if s.CA != "" {
			argv = append(argv, "--ssl-cert="+s.CA, "--ssl-key="+s.file("tls.key"), "--require-secure-transport=ON")
		}
		for _, setting := range settings {
			argv = append(argv, "--"+setting)
		}
		return argv
	}
	s.ready = func(s *Server) error { return answers(s.Addr, "", "MariaDB") } // it greets once it serves
	s.urls = func(s *Server) {
		s.URL, s.SocketURL = s.MySQLURL("root", "test"), "mysql://root@/test?socket="+url.QueryEscape(s.Socket())
	}
	return s
}

// MariaDBTLS starts a MariaDB that requires TLS. Its root needs no password.
func MariaDBTLS(t testing.TB) *Server {
	t.Helper()
	s := newMariaDB(t, smallMariaDB...)
	s.certificate()
	return s.Begin()
}

// Socket returns the path of a MariaDB's Unix socket.
func (s *Server) Socket() string { return s.file("s") }

// MySQLURL returns the URL of a database for a user, whose password is Password if
// the server has TLS and the user is not root.
func (s *Server) MySQLURL(user, database string) string {
	if s.CA == "" {
		return fmt.Sprintf("mysql://%s@%s/%s", user, s.Addr, database)
	}
	if user != "root" {
		user = url.UserPassword(user, Password).String()
	}
	return fmt.Sprintf("mysql://%s@%s/%s?ca=%s", user, s.Addr, database, url.QueryEscape(s.CA))
}
