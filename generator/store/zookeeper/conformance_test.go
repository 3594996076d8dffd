package zookeeper_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/shared"
	"nextid/generator/store/zookeeper"
)

var engine dbtest.Opener = zookeeper.Driver().Open

var places atomic.Int64

// place prepares an empty namespace and returns its URL.
func place(t testing.TB, members []*dbtest.Server) string {
	t.Helper()
	u := fmt.Sprintf("%s/n%d", dbtest.ClusterURL("zookeeper", members), places.Add(1))
	prepare(t, u)
	return u
}

func prepare(t testing.TB, u string) {
	t.Helper()
	schema, err := zookeeper.Driver().Schema(u)
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
	s := dbtest.ZooKeeper(t, 1)
	engine.Conformance(t, func(t *testing.T) string { return place(t, s) })
}

func TestConformanceWithLoginAndTLS(t *testing.T) {
	t.Parallel()
	dir, addr := t.TempDir(), dbtest.FreeAddr(t) // beside the port without TLS
	cert, _ := dbtest.Certificate(t, dir)
	dbtest.ZooKeeper(t, 1, "secureClientPort="+strings.TrimPrefix(addr, "127.0.0.1:"), "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.keyStore.location="+filepath.Join(dir, "tls.pem"), "ssl.keyStore.type=PEM", "ssl.trustStore.location="+cert, "ssl.trustStore.type=PEM", "ssl.clientAuth=none")
	var u string
	engine.Conformance(t, func(t *testing.T) string {
		u = fmt.Sprintf("zookeepers://%s@%s/n%d?ca=%s", url.UserPassword("nextid", dbtest.Password), addr, places.Add(1), url.QueryEscape(cert))
		prepare(t, u)
		return u
	})
	_, err := engine.Try(t.Context(), strings.Replace(u, "pass", "word", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "refuses access")
}

func TestARenewalCostsTheSameWithManyNames(t *testing.T) {
	t.Parallel()
	s := dbtest.ZooKeeper(t, 1)
	engine.Renewal(t, place(t, s), s[0].Addr, false) // listing reads the names of all nodes
}

func BenchmarkReserve(b *testing.B) {
	generatortest.BenchStore(b, engine.Start(b, place(b, dbtest.ZooKeeper(b, 1)), shared.Config{}))
}
