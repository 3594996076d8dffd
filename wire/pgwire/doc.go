// Package pgwire speaks the PostgreSQL frontend/backend protocol, versions
// 3.0 and 3.2 (PostgreSQL documentation, chapter "Frontend/Backend
// Protocol"), over the SQL layer sqlfuncs.
//
// # Life of a connection
//
//  1. SSLRequest and GSSENCRequest, each at most once: TLS if the server has
//     a certificate, no GSSAPI. Or TLS from the first byte, with ALPN.
//  2. The start-up packet: version negotiation, parameters, and what the
//     Authenticator, if there is one, wants to know.
//  3. The session; AuthenticationOk, ParameterStatus, BackendKeyData,
//     ReadyForQuery.
//  4. Messages until Terminate. After an error in an extended query
//     everything up to Sync is skipped.
//
// # Layers
//
//	reader.go    bounds-checked decoding of one message
//	frame.go     message boundaries and their limits
//	startup.go   steps 1 to 3
//	auth.go      the dialogue of a login
//	conn.go      the state machine: wire.Machine
//	simple.go    Query
//	extended.go  Parse, Bind, Describe, Execute, Close, Flush, Sync
//	rows.go      results
//	run.go       runs of ids, without a value or a call for each row
//	encode.go    messages to the client
//	text.go      what names and texts must be
//
// A message that breaks the framing ends the connection (08P01); one that is
// merely wrong is answered with an error and the connection goes on. One that
// is too long is skipped without being stored (54000).
//
// # The warm path
//
// SELECT next_id('orders'), as a Query or as Bind, Describe, Execute, Sync of
// a prepared statement, takes no lock and allocates nothing: the SQL layer
// finds the statement by its text and draws the id with one atomic operation,
// the RowDescription was encoded the first time (sqlfuncs.Statement.Memo), and
// the rest is appended to the connection's buffer. Everything else gets a
// context, which a CancelRequest, statement_timeout or the end of the server
// ends.
//
// # How to see that it is right
//
// testdata/transcripts has conversations as text. They are played against
// this package, byte by byte as well, and against a real PostgreSQL, where
// only those marked "ours" may differ. The answers are read with pgproto3,
// so that the encoder does not check itself.
package pgwire
