package redis_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/shared"
)

// masterName is the name of the master that sentinels watch.
const masterName = "ids"

// withSentinels starts a master with two replicas, and three sentinels, and returns
// the URL of the master that these watch. The sentinels promote a replica once the
// master has not answered for a second. A master refuses writes while it has no
// replica (min-replicas-to-write).
func withSentinels(t *testing.T) (nodes, sentinels []*dbtest.Server, url string) {
	t.Helper()
	safe := []string{"min-replicas-to-write", "1", "min-replicas-max-lag", "5"}
	master := dbtest.Redis(t, safe...)
	nodes = []*dbtest.Server{master}
	at := strings.Replace(master.Addr, ":", " ", 1)
	for range 2 {
		nodes = append(nodes, dbtest.Redis(t, append(safe, "replicaof", at)...))
	}
	program := dbtest.Program(t, "redis-server", "redis-server")
	var addresses []string
	for range 3 {
		s := dbtest.Run(t, "Redis Sentinel", "", syscall.SIGTERM, func(s *dbtest.Server) []string {
			// A sentinel rewrites its configuration file.
			return []string{program, s.Write("sentinel.conf", fmt.Sprintf("bind 127.0.0.1\nport %s\ndir %s\nsentinel monitor %s %s 2\n"+
				"sentinel down-after-milliseconds %[3]s 1000\nsentinel failover-timeout %[3]s 1000\n",
				strings.TrimPrefix(s.Addr, "127.0.0.1:"), s.Dir, masterName, at)), "--sentinel"}
		})
		sentinels, addresses = append(sentinels, s), append(addresses, s.Addr)
	}
	dbtest.Await(t, "sentinels that know each other and the replicas", func() bool {
		return !slices.ContainsFunc(sentinels, func(s *dbtest.Server) bool {
			return !strings.Contains(fmt.Sprint(command(t, s, "INFO", "sentinel")), "slaves=2,sentinels=3")
		})
	})
	return nodes, sentinels, "redis+sentinel://" + strings.Join(addresses, ",") + "/" + masterName
}

// Sentinels promote a replica after a master was killed, and after one hung that
// then takes itself for the master.
func TestSentinelsPromoteUnderLoad(t *testing.T) {
	t.Parallel()
	nodes, sentinels, u := withSentinels(t)
	prepare(t, u)
	cfg := shared.Config{Failover: shared.Skip, Timeout: time.Second} // the default of serve for Redis
	load := generatortest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
	load.Await(200)
	killed := awaitMaster(t, nodes, nil)
	killed.Kill()
	load.Await(200)
	frozen := awaitMaster(t, nodes, killed)
	killed.Start()
	dbtest.Await(t, "replica", killed.RedisFollows) // else the replica that is promoted next lacks everything
	frozen.Freeze()
	load.Await(200)
	awaitMaster(t, nodes, frozen)
	frozen.Thaw()
	dbtest.Await(t, "replica", frozen.RedisFollows)
	sentinels[0].Kill()
	load.Await(200)
	load.Stop()
}

// awaitMaster waits until one of the nodes, except out, is the master.
func awaitMaster(t *testing.T, nodes []*dbtest.Server, out *dbtest.Server) (master *dbtest.Server) {
	t.Helper()
	dbtest.Await(t, "master", func() bool {
		for _, s := range nodes {
			if s != out && s.RedisLeads() {
				master = s
			}
		}
		return master != nil
	})
	return master
}

// A master that is cut off must stop when another one is promoted.
func TestSentinelsNeedAMasterThatStops(t *testing.T) {
	t.Parallel()
	nodes, _, u := withSentinels(t)
	prepare(t, u)
	engine.Start(t, u, shared.Config{}).Close()
	for _, s := range nodes { // any node may be the master by now
		command(t, s, "CONFIG", "SET", "min-replicas-to-write", "0")
	}
	_, err := engine.Try(t.Context(), u, shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "min-replicas-to-write = 0")
	engine.Start(t, u+"?wait=1", shared.Config{})
	engine.Start(t, u, shared.Config{}, "min-replicas-to-write")
	_, err = engine.Try(t.Context(), strings.Replace(u, masterName, "nobody", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "cannot use the store")
}

// A cluster promotes a replica after a master was killed, and after one hung.
func TestAClusterFailsOverUnderLoad(t *testing.T) {
	t.Parallel()
	nodes := dbtest.RedisCluster(t)
	u := dbtest.ClusterURL("redis+cluster", nodes)
	prepare(t, u)
	cfg := shared.Config{Failover: shared.Skip, Timeout: time.Second}
	load := generatortest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
	load.Await(200)
	killed := owner(t, nodes)
	killed.Kill()
	load.Await(200)
	frozen := owner(t, nodes)
	killed.Start()
	dbtest.Await(t, "replica", killed.RedisFollows) // else the replica that is promoted next lacks everything
	frozen.Freeze()
	load.Await(200)
	frozen.Thaw()
	dbtest.Await(t, "replica", frozen.RedisFollows)
	load.Await(200)
	load.Stop()
}

// owner returns the master of the cluster that has nextid's keys.
func owner(t *testing.T, nodes []*dbtest.Server) (master *dbtest.Server) {
	t.Helper()
	dbtest.Await(t, "master that has the keys", func() bool {
		for _, s := range nodes {
			if !s.Running() || !s.RedisLeads() {
				continue
			}
			if n, err := dial(t, s).Exists(t.Context(), "{nextid}:format").Result(); err == nil && n == 1 {
				master = s
			}
		}
		return master != nil
	})
	return master
}

func TestConformanceOnACluster(t *testing.T) {
	t.Parallel()
	nodes := dbtest.RedisCluster(t)
	u := dbtest.ClusterURL("redis+cluster", nodes)
	engine.Conformance(t, func(t *testing.T) string { return empty(t, u+"?") })

	prepare(t, u)
	one := owner(t, nodes)
	for _, s := range nodes[:3] {
		if s != one {
			_, err := engine.Try(t.Context(), s.URL, shared.Config{})
			dbtest.WantError(t, err, generator.ErrPinned, "is a Redis Cluster")
		}
	}
}
