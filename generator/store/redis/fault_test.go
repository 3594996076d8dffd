package redis_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/store/shared"
)

// dial returns a client for commands that the test sends itself.
func dial(t *testing.T, s *dbtest.Server) *client.Client {
	t.Helper()
	c := client.NewClient(&client.Options{Addr: s.Addr, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { c.Close() })
	return c
}

// command sends one command.
func command(t *testing.T, s *dbtest.Server, args ...any) any {
	t.Helper()
	reply, err := dial(t, s).Do(t.Context(), args...).Result()
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return reply
}

func TestSettingsThatLoseIDsAreRefused(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	u := place(t, s)
	for _, tc := range []struct{ name, bad, good string }{
		{"appendfsync", "everysec", "always"},
		{"appendfsync", "no", "always"},
		{"appendonly", "no", "yes"},
		{"maxmemory-policy", "allkeys-lru", "volatile-lru"},
	} {
		command(t, s, "CONFIG", "SET", tc.name, tc.bad)
		_, err := engine.Try(t.Context(), u, shared.Config{})
		dbtest.WantError(t, err, generator.ErrPinned, tc.name+" = "+tc.bad)
		engine.Start(t, u, shared.Config{}, tc.name).Close()
		command(t, s, "CONFIG", "SET", tc.name, tc.good)
		engine.Start(t, u, shared.Config{}).Close()
	}
}

// Settings may change while servers run. Unsafe ones end the grants until they are
// safe again.
func TestSettingsThatChangeWhileServersRun(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	u := place(t, s)
	store := engine.Start(t, u, shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(10), 1)
	for _, tc := range []struct{ name, bad, good string }{
		{"appendfsync", "everysec", "always"},
		{"maxmemory-policy", "allkeys-lru", "noeviction"},
		{"appendonly", "no", "yes"},
	} {
		command(t, s, "CONFIG", "SET", tc.name, tc.bad)
		_, _, err := store.Reserve(t.Context(), dbtest.Order(10))
		dbtest.WantError(t, err, generator.ErrPinned, tc.name+" = "+tc.bad)
		_, _, err = store.Define(t.Context(), generator.Definition{Name: tc.name, Kind: "segment"})
		dbtest.WantError(t, err, generator.ErrPinned, tc.name+" = "+tc.bad)
		command(t, s, "CONFIG", "SET", tc.name, tc.good)
		if _, _, err := store.Reserve(t.Context(), dbtest.Order(10)); err != nil {
			t.Error(err)
		}
	}
}

// A Redis that does not show its settings is refused, unless the operator accepts
// it.
func TestSettingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	u := place(t, s)
	store := engine.Start(t, u, shared.Config{})
	command(t, s, "ACL", "SETUSER", "default", "-config")
	_, _, err := store.Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrPinned, "CONFIG GET is not allowed")
	_, err = engine.Try(t.Context(), u, shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "CONFIG GET is not allowed")
	engine.Start(t, u, shared.Config{}, "appendonly", "appendfsync", "maxmemory-policy")
}

func TestDatabasesThatAreNotReady(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	_, err := engine.Try(t.Context(), s.URL, shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	// FLUSHALL during use: nothing starts from zero.
	store := engine.Start(t, place(t, s), shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(10), 1)
	command(t, s, "FLUSHALL")
	_, _, err = store.Reserve(t.Context(), dbtest.Order(10))
	dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	replica := dbtest.Redis(t, "replicaof", strings.Replace(s.Addr, ":", " ", 1))
	_, err = engine.Try(t.Context(), replica.URL, shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "read-only")
}

func TestARowThatWasDeletedIsNoticed(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	u := place(t, s)
	store := engine.Start(t, u, shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(10), 1)
	_, namespace, _ := strings.Cut(u, "namespace=")
	command(t, s, "HDEL", "{"+namespace+"}:reservations", dbtest.Order(1).Key)
	_, _, err := store.Reserve(t.Context(), dbtest.Order(10))
	dbtest.WantError(t, err, generator.ErrRegressed, "gone back")
	store = engine.Start(t, u, shared.Config{})
	for _, value := range []string{"5", "", "1\t5000\t1\t0\tepoch\towner"} { // its numbers have 20 digits
		command(t, s, "HSET", "{"+namespace+"}:reservations", dbtest.Order(1).Key, value)
		_, _, err := store.Reserve(t.Context(), dbtest.Order(10))
		dbtest.WantError(t, err, generator.ErrRegressed, "damaged")
	}
}

// TestAnEmptyValueIsDamage: it was there, so the name was used.
func TestAnEmptyValueIsDamage(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	u := place(t, s)
	store := engine.Start(t, u, shared.Config{})
	_, namespace, _ := strings.Cut(u, "namespace=")
	command(t, s, "HSET", "{"+namespace+"}:reservations", dbtest.Order(1).Key, "")
	command(t, s, "HSET", "{"+namespace+"}:generators", "orders", "")
	_, _, err := store.Mark(t.Context(), dbtest.Order(1).Key)
	dbtest.WantError(t, err, generator.ErrRegressed, "damaged")
	_, err = store.Defined(t.Context(), "orders")
	dbtest.WantError(t, err, generator.ErrRegressed, "damaged")
	_, _, err = store.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}")})
	dbtest.WantError(t, err, generator.ErrRegressed, "damaged")
}

func TestACrashUnderLoadRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	engine.Crash(t, place(t, s), shared.Config{Failover: shared.Skip}, s, 200) // the default of serve for Redis: a restart changes the epoch
}

// The old primary was cut off and went on confirming. The promoted replica knows
// nothing of that.
func TestAPromotedReplicaIsNoticed(t *testing.T) {
	t.Parallel()
	primary := dbtest.Redis(t)
	u := place(t, primary)
	replica := dbtest.Redis(t, "replicaof", strings.Replace(primary.Addr, ":", " ", 1))
	awaitReplica(t, primary)
	a := engine.Start(t, u, shared.Config{})
	dbtest.Grant(t, a, dbtest.Order(100), 1)
	awaitReplica(t, primary)
	replica.Freeze() // a network partition
	dbtest.Grant(t, a, dbtest.Order(100), 101)
	dbtest.Grant(t, a, dbtest.Order(100), 201)
	moved := strings.Replace(u, primary.Addr, replica.Addr, 1)
	primary.Kill()
	replica.Thaw()
	command(t, replica, "REPLICAOF", "NO", "ONE")

	stops := engine.Start(t, moved, shared.Config{})
	_, _, err := stops.Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored")
	_, _, err = stops.Reserve(t.Context(), generator.Reservation{
		Key: generator.WorkerKeyPrefix + "10/1", AtLeast: time.Now().UnixMilli(), N: 1000, Limit: generator.NoLimit,
	})
	dbtest.WantError(t, err, generator.ErrNotNow, "no worker id for another")
	skips := engine.Start(t, moved, shared.Config{Failover: shared.Skip, Skip: 100_000})
	lo, _, err := skips.Reserve(t.Context(), dbtest.Order(1))
	if err != nil || lo < 100_101 {
		t.Errorf("granted %d, %v: 301 numbers are taken", lo, err)
	}
}

// awaitReplica waits until a primary's replica has received everything.
func awaitReplica(t *testing.T, primary *dbtest.Server) {
	t.Helper()
	c := dial(t, primary).Conn() // WAIT concerns the writes of its own connection
	defer c.Close()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err := c.Set(t.Context(), "probe", 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Wait(t.Context(), 1, time.Second).Result(); err == nil && n == 1 {
			return
		}
	}
	t.Fatal("the replica does not follow")
}

// With wait=1, numbers that the replica has not received are not used.
func TestReservationsThatReplicasMustConfirm(t *testing.T) {
	t.Parallel()
	primary := dbtest.Redis(t)
	u := place(t, primary)
	replica := dbtest.Redis(t, "replicaof", strings.Replace(primary.Addr, ":", " ", 1))
	awaitReplica(t, primary)
	s := engine.Start(t, u+"&wait=1", shared.Config{})
	dbtest.Grant(t, s, dbtest.Order(100), 1)
	replica.Freeze()
	_, _, err := s.Reserve(t.Context(), dbtest.Order(100))
	replica.Thaw()
	dbtest.WantError(t, err, generator.ErrNotNow, "0 of 1 replicas confirmed")
	lo, _, err := s.Reserve(t.Context(), dbtest.Order(100))
	if err != nil || lo < 201 {
		t.Errorf("granted %d, %v", lo, err)
	}
}

// A restart from an older append-only file looks like any restart: the name skips.
// It stops if a high-water mark shows that it went back.
func TestAnOlderAppendOnlyFileIsNoticed(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	u := place(t, s)
	highWater := filepath.Join(t.TempDir(), "witness")
	a := engine.Start(t, u, shared.Config{HighWater: highWater})
	dbtest.Grant(t, a, dbtest.Order(100), 1)
	s.Stop()
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(s.Dir, "data", "appendonlydir"))); err != nil {
		t.Fatal(err)
	}
	s.Start()
	for range 20 {
		if _, _, err := engine.Start(t, u, shared.Config{Failover: shared.Lossless, HighWater: highWater}).Reserve(t.Context(), dbtest.Order(100)); err != nil {
			t.Fatal(err)
		}
	}
	s.Kill()
	if err := errors.Join(os.RemoveAll(filepath.Join(s.Dir, "data", "appendonlydir")),
		os.CopyFS(filepath.Join(s.Dir, "data", "appendonlydir"), os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}
	s.Start()
	_, _, err := engine.Start(t, u, shared.Config{}).Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored")
	_, _, err = engine.Start(t, u, shared.Config{Failover: shared.Skip, Skip: 500, HighWater: highWater}).Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "gone back") // skipping 500 was too little
}

func TestACallerDoesNotWaitForAFrozenServer(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	dbtest.Hang(t, engine.Start(t, place(t, s), shared.Config{}), s.Freeze, s.Thaw)
}
