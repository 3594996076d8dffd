package zookeeper_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"nextid/generator"
	"nextid/generator/store/dbtest"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
	"nextid/generator/store/zookeeper"
)

var places atomic.Int64

// place prepares an empty namespace and returns its URL.
func place(t testing.TB, members []*dbtest.Server) string {
	t.Helper()
	u := fmt.Sprintf("%s/n%d", dbtest.ZooKeeperURL(members), places.Add(1))
	prepare(t, u)
	return u
}

func prepare(t testing.TB, u string) {
	t.Helper()
	schema, err := zookeeper.OpenSchema(zookeeper.Config{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	if err := schema.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func start(t testing.TB, u string, cfg shared.Config) *shared.Store {
	t.Helper()
	s, err := try(t.Context(), u, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func try(ctx context.Context, u string, cfg shared.Config) (*shared.Store, error) {
	e, err := zookeeper.Open(zookeeper.Config{URL: u})
	if err != nil {
		return nil, err
	}
	return shared.New(ctx, e, cfg)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := dbtest.ZooKeeper(t, 1)
	where := map[generator.Store]string{}
	storetest.Run(t, func(t *testing.T) generator.Store {
		u := place(t, s)
		store := start(t, u, shared.Config{})
		where[store] = u
		return store
	}, storetest.Caps{Reopen: func(t *testing.T, old generator.Store) generator.Store {
		u := where[old]
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		store := start(t, u, shared.Config{})
		where[store] = u
		return store
	}})
}

func BenchmarkReserve(b *testing.B) {
	storetest.Bench(b, start(b, place(b, dbtest.ZooKeeper(b, 1)), shared.Config{}))
}
