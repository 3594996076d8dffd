// Package sqlfuncs answers SQL: it turns the text of a statement into a plan
// over the functions and virtual tables of nextid and runs it for a session.
// It knows no wire protocol; the packages under wire drive it.
//
// # Layers
//
//	syntax    text to tree, both dialects
//	datum     values, types, casts, text and binary forms
//	sqlstate  the one error type that reaches a client
//	sqlfuncs  Server (shared), Session (one connection), Statement (analysed
//	          text), Portal (a statement being executed)
//
// # Path of a statement
//
// Session.Simple or Session.Prepare finds the text in the server's statement
// cache, or parses it (syntax.Parse) and plans it (planner: names, types and
// functions are resolved, expressions become closures). Session.Bind gives
// the plan its arguments and makes a Portal; Portal.Next pulls rows. Nothing
// is drawn from a generator before rows are pulled, so Describe, EXPLAIN and
// PREPARE cost no id.
//
// SELECT next_id('name') has a shorter way: Session.TryID and Portal.TryID
// draw straight from the generator's Entry, with no lock and no allocation.
//
// # Where to find things
//
//	functions    func_*.go, one file a family; function.go describes one
//	tables       table_*.go; table.go describes one
//	planner      plan_*.go
//	execution    exec_*.go
//	statements that return no rows: utility_*.go
package sqlfuncs
