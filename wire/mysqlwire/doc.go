// Package mysqlwire implements the server side of the MySQL client/server protocol,
// version 10 of the handshake, over package sqlfuncs. Quoted names are pages of
// "MySQL Client/Server Protocol" in MySQL's source documentation. MariaDB's
// extensions are in its knowledge base, page "MariaDB Client/Server Protocol".
//
// New returns a wire.Server. Its connections are of type conn, a wire.Machine: Feed
// gets the bytes that have arrived and appends the answers. One goroutine at a time
// owns a conn; Lost and End come from others.
//
// # Life of a connection
//
//  1. The server sends its greeting: version, connection id, nonce,
//     capabilities.
//  2. The client sends the handshake response: capabilities, user, first proof.
//  3. AuthSwitchRequest and AuthMoreData follow if needed, then OK or ERR.
//  4. Commands until COM_QUIT. COM_CHANGE_USER repeats step 3.
//
// # Invariants
//
//   - A packet that breaks the framing ends the connection. Any other wrong command
//     gets an error, and the connection goes on. A command over its limit is skipped
//     without being stored (error 1153).
//   - The first byte of an answer to COM_QUERY is never 0xFB: by that a server
//     requests a file from the client ("LOCAL INFILE Request").
//   - The fast path takes no lock and allocates nothing. It answers only if no
//     statement has run since the status flags were sent.
package mysqlwire
