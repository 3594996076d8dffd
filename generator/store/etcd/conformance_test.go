package etcd_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"nextid/generator/store/dbtest"
	"nextid/generator/store/enginetest"
	"nextid/generator/store/etcd"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
)

var engine enginetest.Opener = func(_ context.Context, url string, _ []string) (shared.Engine, error) {
	return etcd.Open(etcd.Config{URL: url})
}

var places atomic.Int64

// place prepares an empty namespace and returns its URL.
func place(t testing.TB, members []*dbtest.Server) string {
	t.Helper()
	u := fmt.Sprintf("%s/n%d", dbtest.EtcdURL(members), places.Add(1))
	prepare(t, u)
	return u
}

func prepare(t testing.TB, u string) {
	t.Helper()
	schema, err := etcd.OpenSchema(etcd.Config{URL: u})
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
	s := dbtest.Etcd(t, 1)
	engine.Conformance(t, func(t *testing.T) string { return place(t, s) })
}

func BenchmarkReserve(b *testing.B) {
	storetest.Bench(b, engine.Start(b, place(b, dbtest.Etcd(b, 1)), shared.Config{}))
}
