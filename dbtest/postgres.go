package dbtest

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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
	return newPostgres(t).initdb().with(slices.Concat(smallPostgres, settings)...).Begin()
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
	common.Lock()
	defer common.Unlock()
	if common.rig == nil {
		rig := NewRig()
		err := rig.Do(func(inner testing.TB) { common.dsn = QuickPostgres(inner, "max_connections=300") })
		if err != nil {
			_ = rig.Close()
			postgresProgram(t) // skips the test if the program is missing
			t.Fatal(err)
		}
		common.rig = rig
	}
	return common.dsn
}

// StopShared stops the server of SharedPostgres, if a test has started it.
func StopShared() {
	common.Lock()
	defer common.Unlock()
	if common.rig != nil {
		_ = common.rig.Close() // the tests have ended: an error has no reader
	}
	common.rig = nil
}

// common holds the server of SharedPostgres.
var common struct {
	sync.Mutex
	dsn string
	rig *Rig // nil before the first call
}

// newPostgres makes a PostgreSQL without data; initdb makes the data, and with sets
// the command.
func newPostgres(t testing.TB) *Server {
	t.Helper()
	server := postgresProgram(t)
	s := newServer(t, named("PostgreSQL", server, "--version"), "postgres", syscall.SIGINT)
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

func (s *Server) initdb() *Server {
	s.t.Helper()
	s.fill(PostgresProgram(s.t, "initdb"), "--pgdata="+s.data(), "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	return s
}

// postgresProgram returns the path of Debian's server program, or that of
// $DBTEST_POSTGRES (make test-versions).
func postgresProgram(t testing.TB) string {
	t.Helper()
	return program(t, "postgresql", cmp.Or(os.Getenv("DBTEST_POSTGRES"), "/usr/lib/postgresql/*/bin/postgres"))
}

// PostgresProgram returns the path of a program that comes with the server, such
// as pg_dump. Without the program the test is skipped.
func PostgresProgram(t testing.TB, name string) string {
	t.Helper()
	return program(t, "postgresql", filepath.Join(filepath.Dir(postgresProgram(t)), name))
}

// with sets the command of a PostgreSQL with settings.
func (s *Server) with(settings ...string) *Server {
	s.argv = func(s *Server) []string {
		argv := []string{PostgresProgram(s.t, "postgres"), "-D", s.data(), "-h", "127.0.0.1", "-p", s.port(), "-k", s.Dir}
		for _, setting := range settings {
			argv = append(argv, "-c", setting)
		}
		return argv
	}
	return s
}

// PostgresStandby starts an asynchronous standby of a running PostgreSQL. The
// primary is frozen while its data is copied.
func (s *Server) PostgresStandby() *Server {
	s.t.Helper()
	s.Freeze()
	c := s.Copy()
	s.Thaw()
	if err := os.Remove(c.file("data/postmaster.pid")); err != nil {
		s.t.Fatal(err)
	}
	c.own(c.write("data/postgresql.auto.conf", "primary_conninfo = '"+s.URL+"'\n"))
	return c.standby()
}

// LateStandby starts a standby on a copy of the data of a PostgreSQL that has ended.
// The standby receives no changes after that.
func (s *Server) LateStandby() *Server {
	s.t.Helper()
	return s.Copy().standby()
}

// standby starts a copy as a standby.
func (s *Server) standby() *Server {
	s.t.Helper()
	s.own(s.write("data/standby.signal", ""))
	return s.Begin()
}

// Promote makes a standby the primary.
func (s *Server) Promote() {
	s.t.Helper()
	if err := s.run(PostgresProgram(s.t, "pg_ctl"), "promote", "-w", "-D", s.data()); err != nil {
		s.t.Fatal(err)
	}
}

// PostgresURL returns the URL of the database postgres for a user without password.
func (s *Server) PostgresURL(user string) string {
	return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", user, s.Addr)
}

// PostgresTool runs pg_dump or pg_restore against the server.
func (s *Server) PostgresTool(name string, args ...string) {
	s.t.Helper()
	args = append([]string{PostgresProgram(s.t, name), "-h", "127.0.0.1", "-p", s.port(), "-U", "postgres"}, args...)
	if err := s.run(args...); err != nil {
		s.t.Fatal(err)
	}
}
