// Package setting holds the settings that a session can show and set: PostgreSQL's
// (SHOW, SET) and the system variables of MySQL (@@name).
//
// The maps PostgreSQL and MySQL list them. Each is a Definition with its type,
// bounds and default; both maps never change. A Variables holds the values of one
// session, and the state that a rollback restores. It belongs to the session's
// goroutine.
//
// Definition.Normalize checks a value that a client sets in PostgreSQL's dialect.
// Package mysql checks the values of MySQL's variables, since a value out of bounds
// is a warning there.
//
// The files *.tsv hold facts that the databases report about themselves: pg_settings
// of PostgreSQL 15 to 18, SHOW VARIABLES of MariaDB 10.11.
package setting
