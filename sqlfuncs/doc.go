// Package sqlfuncs answers SQL: it turns the text of a statement into a plan
// over the functions and virtual tables of nextid and runs it for a session.
// It knows no wire protocol; the packages under wire drive it.
//
// # Layers
//
//	syntax    text to tree, both dialects
//	datum     values, types, casts, text and binary forms
//	sqlstate  the one error type that reaches a client
//	account   what sessions hold in memory
//	setting   settings of PostgreSQL's sessions, system variables of MySQL's
//	engine    planner and executor: functions, tables and expressions of any kind
//	ids       the product: functions and tables of ids and generators
//	pgfunc    PostgreSQL's functions and aggregates
//	pgcatalog PostgreSQL's pg_catalog and information_schema
//	mysql     the dialect of MySQL and MariaDB
//	sqlfuncs  Server (shared), Session (one connection), Statement (analysed
//	          text), Portal (a statement being executed)
//
// The arrows go one way, and cmd/nextid/arch_test.go keeps them so:
//
//	sqlstate ← syntax, datum ← setting ← engine ← pgfunc, ids ← sqlfuncs ← wire
//	                                                   ids ← pgcatalog, mysql ← sqlfuncs
//
// The engine knows no package above it: NewServer joins what they have in a
// Catalog. What a package asks of a session is its interface Session, which
// session_host.go implements.
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
// SELECT next_id('name') has a fast path: FastPath (draw.go) draws from the
// generator's Entry, without a lock and without an allocation.
//
// # Where to find things
//
//	functions and tables             ids, pgfunc, pgcatalog, mysql; engine.Function and engine.Table describe one
//	what statements can name         newCatalog in server.go
//	what packages ask of a session   session_host.go
//	tests of a package               beside it; sqltest drives sessions and the testdata/*.slt for them all
//	statements                       plan_statement.go; those that return no rows: utility_*.go
//
// # The MySQL dialect
//
// Both dialects share the engine and nextid's own functions. Where an
// expression means something else in MySQL, the engine asks package mysql. Its
// statements, transactions and parameters are here: mysql_*.go.
//
// # Data files
//
// They hold facts (names, types, numbers, flags), which the named database
// says of itself, and no text of another project:
//
//	pgcatalog/catalog/*.tsv        PostgreSQL 15's catalogs; written and checked against one by a test
//	setting/*.tsv                  names, types, bounds and defaults of settings and system variables
//	mysql/information_schema.tsv   columns of MariaDB 10.11
//	engine, pgfunc, ids: testdata/*.slt
//	                               statements of ours, with the answers of PostgreSQL 15
//	mysql/testdata/*.slt           statements of ours, with the answers of MariaDB 10.11
//	mysql/testdata/corpus*         what clients sent in recorded sessions, with MariaDB's answers
//	pgcatalog/testdata/psql.sql, recorded.sql, tools.sql
//	                               what programs of Debian and npm sent while they read a PostgreSQL
//	pgcatalog/testdata/shapes.sql  statements of ours
//	syntax/testdata/postgresql.sql, mysql.sql
//	                               the statements of recorded sessions; grammar*.sql are ours
//	datum/testdata/postgres15.tsv  inputs of ours, with the answers of PostgreSQL 15
package sqlfuncs
