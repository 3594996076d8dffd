// Package pgwire speaks the PostgreSQL frontend/backend protocol, versions
// 3.0 and 3.2 (PostgreSQL documentation, chapter "Frontend/Backend
// Protocol"), over the SQL layer sqlfuncs.
//
// # Life of a connection
//
//  1. SSLRequest and GSSENCRequest are answered N, each at most once.
//  2. The start-up packet: version negotiation, parameters, the session.
//  3. AuthenticationOk, ParameterStatus, BackendKeyData, ReadyForQuery.
//  4. Messages until Terminate. After an error in an extended query
//     everything up to Sync is skipped.
//
// # Layers
//
//	reader.go    bounds-checked decoding of one message
//	frame.go     message boundaries and their limits
//	startup.go   steps 1 to 3
//	conn.go      the state machine: wire.Machine
//	simple.go    Query
//	extended.go  Parse, Bind, Describe, Execute, Close, Flush, Sync
//	rows.go      results; runs of ids without values in between
//	encode.go    messages to the client
//
// A message that breaks the framing ends the connection (08P01); one that is
// merely wrong is answered with an error and the connection goes on.
package pgwire
