// Package redis is the shared store on one Redis master, version 6 or newer,
// or a Valkey.
//
// Everything is in two hashes and a marker, whose names begin with the
// namespace (nextid: unless the URL has ?namespace=…):
//
//	{nextid}:reservations  key → lo, hi, seq, updated, stamp, owner
//	{nextid}:generators    name → its definition as JSON
//	{nextid}:format        made by nextid migrate store up
//
// A round of reservations is one pipeline of one Lua script per key: one
// round trip, and with appendfsync always one flush. Numbers in Lua are
// floating point, so the script reckons with decimal texts of 20 digits in
// two halves; lo and hi are kept as such, with 2^63 added.
//
// The stamp is master_replid. It changes when a replica is promoted, but also
// with every restart of Redis and when the first replica is attached: Redis
// does not tell these apart. A database
// without the marker (FLUSHALL, an empty volume, a wrong number) is refused.
//
// Refused, unless Config.Unsafe names the setting: appendonly = no,
// appendfsync other than always, and an eviction policy that may drop keys
// without expiry. Not supported: Redis Cluster, and Sentinel's protocol; an
// address that follows the master works.
package redis
