// Package wire compares servers that give out numbers, alone: nextid's
// next_id beside PostgreSQL's nextval, MariaDB's NEXT VALUE FOR and Redis's
// INCR, over both protocols, TCP and Unix sockets, with simple, prepared and
// pipelined queries. It is what nextid-bench sql runs.
//
// One light client (package load) asks each in turn, A B C, B C A, …, so that
// a machine whose speed drifts does not favour one. Ratios are taken round by
// round: absolute numbers of two runs are not comparable, ratios within a run
// are. The floor is a server that answers every query with the same bytes and
// does nothing else (Floor): what system calls and TCP leave to the others.
package wire
