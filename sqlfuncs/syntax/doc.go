// Package syntax parses SQL texts into trees, in PostgreSQL's or MySQL's dialect. It
// does not resolve names or types; package engine does.
//
// [Parse] reads a whole text, [Script] one statement of a MySQL text at a time. Both
// take time and memory linear in the length of the text, and limit the depth of the
// trees. A lexer for each dialect reads tokens on demand. One recursive-descent
// parser reads both dialects; expressions use precedence climbing. The parser
// belongs to one call and to its goroutine. Callers must not change trees, which may
// be shared.
//
// Errors have the message, SQLSTATE and position of PostgreSQL's. The grammar is
// that of PostgreSQL 15's documentation and gram.y, for the statements that have a
// tree here. Statements that nextid never runs (INSERT, CREATE TABLE, …) are
// recognised by their first words, skipped, and returned as [Unsupported].
//
// Names without quotes are folded to lower case, also MySQL's. Only MySQL's column
// labels keep their case, because clients look up columns by them.
//
// The tests print the trees and parse the result again: the trees must be equal.
// They also compare errors with a real PostgreSQL.
package syntax
