package generator_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// calls is a Store that writes down what is asked of it.
type calls struct {
	generator.Store
	said []string
}

func (c *calls) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	c.said = append(c.said, "Define")
	return c.Store.Define(ctx, d)
}

func (c *calls) Defined(ctx context.Context, name string) (generator.Definition, error) {
	c.said = append(c.said, "Defined")
	return c.Store.Defined(ctx, name)
}

func (c *calls) Count(ctx context.Context) (int, error) {
	c.said = append(c.said, "Count")
	return c.Store.Count(ctx)
}

func (c *calls) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	c.said = append(c.said, "ListDefined")
	return c.Store.ListDefined(ctx)
}

func (c *calls) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	c.said = append(c.said, "Mark "+key)
	return c.Store.Mark(ctx, key)
}

func (c *calls) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	c.said = append(c.said, "Reserved "+prefix)
	return c.Store.Reserved(ctx, prefix)
}

func (c *calls) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	c.said = append(c.said, "Reserve "+r.Key)
	return c.Store.Reserve(ctx, r)
}

// TestFirstIDsAskLittle: what the store is asked for the first id of a new name.
// A server counts the names and claims a worker id once. On a store of its own it
// reads the templates once, and Define looks for the name. On others the second
// Defined reads the templates.
func TestFirstIDsAskLittle(t *testing.T) {
	for _, c := range []struct {
		kind          string
		shared        bool
		first, second string
	}{
		{segment.KindName, false, "Defined, Count, Define, Reserve name/first", "Define, Reserve name/second"},
		{segment.KindName, true, "Defined, Defined, Count, Define, Reserve name/first, Defined", "Defined, Defined, Define, Reserve name/second, Defined"},
		{
			snowflake.KindName, false,
			"Defined, Count, Define, Mark name/first, Reserved worker/10/, Reserve worker/10/0", "Define, Mark name/second",
		},
		{
			snowflake.KindName, true,
			"Defined, Defined, Count, Define, Mark name/first, Reserved worker/10/, Reserve worker/10/0, Mark changes, Defined", "Defined, Defined, Define, Mark name/second",
		},
	} {
		asked := &calls{Store: memory.New(memory.Config{Exclusive: !c.shared})}
		var store generator.Store = asked
		var guard *generator.Guard
		if c.shared {
			guard = generator.NewGuard(asked)
			store = guard
		}
		pools := worker.New(worker.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
		registry, err := generator.NewRegistry(generator.Config{
			Store: asked, AutoCreate: c.kind, Guard: guard,
			Kinds: code.WrapAll(store, snowflake.Kind(pools, "twitter"), segment.Kind(store, generator.SystemClock{}, "test")),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []struct{ name, want string }{{"first", c.first}, {"second", c.second}} {
			asked.said = nil
			e, err := registry.Get(t.Context(), n.name)
			if err == nil {
				_, err = e.Next(t.Context(), 1)
			}
			if got := strings.Join(asked.said, ", "); err != nil || got != n.want {
				t.Errorf("%s, shared %v: %s, %v, want %s", c.kind, c.shared, got, err, n.want)
			}
		}
		if err := errors.Join(registry.Close(context.Background()), pools.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}
}
