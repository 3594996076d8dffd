// Package load is the client of the benchmarks. It keeps many connections to
// PostgreSQL, MySQL and Redis servers busy. It uses little processor time, so that
// measurements on one machine show the server and not the client.
//
// A Link is one connection. It implements only the parts of the protocols that the
// benchmarks need. A Client repeats the operations of its Work over its Links. An
// operation has one or more Steps, and each Step is a request to one server. A
// request may contain ids of earlier answers. A Stage is one run of a benchmark: its
// servers, clients and report. Floor is a server that answers every query with the
// same bytes.
//
// Run measures. It owns all Links of its Clients until it returns, and serves them
// in one locked thread through epoll. In a closed loop (Rate 0) each client begins
// its next operation when it has the answer. At a fixed rate the latency of an
// operation counts from the time when it should have begun. So a stall of the server
// counts for all operations that had to wait, not for one (Gil Tene's "coordinated
// omission").
package load
