// Package shared is the generator.Store on a server that somebody else runs:
// PostgreSQL, MySQL, Redis, etcd, ZooKeeper. What all of them have in common
// is here; what one of them says and means is an Engine.
//
//	Store ── rounds (group commit) ──► Engine.Advance   one round trip for all that wait
//	  │
//	  ├── epoch     which server, and which epoch of it, holds the data
//	  └── highWater how far each key had come when this server last saw it
//
// # Failover, restore, hand edits (rule R7 of the protocol)
//
// A reservation is safe because the store never gives the same stretch
// twice. A store that forgets acknowledged writes breaks that: a standby that
// lagged behind and was promoted, a backup that was restored, a row that was
// edited. Two things notice it.
//
// The epoch names the database and its state between two failovers, as
// PostgreSQL's system identifier and timeline. Every row carries the epoch
// under which it was written last. A row with another epoch than the present
// one is not touched; Config.Failover says what happens then:
//
//   - Stop: the name answers ErrRegressed until Recover is called for it;
//   - Skip: the row goes on Config.Skip numbers higher, once. Sound if that
//     is more than can have been reserved in what the failover lost;
//   - Lossless: nothing can have been lost (consensus, synchronous
//     replication); the row gets the new epoch and goes on.
//
// The time lines of worker ids need no operator: after a change of the epoch
// nothing is granted on them below the moment at which the change was first
// seen plus Config.Wait, which is longer than any slice that may be lost.
//
// The high-water mark of a key is the end of the last reservation of
// this server and the key's count of reservations. A grant that does not lie
// above both means that the store went back: it is not used, and the name
// answers ErrRegressed until Recover. Where a failover is passed over, the
// count goes up by more than can have been lost, so that the high-water marks of
// servers that saw it stay below. The marks are in memory, and in a file
// if Config.HighWater names one. The file is not synced: it may lag behind and
// then sees less, but it is never ahead of the store.
//
// # Silence
//
// An error, a timeout and a lost connection all mean "you may not use it".
// Nothing is looked up again, and the numbers that the store may have given
// are lost (rule R3).
package shared
