package dbtest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Etcd starts an etcd cluster of n members.
func Etcd(t testing.TB, n int) []*Server {
	t.Helper()
	server := program(t, "etcd-server", "etcd")
	members := make([]*Server, n)
	peers := make([]string, n)
	for i := range members {
		dir, _ := directory(t, "")
		s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: fmt.Sprint("etcd member ", i), quit: syscall.SIGTERM}
		peer := "http://" + FreeAddr(t)
		peers[i] = fmt.Sprintf("m%d=%s", i, peer)
		s.argv = func() []string {
			return []string{
				server, "--name", fmt.Sprintf("m%d", i), "--data-dir", filepath.Join(dir, "data"),
				"--listen-client-urls", "http://" + s.Addr, "--advertise-client-urls", "http://" + s.Addr,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
				"--initial-cluster", strings.Join(peers, ","), "--initial-cluster-token", filepath.Base(members[0].Dir),
				"--log-level", "warn", "--heartbeat-interval", "50", "--election-timeout", "500",
			}
		}
		// ready when it answers through a leader.
		s.ready = func() error {
			c := http.Client{Timeout: time.Second}
			r, err := c.Post("http://"+s.Addr+"/v3/kv/range", "application/json", strings.NewReader(`{"key":"AA=="}`))
			if err != nil {
				return err
			}
			defer r.Body.Close()
			if r.StatusCode != http.StatusOK {
				text, _ := io.ReadAll(r.Body)
				return errors.New(string(text))
			}
			return nil
		}
		members[i] = s
	}
	for _, s := range members {
		s.t.Cleanup(s.Kill)
		s.launch()
	}
	for _, s := range members {
		if err := s.await(); err != nil {
			t.Fatalf("dbtest: %s: %v", s.name, err)
		}
	}
	return members
}

// EtcdURL is the URL of a cluster.
func EtcdURL(members []*Server) string {
	hosts := make([]string, len(members))
	for i, s := range members {
		hosts[i] = s.Addr
	}
	return "etcd://" + strings.Join(hosts, ",")
}
