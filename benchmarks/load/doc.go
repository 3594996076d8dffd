// Package load is the client of the benchmarks: it keeps many connections to
// PostgreSQL, MySQL and Redis servers busy and costs little itself, so that a
// machine which runs client and server shows the server.
//
// One thread serves all connections through epoll. The protocols are spoken
// only as far as the benchmarks need, after the drivers' own log-in. What a
// client does, over and over, is its Work: an operation of one or more
// exchanges, each with a server of its choice, where an answer may go into
// the next request.
//
// Run works in a closed loop, where each client goes on as soon as it has its
// answer, or at a fixed rate. At a fixed rate the latency of an operation
// counts from the instant it should have begun, so a server that stops for a
// moment pays for everything that had to wait, not for one operation
// (Gil Tene calls the other way "coordinated omission").
package load
