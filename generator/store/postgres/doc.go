// Package postgres is the shared store on PostgreSQL, and on databases that
// speak its protocol and SQL: CockroachDB and YugabyteDB.
//
// A round of reservations is one pipeline of INSERT … ON CONFLICT DO UPDATE …
// RETURNING statements with one Sync at its end: one round trip, one implicit
// transaction, one flush of the log. Statements are not prepared and sessions
// are not changed, so a PgBouncer in transaction mode may stand between.
//
// The epoch is PostgreSQL's system identifier and timeline: another cluster,
// a promoted standby and point-in-time recovery change it, a crash does not.
// On CockroachDB it is the cluster's id.
//
// Refused, unless Config.Unsafe names the setting: fsync = off,
// full_page_writes = off (both with every reservation), and tables that are
// UNLOGGED or temporary. synchronous_commit = off is overruled for each
// transaction.
package postgres
