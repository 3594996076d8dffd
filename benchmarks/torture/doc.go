// Package torture runs real nextid servers on one store, lets many clients
// draw from them, and does to the servers, their clocks, their network and
// their store what goes wrong in production. Every id that a client got is
// written to a log; in the end the log is checked: no id twice, and the ids
// of every connection in order.
//
//	torture.go   a run from beginning to end
//	node.go      a server: its process, its network namespace, its clock
//	link.go      the way from a server to the store, which can be cut
//	fault.go     what goes wrong, one line each
//	client.go    the connections, and the log of what they got
//	store.go     the stores that can be started here
package torture
