package sqlfuncs

import (
	"context"
	"time"

	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// host is a session as the statements see it that run for it.
type host struct{ s *Session }

// sessionOf is the session for which a statement runs.
func sessionOf(x *exec) *Session { return x.host.(host).s }

// plannedFor is the session for which a statement is planned.
func plannedFor(p *planner) *Session { return p.host.(host).s }

// portalOf is the portal for which a statement runs, nil if it has none.
func portalOf(x *exec) *Portal {
	p, _ := x.caller.(*Portal)
	return p
}

func (h host) Env() *datum.Env          { return h.s.Env() }
func (h host) Started() time.Time       { return h.s.server.now() }
func (h host) Memory() *account.Session { return h.s.memory }
func (h host) Planned(n int) error      { return h.s.planned(n) }
func (h host) Admin() bool              { return h.s.options.Admin }

func (h host) Table(p *planner, name syntax.Name) (*table, error) {
	if p.mysql {
		return p.lookupTable(name)
	}
	t, err := h.s.server.lookupTable(name)
	public := len(name) == 1 || name[len(name)-2] == "public"
	if err != nil && public && p.isGenerator(name.Last()) {
		return h.s.server.sequenceTable(name.Last()), nil
	}
	return t, err
}

// execution begins the execution of a statement.
func (s *Session) execution(ctx context.Context, params []datum.Value) *exec {
	x := newExec(ctx, host{s}, s.expressions(), params)
	s.env.Now = transactionNow(x) // what 'now'::timestamp means
	return x
}

// expressions is how the session's dialect reads expressions.
func (s *Session) expressions() dialect {
	if s.dialect == syntax.MySQL {
		return mysqlDialect{}
	}
	return nil
}
