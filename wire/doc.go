// Package wire is what the protocols share: listeners, limits on
// connections, buffers, and the loop that carries bytes between a socket and
// a protocol's state machine. It knows neither SQL nor a protocol.
//
// # The loop
//
// One goroutine serves one connection: it reads, runs the statements and
// writes, in one stack. The protocol is a Machine: it gets the bytes that
// arrived, consumes the complete messages and appends its answers to an Out.
// The loop writes once when the input is used up, so a batch of pipelined
// requests costs one read and one write. A machine flushes earlier when much
// has piled up (Out.Room) or when a statement is about to wait.
//
// On Linux the loop reads and writes its socket with raw system calls inside
// the callback of syscall.RawConn.Read. A read that did not fill the buffer
// has emptied the socket, so it is not asked again; the poller remembers what
// comes later. Only the end of the input can hide behind the last bytes: once
// a second the server looks for it on connections that were not sure. Other
// connections (TLS, tests, other systems) use their Read and Write methods.
//
// While a connection waits for its client it holds no buffer, unless half a
// message has arrived. A goroutine with its 4 kB of stack and about 2 kB of
// session are all that an idle connection costs.
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
// Locks: Server.mu only, for accepting, logging in, ending and sweeping;
// nothing is called with it held but net.Conn's deadline setters.
package wire
