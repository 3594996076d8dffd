// Package foreign installs functions in the databases of applications that draw ids
// from a nextid server. After Up, a table can be declared with
//
//	id bigint PRIMARY KEY DEFAULT nextid.next_id('orders')
//
// In MySQL and MariaDB a DEFAULT may not call a function of the user. There a
// trigger sets the column (Fill).
//
// Open returns a Database by the scheme of its URL: postgres or mysqlApp. Both embed
// app, which runs what they have in common. A Config says what Up installs. Status
// describes what is installed. A Server is the nextid server, as the application's
// database reaches it.
//
// The objects are goose migrations: folder postgres for postgres_fdw, postgres_mysql
// for mysql_fdw, and mysql. The configuration is not part of a migration: the
// server's address, the login, and the grants. Templates in connect/ hold it, and
// every Up applies them again.
//
// Up and Down run under an advisory lock in the database, so two of them never
// interleave. All objects are in a schema of their own, nextid; Down drops it. In
// PostgreSQL only the role that ran Up can log in at the server.
package foreign
