package sqlfuncs

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// MariaDBVersion is the release that the dialect is tested against.
const MariaDBVersion = "10.11.19"

// Version is what VERSION() and the greeting of the MySQL protocol say. It names
// MariaDB, whose dialect with sequences ours is.
func Version(nextid string) string { return MariaDBVersion + "-MariaDB-nextid-" + nextid }

// MaxDatabaseBytes is MySQL's bound of an identifier, 64 characters.
const MaxDatabaseBytes = 64

// mysqlSession is what the dialect asks of a session.
type mysqlSession interface {
	engine.Host
	// MySQL is what only sessions in the dialect have.
	MySQL() *mysqlState
	// InTransaction reports whether a transaction is open.
	InTransaction() bool
	// PreparedCount is the number of the session's prepared statements.
	PreparedCount() int
	// Counters are the values of SHOW STATUS that the protocol counts.
	Counters() map[string]string
}

// stateOf is that of the session for which a statement runs.
func stateOf(x *engine.Exec) *mysqlState { return x.Host.(mysqlSession).MySQL() }

// plannedState is that of the session for which a statement is planned.
func plannedState(p *engine.Planner) *mysqlState { return p.Host.(mysqlSession).MySQL() }

// mysqlState is what only sessions in the MySQL dialect have.
type mysqlState struct {
	autocommit               bool   // @@autocommit, kept here since every answer tells it
	database                 string // of USE, "": none
	insertID                 uint64 // drawn, or set by LAST_INSERT_ID(n), in this statement
	lastInsert               uint64 // what LAST_INSERT_ID() returns
	warnings                 []mysqlWarning
	lastWarnings, lastErrors int                    // of the statement before: @@warning_count
	users                    map[string]datum.Value // @variables, by lower-case name
	userBytes                int
	foundRows                int64
	affected                 int64
	reading                  mysqlReading
	rowCount                 int64
	rowsAtMost               int64 // sql_select_limit, -1: none
}

// mysqlReading is what MySQL's variables say of how a session's texts are
// read.
type mysqlReading struct {
	mode  syntax.Mode // of sql_mode
	exact bool        // the connection's collation compares bytes
}

// mysqlWarning is a line of SHOW WARNINGS.
type mysqlWarning struct {
	level   string // Note, Warning, Error
	code    uint16
	message string
}

// maxWarnings bounds the warnings of a statement (@@max_error_count).
const maxWarnings = 64

// warn adds a line to SHOW WARNINGS. level is Note, Warning or Error.
func (m *mysqlState) warn(level string, e *sqlstate.Error) {
	if len(m.warnings) < maxWarnings {
		m.warnings = append(m.warnings, mysqlWarning{level, e.MySQL().Number, e.Message})
	}
}

// warnMySQL adds a warning for SHOW WARNINGS.
func warnMySQL(x *engine.Exec, e *sqlstate.Error) { stateOf(x).warn("Warning", e) }

// countWarnings counts the lines of SHOW WARNINGS, or of SHOW ERRORS.
func (m *mysqlState) countWarnings(errors bool) int {
	n := 0
	for _, w := range m.warnings {
		if !errors || w.level == "Error" {
			n++
		}
	}
	return n
}

// Bounds of what a session keeps in @variables.
const (
	maxUserVariables     = 512
	maxUserVariableBytes = 1 << 20
)

// setUserVariable keeps a value. Truth values become integers.
func (m *mysqlState) setUserVariable(name string, v datum.Value) error {
	switch v.Type {
	case datum.Bool, datum.Int4, datum.Int2:
		v.Type = datum.Int8
	case datum.Varchar, datum.Name, datum.Unknown:
		v.Type = datum.Text
	}
	old, known := m.users[name]
	size := m.userBytes + len(v.Str) - len(old.Str)
	if !known {
		size += len(name)
	}
	if !known && len(m.users) >= maxUserVariables || size > maxUserVariableBytes {
		return sqlstate.New(sqlstate.LimitExceeded, "a session may have at most %d user variables of %d bytes in all", maxUserVariables, maxUserVariableBytes)
	}
	if m.users == nil {
		m.users = map[string]datum.Value{}
	}
	m.users[strings.Clone(name)], m.userBytes = v, size
	return nil
}
