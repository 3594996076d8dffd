// Package etcd is the shared store on an etcd cluster, version 3.4 or newer.
//
// It speaks etcd's JSON gateway over HTTP, on etcd's client port. The gRPC
// client would make the program of nextid half as large again, and nothing
// here needs its streams.
//
// Keys begin with the path of the URL (nextid/ if it has none):
//
//	nextid/reservations/KEY   a row as JSON
//	nextid/generators/NAME    a definition as JSON
//	nextid/format             made by nextid migrate store up
//
// A reservation is one transaction: if the key's mod_revision and the
// marker's create_revision are as they were, put the new row, else get the
// present one. Reads and leases are never relied on. etcd makes one write of
// all transactions that arrive together.
//
// The stamp is the cluster's id and the marker's create_revision: a cluster
// that was restored from a snapshot gets another one, a new leader does not.
// An etcd that runs with --unsafe-no-fsync cannot be told from the outside;
// do not use it.
package etcd
