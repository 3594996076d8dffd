package dbtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Postgres starts a PostgreSQL with fsync and everything else that makes it
// durable. settings are server settings, such as "fsync=off".
func Postgres(t testing.TB, settings ...string) *Server {
	t.Helper()
	s := newPostgres(t)
	s.initdb()
	return s.with(settings...).begin()
}

func (s *Server) initdb() {
	s.t.Helper()
	if err := s.run(s.bin("initdb"), "--pgdata="+filepath.Join(s.Dir, "data"), "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync"); err != nil {
		s.t.Fatal(err)
	}
}

func newPostgres(t testing.TB) *Server {
	t.Helper()
	program(t, "postgresql", "/usr/lib/postgresql/*/bin/postgres")
	dir, cred := directory(t, "postgres")
	s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: "PostgreSQL", cred: cred, quit: syscall.SIGINT}
	s.ready = func() error {
		return exec.Command(s.bin("pg_isready"), "-q", "-h", "127.0.0.1", "-p", port(s.Addr)).Run()
	}
	return s
}

func (s *Server) bin(name string) string {
	return program(s.t, "postgresql", "/usr/lib/postgresql/*/bin/"+name)
}

func (s *Server) with(settings ...string) *Server {
	s.argv = func() []string {
		argv := []string{
			s.bin("postgres"), "-D", filepath.Join(s.Dir, "data"), "-h", "127.0.0.1", "-p", port(s.Addr), "-k", s.Dir,
			"-c", "shared_buffers=16MB", "-c", "max_wal_senders=4", "-c", "wal_level=replica", "-c", "max_connections=60",
		}
		for _, setting := range settings {
			argv = append(argv, "-c", setting)
		}
		return argv
	}
	return s
}

// PostgresStandby makes an asynchronous standby of a running PostgreSQL and
// starts it.
func PostgresStandby(t testing.TB, primary *Server) *Server {
	t.Helper()
	s := newPostgres(t)
	if err := s.run(s.bin("pg_basebackup"), "-D", filepath.Join(s.Dir, "data"), "-R", "-X", "stream", "-c", "fast", "--no-sync",
		"-d", primary.PostgresURL("postgres")); err != nil {
		t.Fatal(err)
	}
	return s.with().begin()
}

// Promote makes a standby the primary.
func (s *Server) Promote() {
	s.t.Helper()
	if err := s.run(s.bin("pg_ctl"), "promote", "-w", "-D", filepath.Join(s.Dir, "data")); err != nil {
		s.t.Fatal(err)
	}
}

// PostgresURL is the URL of a database on the server, for a user without
// password.
func (s *Server) PostgresURL(user string) string {
	return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", user, s.Addr)
}

// PostgresTool runs psql, pg_dump or pg_restore against the server.
func (s *Server) PostgresTool(name string, args ...string) {
	s.t.Helper()
	args = append([]string{s.bin(name), "-h", "127.0.0.1", "-p", port(s.Addr), "-U", "postgres"}, args...)
	if err := s.run(args...); err != nil {
		s.t.Fatal(err)
	}
}
