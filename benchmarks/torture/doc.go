// Package torture injects faults while many clients draw ids from nextid servers
// over both SQL protocols. Several servers use one store. The faults hit the
// servers, their clocks, their network and the stores. Bad clients misuse the
// servers meanwhile.
//
// A ledger logs every id that a client got. At the end of the run the log is
// checked: no id may occur twice, and the ids of each connection must be in order.
// One server of each store is never killed, and its use of resources must not grow.
//
// Attack is a second command: it measures the latency of a well-behaved client while
// bad clients attack the server.
//
// Run owns all servers and stops them. A place has one goroutine for its faults and
// one for its bad clients. Each client has a goroutine of its own.
//
//	torture.go   run: a run from beginning to end
//	place.go     place: a store, its servers and generators
//	node.go      node: a server with its process, network namespace and clock
//	fault.go     faults, one entry each
//	client.go    clients, and the ledger
//	bad.go       bad clients
//	attack.go    Attack
//	usage.go     memory, goroutines and descriptors during the run
//	report.go    the report
package torture
