// Package mysql implements the dialect of MySQL and MariaDB: expressions, the
// functions and variables that only this dialect has, SHOW and information_schema.
// The engine and nextid's functions (package ids) are shared with PostgreSQL's
// dialect. Package sqlfuncs runs the statements. A server has one Dialect, which
// does not change; each session has a State, which only its goroutine uses.
//
// # Where to find things
//
//	the engine.Dialect               dialect.go: Dialect, one for a server
//	a session as the dialect sees it  session.go: Session, State, warnings
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
// facts read from MariaDB itself.
package mysql
