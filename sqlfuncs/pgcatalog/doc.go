// Package pgcatalog has PostgreSQL's pg_catalog and information_schema as far
// as clients read them, and the functions that tell a client where it is.
//
// Every table and view of PostgreSQL 15 is there with its columns, so that every
// join can be asked. Where its rows come from says System.sources, or
// relationViews for those with rows about each relation; else they are those of
// a file in catalog/, or there are none.
//
// # Where to find things
//
//	System, what it asks of a session      system.go
//	tables in general, rows of the files   tables.go
//	pg_class and what hangs on it, the relations of the generators   relation.go
//	pg_proc                                proc.go
//	settings, sessions, roles, databases   session_tables.go
//	information_schema                     information_schema.go
//	names and OIDs of objects (regclass)   functions.go
//	functions                              functions.go, object.go, privilege.go, proc_functions.go, server.go, session_functions.go
//
// The files in catalog/ hold facts read from PostgreSQL itself: names, OIDs,
// types and flags. facts_test.go writes them, and checks them against one.
package pgcatalog
