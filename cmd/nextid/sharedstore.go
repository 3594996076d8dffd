package main

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"nextid/generator"
	"nextid/generator/store/etcd"
	"nextid/generator/store/mysql"
	"nextid/generator/store/postgres"
	"nextid/generator/store/redis"
	"nextid/generator/store/shared"
	"nextid/generator/store/zookeeper"
)

// StoreSettings are the settings of a shared store besides its URL.
type StoreSettings struct {
	Password string // for the URL, where that has none
	Failover string // a shared.Failover, or failoverAuto
	Skip     int64
	Unsafe   []string
}

// failoverAuto leaves the policy to the kind of store.
const failoverAuto = "auto"

// sharedStore is one kind of server that a store can be on.
type sharedStore struct {
	schemes []string // of its URLs
	example string   // of a URL, for messages
	open    func(ctx context.Context, url string, unsafe []string) (shared.Engine, error)
	schema  func(url string) (storeSchema, error)

	// failover is what --store-failover auto means.
	failover shared.Failover
}

// sharedStores are the shared stores of this build.
var sharedStores = []sharedStore{
	{
		schemes: []string{"postgres", "postgresql"}, failover: shared.Stop, example: "postgres://USER@HOST:5432/DATABASE",
		open: func(ctx context.Context, url string, unsafe []string) (shared.Engine, error) {
			return postgres.Open(ctx, postgres.Config{URL: url, Unsafe: unsafe})
		},
		schema: openSQLSchema("pgx", "store/postgres", func(url string) (string, error) { return url, nil }),
	},
	{
		schemes: []string{"mysql", "mariadb"}, failover: shared.Stop, example: "mysql://USER@HOST:3306/DATABASE",
		open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
			return mysql.Open(mysql.Config{URL: url, Unsafe: unsafe})
		},
		schema: openSQLSchema("mysql", "store/mysql", mysql.DSN),
	},
	{
		schemes: []string{"redis", "rediss"}, example: "redis://HOST:6379", failover: shared.Skip,
		open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
			return redis.Open(redis.Config{URL: url, Unsafe: unsafe})
		},
		schema: func(url string) (storeSchema, error) { return redis.OpenSchema(redis.Config{URL: url}) },
	},
	{
		schemes: []string{"etcd", "etcds"}, failover: shared.Stop, example: "etcd://HOST:2379,HOST:2379",
		open: func(_ context.Context, url string, _ []string) (shared.Engine, error) {
			return etcd.Open(etcd.Config{URL: url})
		},
		schema: func(url string) (storeSchema, error) { return etcd.OpenSchema(etcd.Config{URL: url}) },
	},
	{
		schemes: []string{"zookeeper"}, failover: shared.Stop, example: "zookeeper://HOST:2181,HOST:2181",
		open: func(_ context.Context, url string, _ []string) (shared.Engine, error) {
			return zookeeper.Open(zookeeper.Config{URL: url})
		},
		schema: func(url string) (storeSchema, error) { return zookeeper.OpenSchema(zookeeper.Config{URL: url}) },
	},
}

func sharedStoreOf(scheme string) *sharedStore {
	for i := range sharedStores {
		if slices.Contains(sharedStores[i].schemes, scheme) {
			return &sharedStores[i]
		}
	}
	return nil
}

// sharedSchemes lists the schemes, one a kind of server, as in a message.
func sharedSchemes() []string {
	var all []string
	for _, s := range sharedStores {
		all = append(all, s.schemes[0]+"://…")
	}
	return all
}

// witnessFile is in the data directory, see package shared.
const witnessFile = "nextid.witness"

func openShared(ctx context.Context, c Config, log *slog.Logger) (generator.Store, error) {
	kind := sharedStoreOf(c.Store.Scheme)
	failover := shared.Failover(c.SharedStore.Failover)
	if failover == failoverAuto {
		failover = kind.failover
	}
	engine, err := kind.open(ctx, c.Store.withPassword(c.SharedStore.Password), c.SharedStore.Unsafe)
	if err != nil {
		return nil, err
	}
	witness := ""
	if c.Data != "" {
		witness = filepath.Join(c.Data, witnessFile)
	}
	store, err := shared.New(ctx, engine, shared.Config{
		Owner: owner(), Failover: failover, Skip: c.SharedStore.Skip, Wait: shared.WaitFor(c.WorkerSlice),
		Witness: witness, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// awaitStore opens the configured store. One on a server that does not answer
// is tried again until it does: after a power failure everything starts at
// the same time. It ends with an error of another sort, or with ctx.
func awaitStore(ctx context.Context, c Config, adopt bool, log *slog.Logger) (generator.Store, error) {
	const most = 5 * time.Second
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, most) {
		store, err := openStore(ctx, c, adopt, log)
		if err == nil || !c.Store.Shared() || !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry) {
			return store, err
		}
		log.Warn("waiting for the store", "store", c.Store.String(), "error", err)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, err
		}
	}
}
