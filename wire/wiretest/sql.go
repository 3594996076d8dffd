package wiretest

import (
	"context"
	"log/slog"
	"testing"

	"nextid/generator"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/ids"
)

// SQL makes the SQL layer on a memory store, with the generators numbers and letters
// of kind segment.
func SQL(t testing.TB) *sqlfuncs.Server {
	t.Helper()
	sql, registry := SQLWith(t, snowflake.KindName)
	for _, name := range []string{"numbers", "letters"} {
		if err := registry.Create(t.Context(), name, segment.KindName, []byte(`{"step": 1000000}`)); err != nil {
			t.Fatal(err)
		}
	}
	return sql
}

// SQLWith makes the SQL layer without generators. The first use of a name creates a
// generator of the kind autoCreate; "" refuses unknown names.
func SQLWith(t testing.TB, autoCreate string) (*sqlfuncs.Server, *generator.Registry) {
	t.Helper()
	store := memory.New(memory.Config{Exclusive: true})
	pools := worker.New(worker.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
	registry, err := generator.NewRegistry(generator.Config{
		Store: store, AutoCreate: autoCreate,
		Kinds: []generator.Kind{snowflake.Kind(pools, "twitter"), segment.Kind(store, generator.SystemClock{}, "test")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := registry.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := pools.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	sql, err := sqlfuncs.NewServer(sqlfuncs.Config{Registry: registry, Version: "test", IDs: ids.Config{
		Workers: pools, Nodes: func(context.Context) ([]generator.Node, error) { return nil, nil },
		Feeds: func() []generator.Feed { return nil }, Settings: func() []ids.Setting { return nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return sql, registry
}
