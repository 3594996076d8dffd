package etcd_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// secured is an etcd with TLS and two users: root, and nextid with a role for the keys
// of the store alone.
type secured struct {
	*testing.T
	addr, ca string
	client   *http.Client
}

func startSecured(t *testing.T) secured {
	t.Helper()
	cert, key := dbtest.Certificate(t, t.TempDir())
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	s := secured{t, dbtest.Etcd(t, 1, "--cert-file", cert, "--key-file", key)[0].Addr, cert, &http.Client{
		Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}},
	}}
	for _, call := range [][2]string{
		{"user/add", `{"name":"root","password":"root"}`},
		{"role/add", `{"name":"root"}`},
		{"user/grant", `{"user":"root","role":"root"}`},
		{"user/add", `{"name":"nextid","password":"pass word"}`},
		{"role/add", `{"name":"store"}`},
		{"role/grant", `{"name":"store","perm":{"permType":"READWRITE","key":"AA==","range_end":"AA=="}}`}, // all keys
		{"user/grant", `{"user":"nextid","role":"store"}`},
	} {
		s.call(call[0], "", call[1])
	}
	return s
}

// url is that of a namespace.
func (s secured) url(user, password, namespace string) string {
	return fmt.Sprintf("etcds://%s@%s/%s?ca=%s", url.UserPassword(user, password), s.addr, namespace, s.ca)
}

// call calls a method of etcd's gRPC gateway, and returns the field token of the answer.
func (s secured) call(method, token, request string) string {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, "https://"+s.addr+"/v3/auth/"+method, strings.NewReader(request))
	if err != nil {
		s.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Token, Error string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Error != "" {
		s.Fatalf("%s: %v %s", method, err, answer.Error)
	}
	return answer.Token
}

// login turns logins on or off.
func (s secured) login(on bool) {
	s.Helper()
	if on {
		s.call("enable", "", "{}")
		return
	}
	s.call("disable", s.call("authenticate", "", `{"name":"root","password":"root"}`), "{}")
}

func TestConformanceWithLoginAndTLS(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.login(true)
	var n atomic.Int64
	engine.Conformance(t, func(t *testing.T) string {
		u := s.url("nextid", "pass word", fmt.Sprint("n", n.Add(1)))
		prepare(t, u)
		return u
	})
	_, err := engine.Try(t.Context(), s.url("nextid", "wrong", "n1"), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "authentication failed")
}

// TestLoginIsTurnedOnAndOff changes authentication while servers run.
func TestLoginIsTurnedOnAndOff(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	u := s.url("root", "root", "x")
	prepare(t, u)
	store := engine.Start(t, u, shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(1), 1)
	s.login(true)
	dbtest.Grant(t, store, dbtest.Order(1), 2)
	s.login(false)
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
