package dbtest

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Redis starts a Redis that syncs its append-only file at each write. After a sync
// without a file, a replica would count as online up to a second before it gets the
// writes. settings are pairs, such as "appendfsync", "everysec".
func Redis(t testing.TB, settings ...string) *Server {
	t.Helper()
	return newRedis(t, append([]string{
		"save", "", "appendonly", "yes", "appendfsync", "always", "repl-diskless-sync", "no",
		"auto-aof-rewrite-percentage", "0",
	}, settings...)...).Begin()
}

// newRedis makes a Redis with settings, which are pairs.
func newRedis(t testing.TB, settings ...string) *Server {
	t.Helper()
	server := Program(t, "redis-server", "redis-server")
	s := newServer(t, named("Redis", server), "", syscall.SIGTERM)
	must(t, os.Mkdir(s.data(), 0o700))
	s.argv = func(s *Server) []string {
		argv := []string{server, "--bind", "127.0.0.1", "--port", s.port(), "--dir", s.data()}
		for i := 0; i < len(settings); i += 2 {
			argv = append(argv, "--"+settings[i], settings[i+1])
		}
		return argv
	}
	s.ready = func(s *Server) error { return answers(s.Addr, "PING\r\n", "+PONG") }
	s.urls = func(s *Server) { s.URL = "redis://" + s.Addr }
	return s
}

// replication is a command of Redis.
const replication = "INFO replication\r\n"

// RedisCluster starts a Redis Cluster of three masters with one replica each. A
// replica is promoted once its master has not answered for a second. The masters
// come first in the result.
func RedisCluster(t testing.TB) []*Server {
	t.Helper()
	client := Program(t, "redis-tools", "redis-cli")
	const masters = 3
	var nodes []*Server
	create := []string{client, "--cluster", "create"}
	for range 2 * masters {
		s := Redis(t, "cluster-enabled", "yes", "cluster-node-timeout", "1000", "cluster-replica-validity-factor", "0")
		nodes, create = append(nodes, s), append(create, s.Addr)
	}
	must(t, nodes[0].run(append(create, "--cluster-replicas", "1", "--cluster-yes")...))
	Await(t, "a cluster with replicas", func() bool {
		for i, s := range nodes {
			follows := i < masters && answers(s.Addr, replication, "state=online") == nil || i >= masters && s.RedisFollows()
			if !follows || answers(s.Addr, "CLUSTER INFO\r\n", "cluster_state:ok") != nil {
				return false
			}
		}
		return true
	})
	return nodes
}

// RedisLeads reports whether a Redis is a master.
func (s *Server) RedisLeads() bool { return answers(s.Addr, replication, "role:master") == nil }

// RedisFollows reports whether a Redis is a replica that is connected to its master.
func (s *Server) RedisFollows() bool {
	return answers(s.Addr, replication, "role:slave", "master_link_status:up") == nil
}

// Etcd starts an etcd cluster of n members. flags are further flags of etcd. With
// --cert-file it serves clients over HTTPS.
func Etcd(t testing.TB, n int, flags ...string) []*Server {
	t.Helper()
	server := Program(t, "etcd-server", "etcd")
	scheme := "http://"
	if slices.Contains(flags, "--cert-file") {
		scheme = "https://"
	}
	members, cluster := make([]*Server, n), make([]string, n)
	for i := range members {
		s := newServer(t, named("etcd", server), "", syscall.SIGTERM)
		name, peer := fmt.Sprint("m", i), "http://"+FreeAddr(t)
		members[i], cluster[i] = s, name+"="+peer
		s.urls = func(s *Server) { s.URL = "etcd://" + s.Addr }
		s.argv = func(s *Server) []string {
			return append([]string{
				server, "--name", name, "--data-dir", s.data(), "--listen-client-urls", scheme + s.Addr, "--advertise-client-urls", scheme + s.Addr,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(cluster, ","),
				"--initial-cluster-token", port(members[0].Addr), "--heartbeat-interval", "50", "--election-timeout", "500", "--log-level", "warn",
			}, flags...)
		}
		s.ready = func(s *Server) error { return healthy(scheme + s.Addr + "/health") }
	}
	beginAll(members)
	return members
}

// healthy returns an error unless a URL answers with status 200. That of etcd does
// after a linearizable read, which needs a leader.
func healthy(url string) error {
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is our own server
	answer, err := (&http.Client{Timeout: 5 * time.Second, Transport: transport}).Get(url)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	if answer != nil {
		answer.Body.Close()
	}
	return err
}

// classPath holds ZooKeeper's jar, and jars of Netty. TLS needs the latter, and
// Debian's package does not name them.
const classPath = "/usr/share/java/zookeeper.jar:/usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar:" +
	"/usr/share/java/netty-transport-native-unix-common.jar"

// ZooKeeper starts a ZooKeeper ensemble of n members. settings are additional lines
// of each member's zoo.cfg.
func ZooKeeper(t testing.TB, n int, settings ...string) []*Server {
	t.Helper()
	jar := Program(t, "zookeeper", "/usr/share/java/zookeeper.jar")
	java := Program(t, "zookeeper", "java")
	if real, err := filepath.EvalSymlinks(jar); err == nil {
		jar = real // zookeeper-3.8.0.jar
	}
	members := make([]*Server, n)
	var ensemble strings.Builder
	for i := range members {
		members[i] = newServer(t, "ZooKeeper "+versionPattern.FindString(filepath.Base(jar)), "", syscall.SIGTERM)
		if n > 1 {
			fmt.Fprintf(&ensemble, "server.%d=127.0.0.1:%s:%s\n", i+1, port(FreeAddr(t)), port(FreeAddr(t)))
		}
	}
	for i, s := range members {
		config := s.Write("zoo.cfg", fmt.Sprintf("tickTime=500\ninitLimit=20\nsyncLimit=10\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n"+
			"admin.enableServer=false\n4lw.commands.whitelist=srvr\nminSessionTimeout=1000\nmaxClientCnxns=0\n%s%s", s.Dir, s.port(), ensemble.String(), strings.Join(settings, "\n")))
		s.Write("myid", strconv.Itoa(i+1))
		s.argv = func(*Server) []string {
			return []string{
				java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath,
				"org.apache.zookeeper.server.quorum.QuorumPeerMain", config,
			}
		}
		s.ready = func(s *Server) error { return answers(s.Addr, "srvr", "Zookeeper version") }
		s.urls = func(s *Server) { s.URL = "zookeeper://" + s.Addr }
	}
	beginAll(members)
	return members
}
