// Package redis is the shared store on Redis, version 6 or newer, or Valkey:
// on one master, on the master that sentinels name, or on the master of a
// Redis Cluster that has our keys.
//
// Everything is in two hashes, a list and a marker, whose names begin with the
// namespace (nextid: unless the URL has ?namespace=…):
//
//	{nextid}:reservations  key → lo, hi, seq, updated, epoch, owner
//	{nextid}:keys          the same keys in order
//	{nextid}:generators    name → its definition as JSON
//	{nextid}:format        made by nextid migrate store up
//
// A round of reservations is one call of a Lua script for all its keys: one
// round trip, and with appendfsync always one flush. Numbers in Lua are
// floating point, so the script reckons with decimal texts of 20 digits in
// two halves; lo and hi are kept as such, with 2^63 added.
//
// The epoch is master_replid. It changes when a replica is promoted, but also
// with every restart of Redis and when the first replica is attached: Redis
// does not tell these apart. A database
// without the marker (FLUSHALL, an empty volume, a wrong number) is refused.
//
// Refused, unless Config.Unsafe names the setting: appendonly = no,
// appendfsync other than always, an eviction policy that may drop keys
// without expiry, and min-replicas-to-write = 0 where sentinels replace the
// master and the URL has no wait=1. They are looked at with every reservation.
//
// A master that is cut off and still runs while another one is promoted would
// repeat time slices. It must stop within Config.Wait of package shared. In a
// cluster it does (cluster-node-timeout). Below sentinels, min-replicas-to-write or
// wait stops it.
package redis
