// Package setting has the settings that a session can show and set: those of
// PostgreSQL (SHOW, SET) and the system variables of MySQL (@@name).
//
// PostgreSQL and MySQL list them, each a Definition with its type, bounds and
// default. Variables are the values of one session, with what a rolled back
// transaction restores. Definition.Normalize checks a value that a client sets
// in PostgreSQL's dialect; MySQL's are checked in package mysql, since what is
// out of bounds is a warning of the statement there.
//
// The files *.tsv hold facts that the databases say of themselves: pg_settings
// of PostgreSQL 15 to 18, SHOW VARIABLES of MariaDB 10.11.
package setting
