package redis_test

import (
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/shared"
)

// Sentinels put a replica in the place of a master that was killed, and of one
// that hung and comes back believing that it is still the master.
func TestSentinelsPromoteUnderLoad(t *testing.T) {
	t.Parallel()
	nodes, sentinels := dbtest.RedisSentinels(t)
	u := dbtest.SentinelURL(sentinels)
	prepare(t, u)
	cfg := shared.Config{Failover: shared.Skip, Timeout: time.Second} // what serve takes for Redis
	load := generatortest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
	load.Await(200)
	killed := awaitMaster(t, nodes, nil)
	killed.Kill()
	load.Await(200)
	frozen := awaitMaster(t, nodes, killed)
	killed.Start()
	dbtest.Await(t, "replica", killed.RedisFollows) // or what is promoted next lacks all
	frozen.Freeze()
	load.Await(200)
	awaitMaster(t, nodes, frozen)
	frozen.Thaw()
	dbtest.Await(t, "replica", frozen.RedisFollows)
	sentinels[0].Kill()
	load.Await(200)
	load.Stop()
}

// awaitMaster waits until one of the nodes but the one that is out is master.
func awaitMaster(t *testing.T, nodes []*dbtest.Server, out *dbtest.Server) (master *dbtest.Server) {
	t.Helper()
	dbtest.Await(t, "master", func() bool {
		for _, s := range nodes {
			if s != out && s.RedisRole() == "master" {
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
	nodes, sentinels := dbtest.RedisSentinels(t)
	u := dbtest.SentinelURL(sentinels)
	prepare(t, u)
	engine.Start(t, u, shared.Config{}).Close()
	for _, s := range nodes { // any of them may be the master by now
		command(t, s, "CONFIG", "SET", "min-replicas-to-write", "0")
	}
	_, err := engine.Try(t.Context(), u, shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "min-replicas-to-write = 0")
	engine.Start(t, u+"?wait=1", shared.Config{})
	engine.Start(t, u, shared.Config{}, "min-replicas-to-write")
	_, err = engine.Try(t.Context(), strings.Replace(u, dbtest.MasterName, "nobody", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "cannot use the store")
}

// A replica takes the place of a master of the cluster that was killed, and of
// one that hung.
func TestAClusterFailsOverUnderLoad(t *testing.T) {
	t.Parallel()
	nodes := dbtest.RedisCluster(t)
	u := dbtest.ClusterURL(nodes)
	prepare(t, u)
	cfg := shared.Config{Failover: shared.Skip, Timeout: time.Second}
	load := generatortest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
	load.Await(200)
	killed := owner(t, nodes)
	killed.Kill()
	load.Await(200)
	frozen := owner(t, nodes)
	killed.Start()
	dbtest.Await(t, "replica", killed.RedisFollows) // or what is promoted next lacks all
	frozen.Freeze()
	load.Await(200)
	frozen.Thaw()
	dbtest.Await(t, "replica", frozen.RedisFollows)
	load.Await(200)
	load.Stop()
}

// owner is the master of the cluster that has our keys.
func owner(t *testing.T, nodes []*dbtest.Server) (master *dbtest.Server) {
	t.Helper()
	dbtest.Await(t, "master that has the keys", func() bool {
		for _, s := range nodes {
			if !s.Running() || s.RedisRole() != "master" {
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
	u := dbtest.ClusterURL(nodes)
	engine.Conformance(t, func(t *testing.T) string { return empty(t, u+"?") })

	prepare(t, u)
	one := owner(t, nodes)
	for _, s := range nodes[:3] {
		if s != one {
			_, err := engine.Try(t.Context(), s.RedisURL(), shared.Config{})
			dbtest.WantError(t, err, generator.ErrPinned, "is a Redis Cluster")
		}
	}
}
