// Package engine plans and runs queries. It knows what a function, a table and
// an expression are. It knows none of those that nextid has: a Catalog names them.
// A Host is the session, which lends its settings and its memory. A Dialect says how
// expressions are read: PostgreSQL here, or the one of package mysql.
//
//	function.go   Function: what a function says of itself, and what it Does
//	table.go      Table: what a virtual table says of itself
//	catalog.go    Catalog: what statements can name; oid.go: the OIDs of generators
//	host.go       Host; client.go: whom a session answers
//	dialect.go    Dialect, its Traits, and PostgreSQL
//	plan.go       Planner: one statement being analysed; parameters
//	plan_*.go     names, expressions, operators, calls, FROM, GROUP BY, windows, set operations
//	expr.go       Expr: an analysed expression, and conversions
//	exec*.go      Exec: one execution; rows, joins, sorts, what they hold in memory
//	cpu_slot.go   how long statements share the processors
//	pattern.go    PostgreSQL's regular expressions
//
// Expressions become closures over Exec. A query draws nothing before its
// rows are pulled.
package engine
