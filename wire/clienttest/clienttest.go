// Package clienttest drives real clients (psql, drivers, mappers, poolers)
// against a real nextid server. Their scripts are in scripts/, one folder a
// client; one that speaks both protocols has one script for both, and the
// name NAME-mysql over MySQL's. Each prints a verdict a check, "ok CLIENT
// CHECK" or "FAIL CLIENT CHECK: why"; what they share is in scripts/verdict.
// To run one by hand against any server:
//
//	HOST=127.0.0.1 PORT=5433 wire/clienttest/scripts/run psql
//	HOST=127.0.0.1 PORT=3307 wire/clienttest/scripts/run gorm-mysql
//
// A plain go test runs a few clients that are quick, TEST_CLIENTS="psql pgx"
// those and their examples. make test-clients runs
// all of them (TEST_CLIENTS=all), installs what they need, runs the
// examples of docs/clients.md and compares the page's table with what passed;
// make docs-clients writes the table.
package clienttest
