package redis_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/redis"
	"nextid/generator/store/shared"
)

var engine dbtest.Opener = redis.Driver().Open

var places atomic.Int64

// place prepares an empty namespace and returns its URL.
func place(t testing.TB, s *dbtest.Server) string {
	t.Helper()
	return empty(t, s.URL+"?")
}

// empty prepares an empty namespace of a database.
func empty(t testing.TB, url string) string {
	t.Helper()
	u := fmt.Sprintf("%snamespace=n%d", url, places.Add(1))
	prepare(t, u)
	return u
}

func prepare(t testing.TB, u string) {
	t.Helper()
	schema, err := redis.Driver().Schema(u)
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

// TestConformanceWithLoginAndTLS gives the user only the rights that the operations
// page names.
func TestConformanceWithLoginAndTLS(t *testing.T) {
	t.Parallel()
	cert, key := dbtest.Certificate(t, t.TempDir())
	addr := dbtest.FreeAddr(t) // beside the port without TLS
	plain := dbtest.Redis(t, "tls-port", strings.TrimPrefix(addr, "127.0.0.1:"),
		"tls-cert-file", cert, "tls-key-file", key, "tls-ca-cert-file", cert, "tls-auth-clients", "no")
	page, err := os.ReadFile("../../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rules, found := strings.Cut(string(page), "ACL SETUSER nextid on >PASSWORD ")
	rules, _, _ = strings.Cut(rules, "\n")
	if !found {
		t.Fatal("the page has no ACL")
	}
	acl := []any{"ACL", "SETUSER", "nextid", "on", ">" + dbtest.Password}
	for rule := range strings.FieldsSeq(strings.Replace(rules, "{nextid}", "{n*}", 1)) {
		acl = append(acl, rule)
	}
	command(t, plain, acl...)
	command(t, plain, "ACL", "SETUSER", "default", "off")
	var u string
	engine.Conformance(t, func(t *testing.T) string {
		u = empty(t, fmt.Sprintf("rediss://%s@%s?ca=%s&", url.UserPassword("nextid", dbtest.Password), addr, url.QueryEscape(cert)))
		return u
	})
	_, err = engine.Try(t.Context(), strings.Replace(u, "pass", "word", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "WRONGPASS")
	_, err = engine.Try(t.Context(), strings.Replace(u, url.QueryEscape(cert), "", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "certificate signed by unknown authority")
}

func TestARenewalCostsTheSameWithManyNames(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	engine.Renewal(t, place(t, s), s.Addr, true)
}

func BenchmarkReserve(b *testing.B) {
	generatortest.BenchStore(b, engine.Start(b, place(b, dbtest.Redis(b)), shared.Config{}))
}
