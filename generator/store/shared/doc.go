// Package shared is the generator.Store on a database server: PostgreSQL, MySQL,
// Redis, etcd, ZooKeeper. A Store holds what they have in common; an Engine is the
// part of one database.
//
//	Store ── rounds (group commit) ──► Engine.Advance   one round trip for all that wait
//	  │
//	  ├── epoch     which server, and which epoch of it, holds the data
//	  └── highWater how far each key had come when this server last saw it
//
// # Failover, restore, hand edits (rule R7 of the protocol)
//
// A reservation is safe because the store never grants the same range twice. A
// store that loses acknowledged writes breaks that: a promoted standby that lagged
// behind, a restored backup, an edited row. Two checks detect it.
//
// The epoch names the database and its state between two failovers, such as
// PostgreSQL's system identifier and timeline. Every row carries the epoch of its
// last write. A row with another epoch than the present one is not changed;
// Config.Failover decides what happens:
//
//   - Stop: the name answers ErrRegressed until Recover is called for it;
//   - Skip: the row goes on Config.Skip numbers higher, once. Sound if that
//     is more than can have been reserved in what the failover lost;
//   - Lossless: nothing can have been lost (consensus, synchronous
//     replication); the row gets the new epoch and goes on.
//
// The time lines of worker ids need no operator. After a change of the epoch, no
// time on them is granted below a floor: the moment at which the change was first
// seen plus Config.Wait. Config.Wait is longer than any slice that may be lost.
//
// The high-water mark of a key is the end of this server's reservations, without
// those that it gave back, and the key's count of reservations. A grant that is not
// above both means that the store went back. The grant is not used, and the name
// returns ErrRegressed until Recover. A permitted failover (Skip) raises the count by
// more than can have been lost, so that the marks of servers that saw the lost
// reservations stay below it.
// The marks are in memory, and in a file if Config.HighWater names one. The file is
// not synced: it may lag behind and then detects less, but it is never ahead of the
// store.
//
// # Silence
//
// An error, a timeout and a lost connection all mean that nothing may be used.
// Nothing is looked up again. Numbers that the store may have granted are lost
// (rule R3).
package shared
