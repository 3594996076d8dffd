// Package postgres is the shared store on PostgreSQL, and on databases that speak
// its protocol and SQL: CockroachDB and YugabyteDB. Engine implements
// shared.Engine; Driver describes it to the server.
//
// A round of reservations is one pipeline of INSERT … ON CONFLICT DO UPDATE …
// RETURNING statements with one Sync at its end. So it takes one round trip, one
// implicit transaction and one flush of the log. Statements are not prepared and
// sessions are not changed, so a PgBouncer in transaction mode may be in between.
//
// The epoch is PostgreSQL's system identifier and timeline. Another cluster, a
// promoted standby and point-in-time recovery change it; a crash does not. On
// CockroachDB it is the cluster's id. On YugabyteDB it is constant.
//
// These settings are refused, unless Config.Unsafe names them: fsync = off and
// full_page_writes = off (checked with every reservation), and UNLOGGED or
// temporary tables (checked by each new connection). synchronous_commit = off is
// overridden in each transaction.
package postgres
