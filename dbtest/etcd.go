package dbtest

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Etcd starts an etcd cluster of n members.
func Etcd(t testing.TB, n int) []*Server {
	t.Helper()
	members, peers := make([]*Server, n), make([]string, n)
	for i := range members {
		members[i] = newEtcd(t, fmt.Sprint("m", i), &peers[i])
		members[i].etcd("http", func() string { return strings.Join(peers, ",") },
			"--initial-cluster-token", port(members[0].Addr), "--heartbeat-interval", "50", "--election-timeout", "500")
	}
	beginAll(members)
	return members
}

// newEtcd makes a member of a cluster. It sets peer to the member's entry of
// --initial-cluster.
func newEtcd(t testing.TB, name string, peer *string) *Server {
	t.Helper()
	s := newServer(t, named("etcd", program(t, "etcd-server", "etcd"), "--version"), "", syscall.SIGTERM)
	*peer = name + "=http://" + FreeAddr(t)
	s.env = []string{"ETCD_NAME=" + name, "ETCD_LISTEN_PEER_URLS=" + strings.TrimPrefix(*peer, name+"=")}
	s.urls = func(s *Server) { s.URL = EtcdURL([]*Server{s}) }
	return s
}

// etcd sets the command of a member that serves clients over HTTP or HTTPS.
func (s *Server) etcd(scheme string, cluster func() string, args ...string) {
	server := program(s.t, "etcd-server", "etcd")
	s.argv = func(s *Server) []string {
		clients := scheme + "://" + s.Addr
		_, peer, _ := strings.Cut(s.env[1], "=")
		return append([]string{
			server, "--data-dir", s.data(), "--listen-client-urls", clients, "--advertise-client-urls", clients,
			"--initial-advertise-peer-urls", peer, "--initial-cluster", cluster(), "--log-level", "warn",
		}, args...)
	}
	s.ready = func(s *Server) error { // a linearizable read needs a leader
		_, err := callEtcd(&http.Client{Timeout: time.Second}, "http://"+s.Addr, "kv/range", "", map[string]string{"key": "AA=="})
		return err
	}
}

// EtcdURL returns the URL of a cluster.
func EtcdURL(members []*Server) string { return "etcd://" + addresses(members) }

// SecuredEtcd is an etcd of one member with TLS and two users: root with the
// password root, and nextid with the password "pass word".
type SecuredEtcd struct {
	*Server
	CA     string // PEM file
	client *http.Client
}

// EtcdTLS starts an etcd with TLS and users.
func EtcdTLS(t testing.TB) *SecuredEtcd {
	t.Helper()
	var peer string
	s := newEtcd(t, "m", &peer)
	cert, key, pool := Certificate(t, s.Dir)
	e := &SecuredEtcd{Server: s, CA: cert, client: &http.Client{
		Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}}
	s.etcd("https", func() string { return peer }, "--cert-file", cert, "--key-file", key)
	s.ready = func(*Server) error {
		_, err := e.call("kv/range", "", map[string]string{"key": "AA=="})
		if err != nil && strings.Contains(err.Error(), "user name is empty") {
			return nil // it answers, and authentication is on
		}
		return err
	}
	s.Begin()
	all := base64.StdEncoding.EncodeToString([]byte{0})
	for _, step := range []struct {
		method  string
		request any
	}{
		{"auth/user/add", map[string]string{"name": "root", "password": "root"}},
		{"auth/role/add", map[string]string{"name": "root"}},
		{"auth/user/grant", map[string]string{"user": "root", "role": "root"}},
		{"auth/user/add", map[string]string{"name": "nextid", "password": "pass word"}},
		{"auth/role/add", map[string]string{"name": "store"}},
		{"auth/role/grant", map[string]any{"name": "store", "perm": map[string]string{"permType": "READWRITE", "key": all, "range_end": all}}},
		{"auth/user/grant", map[string]string{"user": "nextid", "role": "store"}},
	} {
		if _, err := e.call(step.method, "", step.request); err != nil {
			t.Fatalf("dbtest: etcd: %s: %v", step.method, err)
		}
	}
	e.Auth("enable")
	return e
}

// Auth turns authentication on ("enable") or off ("disable").
func (e *SecuredEtcd) Auth(what string) {
	e.t.Helper()
	token := ""
	if what == "disable" {
		answer, err := e.call("auth/authenticate", "", map[string]string{"name": "root", "password": "root"})
		if err != nil {
			e.t.Fatal(err)
		}
		token, _ = answer["token"].(string)
	}
	if _, err := e.call("auth/"+what, token, struct{}{}); err != nil {
		e.t.Fatal(err)
	}
}

// URL returns the URL for a user, given as name:password.
func (e *SecuredEtcd) URL(user string) string {
	name, password, _ := strings.Cut(user, ":")
	return fmt.Sprintf("etcds://%s@%s", url.UserPassword(name, password), e.Addr)
}

func (e *SecuredEtcd) call(method, token string, request any) (map[string]any, error) {
	return callEtcd(e.client, "https://"+e.Addr, method, token, request)
}

// callEtcd calls a method of etcd's gRPC gateway, for example "kv/range", and
// returns the decoded answer.
func callEtcd(client *http.Client, at, method, token string, request any) (map[string]any, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, at+"/v3/"+method, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	answer := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer, err
}
