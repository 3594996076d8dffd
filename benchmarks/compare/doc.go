// Package compare answers, on the machine it runs on, where the ids of a
// table should come from: the table's own server, several servers with
// offsets, UUIDs, Redis, a ticket table, or nextid. It is what nextid-bench
// compare runs.
//
// Every contestant fills the same table, with the same client (package load),
// and is measured in turns with the others: ids and rows a second at several
// numbers of clients, latency at a fixed rate, CPU, bytes on the wire, what a
// large table takes on disk, order, and what a failover and one more shard
// cost. A contestant that cannot be measured is noted, and the others go on;
// a run that is interrupted reports what it has.
//
//	contestant.go  who takes part: one entry each
//	work.go        what a client does for one row
//	stage.go       the servers, and the tables on them
//	rows.go        ids and rows a second, latency, CPU, wire, order
//	tables.go      a large table: its size and what was written for it
//	failover.go    ids that come twice after a crash or a late standby
//	addshard.go    from N shards to N+1
//	sections.go    the report
package compare
