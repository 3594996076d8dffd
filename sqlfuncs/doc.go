// Package sqlfuncs runs SQL statements. It parses a text, plans it over the
// functions and virtual tables of nextid, and runs the plan for a session. It
// contains no wire protocol; the packages under wire call it.
//
// All sessions share the Server; any goroutine may use it. A Session, its Portals
// and its FastPath belong to one connection and are used by one goroutine at a time.
// A Statement does not change and may be shared by sessions.
//
// # Layers
//
//	syntax    text to tree, both dialects
//	datum     values, types, casts, text and binary forms
//	sqlstate  the error type of all errors that clients get
//	account   counts the memory of sessions
//	setting   settings of PostgreSQL's sessions, system variables of MySQL's
//	engine    planner and executor: functions, tables and expressions of any kind
//	ids       nextid's functions and tables of ids and generators
//	pgfunc    PostgreSQL's functions and aggregates
//	pgcatalog PostgreSQL's pg_catalog and information_schema
//	mysql     the dialect of MySQL and MariaDB
//	sqlfuncs  Server (shared), Session (one connection), Statement (analysed
//	          text), Portal (a statement being executed)
//
// Imports go one way; cmd/nextid/arch_test.go checks them:
//
//	sqlstate ← syntax, datum ← setting ← engine ← pgfunc, ids ← sqlfuncs ← wire
//	                                                   ids ← pgcatalog, mysql ← sqlfuncs
//
// The engine imports no package above it. NewServer joins the functions and tables
// of those packages in a Catalog. Each package declares what it calls on a session
// as its interface Session; Session implements them all.
//
// # Path of a statement
//
// Session.Simple or Session.Prepare finds the text in the server's statement
// cache, or parses it (syntax.Parse) and plans it (planner: names, types and
// functions are resolved, expressions become closures). Session.Bind gives
// the plan its arguments and makes a Portal; Portal.Next reads rows. No id is
// drawn before rows are read, so that Describe, EXPLAIN and PREPARE cost no id.
//
// SELECT next_id('name') has a fast path: FastPath (draw.go) draws from the
// generator's Entry, without a lock and without an allocation.
//
// # Where to find things
//
//	functions and tables             ids, pgfunc, pgcatalog, mysql, as engine.Function and engine.Table
//	all functions and tables         newCatalog in server.go
//	tests of a package               in its directory; sqltest runs sessions and testdata/*.slt for them
//	statements                       planStatement in statement.go; MySQL's own: mysql.go
//	what differs between dialects    interface dialect in dialect.go
//
// # Data files
//
// The data files hold facts (names, types, numbers, flags) that were read from the
// named database, and no text of another project:
//
//	pgcatalog/catalog/*.tsv        PostgreSQL 15's catalogs; written and checked against one by a test
//	setting/*.tsv                  names, types, bounds and defaults of settings and system variables
//	mysql/information_schema.tsv   columns of MariaDB 10.11
//	engine, pgfunc, ids: testdata/*.slt
//	                               our own statements, with the answers of PostgreSQL 15
//	mysql/testdata/*.slt           our own statements, with the answers of MariaDB 10.11
//	mysql/testdata/corpus*         what clients sent in recorded sessions, with MariaDB's answers
//	pgcatalog/testdata/psql.sql, recorded.sql, tools.sql
//	                               statements that programs of Debian and npm sent to PostgreSQL
//	pgcatalog/testdata/shapes.sql  our own statements
//	syntax/testdata/postgresql.sql, mysql.sql
//	                               the statements of recorded sessions; grammar*.sql are ours
//	datum/testdata/postgres15.tsv  our own inputs, with the answers of PostgreSQL 15
package sqlfuncs
