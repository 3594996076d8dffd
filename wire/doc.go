// Package wire is what the protocols share: listeners, limits on
// connections, buffers, and the loop that carries bytes between a socket and
// a protocol's state machine. It knows neither SQL nor a protocol.
//
// # The loop
//
// The protocol is a Machine: it gets the bytes that arrived, consumes the
// complete messages and appends its answers to an Out. The loop writes once when
// the input is used up, so a batch of pipelined requests costs one read and one
// write. A machine flushes earlier when much has piled up (Out.Room) or when a
// statement is about to wait (Conn.Wait).
//
// Until a client has logged in, a goroutine serves its connection, with deadlines.
// After that, on Linux, the poller does: one loop for all connections asks epoll(7)
// whose input has arrived, and reads, runs the statement and writes with raw system
// calls, without the Go scheduler in between. Large batches are shared with other
// processors, which go on by themselves as long as much is ready. A statement that
// waits, takes long or has much to send keeps the goroutine it runs in, and another
// goroutine goes on with the loop; a watchdog sees to that where the statement does
// not say so itself. Other systems, tests, and a build with -tags goroutines, which
// the poller is measured against, keep a goroutine a connection. Inside TLS all is
// the same but for the records.
//
// While a connection waits for its client it has no buffer, unless half a message
// has arrived, and in the poller no goroutine either: its session of about 2 kB is
// all that it costs.
//
// # Clients that misbehave
//
// Everything that a client can make the server hold or wait for has a limit,
// see Limits. A client that does not read stops being read: its goroutine
// waits in a write until the write limit, with at most FlushAt bytes and one
// row unsent. A panic ends one connection, with a last word to its client and
// a stack in the log. A connection that the server ends while the client is
// still sending is closed gently: the client must get the last answer instead
// of a reset.
//
// # The end
//
// Shutdown sets draining and moves every read deadline into the past, which
// wakes the connections that wait for their client; they say goodbye. Those
// that run a statement find the deadline when they come back. When the
// caller's patience ends, the context of all statements ends with ErrShutdown
// as its cause, and writes get half a second more.
//
// Locks: Server.mu for accepting, logging in and ending, a socket.mu for its timer;
// nothing is called with it held but net.Conn's deadline setters.
package wire
