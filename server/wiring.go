package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	_ "time/tzdata" // time zones where the machine has none

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/counter"
	"nextid/generator/ring"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/etcd"
	"nextid/generator/store/memory"
	"nextid/generator/store/mysql"
	"nextid/generator/store/postgres"
	"nextid/generator/store/redis"
	"nextid/generator/store/shared"
	"nextid/generator/store/sqlite"
	"nextid/generator/store/zookeeper"
	"nextid/generator/ticket"
	"nextid/generator/uuid"
	"nextid/generator/worker"
	"nextid/sqlfuncs/ids"
)

// kinds are the generator kinds of this build: one line each. Those of
// numbers get text forms and scatter from package code. Those that keep what
// they reserve do it through the guard, if there is one.
func kinds(store generator.Store, guard *generator.Guard, pools *worker.Pools, c Config, log *slog.Logger) []generator.Kind {
	clock := generator.SystemClock{}
	keep := store
	if guard != nil {
		keep = guard
	}
	numbers := segment.Kind(keep, clock, owner())
	return slices.Concat(
		code.WrapAll(store,
			snowflake.Kind(pools, c.Layout),
			ring.Kind(pools),
			numbers,
			segment.AutoRandom(store, numbers),
			counter.Kind(store, clock, owner()),
			ticket.Kind(ticket.Config{
				Store: keep, Runtime: clock, Owner: owner(), Passwords: c.databasePasswords(), Logger: log,
			}),
		),
		[]generator.Kind{
			counter.Dated(store, clock, owner()),
			uuid.Kind(clock),
		},
		uuid.TextKinds(clock),
	)
}

// sharedStores are the kinds of shared stores of this build: one line each.
var sharedStores = []shared.Driver{
	postgres.Driver(),
	mysql.Driver(),
	redis.Driver(),
	etcd.Driver(),
	zookeeper.Driver(),
}

// BuiltKinds are the kinds for checking options; they cannot open anything.
func BuiltKinds(defaultLayout string) []generator.Kind {
	return kinds(nil, nil, nil, Config{Layout: defaultLayout}, nil)
}

// takeover is what import_generator does.
func (c *Config) takeover(
	ctx context.Context, name, system, dsn string, options json.RawMessage, agree func(ids.Position) error,
) (ids.Position, error) {
	r, err := ticket.TakeOver(ctx, ticket.TakeoverRequest{
		Name: name, System: system, DSN: dsn, Options: options,
		Agree: func(r ticket.Takeover) error { return agree(ids.Position(r)) },
	}, c.databasePasswords())
	return ids.Position(r), err
}

// databasePasswords reads the file of passwords when one is needed, so that it
// can be changed while the server runs.
func (c *Config) databasePasswords() ticket.Passwords {
	if c.DatabasePasswords == "" {
		return nil
	}
	return func() ([]byte, error) { return ReadPrivate("file of passwords", c.DatabasePasswords) }
}

// OpenStore opens the configured store.
func OpenStore(ctx context.Context, c Config, once Once, log *slog.Logger) (generator.Store, error) {
	if c.Store.Shared() {
		return openShared(ctx, c, log)
	}
	if c.Store.Scheme == StoreMemory {
		return memory.New(memory.Config{Exclusive: true, Seed: rand.Uint64()}), nil
	}
	embedded := sqlite.Config{Dir: c.Data, Owner: owner(), Adopt: once.Adopt, AcceptClock: once.Clock, ClockJump: c.ClockJump}
	if c.Store.Scheme == storeSQLite {
		embedded.Dir, embedded.File = filepath.Dir(c.Store.File), filepath.Base(c.Store.File)
	}
	return sqlite.Open(ctx, embedded)
}

// owner names this process in the store, for operators.
func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}
