package sqlfuncs

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// setStatementPlan runs SET STATEMENT name = value FOR statement. The values apply
// while the statement runs. As in MariaDB, the statement is parsed and analysed
// before the values are set, so that a new sql_mode does not affect its parsing.
type setStatementPlan struct {
	values  []mysql.Assignment
	inner   *Statement
	streams bool // the values are only limits: rows need not be buffered
}

// notInSetStatement lists the variables that MariaDB refuses in SET STATEMENT
// (error 1971).
var notInSetStatement = []string{
	"autocommit", "character_set_client", "character_set_connection", "character_set_filesystem", "collation_connection",
	"interactive_timeout", "profiling", "profiling_history_size", "query_cache_type", "skip_replication", "sql_log_off",
	"tx_isolation", "wait_timeout",
}

// boundsOfStatements lists the variables that limit the time or the rows of a
// statement and do not change the rows themselves.
var boundsOfStatements = []string{
	"max_statement_time", "max_execution_time", "sql_select_limit", "lock_wait_timeout", "innodb_lock_wait_timeout",
}

// setStatement plans SET STATEMENT.
func setStatement(p *engine.Planner, st *Statement, t *syntax.SetStatement) error {
	for _, item := range t.Items {
		if def, err := setting.LookupMySQL(item.Name); err == nil && slices.Contains(notInSetStatement, def.Name) {
			return engine.At(item.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "The system variable %s cannot be set in SET STATEMENT.", def.Name).
				WithMySQL(1971, "42000"))
		}
	}
	values, err := mysql.Assignments(p, t.Items)
	if err != nil {
		return err
	}
	inner := newStatement(st.Text, t.Statement)
	if err := planStatement(p, inner, t.Statement); err != nil {
		return err
	}
	plan := &setStatementPlan{values: values, inner: inner, streams: true}
	for _, v := range values {
		plan.streams = plan.streams && slices.Contains(boundsOfStatements, v.Def.Name)
	}
	st.tag, st.Columns, st.exits = inner.tag, inner.Columns, inner.exits
	if inner.query == nil {
		st.utility = plan
		return nil
	}
	st.query = &engine.QueryPlan{Columns: inner.query.Columns, Open: plan.open}
	return nil
}

// OwnTimeout reports whether the statement is a SET STATEMENT with a time limit.
// That limit replaces the session's.
func (st *Statement) OwnTimeout() bool {
	return st.setsDuration
}

// within calls run with the values set and with the context of their time limit. It
// restores the session's settings before it returns.
func (s *setStatementPlan) within(x *engine.Exec, run func(deadline time.Time) error) error {
	session, outer := sessionOf(x), x.Ctx
	saved := session.vars.Save()
	defer func() {
		x.Ctx = outer
		session.vars.Restore(saved)
		session.settingsChanged()
	}()
	if err := mysql.AssignAll(x, s.values); err != nil {
		return err
	}
	ctx, stop := session.StatementContext(outer)
	defer stop()
	x.Ctx = ctx
	deadline, _ := ctx.Deadline()
	if err := run(deadline); err != nil {
		return clientError(ctx, err)
	}
	return nil
}

// run implements utility, for statements without rows.
func (s *setStatementPlan) run(x *engine.Exec) (rows engine.Rows, err error) {
	err = s.within(x, func(time.Time) error {
		if s.inner.utility == nil {
			return nil
		}
		it, err := s.inner.utility.run(x)
		if err != nil || it == nil {
			return err
		}
		defer it.Close()
		kept, err := engine.Drain(x, it)
		rows = &engine.SliceRows{Rows: kept}
		return err
	})
	return rows, err
}

// open opens the inner query. Its rows are buffered, unless s.streams: they must be
// computed while the values are set.
func (s *setStatementPlan) open(x *engine.Exec) (rows engine.Rows, err error) {
	err = s.within(x, func(deadline time.Time) error {
		most := sessionOf(x).selectLimit(s.inner)
		if most == 0 { // nothing runs, as with LIMIT 0
			rows = &engine.SliceRows{}
			return nil
		}
		it, err := s.inner.query.Open(x)
		if err != nil {
			return err
		}
		bounded := &boundedRows{rows: it, left: most, deadline: deadline}
		if rows = bounded; s.streams {
			return nil
		}
		defer bounded.Close()
		kept, err := engine.Drain(x, bounded)
		rows = &engine.SliceRows{Rows: kept}
		return err
	})
	return rows, err
}

// boundedRows yields the rows of a query with a deadline and a row limit of its
// own.
type boundedRows struct {
	rows     engine.Rows
	left     int64     // remaining rows, negative: no limit
	deadline time.Time // zero: none

	outer, ctx context.Context // ctx has the deadline and is made from outer
	stop       context.CancelFunc
}

// Next implements engine.Rows. Two calls may have different contexts: each
// COM_STMT_FETCH has its own.
func (r *boundedRows) Next(x *engine.Exec) ([]datum.Value, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	if r.deadline.IsZero() {
		r.left--
		return r.rows.Next(x)
	}
	outer := x.Ctx
	if outer != r.outer {
		r.release()
		r.outer = outer
		r.ctx, r.stop = context.WithDeadlineCause(outer, r.deadline, errMaxStatementTime)
	}
	x.Ctx = r.ctx
	defer func() { x.Ctx = outer }()
	row, err := r.rows.Next(x)
	if err != nil && !errors.Is(err, io.EOF) {
		err = clientError(r.ctx, err)
	}
	r.left--
	return row, err
}

// release frees the timer of r.ctx.
func (r *boundedRows) release() {
	if r.stop != nil {
		r.stop()
	}
}

// Close implements engine.Rows.
func (r *boundedRows) Close() {
	r.release()
	r.rows.Close()
}
