// Package auth checks logins for all protocols of a server: users with their
// verifiers, host rules, client certificates, the system's users behind a Unix
// socket, and a limit on guessing.
//
// Policy is the main type. New makes it from Users (ParseUsers) and Rules
// (ParseRules); Replace exchanges them while the server runs. Policy.Postgres,
// Policy.MySQL and Policy.CheckPassword are its three interfaces. A Policy is safe
// for concurrent use. Each login keeps the Users and Rules with which it began.
//
// # Invariants
//
//   - A client does not learn which users exist. The login of an unknown user has
//     the same messages, the same answer, and takes the same time. Its salt depends
//     on the name only; no password fits its verifier.
//   - A failed login is answered after failureDelay, and later if its network has
//     failed often.
//   - A decision depends on properties of the connection only: TLS, the client's
//     certificate, the address, the system's user. The client must prove its name.
package auth
