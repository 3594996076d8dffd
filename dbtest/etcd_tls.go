package dbtest

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SecuredEtcd is an etcd of one member that speaks TLS and knows users: root
// with the password root, and nextid with the password "pass word".
type SecuredEtcd struct {
	*Server
	CA     string // PEM file
	client *http.Client
}

// EtcdTLS starts an etcd with TLS and users.
func EtcdTLS(t testing.TB) *SecuredEtcd {
	t.Helper()
	server := program(t, "etcd-server", "etcd")
	dir, _ := directory(t, "")
	cert, key, pool := Certificate(t, dir)
	s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: "etcd with TLS", quit: syscall.SIGTERM}
	e := &SecuredEtcd{Server: s, CA: cert, client: &http.Client{
		Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}}
	peer := "http://" + FreeAddr(t)
	s.argv = func() []string {
		return []string{
			server, "--name", "m", "--data-dir", filepath.Join(dir, "data"), "--cert-file", cert, "--key-file", key,
			"--listen-client-urls", "https://" + s.Addr, "--advertise-client-urls", "https://" + s.Addr,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "m=" + peer, "--log-level", "warn",
		}
	}
	s.ready = func() error { _, err := e.call("kv/range", "", map[string]string{"key": "AA=="}); return err }
	s.begin()
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

// Auth turns users on ("enable") or off ("disable").
func (e *SecuredEtcd) Auth(what string) {
	e.t.Helper()
	token := ""
	if what == "disable" {
		said, err := e.call("auth/authenticate", "", map[string]string{"name": "root", "password": "root"})
		if err != nil {
			e.t.Fatal(err)
		}
		token, _ = said["token"].(string)
	}
	if _, err := e.call("auth/"+what, token, struct{}{}); err != nil {
		e.t.Fatal(err)
	}
}

// URL is the URL for a user, as name:password.
func (e *SecuredEtcd) URL(user string) string {
	name, password, _ := strings.Cut(user, ":")
	return fmt.Sprintf("etcds://%s@%s", url.UserPassword(name, password), e.Addr)
}

func (e *SecuredEtcd) call(method, token string, request any) (map[string]any, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, "https://"+e.Addr+"/v3/"+method, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	answer, err := e.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	said := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	return said, err
}
