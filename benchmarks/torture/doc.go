// Package torture runs real nextid servers on stores that they share, lets
// many clients draw from them over both protocols, and does to the servers,
// their clocks, their network, their clients and their stores what goes wrong
// in production. Every id that a client got is written to a log; in the end
// the log is checked: no id twice, and the ids of every connection in order.
// One server of each store is never killed: what it uses must not grow.
//
//	torture.go   a run from beginning to end
//	place.go     a store, its servers and generators
//	node.go      a server: its process, its network namespace, its clock
//	fault.go     what goes wrong, one line each
//	client.go    the connections, and the log of what they got
//	bad.go       clients that misbehave
//	attack.go    what a well-behaved client notices of them
//	usage.go     memory, goroutines and descriptors over the run
//	report.go    what happened
package torture
