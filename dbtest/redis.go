package dbtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
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
	server := program(t, "redis-server", "redis-server")
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
	s.urls = func(s *Server) { s.URL = s.RedisURL() }
	return s
}

// RedisURL returns the URL of the server.
func (s *Server) RedisURL() string { return "redis://" + s.Addr }

// replication is a command of Redis.
const replication = "INFO replication\r\n"

// MasterName is the name of the master that the sentinels of RedisSentinels watch.
const MasterName = "ids"

// RedisSentinels starts a master with two replicas, and three sentinels. The
// sentinels promote a replica once the master has not answered for a second. A
// master refuses writes while it has no replica (min-replicas-to-write).
func RedisSentinels(t testing.TB) (nodes, sentinels []*Server) {
	t.Helper()
	safe := []string{"min-replicas-to-write", "1", "min-replicas-max-lag", "5"}
	master := Redis(t, safe...)
	nodes = []*Server{master}
	for range 2 {
		nodes = append(nodes, Redis(t, append(safe, "replicaof", strings.Replace(master.Addr, ":", " ", 1))...))
	}
	for range 3 {
		s := newRedis(t)
		s.Name = "Redis Sentinel"
		// A sentinel rewrites its configuration file.
		file := s.write("sentinel.conf", fmt.Sprintf("bind 127.0.0.1\nport %s\ndir %s\nsentinel monitor %s %s 2\n"+
			"sentinel down-after-milliseconds %[3]s 1000\nsentinel failover-timeout %[3]s 1000\n",
			s.port(), s.Dir, MasterName, strings.Replace(master.Addr, ":", " ", 1)))
		argv := []string{s.argv(s)[0], file, "--sentinel"}
		s.argv = func(*Server) []string { return argv }
		sentinels = append(sentinels, s.Begin())
	}
	Await(t, "sentinels that know each other and the replicas", func() bool {
		return !slices.ContainsFunc(sentinels, func(s *Server) bool {
			return answers(s.Addr, "INFO sentinel\r\n", "slaves=2,sentinels=3") != nil
		})
	})
	return nodes, sentinels
}

// SentinelURL returns the URL of the master that sentinels watch.
func SentinelURL(sentinels []*Server) string {
	return "redis+sentinel://" + addresses(sentinels) + "/" + MasterName
}

// RedisCluster starts a Redis Cluster of three masters with one replica each. A
// replica is promoted once its master has not answered for a second. The masters
// come first in the result.
func RedisCluster(t testing.TB) []*Server {
	t.Helper()
	client := program(t, "redis-tools", "redis-cli")
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

// ClusterURL returns the URL of a Redis Cluster.
func ClusterURL(nodes []*Server) string { return "redis+cluster://" + addresses(nodes) }

// RedisRole returns the role that a Redis reports, master or slave, and "" without
// an answer.
func (s *Server) RedisRole() string {
	answer, _ := ask(s.Addr, replication)
	_, role, _ := strings.Cut(answer, "role:")
	role, _, _ = strings.Cut(role, "\r")
	return role
}

// RedisFollows reports whether a Redis is a replica that is connected to its master.
func (s *Server) RedisFollows() bool {
	return answers(s.Addr, replication, "role:slave", "master_link_status:up") == nil
}

// RedisTLS starts a Redis with a TLS port. plain is the same server without TLS.
func RedisTLS(t testing.TB) (s, plain *Server) {
	t.Helper()
	cert, key, _ := Certificate(t, t.TempDir())
	addr := FreeAddr(t)
	plain = Redis(t, "tls-port", port(addr), "tls-cert-file", cert, "tls-key-file", key, "tls-ca-cert-file", cert, "tls-auth-clients", "no")
	return &Server{Addr: addr, CA: cert}, plain
}
