package sqlfuncs

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/pgcatalog"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// host implements engine.Host, and the interfaces Session of ids, pgcatalog and
// mysql.
type host struct{ s *Session }

// sessionOf returns the session of an execution.
func sessionOf(x *engine.Exec) *Session { return x.Host.(host).s }

// plannedFor returns the session of a planner.
func plannedFor(p *engine.Planner) *Session { return p.Host.(host).s }

// isMySQL reports whether a statement is planned for a session in the MySQL dialect.
func isMySQL(p *engine.Planner) bool { return plannedFor(p).dialect == syntax.MySQL }

// portalOf returns the portal of an execution, or nil.
func portalOf(x *engine.Exec) *Portal {
	p, _ := x.Caller.(*Portal)
	return p
}

func (h host) Env() *datum.Env                           { return h.s.Env() }
func (h host) Now() time.Time                            { return h.s.server.now() }
func (h host) Memory() *account.Session                  { return &h.s.memory }
func (h host) Planned(n int) error                       { return h.s.planned(n) }
func (h host) MayPlan() error                            { return h.s.mayRead() }
func (h host) Client() *engine.Client                    { return &h.s.options }
func (h host) Settings() *setting.Variables              { return &h.s.vars }
func (h host) SettingsChanged()                          { h.s.settingsChanged() }
func (h host) Registry() *generator.Registry             { return h.s.server.registry }
func (h host) Catalog() *engine.Catalog                  { return h.s.server.catalog }
func (h host) Version() string                           { return h.s.server.version }
func (h host) Started() time.Time                        { return h.s.server.started }
func (h host) Waits()                                    { h.s.waits() }
func (h host) Notice(message string)                     { h.s.notice(message) }
func (h host) Warn(code sqlstate.Code, message string)   { h.s.warn(code, message) }
func (h host) Sessions(x *engine.Exec) []engine.Activity { return h.s.server.sessions.list(h.s, x) }

// Methods of ids.Session.

func (h host) IDServer() *ids.Server             { return h.s.server.ids }
func (h host) Drawn() *ids.Drawn                 { return &h.s.Fast.drawn }
func (h host) Charge(name string, n int64) error { return h.s.charge(name, n) }
func (h host) Refund(name string, n int64)       { h.s.refund(name, n) }
func (h host) Drew(e *generator.Entry, id int64) { h.s.drew(e, id) }

// Methods of pgcatalog.Session.

func (h host) System() *pgcatalog.System { return h.s.server.system }
func (h host) PreparedStatements() (list []pgcatalog.PreparedStatement) {
	for name, st := range h.s.prepared {
		list = append(list, pgcatalog.PreparedStatement{Name: name, Text: cmp.Or(st.sql, st.Text), At: st.at, Params: st.Params, SQL: st.sql != ""})
	}
	return list
}
func (h host) EndOther(pid int64, queryOnly bool) bool { return h.s.EndOther(pid, queryOnly) }

func (h host) Assign(def *setting.Definition, value string, local bool) error {
	return h.s.assign(def, value, local)
}

// Snapshot implements pgcatalog.Session. nil means that no snapshot is needed.
func (h host) Snapshot() *any {
	if h.s.snapshot() {
		return &h.s.tx.seen
	}
	return nil
}

// Methods of mysql.Session.

func (h host) MySQL() *mysql.State         { return &h.s.mysql }
func (h host) InTransaction() bool         { return h.s.tx.state != txIdle }
func (h host) PreparedCount() int          { return len(h.s.prepared) }
func (h host) Counters() map[string]string { return h.s.server.counters() }

// Table implements engine.Host. In the PostgreSQL dialect a generator's name is a
// table, too: that of its sequence.
func (h host) Table(p *engine.Planner, name syntax.Name) (*engine.Table, error) {
	if isMySQL(p) {
		return mysql.Table(p, name)
	}
	t, err := ids.Table(p.Catalog, name)
	public := len(name) == 1 || name[len(name)-2] == "public"
	if err != nil && public && ids.IsGenerator(p, name.Last()) {
		return ids.SequenceTable(p.Catalog, name.Last()), nil
	}
	return t, err
}

// Aside implements engine.Host. A session that holds a CPU slot has handed over the
// event loop before, in Long.
func (h host) Aside() {
	if !h.s.cpu.Held() {
		h.s.waits()
		runtime.Gosched() // let the waiting connections run first
	}
}

// Long implements engine.Host. It sends the answers so far and lets another
// goroutine serve the connections that share the event loop.
func (h host) Long(ctx context.Context) error {
	if !h.s.cpu.Held() {
		h.s.waits()
	}
	return h.s.cpu.Acquire(ctx)
}

// TransactionTime implements engine.Host.
func (h host) TransactionTime(x *engine.Exec) time.Time {
	if h.s.tx.state != txIdle {
		return h.s.tx.began
	}
	return x.Started
}

// Sleep implements engine.Host. Other sessions see the statement while it sleeps.
func (h host) Sleep(x *engine.Exec, d time.Duration) error {
	h.s.waits()
	if p := portalOf(x); p != nil {
		h.s.asleep.Store(&p.st.Text)
		defer h.s.asleep.Store(nil)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.Ctx.Done():
		return x.Ctx.Err()
	}
}

// execution begins the execution of a statement.
func (s *Session) execution(ctx context.Context, params []datum.Value) *engine.Exec {
	x := engine.NewExec(ctx, host{s}, s.expressions(), params)
	x.Done = s.done
	return x
}

// expressions returns the session's dialect for the engine.
func (s *Session) expressions() engine.Dialect {
	if s.dialect == syntax.MySQL {
		return s.server.mysql
	}
	return engine.PostgreSQL{}
}
