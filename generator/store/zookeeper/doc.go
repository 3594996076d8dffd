// Package zookeeper is the shared store on a ZooKeeper ensemble, version 3.6
// or newer.
//
// Nodes are below the path of the URL (/nextid if it has none):
//
//	/nextid/reservations/KEY   a row as JSON; a slash in KEY is %2F
//	/nextid/generators/NAME    a definition as JSON
//	/nextid/format             made by nextid migrate store up
//
// A reservation is one setData with the node's version, or the creation of
// the node. There are no ephemeral nodes: a session that was lost, by a pause
// of the server for example, takes nothing with it.
//
// The epoch is the transaction id that made the marker: another ensemble, or
// one that was emptied, has another one. An ensemble that runs with
// forceSync=no cannot be told from the outside; do not use it.
package zookeeper
