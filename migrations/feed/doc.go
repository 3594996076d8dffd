// Package feed moves the sequences of databases from block to block of a segment
// generator. So several databases draw ids by themselves, and never the same id.
//
// A sequence draws between its MINVALUE and its MAXVALUE. A move sets both to the
// ends of a block, and the position to its first number, in one statement. So the
// sequence cannot leave its block. No other sequence gets that block:
//
//  1. A block comes from the generator, which reserves it before it answers.
//  2. A feeder uses a block again only if the database has refused the statement for
//     certain, as after a lock timeout. After any other error the block is lost: the
//     statement may have been executed.
//  3. No feeder reads a block from a database in order to use it again.
//
// feed.pml models these rules. A lock in the database serializes feeders. It only
// saves blocks: ids are unique without it, since each feeder moves to blocks of its
// own.
//
// A Feed moves one Sequence; the server's feeder or a command owns it. A State is
// the position of a sequence. An engine holds the SQL of one kind of database. The
// state of feeding is in the database itself: the comment on the sequence is a Note
// with the generator, the block and the time of the move. Up, Once, Status and Down
// are the commands of nextid migrate feed.
package feed
