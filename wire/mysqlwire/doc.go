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
// # Files
//
//	capability.go  capabilities, status flags, command numbers
//	reader.go      bounds-checked decoding of one message
//	frame.go       packets, messages of several packets, and their limits
//	handshake.go   steps 1 and 2
//	auth.go        step 3, and the interface Authenticator
//	sha2.go        proofs of caching_sha2_password and mysql_native_password
//	conn.go        the state machine
//	fast.go        the fast path: SELECT next_id('orders')
//	command.go     the table of commands, and the small ones
//	query.go       COM_QUERY
//	statement.go   COM_STMT_*: prepared statements and cursors
//	bulk.go        COM_STMT_BULK_EXECUTE of MariaDB
//	param.go       values from the client
//	column.go      column definitions
//	value.go       values to the client
//	rows.go        results
//	encode.go      packets to the client
//	kill.go        KILL
//	text.go        checks of names and texts
//	starting.go    the answer of a server that is starting
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
