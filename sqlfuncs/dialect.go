package sqlfuncs

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// dialect holds what sessions of PostgreSQL and of MySQL do in different ways. It does
// not change, and all sessions share it. postgres and mysqlDialect implement it.
type dialect interface {
	rules() *rules
	// settings returns the settings with which a session begins. It may fill in o.
	settings(o *SessionOptions) ([]setting.Own, error)
	// follow copies settings that changed into fields of the session. encoding is that
	// of the client's texts.
	follow(s *Session) (cacheIndex int, encoding string)
	// env makes the settings on which the text forms of values depend.
	env(s *Session) datum.Env
	// table returns the table that a statement names.
	table(p *engine.Planner, name syntax.Name) (*engine.Table, error)
	// plan plans a statement that only this dialect has or that differs there.
	plan(p *engine.Planner, st *Statement, tree syntax.Statement) (done bool, err error)
	// explain plans the answer to EXPLAIN.
	explain(t *syntax.Explain) *engine.QueryPlan
	// start is called before a statement runs.
	start(s *Session, st *Statement)
	// setModes applies the modes of BEGIN to the new block.
	setModes(x *engine.Exec, s *Session, modes []syntax.SetItem) error
	// syntaxError completes an error of the parser.
	syntaxError(text string, err error) error
}

// rules holds the small differences between sessions of the two dialects.
type rules struct {
	expressions engine.Dialect
	definitions map[string]*setting.Definition // of the settings
	overdue     *sqlstate.Error                // cause of a context that ended at the statement's time limit
	noSavepoint string                         // format of the error for a savepoint that does not exist

	// stepwise parses a statement after the one before it has run, which may have set
	// the mode of the parser.
	stepwise bool
	// lenient lets BEGIN, COMMIT and SAVEPOINT run in every state. An error fails no
	// block, and a rollback restores no setting.
	lenient bool
	// lateTypes plans statements again for the types of their arguments.
	lateTypes bool
	// diagnostics keeps notices and errors for SHOW WARNINGS until the next statement.
	diagnostics bool
}

// postgres is the dialect of PostgreSQL.
type postgres struct{}

var postgresRules = rules{
	expressions: engine.PostgreSQL{}, definitions: setting.PostgreSQL, noSavepoint: "savepoint %q does not exist",
	overdue: sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to statement timeout"),
}

func (postgres) rules() *rules { return &postgresRules }

// maxStartupSettings limits the settings in a start-up packet.
const maxStartupSettings = 64

// isSuperuser names the setting that tells PostgreSQL's clients whether the user is
// an administrator.
const isSuperuser = "is_superuser"

var onOff = map[bool]string{false: "off", true: "on"}

// settings implements dialect. Clients that name no database mean the one with the
// user's name (PostgreSQL documentation, StartupMessage).
func (postgres) settings(o *SessionOptions) ([]setting.Own, error) {
	if o.Database == "" {
		o.Database = o.User
	}
	if len(o.Settings) > maxStartupSettings {
		return nil, sqlstate.New(sqlstate.LimitExceeded, "too many start-up parameters")
	}
	own := make([]setting.Own, 0, 2+len(o.Settings)) // exact capacity: it lives as long as the session
	own = append(own, setting.Own{Key: "session_authorization", Value: o.User}, setting.Own{Key: isSuperuser, Value: onOff[o.Admin]})
	for _, s := range o.Settings {
		def, err := setting.Lookup(s.Key)
		if err != nil {
			return nil, err
		}
		value, err := def.Normalize(s.Value)
		if err != nil {
			return nil, err
		}
		own = append(own, setting.Own{Key: strings.ToLower(s.Key), Value: value})
	}
	return own, nil
}

// follow implements dialect.
func (postgres) follow(s *Session) (cacheIndex int, encoding string) {
	s.idle, s.timeout = s.vars.Duration("idle_session_timeout"), s.vars.Duration("statement_timeout")
	s.idleInBlock = s.vars.Duration("idle_in_transaction_session_timeout")
	s.autocommit, s.rowsAtMost = true, -1
	encoding, _ = s.vars.Get("client_encoding")
	return cachePostgreSQL, encoding
}

// env implements dialect.
func (postgres) env(s *Session) datum.Env {
	zone, _ := s.vars.Get("timezone")
	location, err := setting.LoadLocation(zone)
	if err != nil {
		location = time.UTC
	}
	bytea, _ := s.vars.Get("bytea_output")
	return datum.Env{Location: location, ByteaEscape: bytea == "escape", Names: s.server.system}
}

// table implements dialect. A generator's name is a table, too: that of its
// sequence.
func (postgres) table(p *engine.Planner, name syntax.Name) (*engine.Table, error) {
	t, err := ids.Table(p.Catalog, name)
	public := len(name) == 1 || name[len(name)-2] == "public"
	if err != nil && public && ids.IsGenerator(p, name.Last()) {
		return ids.SequenceTable(p.Catalog, name.Last()), nil
	}
	return t, err
}

func (postgres) plan(*engine.Planner, *Statement, syntax.Statement) (bool, error) { return false, nil }

func (postgres) start(*Session, *Statement) {}

func (postgres) syntaxError(_ string, err error) error { return err }

// setModes implements dialect.
func (postgres) setModes(x *engine.Exec, _ *Session, modes []syntax.SetItem) error {
	for _, m := range modes {
		m.Local = true
		if err := assign(x, &m); err != nil {
			return err
		}
	}
	return nil
}

// explain implements dialect: the plan node, with a rough number of rows.
func (postgres) explain(t *syntax.Explain) *engine.QueryPlan {
	text, rows := "Result", 1
	if sel, ok := t.Statement.(*syntax.Select); ok {
		if core, ok := sel.Body.(*syntax.SelectCore); ok && len(core.From) > 0 {
			switch f := core.From[0].(type) {
			case *syntax.Table:
				text = "Foreign Scan on " + strings.Join(f.Name, ".")
			case *syntax.TableFunc:
				text, rows = "Function Scan", 1000
			default:
				text = "Nested Loop"
			}
		}
	}
	text += fmt.Sprintf("  (cost=0.00..0.01 rows=%d width=8)", rows) // postgres_fdw reads the numbers
	return &engine.QueryPlan{
		Columns: []engine.Column{engine.TextColumn("QUERY PLAN")},
		Open:    func(*engine.Exec) (engine.Rows, error) { return engine.SingleRow(datum.MakeText(text)), nil },
	}
}

// postgresParameters returns the settings whose values the server determines.
func (s *Server) postgresParameters(configured map[string]string) map[string]string {
	parameters := map[string]string{"server_version": setting.PostgreSQL["server_version"].Default + " (nextid " + s.version + ")"}
	maps.Copy(parameters, configured)
	for key, d := range map[string]time.Duration{"statement_timeout": s.limits.StatementTime, "idle_in_transaction_session_timeout": s.limits.IdleInTransaction} {
		if d > 0 {
			parameters[key], _ = setting.PostgreSQL[key].Normalize(strconv.FormatInt(d.Milliseconds(), 10)) // a number fits
		}
	}
	return parameters
}
