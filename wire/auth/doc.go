// Package auth decides who may log in, for both protocols: users with their
// verifiers, host rules, client certificates, the system's users behind a
// Unix socket, and a bound on guessing.
//
//	user.go      the users file
//	scram.go     SCRAM-SHA-256 (RFC 5802, RFC 7677): verifiers, the server's side
//	sha2.go      the digests of MySQL's caching_sha2_password
//	rule.go      host rules, after PostgreSQL's pg_hba.conf
//	failures.go  what guessing costs
//	policy.go    Policy: all of that together
//	postgres.go  the dialogue of a PostgreSQL login
//	mysql.go     what proves a MySQL login
//
// # What a stranger learns
//
// Nothing about who exists. An unknown user goes through the same dialogue as
// a known one, with a salt that is always the same for the name and a
// verifier that no password fits, and gets the same answer after the same
// time. A failed login is answered a tenth of a second later, and later still
// when its address has failed often.
//
// # What is believed
//
// Only the connection itself: that it is inside TLS, which certificate the
// client proved to own, which address or which user of the system it comes
// from. Never what a client says of itself.
package auth
