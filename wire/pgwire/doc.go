// Package pgwire implements the server side of the PostgreSQL frontend/backend
// protocol, versions 3.0 and 3.2, over package sqlfuncs. Quoted names are sections
// of the chapter "Frontend/Backend Protocol" in PostgreSQL's documentation.
//
// New returns a wire.Server. Its connections are of type conn, a wire.Machine: Feed
// gets the bytes that have arrived and appends the answers. One goroutine at a time
// owns a conn; Lost, End and CancelRequest come from others.
//
// # Life of a connection
//
//  1. SSLRequest and GSSENCRequest, each at most once. The answer is TLS if the
//     server has a certificate, and never GSSAPI. TLS may also begin with the first
//     byte, with ALPN.
//  2. The start-up packet: version negotiation and parameters. Config.Auth may request
//     proofs.
//  3. AuthenticationOk, ParameterStatus, BackendKeyData, ReadyForQuery.
//  4. Messages until Terminate. After an error in an extended query, all messages
//     before Sync are skipped.
//
// # Invariants
//
//   - A message that breaks the framing ends the connection (08P01). Any other wrong
//     message gets an error, and the connection goes on. A message over its limit is
//     skipped without being stored (54000).
//   - The fast path takes no lock and allocates nothing. It answers only if no
//     statement has run since the last ReadyForQuery. Otherwise a ParameterStatus or
//     another transaction status may have to be sent first.
//   - Every other statement has a context. A CancelRequest, statement_timeout or the
//     end of the server ends it.
//
// # Tests
//
// testdata/transcripts has conversations as text. Tests replay them against this
// package, also byte by byte, and against a real PostgreSQL. The answers of
// PostgreSQL may differ only in cases marked "ours". The answers are decoded with
// pgproto3.
package pgwire
