package dbtest

import (
	"bytes"
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
	members := newEtcd(t, n, "http")
	client := &http.Client{Timeout: time.Second}
	for _, s := range members {
		s.ready = func(s *Server) error { // a linearizable read needs a leader
			_, err := callEtcd(client, "http://"+s.Addr, "kv/range", "", map[string]string{"key": "AA=="})
			return err
		}
	}
	beginAll(members)
	return members
}

// newEtcd makes the members of a cluster that serves clients over HTTP or HTTPS.
func newEtcd(t testing.TB, n int, scheme string) []*Server {
	t.Helper()
	server := program(t, "etcd-server", "etcd")
	members, cluster := make([]*Server, n), make([]string, n)
	for i := range members {
		s := newServer(t, named("etcd", server), "", syscall.SIGTERM)
		name, peer := fmt.Sprint("m", i), "http://"+FreeAddr(t)
		members[i], cluster[i] = s, name+"="+peer
		s.urls = func(s *Server) { s.URL = EtcdURL([]*Server{s}) }
		s.argv = func(s *Server) []string {
			clients := scheme + "://" + s.Addr
			argv := []string{
				server, "--name", name, "--data-dir", s.data(), "--listen-client-urls", clients, "--advertise-client-urls", clients,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(cluster, ","),
				"--initial-cluster-token", port(members[0].Addr), "--heartbeat-interval", "50", "--election-timeout", "500", "--log-level", "warn",
			}
			if s.CA != "" {
				argv = append(argv, "--cert-file", s.CA, "--key-file", s.file("tls.key"))
			}
			return argv
		}
	}
	return members
}

// EtcdURL returns the URL of a cluster.
func EtcdURL(members []*Server) string { return "etcd://" + addresses(members) }

// SecuredEtcd is an etcd of one member with TLS and two users: root with the
// password root, and nextid with the password "pass word".
type SecuredEtcd struct {
	*Server
	client *http.Client
}

// EtcdTLS starts an etcd with TLS and users.
func EtcdTLS(t testing.TB) *SecuredEtcd {
	t.Helper()
	s := newEtcd(t, 1, "https")[0]
	cert, _, pool := Certificate(t, s.Dir)
	s.CA = cert
	e := &SecuredEtcd{s, &http.Client{
		Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}}
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
	var err error
	if what == "disable" {
		token, err = e.call("auth/authenticate", "", map[string]string{"name": "root", "password": "root"})
	}
	if err == nil {
		_, err = e.call("auth/"+what, token, struct{}{})
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

// URL returns the URL for a user, given as name:password.
func (e *SecuredEtcd) URL(user string) string {
	name, password, _ := strings.Cut(user, ":")
	return fmt.Sprintf("etcds://%s@%s", url.UserPassword(name, password), e.Addr)
}

func (e *SecuredEtcd) call(method, token string, request any) (string, error) {
	return callEtcd(e.client, "https://"+e.Addr, method, token, request)
}

// callEtcd calls a method of etcd's gRPC gateway, for example "kv/range", and
// returns the field token of the answer.
func callEtcd(client *http.Client, at, method, token string, request any) (string, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequest(http.MethodPost, at+"/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	var answer struct{ Token string }
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer.Token, err
}
