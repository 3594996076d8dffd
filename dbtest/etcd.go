package dbtest

import (
	"crypto/tls"
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
	members := newEtcd(t, n)
	beginAll(members)
	return members
}

// newEtcd makes the members of a cluster. A member with a certificate serves clients
// over HTTPS.
func newEtcd(t testing.TB, n int) []*Server {
	t.Helper()
	server := Program(t, "etcd-server", "etcd")
	members, cluster := make([]*Server, n), make([]string, n)
	for i := range members {
		s := newServer(t, named("etcd", server), "", syscall.SIGTERM)
		name, peer := fmt.Sprint("m", i), "http://"+FreeAddr(t)
		members[i], cluster[i] = s, name+"="+peer
		s.urls = func(s *Server) { s.URL = "etcd://" + s.Addr }
		s.argv = func(s *Server) []string {
			argv := []string{
				server, "--name", name, "--data-dir", s.data(), "--listen-client-urls", s.etcdAPI(), "--advertise-client-urls", s.etcdAPI(),
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(cluster, ","),
				"--initial-cluster-token", port(members[0].Addr), "--heartbeat-interval", "50", "--election-timeout", "500", "--log-level", "warn",
			}
			if s.CA != "" {
				argv = append(argv, "--cert-file", s.CA, "--key-file", s.file("tls.key"))
			}
			return argv
		}
		s.ready = func(s *Server) error { // a linearizable read needs a leader
			_, err := s.callEtcd("kv/range", "", `{"key":"AA=="}`)
			if err != nil && strings.Contains(err.Error(), "user name is empty") {
				return nil // it answers, and authentication is on
			}
			return err
		}
	}
	return members
}

// EtcdTLS starts an etcd of one member with TLS and two users: root with the password
// root, and nextid with the password "pass word".
func EtcdTLS(t testing.TB) *Server {
	t.Helper()
	s := newEtcd(t, 1)[0]
	s.certificate()
	s.Begin()
	for _, call := range [][2]string{
		{"auth/user/add", `{"name":"root","password":"root"}`},
		{"auth/role/add", `{"name":"root"}`},
		{"auth/user/grant", `{"user":"root","role":"root"}`},
		{"auth/user/add", `{"name":"nextid","password":"pass word"}`},
		{"auth/role/add", `{"name":"store"}`},
		{"auth/role/grant", `{"name":"store","perm":{"permType":"READWRITE","key":"AA==","range_end":"AA=="}}`}, // all keys
		{"auth/user/grant", `{"user":"nextid","role":"store"}`},
	} {
		_, err := s.callEtcd(call[0], "", call[1])
		must(t, err)
	}
	s.EtcdAuth("enable")
	return s
}

// EtcdAuth turns authentication on ("enable") or off ("disable").
func (s *Server) EtcdAuth(what string) {
	s.t.Helper()
	token, _ := s.callEtcd("auth/authenticate", "", `{"name":"root","password":"root"}`) // an error while authentication is off
	_, err := s.callEtcd("auth/"+what, token, "{}")
	must(s.t, err)
}

// EtcdURL returns the URL for a user of an EtcdTLS.
func (s *Server) EtcdURL(name, password string) string {
	return fmt.Sprintf("etcds://%s@%s", url.UserPassword(name, password), s.Addr)
}

// etcdAPI returns the URL at which a member serves clients.
func (s *Server) etcdAPI() string {
	if s.CA != "" {
		return "https://" + s.Addr
	}
	return "http://" + s.Addr
}

// callEtcd calls a method of etcd's gRPC gateway, for example "kv/range", with a
// request in JSON. It returns the field token of the answer.
func (s *Server) callEtcd(method, token, request string) (string, error) {
	r, err := http.NewRequest(http.MethodPost, s.etcdAPI()+"/v3/"+method, strings.NewReader(request))
	if err != nil {
		return "", err
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is our own server
	response, err := (&http.Client{Timeout: 5 * time.Second, Transport: transport}).Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("etcd: %s: %s: %s", method, response.Status, text)
	}
	var answer struct{ Token string }
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer.Token, err
}
