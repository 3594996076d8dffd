package dbtest

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// The settings of servers whose data nobody needs after the test: they sync
// nothing.
var (
	quickPostgres = []string{
		"fsync=off", "synchronous_commit=off", "full_page_writes=off", "timezone=UTC", "log_timezone=UTC", "max_connections=100",
	}
	quickMariaDB = []string{
		"innodb-flush-log-at-trx-commit=0", "innodb-doublewrite=0", "sync-binlog=0", "key-buffer-size=64K",
		"default-time-zone=+00:00", "character-set-server=utf8mb4", "max-connections=151", "skip-name-resolve=0",
	}
)

// QuickPostgres starts a PostgreSQL for tests that compare with it or use it
// as an application's database, and returns the URL of its database postgres,
// for a superuser without password.
func QuickPostgres(t testing.TB, settings ...string) (dsn string) {
	t.Helper()
	return Postgres(t, slices.Concat(quickPostgres, settings)...).PostgresURL("postgres")
}

// QuickMariaDB starts a MariaDB for such tests and returns its address and its
// Unix socket. The account root has all rights, no password, and may come over
// both; the database test exists.
func QuickMariaDB(t testing.TB, settings ...string) (addr, socket string) {
	t.Helper()
	s := MariaDB(t, slices.Concat(quickMariaDB, settings)...)
	return s.Addr, s.Socket()
}

// PostgresPrograms is the directory of PostgreSQL's programs (psql, pg_dump,
// pgbench).
func PostgresPrograms(t testing.TB) string {
	t.Helper()
	return filepath.Dir(program(t, "postgresql", "/usr/lib/postgresql/*/bin/postgres"))
}

// common is the PostgreSQL of a test program, once a test has asked for it.
var common struct {
	mu   sync.Mutex
	dsn  string
	ends []func()
}

// SharedPostgres is QuickPostgres for tests that do not mind others on the same
// server: all calls in one test program return the same one, with
// max_connections 300. The program's TestMain must end with StopShared.
func SharedPostgres(t testing.TB) (dsn string) {
	t.Helper()
	common.mu.Lock()
	defer common.mu.Unlock()
	if common.dsn == "" {
		common.dsn = QuickPostgres(&lasting{TB: t}, "max_connections=300")
	}
	return common.dsn
}

// StopShared ends the server of SharedPostgres, if a test has started it.
func StopShared() {
	common.mu.Lock()
	defer common.mu.Unlock()
	for _, end := range slices.Backward(common.ends) {
		end()
	}
	common.dsn, common.ends = "", nil
}

// lasting is a test whose clean-up waits for StopShared.
type lasting struct{ testing.TB }

func (l *lasting) Cleanup(end func()) { common.ends = append(common.ends, end) }

// Failed is false: the test is over when the server ends, and takes no log.
func (*lasting) Failed() bool { return false }
