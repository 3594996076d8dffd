// Package clienttest runs real clients (psql, drivers, mappers, poolers) against a
// real nextid server. Their scripts are in scripts/, one folder a client. A client
// of both protocols has one script; over MySQL's protocol its name is NAME-mysql. A
// script prints a line for each check, "ok CLIENT CHECK" or "FAIL CLIENT CHECK:
// why". Go scripts print it with scripts/verdict. To run one by hand against any
// server:
//
//	HOST=127.0.0.1 PORT=5433 wire/clienttest/scripts/run psql
//	HOST=127.0.0.1 PORT=3307 wire/clienttest/scripts/run gorm-mysql
//
// A plain go test runs a few quick clients, TEST_CLIENTS="psql pgx" these two and
// their examples. make test-clients runs all of them (TEST_CLIENTS=all): it installs
// their packages, runs the examples of docs/clients.md, and compares the table of
// that page with the results. make docs-clients writes the table.
package clienttest
