// Package pgcatalog has the parts of PostgreSQL's pg_catalog and information_schema
// that clients read, and the functions about the session and the server.
//
// Every table and view of PostgreSQL 15 exists with its columns, so that every join
// is valid. Its rows come from one of three: relationViews (rows about each
// relation), System.sources (other rows about nextid), or a file in catalog/. Other
// tables are empty.
//
// A server has one System, which all sessions share; any goroutine may use it. It
// keeps the rows that never change, and the relations of the generators until a
// generator changes. A generator appears as the sequence NAME and the view NAME_id.
//
// # Where to find things
//
//	System, interface Session              system.go
//	tables in general, rows of the files   tables.go
//	pg_class and tables about relations, relations of the generators   relation.go
//	pg_proc                                proc.go
//	settings, sessions, roles, databases   session_tables.go
//	information_schema                     information_schema.go
//	names and OIDs of objects (regclass)   functions.go
//	functions                              functions.go, object.go, privilege.go, proc.go, session_functions.go
//
// The files in catalog/ hold facts read from PostgreSQL itself: names, OIDs,
// types and flags. facts_test.go writes them, and checks them against one.
package pgcatalog
