// Package wire implements nextid-bench sql. It compares servers that draw numbers:
// nextid's next_id, PostgreSQL's nextval, MariaDB's NEXT VALUE FOR and Redis's INCR.
// It uses both SQL protocols, TCP and Unix sockets, and simple, prepared and
// pipelined queries.
//
// A group is one comparison: its contestants are measured in each of its settings.
// The client (package load) measures them in turns, A B C, B C A, …, so that a drift
// of the machine's speed does not favour one. Ratios are computed round by round.
// Ratios within a run are comparable; absolute numbers of two runs are not.
//
// Run makes these comparisons. Floors checks the bounds of nextid's speed, one line
// each. Floor is a server that answers every query with the same bytes. Its speed is
// the limit that system calls and TCP set.
package wire
