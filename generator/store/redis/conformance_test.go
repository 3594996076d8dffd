package redis_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"nextid/generator/store/dbtest"
	"nextid/generator/store/enginetest"
	"nextid/generator/store/redis"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
)

var engine enginetest.Opener = func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
	return redis.Open(redis.Config{URL: url, Unsafe: unsafe})
}

var places atomic.Int64

// place prepares an empty namespace and returns its URL.
func place(t testing.TB, s *dbtest.Server) string {
	t.Helper()
	return empty(t, s.RedisURL())
}

// empty prepares an empty namespace of a database.
func empty(t testing.TB, url string) string {
	t.Helper()
	u := fmt.Sprintf("%s?namespace=n%d", url, places.Add(1))
	prepare(t, u)
	return u
}

func prepare(t testing.TB, u string) {
	t.Helper()
	schema, err := redis.OpenSchema(redis.Config{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	if err := schema.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	engine.Conformance(t, func(t *testing.T) string { return place(t, s) })
}

func BenchmarkReserve(b *testing.B) {
	storetest.Bench(b, engine.Start(b, place(b, dbtest.Redis(b)), shared.Config{}))
}
