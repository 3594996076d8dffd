package mysql

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// MariaDBVersion is the release that the dialect is tested against.
const MariaDBVersion = "10.11.19"

// Version returns the version for VERSION() and the protocol's handshake. It names
// MariaDB, since nextid follows its dialect with sequences.
func Version(nextid string) string { return MariaDBVersion + "-MariaDB-nextid-" + nextid }

// MaxDatabaseBytes is MySQL's limit for an identifier, 64 characters.
const MaxDatabaseBytes = 64

// Session declares what the dialect calls on a session. session_host.go in package
// sqlfuncs implements it.
type Session interface {
	engine.Host
	// MySQL returns the state that only sessions in this dialect have.
	MySQL() *State
	// InTransaction reports whether a transaction is open.
	InTransaction() bool
	// PreparedCount returns the number of prepared statements.
	PreparedCount() int
	// Counters returns the values of SHOW STATUS that the protocol counts.
	Counters() map[string]string
}

// stateOf returns the State of an execution's session.
func stateOf(x *engine.Exec) *State { return x.Host.(Session).MySQL() }

// plannedState returns the State of a planner's session.
func plannedState(p *engine.Planner) *State { return p.Host.(Session).MySQL() }

// State is the part of a session that only the MySQL dialect has. Only the
// session's goroutine uses it.
type State struct {
	Autocommit               bool   // @@autocommit, kept here since each answer reports it
	Database                 string // of USE, "": none
	InsertID                 uint64 // newest id that the statement drew or set; 0: none
	LastInsert               uint64 // result of LAST_INSERT_ID()
	Warnings                 []Warning
	LastWarnings, LastErrors int                    // of the statement before: @@warning_count
	Users                    map[string]datum.Value // @variables, by lower-case name
	userBytes                int                    // size of Users
	Affected                 int64                  // row count of the OK packet
	Reading                  Reading
	RowsAtMost               int64 // sql_select_limit, -1: none
}

// Reading is the part of MySQL's variables that affects how texts are parsed and
// compared.
type Reading struct {
	Mode  syntax.Mode // of sql_mode
	Exact bool        // the connection's collation compares bytes
}

// Warning is a line of SHOW WARNINGS.
type Warning struct {
	level   string // Note, Warning, Error
	code    uint16
	message string
}

// MaxWarnings limits the warnings of a statement (@@max_error_count).
const MaxWarnings = 64

// Warn adds a line to SHOW WARNINGS. level is Note, Warning or Error.
func (m *State) Warn(level string, e *sqlstate.Error) {
	if len(m.Warnings) < MaxWarnings {
		m.Warnings = append(m.Warnings, Warning{level, e.MySQL().Number, e.Message})
	}
}

// Warn adds a warning for SHOW WARNINGS.
func Warn(x *engine.Exec, e *sqlstate.Error) { stateOf(x).Warn("Warning", e) }

// CountWarnings counts the lines of SHOW WARNINGS, or of SHOW ERRORS.
func (m *State) CountWarnings(errors bool) int {
	n := 0
	for _, w := range m.Warnings {
		if !errors || w.level == "Error" {
			n++
		}
	}
	return n
}

// Limits of the @variables of a session.
const (
	maxUserVariables     = 512
	maxUserVariableBytes = 1 << 20
)

// SetUserVariable sets @name. Booleans become integers. A value beyond the session's
// limits is an error (54000).
func (m *State) SetUserVariable(name string, v datum.Value) error {
	switch v.Type {
	case datum.Bool, datum.Int4, datum.Int2:
		v.Type = datum.Int8
	case datum.Varchar, datum.Name, datum.Unknown:
		v.Type = datum.Text
	}
	old, known := m.Users[name]
	size := m.userBytes + len(v.Str) - len(old.Str)
	if !known {
		size += len(name)
	}
	if !known && len(m.Users) >= maxUserVariables || size > maxUserVariableBytes {
		return sqlstate.New(sqlstate.LimitExceeded, "a session may have at most %d user variables of %d bytes in all", maxUserVariables, maxUserVariableBytes)
	}
	if m.Users == nil {
		m.Users = map[string]datum.Value{}
	}
	m.Users[strings.Clone(name)], m.userBytes = v, size
	return nil
}
