// Package engine plans and runs queries over functions and tables that are given to
// it. A Catalog holds those functions and tables; the engine itself names none of
// nextid's. A Host is the session: settings, memory, connection. A Dialect reads
// expressions: PostgreSQL here, or MySQL in package mysql.
//
//	function.go   Function: the description and implementation of a function
//	table.go      Table: the description and scan of a virtual table
//	catalog.go    Catalog: the functions and tables of a server; OIDs of generators
//	host.go       Host, the session; Client, its connection
//	dialect.go    Dialect, its Traits, and PostgreSQL
//	plan.go       Planner: one statement being analysed; parameters
//	plan_*.go     names, expressions, operators, calls, FROM, GROUP BY, windows, set operations
//	expr.go       Expr: an analysed expression, and conversions
//	exec*.go      Exec: one execution; rows, joins, sorts, and the memory that they hold
//	cpu_slot.go   CPUSlots: limits the long statements that run at a time
//	pattern.go    PostgreSQL's regular expressions
//
// # Invariants
//
// A plan does not change once it is made: sessions share it. What changes while a
// statement runs is in its Exec, which one goroutine uses at a time. Expressions are
// closures over the Exec. No id is drawn before rows are read from a query.
package engine
