// Package mysqlwire speaks the MySQL client/server protocol, version 10 of
// the handshake, over the SQL layer sqlfuncs. Its rules are those of MySQL's
// source documentation, page "Client/Server Protocol", and for the extensions
// of MariaDB of its knowledge base, page "MariaDB Client/Server Protocol".
//
// # Life of a connection
//
//  1. The server greets: version, connection id, nonce, what it can do.
//  2. The client's handshake response: what both can do, user, first proof.
//  3. If need be, AuthSwitchRequest and AuthMoreData, until OK or ERR.
//  4. Commands until COM_QUIT. COM_CHANGE_USER goes through step 3 again.
//
// # Layers
//
//	capability.go  what both sides can do
//	reader.go      bounds-checked decoding of one message
//	frame.go       packets, chains of packets, and their limits
//	handshake.go   steps 1 and 2
//	auth.go        step 3 and the seam for users
//	sha2.go        the proofs of caching_sha2_password and mysql_native_password
//	conn.go        the state machine: wire.Machine
//	command.go     the table of commands, and the small ones
//	query.go       COM_QUERY
//	statement.go   COM_STMT_*: prepared statements and cursors
//	bulk.go        COM_STMT_BULK_EXECUTE of MariaDB
//	param.go       values from the client
//	column.go      column definitions
//	value.go       values to the client
//	rows.go        results
//	run.go         runs of ids, without a value or a call for each row
//	encode.go      packets to the client
//	kill.go        KILL
//	text.go        what names and texts must be
//
// A packet that breaks the framing ends the connection; a command that is
// merely wrong is answered with an error and the connection goes on. A command
// that is too long is skipped without being stored (error 1153). The byte 0xFB,
// with which a server asks a client for a file, is never sent in its place.
//
// # The warm path
//
// SELECT next_id('orders'), as COM_QUERY or as COM_STMT_EXECUTE, takes no
// lock and allocates nothing: the SQL layer finds the statement by its text
// and draws the id with one atomic operation, the column definitions were
// encoded the first time (sqlfuncs.Statement.Memo), and the rest is appended to
// the connection's buffer.
package mysqlwire
