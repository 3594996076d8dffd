package zookeeper_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/dbtest"
	"nextid/generator/store/enginetest"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
	"nextid/generator/store/zookeeper"
)

// Row 54: the server stops for longer than a session lives, and is killed.
// There is nothing in a session that could be lost.
func TestASessionThatIsLost(t *testing.T) {
	t.Parallel()
	members := dbtest.ZooKeeper(t, 1)
	u := place(t, members)
	cfg := shared.Config{Timeout: 2 * time.Second}
	load := storetest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
	load.Await(100)
	members[0].Freeze()
	time.Sleep(8 * time.Second) // a session lives for 6
	members[0].Thaw()
	load.Await(100)
	for range 2 {
		members[0].Kill()
		members[0].Start()
		load.Await(100)
	}
	load.Stop()
}

// Of three members one after the other is killed and comes back.
func TestMembersThatAreKilled(t *testing.T) {
	t.Parallel()
	members := dbtest.ZooKeeper(t, 3)
	u := place(t, members)
	cfg := shared.Config{Timeout: 2 * time.Second}
	load := storetest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
	for _, m := range members {
		load.Await(60)
		m.Kill()
		load.Await(60)
		m.Start()
	}
	load.Stop()
}

func TestEnsemblesThatAreNotReady(t *testing.T) {
	t.Parallel()
	members := dbtest.ZooKeeper(t, 1)
	_, err := engine.Try(t.Context(), dbtest.ZooKeeperURL(members), shared.Config{})
	enginetest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = engine.Try(t.Context(), "zookeeper://user:secret@"+dbtest.FreeAddr(t), shared.Config{Timeout: time.Second})
	if !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	// Everything is deleted while it runs, as on another, empty ensemble.
	u := place(t, members)
	schema, err := zookeeper.OpenSchema(zookeeper.Config{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	engine.Emptied(t, u, schema)
	// A password protects what is made with it.
	mine := strings.Replace(dbtest.ZooKeeperURL(members), "://", "://me:mine@", 1) + "/mine"
	prepare(t, mine)
	engine.Start(t, mine, shared.Config{})
	_, err = engine.Try(t.Context(), strings.Replace(mine, "mine@", "yours@", 1), shared.Config{})
	enginetest.WantError(t, err, generator.ErrPinned, "refuses access")
}
