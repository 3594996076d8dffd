// Package shards sets up databases that draw ids by themselves and must never
// draw the same one: AUTO_INCREMENT columns of MySQL and MariaDB under
// auto_increment_offset and auto_increment_increment, and sequences of
// PostgreSQL with INCREMENT BY.
//
// Each shard has a Progression, and no number is in two of them. That alone
// keeps ids apart, whatever the shards' counters say, as long as every session
// of a shard keeps to its shard's progression. The sessions are the difficult
// part:
//
//   - In MySQL the progression is a setting that a session copies when it
//     connects. After a change, older sessions go on in the old one.
//   - In PostgreSQL it belongs to the sequence, but with CACHE a session holds
//     numbers that were drawn in the old one.
//
// So nothing that a shard has lost is given to another before the shard can no
// longer draw it:
//
//  1. A new shard takes a progression that no shard has, if there is one: no
//     other shard changes then.
//  2. Otherwise the shard with the smallest increment gives half of its
//     numbers away: (1, 3) becomes (1, 6) and gives (4, 6). Both halves were
//     its own, so its old and new sessions agree with all other shards.
//  3. reshard waits until no session of that shard is older than the change,
//     or ends those sessions. In PostgreSQL there is nothing to wait for:
//     cached numbers are below the sequence's last_value.
//  4. Then it reads how far each counter is, and only then the new shard
//     starts, above all of them.
//
// A failure between any two steps leaves progressions that are apart, and the
// next run goes on from there: each database has a note of what it has
// (nextid_shard and nextid_shard_lines, made by the goose migrations in the
// folders mysql and postgres).
package shards
