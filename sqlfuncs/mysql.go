package sqlfuncs

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// mysqlDialect is the dialect of MySQL and MariaDB: what package mysql does not know,
// since it needs the session.
type mysqlDialect struct{ r rules }

func newMySQLDialect(expressions engine.Dialect) mysqlDialect {
	return mysqlDialect{rules{
		expressions: expressions, definitions: setting.MySQL, noSavepoint: "SAVEPOINT %s does not exist",
		overdue: sqlstate.New(sqlstate.QueryCanceled, "Query execution was interrupted (max_statement_time exceeded)").
			WithMySQL(1969, "70100"),
		stepwise: true, lenient: true, lateTypes: true, diagnostics: true,
	}}
}

func (d mysqlDialect) rules() *rules { return &d.r }

// settings implements dialect. The connection's settings take precedence over those
// of the client's collation.
func (mysqlDialect) settings(o *SessionOptions) ([]setting.Own, error) {
	return slices.Concat(mysql.SettingsOf(o.Collation), o.Settings), nil
}

// follow implements dialect. wait_timeout counts only once the client has set it: the
// protocol itself applies the configured timeout. SET autocommit = 1 commits an open
// transaction.
func (mysqlDialect) follow(s *Session) (cacheIndex int, encoding string) {
	get := func(key string) string { v, _ := s.vars.Get(key); return v }
	s.idle, s.idleInBlock = 0, s.timeLimit("idle_transaction_timeout", time.Second)
	if begins, _ := s.vars.Begins("wait_timeout"); get("wait_timeout") != begins {
		s.idle = s.timeLimit("wait_timeout", time.Second)
	}
	s.timeout = cmp.Or(s.timeLimit("max_statement_time", time.Second), s.timeLimit("max_execution_time", time.Millisecond))
	modes := strings.Split(get("sql_mode"), ",")
	s.mode = syntax.Mode{
		ANSIQuotes: slices.Contains(modes, "ANSI_QUOTES"), PipesAsConcat: slices.Contains(modes, "PIPES_AS_CONCAT"),
		NoBackslashEscapes: slices.Contains(modes, "NO_BACKSLASH_ESCAPES"),
	}
	s.mysql.Exact = engine.IsBinaryCollation(get("collation_connection"))
	var err error
	if s.rowsAtMost, err = strconv.ParseInt(get("sql_select_limit"), 10, 64); err != nil { // 18446744073709551615
		s.rowsAtMost = -1
	}
	was := s.autocommit
	if s.autocommit = get("autocommit") == "ON"; s.autocommit && !was && s.tx.state != txIdle {
		s.vars.EndTransaction()
		s.leaveBlock(true)
	}
	cacheIndex = cacheNone
	switch {
	case s.mode == syntax.Mode{} && !s.mysql.Exact:
		cacheIndex = cacheMySQL
	case s.mode == syntax.Mode{}:
		cacheIndex = cacheExact
	case s.mode == syntax.Mode{ANSIQuotes: true} && !s.mysql.Exact:
		cacheIndex = cacheANSIQuotes
	}
	return cacheIndex, get("character_set_client")
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

// env implements dialect.
func (mysqlDialect) env(s *Session) datum.Env {
	zone, _ := s.vars.Get("time_zone")
	location, err := setting.MySQLZone(zone)
	if err != nil {
		location = time.UTC
	}
	return datum.Env{Location: location, Names: s.server.system}
}

func (mysqlDialect) table(p *engine.Planner, name syntax.Name) (*engine.Table, error) {
	return mysql.Table(p, name)
}

func (mysqlDialect) explain(t *syntax.Explain) *engine.QueryPlan { return mysql.Explain(t.Statement) }

// start implements dialect. It clears the insert id and the row count of the last
// statement. A statement that reads tables clears its warnings, too; others replace them.
func (mysqlDialect) start(s *Session, st *Statement) {
	if st.readsTables {
		s.notices = nil
	}
	s.raised, s.mysql.Affected, s.Fast.drawn.InStatement = 0, 0, false
}

// setModes implements dialect.
func (mysqlDialect) setModes(_ *engine.Exec, s *Session, modes []syntax.SetItem) error {
	def, _ := s.vars.Get("tx_read_only")
	s.tx.readOnly = def == "ON" || slices.ContainsFunc(modes, func(m syntax.SetItem) bool {
		value, ok := m.Values[0].(*syntax.Literal)
		return ok && m.Name == "transaction_read_only" && value.Text == "on"
	})
	return nil
}

// syntaxError implements dialect. It gives the error the message of MySQL's error
// 1064: the next 80 bytes at most, and the line.
func (mysqlDialect) syntaxError(text string, err error) error {
	e, ok := errors.AsType[*sqlstate.Error](err)
	if !ok || e.Code != sqlstate.SyntaxError || e.Position == 0 {
		return err
	}
	from := 0
	for range e.Position - 1 {
		_, n := utf8.DecodeRuneInString(text[from:])
		from += n
	}
	near := text[from:]
	if len(near) > 80 {
		near = strings.ToValidUTF8(near[:80], "")
	}
	c := *e
	c.Message = "You have an error in your SQL syntax; check the manual that corresponds to your nextid server version for the right syntax to use near '" +
		near + "' at line " + strconv.Itoa(1+strings.Count(text[:from], "\n"))
	return &c
}

// plan implements dialect.
func (mysqlDialect) plan(p *engine.Planner, st *Statement, tree syntax.Statement) (done bool, err error) {
	switch t := tree.(type) {
	case *syntax.Select:
		if len(t.Into) == 0 {
			return false, nil
		}
		err = selectInto(p, st, t)
	case *syntax.Set:
		var plan []mysql.Assignment
		plan, err = mysql.Assignments(p, t.Items)
		st.tag, st.do = "SET", func(x *engine.Exec) error { return mysql.AssignAll(x, plan) }
	case *syntax.SetStatement:
		if st.limits, err = mysql.StatementLimits(t.Items); err == nil {
			st.allRows = allRows(t.Statement)
			err = planStatement(p, st, t.Statement)
			st.fast = nil // it obeys no limits
		}
	case *syntax.ShowMySQL:
		var query *engine.QueryPlan
		if query, err = mysql.Show(p, t); err == nil {
			st.yields("SHOW", query)
			p.ReadsTables = t.What != "WARNINGS" && t.What != "ERRORS"
		}
	case *syntax.Use:
		st.tag, st.do = "USE", func(x *engine.Exec) error { return sessionOf(x).UseDatabase(t.Database) }
	case *syntax.Kill:
		err = kill(p, st, t)
	default:
		return false, nil
	}
	return true, err
}

// selectInto plans SELECT … INTO @a, @b, which takes at most one row. Without a row
// the variables keep their values.
func selectInto(p *engine.Planner, st *Statement, t *syntax.Select) error {
	q, err := p.Query(t, nil)
	if err != nil {
		return err
	}
	p.Settle(q)
	if len(q.Columns) != len(t.Into) {
		return sqlstate.New(sqlstate.Cardinality, "The used SELECT statements have a different number of columns").WithMySQL(1222, "21000")
	}
	st.tag = "SELECT INTO"
	st.do = func(x *engine.Exec) error {
		rows, err := q.Open(x)
		if err != nil {
			return err
		}
		defer rows.Close()
		row, err := rows.Next(x)
		if errors.Is(err, io.EOF) {
			x.Host.Warn(sqlstate.New(sqlstate.Warning, "No data - zero rows fetched, selected, or processed").WithMySQL(1329, "02000"))
			return nil
		}
		if err != nil {
			return err
		}
		values := slices.Clone(row)
		if _, err := rows.Next(x); err == nil {
			return sqlstate.New(sqlstate.Cardinality, "Result consisted of more than one row").WithMySQL(1172, "42000")
		} else if !errors.Is(err, io.EOF) {
			return err
		}
		m := &sessionOf(x).mysql
		for i, name := range t.Into {
			if err := m.SetUserVariable(name, values[i]); err != nil {
				return err
			}
		}
		m.Affected = 1
		return nil
	}
	return nil
}

// kill plans KILL, which the connection executes.
func kill(p *engine.Planner, st *Statement, t *syntax.Kill) error {
	id, err := p.Expr(nil, t.ID)
	if err == nil {
		id, err = p.Coerce(id, datum.Int8, datum.ImplicitCast)
	}
	st.tag = "KILL"
	st.do = func(x *engine.Exec) error {
		v, err := id.Eval(x)
		if err != nil {
			return err
		}
		if k, ok := sessionOf(x).connection.(Killer); ok {
			return k.Kill(v.Int, t.Query)
		}
		return sqlstate.New(sqlstate.UndefinedObject, "Unknown thread id: %d", v.Int).WithMySQL(1094, "HY000")
	}
	return err
}

// Autocommit reports whether each statement is a transaction of its own
// (@@autocommit). It can be off only in the MySQL dialect.
func (s *Session) Autocommit() bool { return s.autocommit }

// ReadOnlyTransaction reports whether the open transaction is READ ONLY.
func (s *Session) ReadOnlyTransaction() bool { return s.tx.readOnly }

// ReadingMode returns the part of sql_mode that affects parsing. The status flags
// of MySQL's protocol report it.
func (s *Session) ReadingMode() syntax.Mode { return s.mode }

// LastInsertID returns the insert id of the OK packet: the newest id that the last
// statement drew or set with LAST_INSERT_ID(n), otherwise 0.
func (s *Session) LastInsertID() uint64 {
	if !s.Fast.drawn.InStatement {
		return 0
	}
	return uint64(s.Fast.drawn.Inserted)
}

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
	s.notices, s.mysql = nil, mysql.State{Database: s.mysql.Database}
	s.forget(nil)
}

// MySQLVersion returns the version in VERSION() and in the MySQL protocol's
// handshake.
func (s *Server) MySQLVersion() string { return mysql.Version(s.version) }

// mysqlVariables returns the system variables whose values the server determines.
func (s *Server) mysqlVariables(configured map[string]string) map[string]string {
	base := map[string]string{
		"version":         s.MySQLVersion(),
		"innodb_version":  mysql.MariaDBVersion,
		"max_error_count": strconv.Itoa(maxNotices),

		"idle_transaction_timeout": strconv.FormatFloat(s.limits.IdleInTransaction.Seconds(), 'f', -1, 64),

		"version_compile_machine": runtime.GOARCH,
		"version_compile_os":      runtime.GOOS,
	}
	maps.Copy(base, configured)
	if d := s.limits.StatementTime; d > 0 {
		base["max_statement_time"] = strconv.FormatFloat(d.Seconds(), 'f', 6, 64)
	}
	return base
}
