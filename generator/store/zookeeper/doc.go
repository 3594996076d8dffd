// Package zookeeper is the shared store on a ZooKeeper ensemble, version 3.6 or
// newer. Engine implements shared.Engine by compare-and-set (shared.CAS). session
// is its connection. Driver describes it to the server.
//
// Nodes are below the path of the URL (/nextid if it has none):
//
//	/nextid/reservations/KEY   a row as JSON; a slash in KEY is %2F
//	/nextid/generators/NAME    a definition as JSON
//	/nextid/clock              written to read the leader's time
//	/nextid/format             made by nextid migrate store up (the marker)
//
// A reservation is one setData with the node's version, or the creation of the
// node. There are no ephemeral nodes. So nothing is lost with a session that ends,
// for example while the server is paused.
//
// The epoch is the id of the transaction that made the marker. Another ensemble, or
// one that was emptied, has another one. An ensemble that runs with forceSync=no
// cannot be detected. Do not use it.
package zookeeper
