// Package wire carries bytes between sockets and the protocols: listeners,
// limits, buffers, TLS, the event loop, shutdown. It implements no protocol.
//
// A Server accepts connections and makes a Machine for each: the protocol, which
// gets bytes and appends answers to an Out. Conn carries the bytes between the socket
// and the Machine. Session is the common part of the Machines of pgwire and mysqlwire.
// Limits bounds all memory and time that a client can make the server spend.
//
// One goroutine at a time serves a connection: it owns the Conn, the Machine and the
// Out. Server.mu guards the lists of connections, and the moves between goroutines.
//
// # The event loop
//
// A goroutine serves a connection, with deadlines, until the client has logged in.
// After that, on Linux, the event loop serves it (poller): one epoll(7) instance for
// all connections. The loop reads, runs the statement and writes with raw system
// calls. A large batch is split among processors. A statement that waits, takes long
// or has much to send keeps its goroutine. Another goroutine then goes on with the
// loop; a watchdog enforces that. On other systems, in tests, and in builds with
// -tags goroutines, every connection keeps a goroutine.
//
// The loop gives the Machine all bytes that have arrived and writes when they are
// used up: a batch of pipelined requests costs one read and one write. A Machine
// flushes earlier when the answers are long (Out.FlushFull) or when a statement is
// about to wait (Conn.Wait).
//
// A connection that waits for its client costs its session, about 2 kB. In the event
// loop it has no goroutine, and a buffer only while part of a message has arrived.
// Elsewhere it also has a stack and the buffer of its read, 45 kB.
//
// # Clients that misbehave
//
// Reading stops while a client does not read its answers: at most FlushAt bytes
// and one row are unsent, and after Limits.Write the connection is closed. A
// panic ends one connection; the client gets an error and the log a stack. A
// connection that the server ends is closed after its input has been read for a
// moment: otherwise a reset could overtake the last answer.
//
// # Shutdown
//
// Shutdown sets draining and moves every read deadline into the past. Connections
// that wait for their client wake up, send an error and close. Connections that run
// a statement find the deadline afterwards. When the context of Shutdown ends, the
// contexts of all statements end with the cause ErrShutdown, and writes get cutGrace
// more.
//
// # Order of locks
//
// "A → B" means that B may be taken while A is held.
//
//	sqlfuncs: sessions.mu → wire: Server.mu      sessions.mu is held while Connection.End calls Conn.HangUp
//	Server.mu → socket.mu                        Server.mu is held while deadlines are set
//	Server.mu, socket.mu → Statement.mu          Machine.Lost is called under socket.mu
//	Throttle.mu: nothing is taken under it
//	account, quota: atomic, or one mutex under which nothing is taken
//
// The fast path takes none of them.
package wire
