package servertest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/store/shared"
	"nextid/server"
	"nextid/server/servertest"
	"nextid/server/standard"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// Both protocols draw from one server, which has a function of the test's own.
func TestStart(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, server.WithFunction(engine.Function{
		Name: "twice", Args: []engine.Argument{{Name: "n", Type: datum.Int8}}, Result: datum.Int8, Help: "n and n",
		Does: engine.Eval(func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return datum.MakeInt8(2 * a[0].Int), nil }),
	}))
	seen := map[int64]bool{}
	for driver, dsn := range map[string]string{"pgx": s.Postgres, "mysql": s.MySQL} {
		db, err := sql.Open(driver, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for range 100 {
			var id, n int64
			if err := db.QueryRowContext(t.Context(), "SELECT next_id('orders'), twice(21)").Scan(&id, &n); err != nil || n != 42 {
				t.Fatalf("%s: %d %v", driver, n, err)
			}
			if seen[id] {
				t.Errorf("%s: %d comes again", driver, id)
			}
			seen[id] = true
		}
	}
}

// Close ends a server and may be called again. A closed server does not run again.
func TestClose(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Run(context.Background()); err == nil {
		t.Error("a server runs twice")
	}
	if db, err := sql.Open("pgx", s.Postgres); err != nil || db.PingContext(t.Context()) == nil {
		t.Errorf("a server that was closed answers: %v", err)
	}
}

// Close may come while Run begins. The race detector sees whether it waits.
func TestCloseWhileRunBegins(t *testing.T) {
	t.Parallel()
	c := server.NewBuild(standard.Options()...).Config()
	c.Store, c.PG, c.MySQL, c.HTTP = server.StoreURL{Scheme: server.StoreMemory}, "127.0.0.1:0", "", ""
	for range 50 {
		s, err := server.New(c, server.WithOutput(nil))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- s.Run(t.Context()) }()
		if err := errors.Join(s.Close(), <-ended); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOptionsThatContradict(t *testing.T) {
	t.Parallel()
	c := server.DefaultConfig()
	c.AutoCreate = "nonesuch"
	if _, err := server.New(c); err == nil {
		t.Error("a server that creates generators of no kind")
	}
	kind := func(k generator.Kind) server.Option {
		return server.WithKind(func(server.Parts) generator.Kind { return k })
	}
	driver := func(schemes ...string) server.Option {
		d := directory
		d.Schemes = schemes
		return server.WithStore(d)
	}
	function := func(name string) engine.Function {
		return engine.Func(name+"() int8", engine.Stable, "", engine.Eval(nil))
	}
	mine := named{name: "mine"}
	for want, options := range map[string][]server.Option{
		"a kind is nil":                         {server.WithKind(nil, nil)},
		"WithKind: a kind is nil":               {kind(nil)},
		`"a b" cannot be the name`:              {kind(named{name: "a b"})},
		`"off" cannot be`:                       {kind(named{name: "off"})},
		`"snowflake" cannot be`:                 {kind(named{name: "snowflake"})},
		`"mine" cannot be`:                      {kind(mine), kind(mine)},
		"a layout comes from layout.New":        {server.WithLayout(nil, &layout.Layout{})},
		"a driver needs Open, Schema":           {server.WithStore(shared.Driver{Schemes: []string{"dir"}})},
		"that no other store has, not []":       {driver()},
		`other store has, not ["sqlite"]`:       {driver("sqlite")},
		`other store has, not ["a" "postgres"]`: {driver("a", "postgres")},
		"an option is nil":                      {nil},
		`"next_id" cannot be the name`:          {server.WithFunction(function("next_id"))},
		`"last_insert_id" cannot be`:            {server.WithFunction(function("mine"), function("last_insert_id"))},
		`"" cannot be`:                          {server.WithFunction(engine.Function{})},
		`the SQL function "mine" does`:          {server.WithFunction(engine.Function{Name: "mine"})},
	} {
		if _, err := server.New(server.DefaultConfig(), append(standard.Options(), options...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := server.New(server.DefaultConfig(), append(standard.Options(), kind(mine), driver("dir"), server.WithFunction(function("mine")))...); err != nil {
		t.Error(err)
	}
}

type named struct {
	generator.Kind
	name string
}

func (k named) Name() string                                     { return k.name }
func (named) Normalize(json.RawMessage) (json.RawMessage, error) { return nil, nil }

// directory has all that a driver needs.
var directory = shared.Driver{
	Open:   func(context.Context, string, []string) (shared.Engine, error) { return nil, errors.ErrUnsupported },
	Schema: func(string) (shared.Schema, error) { return nil, errors.ErrUnsupported },
}

// Nil as the output discards it.
func TestNoOutput(t *testing.T) {
	t.Parallel()
	servertest.Start(t, server.WithOutput(nil))
}
