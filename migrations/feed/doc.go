// Package feed gives the sequences behind columns blocks of numbers of a
// segment generator, so that several databases draw ids by themselves and
// never the same one.
//
// A sequence draws between its MINVALUE and its MAXVALUE. A move sets both to
// the ends of a block, and the position to its first number, in one statement.
// The sequence cannot leave the block, and no other database has it:
//
//  1. A block comes from the generator, which reserves it before it answers.
//  2. A block is tried again only where the database has refused the statement
//     for certain, as after a lock timeout. After any other error the block is
//     lost: the statement may have been carried out.
//  3. No block is looked up in a database and used again.
//
// A lock in the database keeps several feeders apart. It saves blocks; ids are
// unique without it, since each feeder moves to blocks of its own.
//
// What a feeder needs to know is in the database: the comment on the sequence
// holds the generator, the block and the time of the move.
package feed
