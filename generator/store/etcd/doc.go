// Package etcd is the shared store on an etcd cluster, version 3.4 or newer. Engine
// implements shared.Engine by compare-and-set (shared.CAS). client sends the
// requests. Driver describes it to the server.
//
// Keys begin with the path of the URL (nextid/ if it has none):
//
//	nextid/reservations/KEY   a row as JSON
//	nextid/generators/NAME    a definition as JSON
//	nextid/format             made by nextid migrate store up (the marker)
//
// A reservation is one transaction. It puts the new row if the key's mod_revision
// is unchanged and the marker exists; otherwise it returns the present row. So
// correctness does not depend on an earlier read, and leases are not used. etcd
// writes all transactions that arrive together at once.
//
// The epoch is the cluster's id and the marker's create_revision. A cluster that
// was restored from a snapshot gets another one; a new leader does not. An etcd
// that runs with --unsafe-no-fsync cannot be detected. Do not use it.
//
// The package uses etcd's JSON gateway over HTTP on the client port. The official
// client (client/v3 over gRPC) was measured in November 2026. It adds 12.5 MB to a
// binary of 30 MB whose limit is 40 MB, and 122 packages. With the build tag
// grpcnotrace it adds 3.1 MB, but go install does not set that tag. With the client
// a transaction takes 0.64 ms instead of 1.06 ms. 16 callers make 3 600
// transactions a second instead of 1 600 (etcd 3.4, two cores). A server asks once
// in 20 s or once for a block of numbers, and waiting calls share a transaction. So
// clients do not notice the difference.
package etcd
