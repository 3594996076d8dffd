package dbtest

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	smallPostgres = []string{"shared_buffers=16MB", "max_wal_senders=4", "max_connections=60"}
	// quickPostgres turns off durability, for data that is not needed after the
	// test.
	quickPostgres = []string{
		"fsync=off", "synchronous_commit=off", "full_page_writes=off", "timezone=UTC", "log_timezone=UTC", "max_connections=100",
	}
)

// Postgres starts a small PostgreSQL with fsync and the other defaults that make it
// durable. settings are server settings, such as "fsync=off".
func Postgres(t testing.TB, settings ...string) *Server {
	t.Helper()
	return newPostgres(t, slices.Concat(smallPostgres, settings)...).Begin()
}

// QuickPostgres starts a PostgreSQL without durability. Tests compare nextid with
// it, or use it as an application's database. QuickPostgres returns the URL of the
// database postgres for a superuser without password.
func QuickPostgres(t testing.TB, settings ...string) (dsn string) {
	t.Helper()
	return Postgres(t, slices.Concat(quickPostgres, settings)...).URL
}

// SharedPostgres returns the URL of a server as QuickPostgres does. All calls in one
// test program share the server, whose max_connections is 300. The program's
// TestMain must end with StopShared.
func SharedPostgres(t testing.TB) (dsn string) {
	t.Helper()
	postgresProgram(t) // skips the test if the program is missing
	common.Lock()
	defer common.Unlock()
	if common.dsn == "" {
		must(t, common.rig.Do(func(rig testing.TB) { common.dsn = QuickPostgres(rig, "max_connections=300") }))
	}
	return common.dsn
}

// StopShared stops the server of SharedPostgres, if a test has started it.
func StopShared() {
	common.Lock()
	defer common.Unlock()
	common.dsn = ""
	_ = common.rig.Close() // the tests have ended: an error has no reader
}

// common holds the server of SharedPostgres.
var common struct {
	sync.Mutex
	dsn string // "" while there is none
	rig Rig
}

// newPostgres makes a PostgreSQL with new data and settings.
func newPostgres(t testing.TB, settings ...string) *Server {
	t.Helper()
	server := postgresProgram(t)
	s := newServer(t, named("PostgreSQL", server), "postgres", syscall.SIGINT)
	s.frees = true
	s.fill(PostgresProgram(t, "initdb"), "--pgdata="+s.data(), "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	s.argv = func(s *Server) []string {
		argv := []string{server, "-D", s.data(), "-h", "127.0.0.1", "-p", s.port(), "-k", s.Dir}
		all := settings
		if s.CA != "" {
			all = append(slices.Clone(all), "ssl=on", "password_encryption=scram-sha-256", "ssl_cert_file="+s.CA, "ssl_key_file="+s.file("tls.key"), "hba_file="+s.file("hba"))
		}
		for _, setting := range all {
			argv = append(argv, "-c", setting)
		}
		return argv
	}
	s.ready = func(s *Server) error {
		err := answersPostgres(s)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code != "57P03" {
			return nil // it refuses this login: it neither starts up nor shuts down (57P03, cannot_connect_now)
		}
		return err
	}
	s.urls = func(s *Server) {
		s.URL = s.PostgresURL("postgres")
		s.SocketURL = "postgres://postgres@/postgres?sslmode=disable&host=" + url.QueryEscape(s.Dir) + "&port=" + s.port()
	}
	return s
}

// postgresProgram returns the path of Debian's server program, or that of
// $DBTEST_POSTGRES (make test-versions).
func postgresProgram(t testing.TB) string {
	t.Helper()
	return Program(t, "postgresql", cmp.Or(os.Getenv("DBTEST_POSTGRES"), "/usr/lib/postgresql/*/bin/postgres"))
}

// PostgresProgram returns the path of a program that comes with the server, such
// as pg_dump. Without the program the test is skipped.
func PostgresProgram(t testing.TB, name string) string {
	t.Helper()
	return Program(t, "postgresql", filepath.Join(filepath.Dir(postgresProgram(t)), name))
}

// PostgresStandby starts an asynchronous standby of a running PostgreSQL. The
// primary is frozen while its data is copied.
func (s *Server) PostgresStandby() *Server {
	s.t.Helper()
	s.Freeze()
	c := s.Copy()
	s.Thaw()
	must(s.t, os.Remove(c.file("data/postmaster.pid")))
	c.own(c.Write("data/postgresql.auto.conf", "primary_conninfo = '"+s.URL+"'\n"))
	c.own(c.Write("data/standby.signal", ""))
	return c.Begin()
}

// Promote makes a standby the primary.
func (s *Server) Promote() {
	s.t.Helper()
	must(s.t, s.run(PostgresProgram(s.t, "pg_ctl"), "promote", "-w", "-D", s.data()))
}

// PostgresTLS starts a PostgreSQL that requires TLS, and a password from all users
// but postgres.
func PostgresTLS(t testing.TB) *Server {
	t.Helper()
	s := newPostgres(t, smallPostgres...)
	s.certificate()
	s.Write("hba", "hostssl all postgres all trust\nhostssl all all all scram-sha-256\n")
	return s.Begin()
}

// PostgresURL returns the URL of the database postgres for a user, whose password is
// Password if the server has TLS.
func (s *Server) PostgresURL(user string) string {
	if s.CA == "" {
		return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", user, s.Addr)
	}
	return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=verify-full&sslrootcert=%s", url.UserPassword(user, Password), s.Addr, url.QueryEscape(s.CA))
}

// PgBouncer configures a PgBouncer with one database, "pool". It has two connections
// to the server, and clients need no password.
type PgBouncer struct {
	Mode     string   // session, transaction or statement
	Server   string   // HOST:PORT of the server
	Database string   // database on the server
	User     string   // user on the server, for all clients
	Connect  string   // first statement of each new connection to the server
	Settings []string // further lines, such as "server_check_delay = 0"
}

// Start runs the PgBouncer until the test ends, and returns its address.
func (p PgBouncer) Start(t testing.TB) (address string) {
	t.Helper()
	pgbouncer := Program(t, "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer")
	host, behind, _ := strings.Cut(p.Server, ":")
	connect := ""
	if p.Connect != "" {
		connect = " connect_query='" + strings.ReplaceAll(p.Connect, "'", "''") + "'"
	}
	return Run(t, "PgBouncer", "postgres", syscall.SIGQUIT, func(s *Server) []string { // PgBouncer refuses to run as root
		return []string{pgbouncer, s.Write("pgbouncer.ini", fmt.Sprintf(`[databases]
pool = host=%s port=%s dbname=%s user=%s%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 2
server_login_retry = 0
%s
`, host, behind, p.Database, p.User, connect, s.port(), p.Mode, strings.Join(p.Settings, "\n")))}
	}).Addr
}
