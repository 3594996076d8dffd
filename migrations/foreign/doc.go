// Package foreign installs nextid in the databases of applications: after
// Up, an application's own table can say
//
//	id bigint PRIMARY KEY DEFAULT nextid.next_id('orders')
//
// In MySQL and MariaDB, where a DEFAULT may not call a function, a trigger
// fills the column.
//
// The objects are goose migrations, one folder a database (postgres,
// postgres_mysql for mysql_fdw, mysql). What
// is configuration (the server's address, the login, who may call the
// functions) is a template beside them, which every Up applies again.
//
// Open chooses the database by the scheme of its URL. A further one is one
// more implementation of Database, one more folder, and one row of drivers.
package foreign
