package mysql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/counter"
	"nextid/generator/store/shared"
)

func TestSettingsThatLoseIDsAreRefused(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t, "log-bin=binlog", "sync-binlog=0", "innodb-flush-log-at-trx-commit=2", "innodb-doublewrite=0")
	url := place(t, s)
	db := open(t, s.MySQLURL("root", strings.TrimPrefix(url[strings.LastIndexByte(url, '/'):], "/")))
	_, err := engine.Try(t.Context(), url, shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "innodb_flush_log_at_trx_commit = 2")
	execute(t, db, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	_, err = engine.Try(t.Context(), url, shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "innodb_doublewrite = ")
	_, err = engine.Try(t.Context(), url, shared.Config{}, "innodb_doublewrite")
	dbtest.WantError(t, err, generator.ErrPinned, "sync_binlog = 0")
	execute(t, db, "SET GLOBAL sync_binlog = 1")
	dbtest.Grant(t, engine.Start(t, url, shared.Config{}, "innodb_doublewrite"), dbtest.Order(1), 1)
	execute(t, db, "ALTER TABLE nextid_generators ENGINE = Aria")
	_, err = engine.Try(t.Context(), url, shared.Config{}, "innodb_doublewrite")
	dbtest.WantError(t, err, generator.ErrPinned, "engine = Aria")
	dbtest.Grant(t, engine.Start(t, url, shared.Config{}, "innodb_doublewrite", "engine"), dbtest.Order(1), 2)
	execute(t, db, "SET GLOBAL read_only = 1")
	_, err = engine.Try(t.Context(), url, shared.Config{}, "innodb_doublewrite", "engine")
	dbtest.WantError(t, err, generator.ErrNotNow, "read-only")
}

func TestDatabasesThatAreNotReady(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	_, err := engine.Try(t.Context(), s.MySQLURL("root", "test"), shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = engine.Try(t.Context(), strings.Replace(s.MySQLURL("root:secret", "test"), s.Addr, dbtest.FreeAddr(t), 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "cannot use the store")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the message holds the password: %v", err)
	}
	// A server becomes read-only during use, and then a primary again.
	url := place(t, s)
	store := engine.Start(t, url, shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(10), 1)
	db := open(t, s.MySQLURL("root", "mysql"))
	execute(t, db, "SET GLOBAL read_only = 1")
	_, _, err = store.Reserve(t.Context(), dbtest.Order(10))
	dbtest.WantError(t, err, generator.ErrNotNow, "read-only")
	execute(t, db, "SET GLOBAL read_only = 0")
	dbtest.Grant(t, store, dbtest.Order(10), 11)
}

// TestSettingsThatChangeWhileServersRun makes settings unsafe and safe again.
// Unsafe ones end the grants.
func TestSettingsThatChangeWhileServersRun(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t, "log-bin=binlog", "sync-binlog=1")
	url := place(t, s)
	db := open(t, s.MySQLURL("root", "mysql"))
	store := engine.Start(t, url, shared.Config{})
	dbtest.Grant(t, store, dbtest.Order(1), 1)
	for name, bad := range map[string]string{"innodb_flush_log_at_trx_commit": "0", "sync_binlog": "0"} {
		execute(t, db, "SET GLOBAL "+name+" = "+bad)
		_, _, err := store.Reserve(t.Context(), dbtest.Order(1))
		dbtest.WantError(t, err, generator.ErrPinned, name+" = "+bad)
		_, _, err = store.Define(t.Context(), generator.Definition{Name: name, Kind: "k", Options: []byte("{}")})
		dbtest.WantError(t, err, generator.ErrPinned, name+" = "+bad)
		if store.Probe() == nil {
			t.Errorf("%s = %s: the store says that it is well", name, bad)
		}
		execute(t, db, "SET GLOBAL "+name+" = 1")
		if _, _, err := store.Reserve(t.Context(), dbtest.Order(1)); err != nil || store.Probe() != nil {
			t.Errorf("%s is set right: %v, %v", name, err, store.Probe())
		}
	}
}

// TestWhatSessionsInherit checks that neither the server's defaults nor the URL change
// what the statements rely on: each commits, and tells how many rows it changed.
func TestWhatSessionsInherit(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	url := place(t, s)
	execute(t, open(t, s.MySQLURL("root", "mysql")), "SET GLOBAL autocommit = 0")
	for i, parameters := range []string{"", "?autocommit=0", "?clientFoundRows=true"} {
		store := engine.Start(t, url+parameters, shared.Config{})
		_, created, err := store.Define(t.Context(), generator.Definition{Name: "orders", Kind: "k", Options: []byte("{}")})
		if err != nil || created != (i == 0) {
			t.Errorf("%q: created %t, %v", parameters, created, err)
		}
		store.Close()
	}
}

func TestACrashUnderLoadRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	engine.Crash(t, place(t, s), shared.Config{}, s, 100)
}

// The server_id becomes that of another server, as after a failover or a restore
// elsewhere.
func TestAnotherServerIsNoticed(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	url := place(t, s)
	a := engine.Start(t, url, shared.Config{})
	dbtest.Grant(t, a, dbtest.Order(100), 1)
	execute(t, open(t, s.MySQLURL("root", "mysql")), "SET GLOBAL server_id = 77")
	_, _, err := a.Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored (1/0, now 77/0)")
	if err := a.Recover(t.Context(), dbtest.Order(1).Key, 500); err != nil {
		t.Fatal(err)
	}
	dbtest.Grant(t, a, dbtest.Order(1), 500)
	execute(t, open(t, s.MySQLURL("root", "mysql")), "SET GLOBAL server_id = 1")
	b := engine.Start(t, url, shared.Config{Failover: shared.Skip, Skip: 1000})
	dbtest.Grant(t, b, dbtest.Order(1), 1501)
}

// The database forgets that a held number was confirmed: it is not given again, also
// after the name was recovered.
func TestAConfirmationThatWasLost(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	root := open(t, s.MySQLURL("root", "mysql"))
	store := engine.Start(t, place(t, s), shared.Config{})
	kind := counter.Kind(store, generator.SystemClock{}, "test")
	options, err := kind.Normalize([]byte(`{"holds":true}`))
	if err != nil {
		t.Fatal(err)
	}
	d := generator.Definition{Name: "bills", Kind: kind.Name(), Options: options}
	hold := func() (int64, error) {
		g, err := kind.Open(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		return g.(generator.Holder).Hold(t.Context(), time.Millisecond, generator.HeldBy{Name: "a"})
	}
	if n, err := hold(); n != 1 || err != nil { // it may have been confirmed on the primary before
		t.Fatal(n, err)
	}
	time.Sleep(10 * time.Millisecond)
	execute(t, root, "SET GLOBAL server_id = 77")
	for range 2 {
		_, err = hold()
		dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored")
	}
	recoverable, _ := generator.KindAs[generator.Recoverable](kind)
	if err := recoverable.Recover(t.Context(), d, 100); err != nil {
		t.Fatal(err)
	}
	if n, err := hold(); n < 100 || err != nil {
		t.Errorf("held %d, %v", n, err)
	}
}

// A replica is promoted without the newest writes of its primary.
func TestAReplicaThatIsPromoted(t *testing.T) {
	t.Parallel()
	primary := dbtest.MariaDB(t, "server-id=1", "log-bin=binlog", "sync-binlog=1")
	replica := dbtest.MariaDB(t, "server-id=2", "log-bin=binlog", "sync-binlog=1", "read-only=1")
	on := open(t, replica.MySQLURL("root", "mysql"))
	execute(t, open(t, primary.MySQLURL("root", "mysql")), "CREATE USER copy@'%' IDENTIFIED BY 'copy'")
	execute(t, open(t, primary.MySQLURL("root", "mysql")), "GRANT REPLICATION SLAVE ON *.* TO copy@'%'")
	host, port, _ := strings.Cut(primary.Addr, ":")
	execute(t, on, fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='copy', MASTER_PASSWORD='copy', MASTER_USE_GTID=slave_pos", host, port))
	execute(t, on, "START SLAVE")
	url := place(t, primary)
	a := engine.Start(t, url, shared.Config{})
	dbtest.Grant(t, a, dbtest.Order(100), 1)
	moved := strings.Replace(url, primary.Addr, replica.Addr, 1)
	var has string
	var late int
	if err := open(t, primary.MySQLURL("root", "mysql")).QueryRow("SELECT @@GLOBAL.gtid_binlog_pos").Scan(&has); err != nil {
		t.Fatal(err)
	}
	if err := on.QueryRow("SELECT MASTER_GTID_WAIT(?, 60)", has).Scan(&late); err != nil || late != 0 {
		t.Fatalf("the replica does not have the numbers: %d, %v", late, err)
	}
	_, err := engine.Try(t.Context(), moved, shared.Config{})
	if err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Fatalf("a replica that follows: %v", err)
	}
	execute(t, on, "STOP SLAVE")
	dbtest.Grant(t, a, dbtest.Order(100), 101) // the replica never receives this
	primary.Kill()
	execute(t, on, "RESET SLAVE ALL")
	execute(t, on, "SET GLOBAL read_only = 0")

	b := engine.Start(t, moved, shared.Config{}) // a server without a high-water mark
	_, _, err = b.Reserve(t.Context(), dbtest.Order(1))
	dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored")
	if err := b.Recover(t.Context(), dbtest.Order(1).Key, 1000); err != nil {
		t.Fatal(err)
	}
	dbtest.Grant(t, b, dbtest.Order(1), 1000)
}

func TestAConnectionThatIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	engine.CutAnywhere(t, place(t, s), s.Addr, 31)
}
