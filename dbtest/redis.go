package dbtest

import (
	"os"
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
