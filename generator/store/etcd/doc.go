// Package etcd is the shared store on an etcd cluster, version 3.4 or newer.
//
// It speaks etcd's JSON gateway over HTTP, on etcd's client port. The official
// client, client/v3 over gRPC, was weighed in November 2026. It adds 12.5 MB to
// a binary that has 30 and may have 40 (3.1 MB with the build tag grpcnotrace,
// which go install does not set) and 122 packages. A transaction takes 0.64 ms
// with it instead of 1.06 ms, and 3 600 a second instead of 1 600 are made by
// 16 callers (etcd 3.4, two cores). A server asks once in 20 s, or once in a
// block of numbers, and those that wait share a transaction, so
// that costs no client time.
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
// The epoch is the cluster's id and the marker's create_revision: a cluster
// that was restored from a snapshot gets another one, a new leader does not.
// An etcd that runs with --unsafe-no-fsync cannot be told from the outside;
// do not use it.
package etcd
