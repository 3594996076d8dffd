package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Rig starts servers for a program that is no test. They run until Close. A Rig
// replaces the testing.TB of a test. The zero Rig has no servers.
type Rig struct {
	testing.TB // nil: methods that are not implemented below panic
	mu         sync.Mutex
	ends       []func()
}

// failed is the value of the panic that ends a function called by Do.
type failed struct{ error }

// Do calls f with the rig as its test. If f calls Fatal, Fatalf or Skipf, it ends
// there, and Do returns their text as an error.
func (r *Rig) Do(f func(t testing.TB)) (err error) {
	defer func() {
		if end := recover(); end != nil {
			ended, ok := end.(failed)
			if !ok {
				panic(end)
			}
			err = ended.error
		}
	}()
	f(r)
	return nil
}

// Close stops all servers and removes their data.
func (r *Rig) Close() error {
	return r.Do(func(testing.TB) {
		r.mu.Lock()
		ends := r.ends
		r.ends = nil
		r.mu.Unlock()
		for _, end := range slices.Backward(ends) {
			end()
		}
	})
}

// Helper implements testing.TB.
func (*Rig) Helper() {}

// Failed implements testing.TB. The result suppresses the log of a server, which is
// in the error already.
func (*Rig) Failed() bool { return false }

// TempDir implements testing.TB.
func (r *Rig) TempDir() string {
	dir := newDir(r)
	r.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Cleanup implements testing.TB.
func (r *Rig) Cleanup(end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, end)
}

// Fatal implements testing.TB.
func (*Rig) Fatal(args ...any) {
	err, ok := args[0].(error)
	if !ok {
		err = errors.New(fmt.Sprint(args...))
	}
	panic(failed{err})
}

// Fatalf implements testing.TB.
func (*Rig) Fatalf(format string, args ...any) { panic(failed{fmt.Errorf(format, args...)}) }

// Skipf implements testing.TB.
func (*Rig) Skipf(format string, args ...any) { panic(failed{fmt.Errorf(format, args...)}) }

// Errorf implements testing.TB. It ignores the one error that is reported so: a
// server that did not end in time and was killed.
func (*Rig) Errorf(string, ...any) {}

// Kind starts a server of one kind for a benchmark.
type Kind func(t testing.TB) *Server

// The kinds of servers that benchmarks compare have the default settings, with which
// PostgreSQL and MariaDB are durable.
var (
	AsPostgres Kind = func(t testing.TB) *Server { return newPostgres(t, "max_connections=1200").Begin() }
	AsMariaDB  Kind = func(t testing.TB) *Server { return newMariaDB(t, "max-connections=1200").Begin() }
	AsRedis    Kind = func(t testing.TB) *Server { return newRedis(t).Begin() }
)

// Nextid describes a nextid server.
type Nextid struct {
	Binary  string
	Under   []string // command that runs the server; nil: it runs by itself
	Args    []string
	Env     []string
	Sockets bool // Unix sockets only: PGSocket, MySQLSocket and http in Dir; URL equals SocketURL
}

// Names of the Unix sockets of SQL of a Nextid.
const (
	PGSocket    = ".s.PGSQL.5433"
	MySQLSocket = "mysql"
)

// Start starts the server. It is a Kind.
func (n Nextid) Start(t testing.TB) *Server {
	version, _ := exec.Command(n.Binary, "version").Output() // a missing binary fails below
	_, number, _ := strings.Cut(strings.TrimSpace(string(version)), " ")
	s := newServer(t, "nextid "+number, "", syscall.SIGTERM)
	s.env = n.Env
	mysql, http := FreeAddr(t), FreeAddr(t)
	s.urls = func(s *Server) {
		s.URL, s.MySQL, s.HTTP = "postgres://bench@"+s.Addr+"/nextid?sslmode=disable", "mysql://bench@"+mysql+"/test", http
		if n.Sockets {
			s.URL = "postgres://bench@/nextid?sslmode=disable&host=" + url.QueryEscape(s.Dir) + "&port=" + strings.TrimPrefix(PGSocket, ".s.PGSQL.")
			s.SocketURL, s.MySQL, s.HTTP = s.URL, "mysql://bench@/test?socket="+url.QueryEscape(s.file(MySQLSocket)), s.file("http")
		}
	}
	s.argv = func(s *Server) []string {
		pg, my := s.Addr, mysql
		if n.Sockets {
			pg, my = s.file(PGSocket), s.file(MySQLSocket)
		}
		return slices.Concat(n.Under, []string{n.Binary, "serve", "--data", s.data(), "--pg", pg, "--mysql", my, "--http", s.HTTP}, n.Args)
	}
	s.ready = answersPostgres
	return s.Begin()
}

// answersPostgres returns an error unless a client can log in at s.URL.
func answersPostgres(s *Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
