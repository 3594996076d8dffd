package mysql_test

import (
	"errors"
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
	s := dbtest.MariaDB(t, "log-bin=binlog", "sync-binlog=0", "innodb-flush-log-at-trx-commit=2", "innodb-doublewrite=0")
	url := place(t, s)
	db := open(t, s.MySQLURL("root", strings.TrimPrefix(url[strings.LastIndexByte(url, '/'):], "/")))
	_, err := try(t.Context(), url, shared.Config{})
	wantError(t, err, generator.ErrPinned, "innodb_flush_log_at_trx_commit = 2")
	execute(t, db, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	_, err = try(t.Context(), url, shared.Config{})
	wantError(t, err, generator.ErrPinned, "innodb_doublewrite = ")
	_, err = try(t.Context(), url, shared.Config{}, "innodb_doublewrite")
	wantError(t, err, generator.ErrPinned, "sync_binlog = 0")
	execute(t, db, "SET GLOBAL sync_binlog = 1")
	grant(t, start(t, url, shared.Config{}, "innodb_doublewrite"), order(1), 1)
	execute(t, db, "ALTER TABLE nextid_generators ENGINE = Aria")
	_, err = try(t.Context(), url, shared.Config{}, "innodb_doublewrite")
	wantError(t, err, generator.ErrPinned, "engine = Aria")
	grant(t, start(t, url, shared.Config{}, "innodb_doublewrite", "engine"), order(1), 2)
	execute(t, db, "SET GLOBAL read_only = 1")
	_, err = try(t.Context(), url, shared.Config{}, "innodb_doublewrite", "engine")
	wantError(t, err, generator.ErrNotNow, "read-only")
}

func TestDatabasesThatAreNotReady(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	_, err := try(t.Context(), s.MySQLURL("root", "nextid"), shared.Config{})
	wantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = try(t.Context(), strings.Replace(s.MySQLURL("root:secret", "nextid"), s.Addr, dbtest.FreeAddr(t), 1), shared.Config{})
	wantError(t, err, generator.ErrNotNow, "cannot use the store")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the message holds the password: %v", err)
	}
	// A server that becomes read-only while it is used, and a primary again.
	url := place(t, s)
	store := start(t, url, shared.Config{})
	grant(t, store, order(10), 1)
	db := open(t, s.MySQLURL("root", "mysql"))
	execute(t, db, "SET GLOBAL read_only = 1")
	_, _, err = store.Reserve(t.Context(), order(10))
	wantError(t, err, generator.ErrNotNow, "read-only")
	execute(t, db, "SET GLOBAL read_only = 0")
	grant(t, store, order(10), 11)
}

func TestACrashUnderLoadRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	url := place(t, s)
	load := storetest.StartLoad(t, start(t, url, shared.Config{}), start(t, url, shared.Config{}))
	for range 3 {
		load.Await(100)
		s.Kill()
		s.Start()
	}
	load.Await(100)
	load.Stop()
}

// The server_id is that of another server: a replica was promoted, or a
// backup was restored elsewhere.
func TestAnotherServerIsNoticed(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	url := place(t, s)
	a := start(t, url, shared.Config{})
	grant(t, a, order(100), 1)
	execute(t, open(t, s.MySQLURL("root", "mysql")), "SET GLOBAL server_id = 77")
	_, _, err := a.Reserve(t.Context(), order(1))
	wantError(t, err, generator.ErrRegressed, "failed over or restored (1/0, now 77/0)")
	if err := a.Recover(t.Context(), order(1).Key, 500); err != nil {
		t.Fatal(err)
	}
	grant(t, a, order(1), 500)
	execute(t, open(t, s.MySQLURL("root", "mysql")), "SET GLOBAL server_id = 1")
	b := start(t, url, shared.Config{Failover: shared.Skip, Skip: 1000})
	grant(t, b, order(1), 1501)
}

func TestAConnectionThatIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	url := place(t, s)
	cut := dbtest.Cut(t, s.Addr)
	load := storetest.StartLoad(t, start(t, strings.Replace(url, s.Addr, cut.Addr, 1), shared.Config{}), start(t, url, shared.Config{}))
	for i := range int64(60) {
		before := load.Refused()
		cut.After(1 + 31*i)
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
