package sqlfuncs

import (
	"errors"
	"maps"
	"runtime"
	"strconv"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Autocommit reports whether each statement is a transaction of its own
// (@@autocommit). It can be off only in the MySQL dialect.
func (s *Session) Autocommit() bool { return s.mysql.Autocommit }

// ReadOnlyTransaction reports whether the open transaction is READ ONLY.
func (s *Session) ReadOnlyTransaction() bool { return s.tx.readOnly }

// LastInsertID returns the insert id of the OK packet: the newest id that the last
// statement drew or set with LAST_INSERT_ID(n), otherwise 0.
func (s *Session) LastInsertID() uint64 { return s.mysql.InsertID }

// Warnings returns the number of warnings of the last statement (SHOW WARNINGS).
func (s *Session) Warnings() int { return len(s.mysql.Warnings) }

// Database returns the default database, "" if none was chosen.
func (s *Session) Database() string { return s.mysql.Database }

// OwnDatabase names nextid's database for sessions that chose no default.
const OwnDatabase = engine.NextidSchema

// UseDatabase makes name the default database. A server has one database, for which
// every valid name stands. An invalid name is an error (3D000).
func (s *Session) UseDatabase(name string) error {
	if name == "" || len(name) > mysql.MaxDatabaseBytes {
		return sqlstate.New(sqlstate.InvalidCatalog, "Unknown database '%s'", sqlstate.Cut(name, mysql.MaxDatabaseBytes))
	}
	s.mysql.Database = name
	return nil
}

// Reset returns the session to its initial state (COM_RESET_CONNECTION). It rolls
// back the transaction and drops settings, user variables and prepared statements.
// The default database stays.
func (s *Session) Reset() {
	if s.tx.state != txIdle {
		s.abort()
	}
	s.closePortals(func(*Portal) bool { return true })
	s.vars.ResetAll()
	s.unprepareAll()
	s.notices = nil
	s.Fast.drawn.Reset(&s.memory)
	s.mysql = mysql.State{Autocommit: true, Database: s.mysql.Database}
	s.settingsChanged()
}

// MySQLVersion returns the version in VERSION() and in the MySQL protocol's
// handshake.
func (s *Server) MySQLVersion() string { return mysql.Version(s.version) }

// initMySQL sets up a new session in the MySQL dialect. The connection's settings
// take precedence over those of the client's collation.
func (s *Session) initMySQL() error {
	s.mysql = mysql.State{Autocommit: true, Database: s.options.Database}
	own := mysql.SettingsOf(s.options.Collation)
	for key, value := range s.options.Settings {
		own = append(own, setting.Own{Key: key, Value: value})
	}
	s.vars = setting.NewVariables(setting.MySQL, s.server.variables, own)
	s.options.Settings = nil
	s.settingsChanged()
	s.register()
	return nil
}

// envMySQL returns the Env of the MySQL dialect, which depends only on the time
// zone.
func (s *Session) envMySQL() *datum.Env {
	zone, _ := s.vars.Get("time_zone")
	location, err := setting.MySQLZone(zone)
	if err != nil {
		location = time.UTC
	}
	s.env = datum.Env{Location: location, ExtraFloatDigits: 1, Names: s.server.system}
	s.envOK = true
	return &s.env
}

// parseDialect parses a text in the session's dialect and mode.
func (s *Session) parseDialect(text string) ([]syntax.Parsed, error) {
	if s.dialect == syntax.PostgreSQL {
		return syntax.ParseAs(text, syntax.PostgreSQL, syntax.Mode{}, s.countTokens)
	}
	parsed, err := syntax.ParseAs(text, syntax.MySQL, s.mysql.Reading.Mode, s.countTokens)
	if err != nil {
		return nil, syntaxErrorMySQL(text, err)
	}
	return parsed, nil
}

// AffectedRows returns the OK packet's row count for the last statement.
func (s *Session) AffectedRows() int64 { return s.mysql.Affected }

// beginStatement clears the warnings, the insert id and the row count of the last
// statement. SHOW WARNINGS keeps the warnings.
func (s *Session) beginStatement(st *Statement) {
	m := &s.mysql
	if !st.keepsWarnings && len(m.Warnings) > 0 {
		m.LastWarnings, m.LastErrors = m.CountWarnings(false), m.CountWarnings(true)
		m.Warnings = nil
	} else if !st.keepsWarnings {
		m.LastWarnings, m.LastErrors = 0, 0
	}
	m.InsertID, m.Affected = 0, 0
}

// refused records an error that came before execution, for SHOW WARNINGS.
func (s *Session) refused(err error) error {
	if s.dialect == syntax.MySQL {
		s.mysql.Warnings = nil
		s.noteError(err)
	}
	return err
}

// noteError adds an error to the rows of SHOW WARNINGS.
func (s *Session) noteError(err error) {
	if e, ok := errors.AsType[*sqlstate.Error](err); ok {
		s.mysql.Warn("Error", e)
	}
}

// errMaxStatementTime is the cause of a context that ended at max_statement_time.
var errMaxStatementTime = sqlstate.New(sqlstate.QueryCanceled, "Query execution was interrupted (max_statement_time exceeded)").
	WithMySQL(1969, "70100")

// maxStatementTime returns MariaDB's max_statement_time or MySQL's
// max_execution_time; 0: no limit.
func (s *Session) maxStatementTime() time.Duration {
	if d := s.timeLimit("max_statement_time", time.Second); d > 0 {
		return d
	}
	return s.timeLimit("max_execution_time", time.Millisecond)
}

// timeLimit returns a variable that counts units, at most maxTimeLimit. 0 means that
// there is no limit.
func (s *Session) timeLimit(key string, unit time.Duration) time.Duration {
	text, _ := s.vars.Get(key)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f <= 0 {
		return 0
	}
	return time.Duration(min(f*float64(unit), float64(maxTimeLimit)))
}

// maxTimeLimit is about a year, the largest max_statement_time.
const maxTimeLimit = 366 * 24 * time.Hour

// selectLimit returns sql_select_limit for a statement, -1 for none. A LIMIT in the
// statement takes precedence.
func (s *Session) selectLimit(st *Statement) int64 {
	if !st.allRows || s.dialect != syntax.MySQL || s.mysql.RowsAtMost < 0 {
		return -1
	}
	return s.mysql.RowsAtMost
}

// mysqlVariables returns the system variables whose values the server determines.
func (s *Server) mysqlVariables(configured map[string]string) map[string]string {
	base := map[string]string{
		"version":         s.MySQLVersion(),
		"innodb_version":  mysql.MariaDBVersion,
		"max_error_count": strconv.Itoa(mysql.MaxWarnings),

		"version_compile_machine": runtime.GOARCH,
		"version_compile_os":      runtime.GOOS,
	}
	maps.Copy(base, configured)
	if d := s.limits.StatementTime; d > 0 {
		base["max_statement_time"] = strconv.FormatFloat(d.Seconds(), 'f', 6, 64)
	}
	return base
}
