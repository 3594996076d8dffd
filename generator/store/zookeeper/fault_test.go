package zookeeper_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/shared"
	"nextid/generator/store/zookeeper"
)

// Row 54: the server pauses for longer than a session lives, and is killed. Nothing
// is lost with a session.
func TestASessionThatIsLost(t *testing.T) {
	t.Parallel()
	members := dbtest.ZooKeeper(t, 1)
	u := place(t, members)
	cfg := shared.Config{Timeout: 2 * time.Second}
	load := generatortest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
	load.Await(100)
	members[0].Freeze()
	time.Sleep(8 * time.Second) // the session timeout is 6 s
	members[0].Thaw()
	load.Await(100)
	for range 2 {
		members[0].Kill()
		members[0].Start()
		load.Await(100)
	}
	load.Stop()
}

// An ensemble that was restored from a backup is behind the client, and refuses its
// session. The store opens a new session and detects that the ensemble went back.
func TestAnEnsembleThatWasRestored(t *testing.T) {
	t.Parallel()
	s := dbtest.ZooKeeper(t, 1)[0]
	u := place(t, []*dbtest.Server{s})
	store := engine.Start(t, u, shared.Config{Timeout: time.Second})
	answers := func() bool { _, _, err := store.Reserve(t.Context(), dbtest.Order(10)); return err == nil }
	dbtest.Await(t, "answer", answers)
	s.Stop()
	data, backup := filepath.Join(s.Dir, "version-2"), filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	s.Start()
	for range 20 {
		dbtest.Await(t, "answer", answers)
	}
	s.Stop()
	if err := errors.Join(os.RemoveAll(data), os.CopyFS(data, os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}
	s.Start()
	dbtest.Await(t, "word about the restored ensemble", func() bool {
		_, _, err := store.Reserve(t.Context(), dbtest.Order(10))
		return errors.Is(err, generator.ErrRegressed)
	})
}

// Three members are killed one after the other and come back.
func TestMembersThatAreKilled(t *testing.T) {
	t.Parallel()
	members := dbtest.ZooKeeper(t, 3)
	u := place(t, members)
	cfg := shared.Config{Timeout: 2 * time.Second}
	load := generatortest.StartLoad(t, engine.Start(t, u, cfg), engine.Start(t, u, cfg))
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
	dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = engine.Try(t.Context(), "zookeeper://user:secret@"+dbtest.FreeAddr(t), shared.Config{Timeout: time.Second})
	if !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	// Everything is deleted during use, as on another, empty ensemble.
	u := place(t, members)
	schema, err := zookeeper.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	engine.Emptied(t, u, schema)
	// Nodes that were made with a password need it.
	mine := strings.Replace(dbtest.ZooKeeperURL(members), "://", "://me:mine@", 1) + "/mine"
	prepare(t, mine)
	engine.Start(t, mine, shared.Config{})
	_, err = engine.Try(t.Context(), strings.Replace(mine, "mine@", "yours@", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "refuses access")
}
