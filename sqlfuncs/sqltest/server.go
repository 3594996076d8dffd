// Package sqltest runs sessions in tests of the packages under sqlfuncs. A Server
// has the real kinds of generators and a store in memory. A Session calls package
// sqlfuncs as the protocols do. RunPostgreSQLFiles and RunMySQLFiles run the
// statements in testdata/*.slt; the functions Compare… send them to a real PostgreSQL
// or MariaDB.
//
// A Server keeps the ids that tests note (NoteID, ID). At the end of the test it
// checks that none was issued twice.
package sqltest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/counter"
	"nextid/generator/history"
	"nextid/generator/ring"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/uuid"
	"nextid/generator/worker"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/syntax"
)

// Server is an SQL server with the real kinds of generators and a store in memory.
type Server struct {
	*sqlfuncs.Server
	Registry *generator.Registry
	Drawn    history.Log // ids that the test noted
	sessions int         // number of sessions so far
}

// Config holds the options of a Server.
type Config struct {
	Limits       sqlfuncs.Limits
	Memory       account.Limits
	IDs          ids.Config
	NoAutoCreate bool
	Audited      func(name string) bool
	Store        generator.Store // nil: one of this server alone
}

// NewServer starts a server, which is closed at the end of the test.
func NewServer(t testing.TB, configs ...Config) *Server {
	t.Helper()
	var cfg Config
	for _, c := range configs {
		cfg = c
	}
	store := cfg.Store
	if store == nil {
		store = memory.New(memory.Config{Exclusive: true})
	}
	pools := worker.New(worker.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
	autoCreate := snowflake.KindName
	if cfg.NoAutoCreate {
		autoCreate = ""
	}
	registry, err := generator.NewRegistry(generator.Config{
		Store: store, AutoCreate: autoCreate, Audited: cfg.Audited,
		Kinds: slices.Concat(
			code.WrapAll(store, snowflake.Kind(pools, "twitter"), ring.Kind(pools), segment.Kind(store, generator.SystemClock{}, "test"),
				counter.Kind(store, generator.SystemClock{}, "test")),
			[]generator.Kind{counter.Dated(store, generator.SystemClock{}, "test")}, uuid.Kinds(generator.SystemClock{}),
		),
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg.IDs.Workers = pools
	cfg.IDs.Nodes = func(context.Context) ([]generator.Node, error) { return nil, nil }
	cfg.IDs.Feeds = func() []generator.Feed { return nil }
	cfg.IDs.Settings = func() []ids.Setting { return nil }
	sql, err := sqlfuncs.NewServer(sqlfuncs.Config{Registry: registry, Version: "test", Limits: cfg.Limits, Memory: cfg.Memory, IDs: cfg.IDs})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Server: sql, Registry: registry}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(registry.Close(ctx), pools.Close(ctx), store.Close()); err != nil {
			t.Error(err)
		}
		if err := s.Drawn.Check(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Segment creates a generator that counts 1, 2, 3, …
func (s *Server) Segment(t testing.TB, name string) {
	t.Helper()
	if err := s.Registry.Create(t.Context(), name, segment.KindName, nil); err != nil {
		t.Fatal(err)
	}
}

// Session starts a session of an administrator.
func (s *Server) Session(t testing.TB) *Session {
	t.Helper()
	return s.SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Database: "db", Admin: true})
}

// SessionWith starts a session with options.
func (s *Server) SessionWith(t testing.TB, o sqlfuncs.SessionOptions) *Session {
	t.Helper()
	session, err := s.NewSession(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	s.sessions++
	return &Session{Session: session, Server: s, client: s.sessions}
}

// MySQLSession starts a session in the MySQL dialect.
func (s *Server) MySQLSession(t testing.TB) *Session {
	session := s.SessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, User: "root", Database: "test", PID: 7, Admin: true, RemoteAddr: "127.0.0.1:4711"})
	session.form = mysqlForm
	return session
}
