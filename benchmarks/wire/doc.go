// Command wire compares a nextid server with PostgreSQL's nextval (CACHE 1),
// with MariaDB's NEXT VALUE FOR (CACHE 1000), and with a canned responder in C
// (c/floor.c: the floor that system calls and TCP set), in one run on one
// machine:
//
//	go run ./benchmarks/wire            (or: make bench)
//
// It builds the C programs with gcc, starts PostgreSQL and MariaDB from their
// Debian packages in a temporary directory, the floor and nextid, and lets one
// light closed-loop client (c/load.c) and pgbench ask each in turn, A B C, B C A,
// …, so that a machine whose speed drifts does not favour one. It prints
// medians and, per round, ratios: absolute numbers of two runs are not
// comparable, ratios within a run are.
package main
