// Package clienttest drives real clients (psql, pgbench, libpq programs, Go
// and Python drivers) against a real nextid server. The scripts are in
// scripts/, one folder a client; each prints "ok CLIENT CHECK" or "FAIL
// CLIENT CHECK: why". Run one by hand against any server:
//
//	HOST=127.0.0.1 PORT=5433 USER=postgres PASSWORD=x DB=nextid scripts/psql/run
package clienttest
