// Package mariadbtest starts a private MariaDB for tests that compare nextid
// with the real thing or use it as an application's database. Only tests
// import it.
package mariadbtest

import (
	"slices"
	"testing"

	"nextid/generator/store/dbtest"
)

// quick are settings of a server that is thrown away.
var quick = []string{
	"innodb-flush-log-at-trx-commit=0", "innodb-doublewrite=0", "sync-binlog=0", "key-buffer-size=64K",
	"default-time-zone=+00:00", "character-set-server=utf8mb4", "max-connections=151", "skip-name-resolve=0",
}

// Start runs a new MariaDB server until the test ends and returns its
// address, host:port on loopback, and its Unix socket. The account root has
// all rights, no password, and may come over both; the database test exists.
// settings are extra server options, "max-connections=200". It skips the test
// when MariaDB is not installed.
func Start(t testing.TB, settings ...string) (addr, socket string) {
	t.Helper()
	s := dbtest.MariaDB(t, slices.Concat(quick, settings)...)
	return s.Addr, s.Socket()
}
