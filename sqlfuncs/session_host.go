package sqlfuncs

import (
	"context"
	"time"

	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/syntax"
)

// host is a session as the statements see it that run for it.
type host struct{ s *Session }

// sessionOf is the session for which a statement runs.
func sessionOf(x *engine.Exec) *Session { return x.Host.(host).s }

// plannedFor is the session for which a statement is planned.
func plannedFor(p *engine.Planner) *Session { return p.Host.(host).s }

// portalOf is the portal for which a statement runs, nil if it has none.
func portalOf(x *engine.Exec) *Portal {
	p, _ := x.Caller.(*Portal)
	return p
}

func (h host) Env() *datum.Env          { return h.s.Env() }
func (h host) Now() time.Time           { return h.s.server.now() }
func (h host) Memory() *account.Session { return h.s.memory }
func (h host) Planned(n int) error      { return h.s.planned(n) }
func (h host) Admin() bool              { return h.s.options.Admin }

func (h host) Table(p *engine.Planner, name syntax.Name) (*engine.Table, error) {
	if p.MySQL {
		return lookupTable(p, name)
	}
	t, err := h.s.server.lookupTable(name)
	public := len(name) == 1 || name[len(name)-2] == "public"
	if err != nil && public && isGenerator(p, name.Last()) {
		return h.s.server.sequenceTable(name.Last()), nil
	}
	return t, err
}

func (h host) TransactionTime(x *engine.Exec) time.Time {
	if h.s.tx.state != txIdle {
		return h.s.tx.began
	}
	return x.Started
}

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
	s.env.Now = x.Host.TransactionTime(x) // what 'now'::timestamp means
	return x
}

// expressions is how the session's dialect reads expressions.
func (s *Session) expressions() engine.Dialect {
	if s.dialect == syntax.MySQL {
		return mysqlDialect{}
	}
	return nil
}
