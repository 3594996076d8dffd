package etcd_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/etcd"
	"nextid/generator/store/shared"
)

var engine dbtest.Opener = etcd.Driver().Open

var places atomic.Int64

// place prepares an empty namespace and returns its URL.
func place(t testing.TB, members []*dbtest.Server) string {
	t.Helper()
	u := fmt.Sprintf("%s/n%d", dbtest.ClusterURL("etcd", members), places.Add(1))
	prepare(t, u)
	return u
}

func prepare(t testing.TB, u string) {
	t.Helper()
	schema, err := etcd.Driver().Schema(u)
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

// TestConformanceWithLoginAndTLS turns authentication on, with a role for the keys
// of the store alone.
func TestConformanceWithLoginAndTLS(t *testing.T) {
	t.Parallel()
	s := dbtest.EtcdTLS(t)
	var n atomic.Int64
	engine.Conformance(t, func(t *testing.T) string {
		u := fmt.Sprintf("%s/n%d?ca=%s", s.EtcdURL("nextid", "pass word"), n.Add(1), s.CA)
		prepare(t, u)
		return u
	})
	wrong := fmt.Sprintf("%s/n1?ca=%s", s.EtcdURL("nextid", "wrong"), s.CA)
	_, err := engine.Try(t.Context(), wrong, shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "authentication failed")
}

// TestLoginIsTurnedOnAndOff changes authentication while servers run.
func TestLoginIsTurnedOnAndOff(t *testing.T) {
	t.Parallel()
	s := dbtest.EtcdTLS(t)
	s.EtcdAuth("disable")
	u := fmt.Sprintf("%s/x?ca=%s", s.EtcdURL("root", "root"), s.CA)
	prepare(t, u)
	store := engine.Start(t, u, shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(1), 1)
	s.EtcdAuth("enable")
	dbtest.Grant(t, store, dbtest.Order(1), 2)
	s.EtcdAuth("disable")
	dbtest.Grant(t, store, dbtest.Order(1), 3)
}

func TestARenewalCostsTheSameWithManyNames(t *testing.T) {
	t.Parallel()
	s := dbtest.Etcd(t, 1)
	engine.Renewal(t, place(t, s), s[0].Addr, true)
}

func BenchmarkReserve(b *testing.B) {
	generatortest.BenchStore(b, engine.Start(b, place(b, dbtest.Etcd(b, 1)), shared.Config{}))
}
