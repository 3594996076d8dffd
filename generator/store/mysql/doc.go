// Package mysql is the shared store on MySQL and MariaDB, and on databases
// that speak their protocol and SQL: TiDB and Vitess.
//
// A round of reservations is one text of several statements, from START
// TRANSACTION to COMMIT and a SELECT after it whose answer shows that the
// commit was done: one round trip, one commit. A row keeps the random token
// of its last reservation; in the answer it tells which asks were granted.
//
// The epoch is MySQL's server_uuid, and on MariaDB server_id and
// gtid_domain_id. On TiDB and behind Vitess no server can be told; there it
// is always the same.
//
// Refused, unless Config.Unsafe names the setting:
// innodb_flush_log_at_trx_commit other than 1, innodb_doublewrite = OFF,
// sync_binlog other than 1 where the binary log is on, and tables in another
// engine than InnoDB. The settings are looked at with every reservation.
package mysql
