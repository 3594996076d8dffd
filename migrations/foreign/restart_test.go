package foreign_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/generator/history"
	"nextid/migrations/foreign"
)

// TestServerRestarts: postgres_fdw notices a lost connection when it begins a
// transaction on the server, and then connects again. Within a transaction it
// cannot. dblink can, because it has no transaction on the server.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		end  func(*server)
	}{{"killed", (*server).kill}, {"stopped", (*server).stop}} {
		t.Run(end.name, func(t *testing.T) {
			server := startServer(t)
			var log history.Log
			s := connect(t, sharedCluster(t).install(t, server), &log)
			restart := func() {
				end.end(server)
				server.start()
			}
			const single, batch, dblink = "SELECT nextid.next_id('orders')", "SELECT nextid.next_id('batches', 5)", "SELECT nextid.dblink_next_id('links')"

			// Between transactions a restart causes no error, except in PostgreSQL
			// 13.
			s.draws(1, "orders", single)
			s.draws(1, "batches", batch)
			s.draws(1, "links", dblink)
			restart()
			s.reconnect()
			s.draws(1, "orders", single)
			restart()
			s.reconnect()
			s.draws(1, "batches", batch)
			s.draws(1, "links", dblink)
			s.draws(1, "orders", single)

			// The first draw of a transaction begins the transaction on the server.
			s.exec("CREATE TABLE t (n int)")
			s.exec("BEGIN; SELECT FROM t")
			restart()
			s.reconnect()
			s.draws(1, "orders", single)
			s.exec("COMMIT")

			s.exec("BEGIN")
			s.draws(1, "orders", single)
			s.draws(1, "links", dblink)
			restart()
			s.draws(1, "links", dblink)  // connects again
			s.draws(1, "batches", batch) // needs no server until its batch is used up
			s.failsWith(single, "08006", "57P01")
			s.exec("ROLLBACK")
			s.draws(1, "orders", single)

			// A transaction that needs no more ids fails, too: PostgreSQL commits on
			// the server first.
			s.exec("BEGIN; INSERT INTO t VALUES (1)")
			s.draws(1, "orders", single)
			restart()
			s.failsWith("COMMIT", "08006", "57P01")
			if n := s.numbers("SELECT count(*) FROM t")[0]; n != 0 {
				t.Error("half of a transaction was kept")
			}
			s.draws(1, "orders", single)

			// While the server is down.
			end.end(server)
			s.reconnect()
			s.fails("08001", "SELECT nextid.next_id('fresh')")
			s.fails("08001", "SELECT nextid.next_id('fresh', 5)")
			s.fails("08001", "SELECT nextid.dblink_next_id('fresh')")
			s.draws(1, "batches", batch)
			server.start()
			s.draws(1, "orders", single)
			s.draws(7, "batches", "SELECT nextid.next_id('batches', 5) FROM generate_series(1, 7)")
			s.draws(1, "links", dblink)
			check(t, &log)
		})
	}
}

// reconnect makes PostgreSQL 13 notice that the server has ended: a statement and
// its transaction fail before postgres_fdw connects again.
func (s *session) reconnect() {
	s.t.Helper()
	if s.version() < 140000 {
		s.failsWith("SELECT nextid.next_id('orders')", "08006")
		s.exec("ROLLBACK")
	}
}

// failsWith checks that a statement fails with one of the SQLSTATEs.
func (s *session) failsWith(sql string, codes ...string) {
	s.t.Helper()
	err := s.try(sql)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !slices.Contains(codes, pg.Code) {
		s.t.Fatalf("%s: %v, not one of SQLSTATE %v", sql, err, codes)
	}
}

// TestSecondServerTakesOver: with two addresses, libpq tries them in order.
func TestSecondServerTakesOver(t *testing.T) {
	t.Parallel()
	first, second := startServer(t), startServer(t)
	dsn := sharedCluster(t).database(t)
	up(t, dsn, foreign.Config{Server: parseServer(t, "postgres://app@"+first.address+","+second.address+"/nextid"), Grant: []string{"PUBLIC"}})
	if s := status(t, dsn); !s.Current() || s.Server != first.address+","+second.address {
		t.Errorf("status %+v", s)
	}
	s := connect(t, dsn, nil)
	s.exec("SELECT nextid.next_id('orders'), nextid.dblink_next_id('orders')")
	first.kill()
	s.reconnect()
	s.exec("SELECT nextid.next_id('orders')")
	s.exec("SELECT nextid.dblink_next_id('orders')")
}

// TestLongTransaction: a transaction of the application keeps one open on the
// server. The server must not end it as idle.
func TestLongTransaction(t *testing.T) {
	t.Parallel()
	server := startServer(t, "NEXTID_LIMITS_IDLE_IN_TRANSACTION_TIMEOUT=200ms")
	dsn := sharedCluster(t).install(t, server)
	s := connect(t, dsn, nil)
	const slow = "BEGIN; SELECT nextid.next_id('orders'); SELECT pg_sleep(0.6); COMMIT"
	s.exec(slow)

	// Without the option that up sets, it would.
	s.exec("ALTER SERVER nextid OPTIONS (DROP options)")
	s = connect(t, dsn, nil)
	s.failsWith(slow, "25P03", "08006")
}

// TestStatementTimeout: statement_timeout bounds the wait for a server that hangs.
func TestStatementTimeout(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	s := connect(t, sharedCluster(t).install(t, server), nil)
	s.exec("SELECT nextid.next_id('orders')")
	server.freeze()
	s.exec("SET statement_timeout = '300ms'")
	start := time.Now()
	s.fails("57014", "SELECT nextid.next_id('orders')")
	s.exec("SELECT 1")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("ended after %v", took)
	}
	server.thaw()
	s.exec("SET statement_timeout = 0; SELECT nextid.next_id('orders')")
}

// TestTwoPhaseCommit: postgres_fdw cannot prepare a transaction that has read from
// the server. A draw from a present batch does not read.
func TestTwoPhaseCommit(t *testing.T) {
	t.Parallel()
	s := connect(t, startCluster(t, "max_prepared_transactions=2").install(t, startServer(t)), nil)
	s.exec("SELECT nextid.next_id('orders', 10)")
	s.exec("BEGIN; SELECT nextid.next_id('orders', 10); PREPARE TRANSACTION 'a'")
	s.exec("COMMIT PREPARED 'a'")
	s.exec("BEGIN; SELECT nextid.dblink_next_id('orders'); PREPARE TRANSACTION 'b'")
	s.exec("COMMIT PREPARED 'b'")
	s.exec("BEGIN; SELECT nextid.next_id('orders')")
	s.fails("0A000", "PREPARE TRANSACTION 'c'")
}
