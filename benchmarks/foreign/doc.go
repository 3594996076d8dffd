// Command foreign measures what a column's DEFAULT costs in an application's
// PostgreSQL that asks nextid for it, beside a sequence of its own:
//
//	go run ./benchmarks/foreign
//
// It starts PostgreSQL from its Debian package and a nextid, both on this
// machine, runs nextid migrate foreign up, and loads tables with
//
//	INSERT INTO t (note) SELECT … FROM generate_series(1, 100000)
//
// one kind of DEFAULT after the other, in turns, so that a machine whose
// speed drifts does not favour one. It prints medians and, per round, ratios
// to the sequence: absolute numbers of two runs are not comparable, ratios
// within a run are.
package main
