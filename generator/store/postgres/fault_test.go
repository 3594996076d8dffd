package postgres_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/shared"
)

func TestSettingsThatLoseIDsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ setting, name string }{
		{"fsync=off", "fsync"}, {"full_page_writes=off", "full_page_writes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dsn := place(t, dbtest.Postgres(t, tc.setting))
			_, err := engine.Try(t.Context(), dsn, shared.Config{})
			dbtest.WantError(t, err, generator.ErrPinned, tc.name+" = off")
			dbtest.Grant(t, engine.Start(t, dsn, shared.Config{}, tc.name), dbtest.Order(1), 1)
		})
	}
}

// TestSynchronousCommitIsSetForEachReservation turns synchronous_commit off before
// and while servers run. A crash forgets nothing that was confirmed.
func TestSynchronousCommitIsSetForEachReservation(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t, "synchronous_commit=off", "wal_writer_delay=10s")
	store := engine.Start(t, place(t, s), shared.Config{Lanes: 1}) // calls that arrive during a round form one batch
	for _, keys := range []int{1, 8} {
		last := make([]int64, keys)
		for range 5 {
			reserve := func(key int) error {
				r := dbtest.Order(1)
				r.Key = fmt.Sprint("name/", keys, "/", key)
				lo, _, err := store.Reserve(t.Context(), r)
				if err == nil && lo <= last[key] {
					t.Errorf("%s: %d after %d", r.Key, lo, last[key])
				}
				if err == nil {
					last[key] = lo
				}
				return err
			}
			var err error
			for range 20 {
				var all sync.WaitGroup
				failed := make([]error, keys)
				for key := range keys {
					all.Go(func() { failed[key] = reserve(key) })
				}
				all.Wait()
				err = errors.Join(failed...)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Kill()
			s.Start()
		}
		if slices.Min(last) < 50 {
			t.Errorf("the last numbers are %d", last)
		}
	}
}

// TestSettingsThatChangeWhileServersRun makes settings unsafe and safe again.
// Unsafe ones end the grants.
func TestSettingsThatChangeWhileServersRun(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	db := open(t, s.PostgresURL("postgres"))
	store := engine.Start(t, place(t, s), shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(1), 1)
	set := func(name, value string, ok func(err error) bool) {
		t.Helper()
		execute(t, db, "ALTER SYSTEM SET "+name+" = "+value)
		execute(t, db, "SELECT pg_reload_conf()")
		var err error
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if _, _, err = store.Reserve(t.Context(), dbtest.Order(1)); ok(err) {
				return
			}
		}
		t.Fatalf("%s = %s: %v", name, value, err)
	}
	for _, name := range []string{"fsync", "full_page_writes"} {
		set(name, "off", func(err error) bool { return errors.Is(err, generator.ErrPinned) })
		_, _, err := store.Define(t.Context(), generator.Definition{Name: name, Kind: "k", Options: []byte("{}")})
		dbtest.WantError(t, err, generator.ErrPinned, name+" = off")
		if store.Probe() == nil {
			t.Errorf("%s = off: the store says that it is well", name)
		}
		set(name, "on", func(err error) bool { return err == nil })
		if err := store.Probe(); err != nil {
			t.Errorf("%s is on again: %v", name, err)
		}
	}
}

func TestDatabasesThatAreNotReady(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	t.Run("no tables", func(t *testing.T) {
		_, err := engine.Try(t.Context(), s.PostgresURL("postgres"), shared.Config{})
		dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
		var e *generator.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "nextid migrate store up") {
			t.Errorf("the hint is %q", e.Hint)
		}
	})
	t.Run("unlogged", func(t *testing.T) {
		dsn := place(t, s)
		_, path, _ := strings.Cut(dsn, "search_path=")
		execute(t, open(t, withPath(s.PostgresURL("postgres"), path)), "ALTER TABLE nextid_reservations SET UNLOGGED")
		_, err := engine.Try(t.Context(), dsn, shared.Config{})
		dbtest.WantError(t, err, generator.ErrPinned, "persistence = UNLOGGED")
	})
	t.Run("read-only", func(t *testing.T) {
		_, err := engine.Try(t.Context(), place(t, s)+"&default_transaction_read_only=on", shared.Config{})
		dbtest.WantError(t, err, generator.ErrNotNow, "read-only")
	})
	t.Run("not there", func(t *testing.T) {
		_, err := engine.Try(t.Context(), "postgres://nobody:secret@"+dbtest.FreeAddr(t)+"/x?sslmode=disable", shared.Config{})
		dbtest.WantError(t, err, generator.ErrNotNow, "cannot use the store")
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the message holds the password: %v", err)
		}
	})
	t.Run("serializable by default", func(t *testing.T) {
		dsn := place(t, s) + "&default_transaction_isolation=serializable"
		load := generatortest.StartLoad(t, engine.Start(t, dsn, shared.Config{}), engine.Start(t, dsn, shared.Config{}))
		load.Await(200)
		load.Stop()
	})
}

// Rows 44 and 1 of the fault catalogue: acknowledged reservations outlive a crash.
func TestACrashUnderLoadRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	engine.Crash(t, place(t, s), shared.Config{}, s, 100)
}

// A promoted standby has another timeline. Commits that the primary had not sent
// are lost, so the name stops.
func TestAnAsynchronousFailoverIsNoticed(t *testing.T) {
	t.Parallel()
	primary := dbtest.Postgres(t)
	dsn := place(t, primary)
	a := engine.Start(t, dsn, shared.Config{})
	dbtest.Grant(t, a, dbtest.Order(100), 1)
	standby := primary.PostgresStandby()
	moved := strings.Replace(dsn, primary.Addr, standby.Addr, 1)
	_, err := engine.Try(t.Context(), moved, shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "read-only") // a standby is refused
	dbtest.Grant(t, a, dbtest.Order(100), 101)                 // it may or may not reach the standby
	primary.Kill()
	standby.Promote()

	b := engine.Start(t, moved, shared.Config{}) // a server without a high-water mark
	_, _, err = b.Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored")
	_, _, err = b.Reserve(t.Context(), generator.Reservation{
		Key: generator.WorkerKeyPrefix + "10/1", AtLeast: time.Now().UnixMilli(), N: 1000, Limit: generator.NoLimit,
	})
	dbtest.WantError(t, err, generator.ErrNotNow, "no worker id for another")
	if err := b.Recover(t.Context(), dbtest.Order(1).Key, 1000); err != nil {
		t.Fatal(err)
	}
	dbtest.Grant(t, b, dbtest.Order(1), 1000)
}

// The URL has both addresses: the store goes on at the new primary without a
// restart, and skips the numbers that may be lost.
func TestADeclaredFailoverSkips(t *testing.T) {
	t.Parallel()
	primary := dbtest.Postgres(t)
	dsn := place(t, primary)
	standby := primary.PostgresStandby()
	both := strings.Replace(dsn, primary.Addr, primary.Addr+","+standby.Addr, 1)
	s := engine.Start(t, both, shared.Config{Failover: shared.Skip, Skip: 1_000_000})
	load := generatortest.StartLoad(t, s, engine.Start(t, both, shared.Config{Failover: shared.Skip, Skip: 1_000_000}))
	load.Await(100)
	primary.Kill()
	standby.Promote()
	load.Await(100)
	load.Stop()
	marks, err := s.Reserved(t.Context(), "name/load")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range marks {
		if m.Hi < 1_000_000 || m.Hi > 1_900_000 {
			t.Errorf("%s is at %d: it has not skipped, or twice", m.Key, m.Hi)
		}
	}
}

// Row 48: pg_dump, reservations, restore into the same server.
func TestAnOlderDumpIsNoticed(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	_, schema, _ := strings.Cut(dsn, "search_path=")
	highWater := filepath.Join(t.TempDir(), "witness")
	a := engine.Start(t, dsn, shared.Config{HighWater: highWater})
	dbtest.Grant(t, a, dbtest.Order(100), 1)
	dump := filepath.Join(t.TempDir(), "dump")
	tool := func(name string, args ...string) {
		args = append([]string{"-d", s.PostgresURL("postgres")}, args...)
		if out, err := exec.Command(dbtest.PostgresProgram(t, name), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	tool("pg_dump", "-n", schema, "-Fc", "-f", dump)
	dbtest.Grant(t, a, dbtest.Order(100), 101)
	tool("pg_restore", "--clean", dump)

	_, _, err := a.Reserve(t.Context(), dbtest.Order(1)) // during use
	dbtest.WantError(t, err, generator.ErrRegressed, "gone back")
	a.Close()
	a = engine.Start(t, dsn, shared.Config{HighWater: highWater}) // and after a restart
	_, _, err = a.Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "stopped")
	b := engine.Start(t, dsn, shared.Config{}) // and on other servers
	_, _, err = b.Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "stopped")
	if err := b.Recover(t.Context(), dbtest.Order(1).Key, 201); err != nil {
		t.Fatal(err)
	}
	for _, s := range []generator.Store{a, b} {
		if lo, _, err := s.Reserve(t.Context(), dbtest.Order(10)); err != nil || lo < 201 {
			t.Errorf("after the recovery: %d, %v", lo, err)
		}
	}
}

// Row 43: the connection ends at any byte of the answer. Unanswered numbers are not
// used, and nothing is looked up again.
func TestAConnectionThatIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	engine.CutAnywhere(t, place(t, s), s.Addr, 61)
}

// Row 42: callers of a slow store wait no longer than their deadline.
func TestAStoreThatHangs(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	cut := dbtest.Cut(t, s.Addr)
	store := engine.Start(t, strings.Replace(dsn, s.Addr, cut.Addr, 1), shared.Config{})
	dbtest.Hang(t, store, func() { cut.Set(dbtest.HoldAnswers) }, func() { cut.Set(dbtest.Open) })
}

// Row 56: two connections behind PgBouncer in transaction mode serve all callers,
// so nothing may depend on the session.
func TestThroughPgBouncer(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	_, schema, _ := strings.Cut(dsn, "search_path=")
	execute(t, open(t, s.PostgresURL("postgres")), "ALTER ROLE least SET search_path = "+schema)
	bouncer := dbtest.PgBouncer{
		Mode: "transaction", Server: s.Addr, Database: "postgres", User: "least",
		Settings: []string{"ignore_startup_parameters = search_path"},
	}.Start(t)
	url := "postgres://least@" + bouncer + "/pool?sslmode=disable"
	load := generatortest.StartLoad(t, engine.Start(t, url, shared.Config{}), engine.Start(t, url, shared.Config{}), engine.Start(t, dsn, shared.Config{}))
	load.Await(300)
	s.Kill()
	s.Start()
	load.Await(300)
	load.Stop()
}
