package zookeeper_test

import (
	"errors"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

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

// A server that has asked for nothing while the ensemble was replaced by a copy grants
// nothing by the epoch that it knows.
func TestACopiedEnsembleInTheSamePlace(t *testing.T) {
	t.Parallel()
	old, copied := dbtest.ZooKeeper(t, 1)[0], dbtest.ZooKeeper(t, 1)[0]
	proxy := dbtest.Cut(t, old.Addr)
	u := "zookeeper://" + proxy.Addr + "/same"
	prepare(t, u)
	prepare(t, "zookeeper://"+copied.Addr+"/same")
	idle, other := engine.Start(t, u, shared.Config{Timeout: time.Minute}), engine.Start(t, u, shared.Config{})
	dbtest.Grant(t, idle, dbtest.Order(10), 1)
	row := "/same/reservations/" + url.PathEscape(dbtest.Order(10).Key)
	data, _, err := client(t, old).Get(row)
	if err == nil {
		_, err = client(t, copied).Create(row, data, 0, zk.WorldACL(zk.PermAll))
	}
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Grant(t, other, dbtest.Order(10), 11) // is not in the copy
	proxy.To(copied.Addr)
	old.Kill()
	dbtest.Await(t, "new session", func() bool {
		_, err := idle.Reserved(t.Context(), "")
		return err == nil
	})
	_, _, err = idle.Reserve(t.Context(), dbtest.Order(10))
	dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored")
}

func client(t *testing.T, s *dbtest.Server) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect([]string{s.Addr}, time.Minute, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
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
	_, err := engine.Try(t.Context(), dbtest.ClusterURL("zookeeper", members), shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = engine.Try(t.Context(), "zookeeper://user:secret@"+dbtest.FreeAddr(t), shared.Config{Timeout: time.Second})
	if !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	// Everything is deleted during use, as on another, empty ensemble.
	u := place(t, members)
	schema, err := zookeeper.Driver().Schema(u)
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	engine.Emptied(t, u, schema)
	// Nodes that were made with a password need it.
	mine := strings.Replace(dbtest.ClusterURL("zookeeper", members), "://", "://me:mine@", 1) + "/mine"
	prepare(t, mine)
	engine.Start(t, mine, shared.Config{})
	_, err = engine.Try(t.Context(), strings.Replace(mine, "mine@", "yours@", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "refuses access")
}
