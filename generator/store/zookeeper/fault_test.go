package zookeeper_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/dbtest"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
	"nextid/generator/store/zookeeper"
)

func order(n int64) generator.Reservation {
	return generator.Reservation{Key: generator.NameKey("orders"), AtLeast: 1, N: n, Limit: generator.NoLimit}
}

func wantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Fatalf("%v, want %v with %q", err, kind, text)
	}
}

// Row 54: the server stops for longer than a session lives, and is killed.
// There is nothing in a session that could be lost.
func TestASessionThatIsLost(t *testing.T) {
	t.Parallel()
	members := dbtest.ZooKeeper(t, 1)
	u := place(t, members)
	cfg := shared.Config{Timeout: 2 * time.Second}
	load := storetest.StartLoad(t, start(t, u, cfg), start(t, u, cfg))
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
	load := storetest.StartLoad(t, start(t, u, cfg), start(t, u, cfg))
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
	_, err := try(t.Context(), dbtest.ZooKeeperURL(members), shared.Config{})
	wantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = try(t.Context(), "zookeeper://user:secret@"+dbtest.FreeAddr(t), shared.Config{Timeout: time.Second})
	if !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	// Everything is deleted while it runs, as on another, empty ensemble.
	u := place(t, members)
	store := start(t, u, shared.Config{})
	if _, _, err := store.Reserve(t.Context(), order(10)); err != nil {
		t.Fatal(err)
	}
	schema, err := zookeeper.OpenSchema(zookeeper.Config{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	if err := schema.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err = store.Reserve(t.Context(), order(10))
	wantError(t, err, generator.ErrPinned, "no tables of nextid")
	if err := schema.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, complete, err := schema.Status(t.Context()); err != nil || !complete || !strings.HasPrefix(text, "prepared") {
		t.Errorf("%s %v %v", text, complete, err)
	}
	_, _, err = store.Reserve(t.Context(), order(10))
	wantError(t, err, generator.ErrRegressed, "gone back")
	// A password protects what is made with it.
	mine := strings.Replace(dbtest.ZooKeeperURL(members), "://", "://me:mine@", 1) + "/mine"
	prepare(t, mine)
	start(t, mine, shared.Config{})
	_, err = try(t.Context(), strings.Replace(mine, "mine@", "yours@", 1), shared.Config{})
	wantError(t, err, generator.ErrPinned, "refuses access")
}
