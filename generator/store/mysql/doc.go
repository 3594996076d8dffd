// Package mysql is the shared store on MySQL and MariaDB, and on databases that
// speak their protocol and SQL: TiDB and Vitess. Engine implements shared.Engine;
// Driver describes it to the server.
//
// A round of reservations is one text of several statements: START TRANSACTION to
// COMMIT, and a last SELECT. So it takes one round trip and one commit. The result
// of that SELECT proves that the commit was done. A row keeps the random token of
// its last reservation; the token shows which asks were granted.
//
// The epoch is MySQL's server_uuid, and on MariaDB server_id and gtid_domain_id.
// TiDB and Vitess do not identify a server; there the epoch is constant.
//
// These settings are refused, unless Config.Unsafe names them:
// innodb_flush_log_at_trx_commit other than 1, innodb_doublewrite = OFF,
// sync_binlog other than 1 if the binary log is on, and tables in another engine
// than InnoDB. Each new connection checks all of them, each reservation all but the
// engine.
package mysql
