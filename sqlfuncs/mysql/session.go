package mysql

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
)

// MariaDBVersion is the release that the dialect is tested against.
const MariaDBVersion = "10.11.19"

// Version returns the version for VERSION() and the protocol's handshake. It names
// MariaDB, since nextid follows its dialect with sequences.
func Version(nextid string) string { return MariaDBVersion + "-MariaDB-nextid-" + nextid }

// MaxDatabaseBytes is MySQL's limit for an identifier, 64 characters.
const MaxDatabaseBytes = 64

// Session declares what the dialect calls on a session. Session in package
// sqlfuncs implements it.
type Session interface {
	engine.Host
	// MySQL returns the state that only sessions in this dialect have.
	MySQL() *State
	// Drawn returns what the session has drawn.
	Drawn() *ids.Drawn
	// Notices returns the lines of SHOW WARNINGS.
	Notices() []engine.Notice
	// InTransaction reports whether a transaction is open.
	InTransaction() bool
	// PreparedCount returns the number of prepared statements.
	PreparedCount() int
}

// sessionOf returns the session of an execution.
func sessionOf(x *engine.Exec) Session { return x.Host.(Session) }

// stateOf returns the State of an execution's session.
func stateOf(x *engine.Exec) *State { return sessionOf(x).MySQL() }

// plannedState returns the State of a planner's session.
func plannedState(p *engine.Planner) *State { return p.Host.(Session).MySQL() }

// State is the part of a session that only the MySQL dialect has. Only the
// session's goroutine uses it.
type State struct {
	Database  string                 // of USE, "": none
	Users     map[string]datum.Value // @variables, by lower-case name
	userBytes int                    // size of Users
	Affected  int64                  // row count of the OK packet
	Exact     bool                   // the connection's collation compares bytes
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
