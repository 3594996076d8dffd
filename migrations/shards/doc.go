// Package shards configures databases that draw ids by themselves, so that no two
// draw the same id. These are AUTO_INCREMENT columns of MySQL and MariaDB, with
// auto_increment_offset and auto_increment_increment, and sequences of PostgreSQL,
// with INCREMENT BY.
//
// Each shard has a Progression, and no number is in two of them. That keeps ids
// apart, whatever the shards' counters are, as long as all sessions of a shard draw
// from its progression. After a change, some do not:
//
//   - In MySQL the progression is a setting that a session copies when it
//     connects. Older sessions continue in the old progression.
//   - In PostgreSQL it belongs to the sequence. With CACHE, a session holds
//     numbers of the old progression.
//
// So numbers move to another shard only when the old shard can no longer draw them:
//
//  1. A new shard takes a progression that no shard has, if there is one. Then
//     no other shard changes.
//  2. Otherwise the shard with the smallest increment gives away half of its
//     numbers: (1, 3) becomes (1, 6) and gives (4, 6). Both halves were its own,
//     so neither its old nor its new sessions collide with other shards.
//  3. reshard waits until no session of that shard is older than the change, or
//     kills those sessions. In PostgreSQL no wait is needed: cached numbers are
//     below the sequence's last_value.
//  4. Then it reads the counters, and the new shard starts above all of them.
//
// A failure between any two steps leaves disjoint progressions. The next run
// continues from there, because each database has a note of its state: the tables
// nextid_shard and nextid_shard_lines, made by the goose migrations in the folders
// mysql and postgres.
//
// A set holds the shards of one command (Up, Reshard, Status or Down). A shard
// embeds a database: mysqlShard or postgresShard. State describes a shard, a Line
// one of its columns or sequences. A command has one goroutine. It locks each
// database until it closes the connection.
package shards
