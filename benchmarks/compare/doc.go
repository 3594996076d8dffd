// Package compare implements nextid-bench compare. It compares sources of the ids of
// a table: the table's own server, several servers with offsets, UUIDs, Redis, a
// ticket table, and nextid.
//
// All contestants fill the same table, with the same client (package load), and are
// measured in turns. Measured are ids and rows per second at several numbers of
// clients, latency at a fixed rate, CPU, bytes on the wire, the size of a large
// table, the order of ids, and the effects of a failover and of one more shard. If a
// contestant fails, the report notes that, and the others are still measured. An
// interrupted run returns an incomplete report.
//
// A run has one goroutine, which owns the contestants' figures. Only addshard.go and
// fed.go use several clients in goroutines of their own.
//
//	contestant.go  contestant: the sources of ids, one entry each
//	work.go        inserter: the operations of a client
//	stage.go       stage: the servers, and the tables on them
//	rows.go        figures: ids and rows per second, latency, CPU, wire, order
//	tables.go      growth: the size of a large table, and the bytes written for it
//	failover.go    duplicate ids after a crash, or with a late standby
//	addshard.go    from N shards to N+1
//	fed.go         sequences fed by nextid migrate feed
//	sections.go    the report
package compare
