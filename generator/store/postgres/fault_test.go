package postgres_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/dbtest"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
)

func order(n int64) generator.Reservation {
	return generator.Reservation{Key: generator.NameKey("orders"), AtLeast: 1, N: n, Limit: generator.NoLimit}
}

func grant(t *testing.T, s generator.Store, r generator.Reservation, want int64) {
	t.Helper()
	if lo, _, err := s.Reserve(t.Context(), r); err != nil || lo != want {
		t.Fatalf("granted from %d, %v; want %d", lo, err, want)
	}
}

func wantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Fatalf("%v, want %v with %q", err, kind, text)
	}
}

func TestSettingsThatLoseIDsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ setting, name string }{
		{"fsync=off", "fsync"}, {"full_page_writes=off", "full_page_writes"}, {"synchronous_commit=off", "synchronous_commit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dsn := place(t, dbtest.Postgres(t, tc.setting))
			_, err := try(t.Context(), dsn, shared.Config{})
			wantError(t, err, generator.ErrPinned, tc.name+" = off")
			grant(t, start(t, dsn, shared.Config{}, tc.name), order(1), 1)
		})
	}
}

func TestDatabasesThatAreNotReady(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	t.Run("no tables", func(t *testing.T) {
		_, err := try(t.Context(), s.PostgresURL("postgres"), shared.Config{})
		wantError(t, err, generator.ErrPinned, "no tables of nextid")
		var e *generator.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "nextid migrate store up") {
			t.Errorf("the hint is %q", e.Hint)
		}
	})
	t.Run("unlogged", func(t *testing.T) {
		dsn := place(t, s)
		_, path, _ := strings.Cut(dsn, "search_path=")
		execute(t, open(t, withPath(s.PostgresURL("postgres"), path)), "ALTER TABLE nextid_reservations SET UNLOGGED")
		_, err := try(t.Context(), dsn, shared.Config{})
		wantError(t, err, generator.ErrPinned, "persistence = UNLOGGED")
	})
	t.Run("read-only", func(t *testing.T) {
		_, err := try(t.Context(), place(t, s)+"&default_transaction_read_only=on", shared.Config{})
		wantError(t, err, generator.ErrNotNow, "read-only")
	})
	t.Run("not there", func(t *testing.T) {
		_, err := try(t.Context(), "postgres://nobody:secret@"+dbtest.FreeAddr(t)+"/x?sslmode=disable", shared.Config{})
		wantError(t, err, generator.ErrNotNow, "cannot use the store")
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the message holds the password: %v", err)
		}
	})
	t.Run("serializable by default", func(t *testing.T) {
		dsn := place(t, s) + "&default_transaction_isolation=serializable"
		load := storetest.StartLoad(t, start(t, dsn, shared.Config{}), start(t, dsn, shared.Config{}))
		load.Await(200)
		load.Stop()
	})
}

// Row 44 and 1 of the fault catalogue: what was acknowledged outlives a crash.
func TestACrashUnderLoadRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	load := storetest.StartLoad(t, start(t, dsn, shared.Config{}), start(t, dsn, shared.Config{}))
	for range 3 {
		load.Await(100)
		s.Kill()
		s.Start()
	}
	load.Await(100)
	load.Stop()
}

// A promoted standby has another timeline. What the primary had confirmed and
// not sent is lost, so the name stops.
func TestAnAsynchronousFailoverIsNoticed(t *testing.T) {
	t.Parallel()
	primary := dbtest.Postgres(t)
	dsn := place(t, primary)
	a := start(t, dsn, shared.Config{})
	grant(t, a, order(100), 1)
	standby := dbtest.PostgresStandby(t, primary)
	moved := strings.Replace(dsn, primary.Addr, standby.Addr, 1)
	_, err := try(t.Context(), moved, shared.Config{})
	wantError(t, err, generator.ErrNotNow, "read-only") // a standby is no store
	primary.PostgresTool("psql", "-c", "SELECT 1")
	grant(t, a, order(100), 101) // it may or may not reach the standby
	primary.Kill()
	standby.Promote()

	b := start(t, moved, shared.Config{}) // a server that has seen nothing of it
	_, _, err = b.Reserve(t.Context(), order(1))
	wantError(t, err, generator.ErrRegressed, "failed over or restored")
	_, _, err = b.Reserve(t.Context(), generator.Reservation{
		Key: generator.WorkerKeyPrefix + "10/1", AtLeast: time.Now().UnixMilli(), N: 1000, Limit: generator.NoLimit,
	})
	wantError(t, err, generator.ErrNotNow, "no worker id before")
	if err := b.Recover(t.Context(), order(1).Key, 1000); err != nil {
		t.Fatal(err)
	}
	grant(t, b, order(1), 1000)
}

// Both addresses in the URL: the store goes on at the new primary without a
// restart, and passes over what may be lost.
func TestADeclaredFailoverSkips(t *testing.T) {
	t.Parallel()
	primary := dbtest.Postgres(t)
	dsn := place(t, primary)
	standby := dbtest.PostgresStandby(t, primary)
	both := strings.Replace(dsn, primary.Addr, primary.Addr+","+standby.Addr, 1)
	s := start(t, both, shared.Config{Failover: shared.Skip, Skip: 1_000_000})
	load := storetest.StartLoad(t, s, start(t, both, shared.Config{Failover: shared.Skip, Skip: 1_000_000}))
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

// Row 48: pg_dump, allocate, restore into the same server.
func TestAnOlderDumpIsNoticed(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	_, schema, _ := strings.Cut(dsn, "search_path=")
	witness := filepath.Join(t.TempDir(), "witness")
	a := start(t, dsn, shared.Config{Witness: witness})
	grant(t, a, order(100), 1)
	dump := filepath.Join(s.Dir, "dump")
	s.PostgresTool("pg_dump", "-d", "postgres", "-n", schema, "-Fc", "-f", dump)
	grant(t, a, order(100), 101)
	s.PostgresTool("pg_restore", "-d", "postgres", "--clean", dump)

	_, _, err := a.Reserve(t.Context(), order(1)) // while it runs
	wantError(t, err, generator.ErrRegressed, "gone back")
	a.Close()
	a = start(t, dsn, shared.Config{Witness: witness}) // and after a restart
	_, _, err = a.Reserve(t.Context(), order(1))
	wantError(t, err, generator.ErrRegressed, "stopped")
	b := start(t, dsn, shared.Config{}) // and on other servers
	_, _, err = b.Reserve(t.Context(), order(1))
	wantError(t, err, generator.ErrRegressed, "stopped")
	if err := b.Recover(t.Context(), order(1).Key, 201); err != nil {
		t.Fatal(err)
	}
	for _, s := range []generator.Store{a, b} {
		if lo, _, err := s.Reserve(t.Context(), order(10)); err != nil || lo < 201 {
			t.Errorf("after the recovery: %d, %v", lo, err)
		}
	}
}

// Row 43: the connection ends at any byte of the answer. What is not answered
// is not used, and nothing is looked up again.
func TestAConnectionThatIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	cut := dbtest.Cut(t, s.Addr)
	load := storetest.StartLoad(t, start(t, strings.Replace(dsn, s.Addr, cut.Addr, 1), shared.Config{}), start(t, dsn, shared.Config{}))
	for i := range int64(60) {
		before := load.Refused()
		cut.After(1 + 61*i) // from the start of a connection to some way into the answers
		for end := time.Now().Add(20 * time.Second); load.Refused() == before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	cut.After(0)
	load.Await(20)
	load.Stop()
	if load.Refused() < 60 {
		t.Errorf("only %d connections were cut", load.Refused())
	}
}

// Row 42: a slow store makes callers wait no longer than they want to.
func TestAStoreThatHangs(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	cut := dbtest.Cut(t, s.Addr)
	store := start(t, strings.Replace(dsn, s.Addr, cut.Addr, 1), shared.Config{Timeout: time.Second})
	grant(t, store, order(10), 1)
	cut.Hang(true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, _, err := store.Reserve(ctx, order(10))
	wantError(t, err, generator.ErrRetry, "no answer from the store in time")
	if waited := time.Since(began); waited > time.Second {
		t.Errorf("waited %v", waited)
	}
	cut.Hang(false)
	for end := time.Now().Add(20 * time.Second); ; {
		lo, _, err := store.Reserve(t.Context(), order(10))
		if err == nil {
			if lo < 11 {
				t.Errorf("granted from %d", lo)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// Row 56: two connections behind PgBouncer in transaction mode serve all, so
// nothing may depend on the session.
func TestThroughPgBouncer(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	dsn := place(t, s)
	_, schema, _ := strings.Cut(dsn, "search_path=")
	execute(t, open(t, s.PostgresURL("postgres")), "ALTER ROLE least SET search_path = "+schema)
	bouncer := dbtest.PgBouncer(t, s, "least")
	url := bouncer.PostgresURL("least")
	load := storetest.StartLoad(t, start(t, url, shared.Config{}), start(t, url, shared.Config{}), start(t, dsn, shared.Config{}))
	load.Await(300)
	s.Kill()
	s.Start()
	load.Await(300)
	load.Stop()
}
