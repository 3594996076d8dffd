// Package ring is Baidu's cached uid-generator: ids are made ahead of their
// use and wait in a ring, which is padded when the generator starts, when
// fewer than a threshold are left, and on a schedule. Under load the ring
// borrows: its ids carry times that have not come.
//
// The ring holds 2^(sequence bits + boost_power) ids. It always takes all ids
// of a tick in one block, as Baidu's padding does, so a block is a number and
// a count, and the ring a list of blocks: nothing is written per id. A draw
// is one atomic addition on the block at the head.
//
// What is different from Baidu's generator:
//
//   - The times are reserved in the store before their ids enter the ring, on
//     a time line of the name and the worker id. Two servers, or two starts,
//     cannot have the same time of the same worker id.
//   - Borrowing has an end (max_borrow), and can be seen (nextid.rings).
//   - An empty ring makes a draw wait instead of failing (reject_take).
//   - After a time without load the ring goes on at the present, not where it
//     stood; the schedule replaces ids that have become old.
//   - When the time bits have run out there is an error, not a negative id.
//   - What does not fit into the ring stays for the next padding; Baidu's
//     throws away the rest of the second.
package ring
