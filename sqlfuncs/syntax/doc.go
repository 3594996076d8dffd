// Package syntax is the SQL front end: it turns a text into trees. It knows
// nothing of names, types or values.
//
// [Parse] reads a whole text, in PostgreSQL's or MySQL's dialect, in time and
// memory linear in its length. The layers are a lexer for each dialect, which
// cuts tokens on demand, and one recursive-descent parser, which climbs
// operator precedences for expressions. Its tests print the trees, so that they
// parse to the same trees again.
//
// What clients see of a wrong text is PostgreSQL's: message, SQLSTATE and
// position. The grammar follows gram.y of PostgreSQL 15 as far as the trees
// go. Statements that nextid will never run (INSERT, CREATE TABLE, …) are
// recognised by their first words, passed over and returned as [Unsupported].
//
// Names that were not quoted are folded to lower case, MySQL's too; only its
// column labels keep their case, because clients look them up by it.
package syntax
