// Package redis is the shared store on Redis, version 6 or newer, or Valkey: on one
// master, on the master that sentinels name, or on the master of a Redis Cluster
// that has nextid's keys. Engine implements shared.Engine with Lua scripts
// (script.go). Driver describes it to the server.
//
// Everything is in two hashes, a sorted set and a marker. Their names begin with
// the namespace (nextid unless the URL has ?namespace=…):
//
//	{nextid}:reservations  key → lo, hi, seq, updated, epoch, owner
//	{nextid}:keys          the same keys in order
//	{nextid}:generators    name → its definition as JSON
//	{nextid}:format        made by nextid migrate store up (the marker)
//
// A round of reservations is one call of a Lua script for all its keys. So it takes
// one round trip, and one flush with appendfsync always. Numbers in Lua are floating
// point. So the script computes with decimal texts of 20 digits in two halves; lo
// and hi are stored as such texts, with 2^63 added.
//
// The epoch is master_replid. It changes when a replica is promoted. It also changes
// with every restart of Redis and when the first replica is attached; Redis does not
// distinguish these. A database without the marker is refused: it was emptied by
// FLUSHALL, is an empty volume, or has the wrong number.
//
// These settings are refused, unless Config.Unsafe names them: appendonly = no,
// appendfsync other than always, an eviction policy that may drop keys without
// expiry, and min-replicas-to-write = 0 if sentinels replace the master and the URL
// has no wait=1. Each reservation checks them.
//
// A master that is cut off and still runs while another one is promoted would repeat
// time slices. It must stop within Config.Wait of package shared. In a cluster it
// does (cluster-node-timeout). With sentinels, min-replicas-to-write or wait stops it.
package redis
