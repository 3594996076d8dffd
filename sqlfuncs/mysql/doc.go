// Package mysql is the dialect of MySQL and MariaDB: how expressions are read,
// the functions and variables that only it has, SHOW and information_schema.
// It shares the engine and the product's functions (package ids) with
// PostgreSQL's; the session carries out its statements.
//
// # Where to find things
//
//	what the engine asks of it       dialect.go: Dialect, made once by a server
//	what it asks of a session        session.go: Session, State, warnings
//	literals, types, comparisons     plan.go; operators: operator.go; select lists: select.go
//	calls and casts                  call.go; character sets and collations: charset.go
//	conversions of values            value.go
//	functions                        functions.go (sessions, conditions, UUIDs), text.go, time.go
//	@@variables and @variables, SET  variable.go; values that SET takes: setting.go
//	SHOW                             show.go
//	tables                           table.go; information_schema.go
//	generators as MariaDB's sequences  sequence.go
//
// information_schema.tsv holds the columns of MariaDB 10.11's information_schema:
// facts that it says of itself.
package mysql
