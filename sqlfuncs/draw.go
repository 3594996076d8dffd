package sqlfuncs

import (
	"sync/atomic"

	"nextid/generator"
	"nextid/sqlfuncs/syntax"
)

// The warm door: how a statement that asks for just an id gets it without
// waiting, locking or allocating. Both protocols come in by Session.Draw; what
// it does not serve goes the long way, through a Portal.

// fastID is the warm path of SELECT next_id(name).
type fastID struct {
	name  string // the literal, "" when the name is the parameter
	entry atomic.Pointer[generator.Entry]
}

// Warm reports whether a prepared statement asks for just an id, so that
// Draw may answer its executions.
func (s *Session) Warm(name []byte) bool {
	st := s.unnamed
	if len(name) > 0 {
		st = s.prepared[string(name)].Statement
	}
	return st != nil && st.fast != nil
}

// Asks returns what Draw needs for a portal that was just bound. ok is false for a
// portal that asks for more than an id, or has been executed.
func (p *Portal) Asks() (st *Statement, arg []byte, ok bool) {
	if !p.isFast || p.done || p.started {
		return nil, nil, false
	}
	if p.st.fast.name == "" {
		arg = p.fastArg
	}
	return p.st, arg, true
}

// Answered ends a portal that Draw has answered.
func (p *Portal) Answered() { p.done = true }

// drew notes the newest id for lastval and currval.
func (s *Session) drew(e *generator.Entry, id int64) {
	s.mysql.InsertID, s.mysql.LastInsert = uint64(id), uint64(id)
	s.drawn.Note(e, id, &s.memory)
	if !s.mysql.Autocommit && s.tx.state == txIdle {
		s.beginMySQL(false)
	}
}

// limited reports whether quotas may bound what the session draws.
func (s *Session) limited() bool {
	q := s.server.quotas.Load()
	if q != s.quotas {
		s.quotas, s.bounded = q, q != nil && q.Concerns(s.options.User)
	}
	return s.bounded
}

// charge counts n ids of a name against the quotas, or refuses them.
func (s *Session) charge(name string, n int64) error {
	if !s.limited() {
		return nil
	}
	return s.quotas.Take(s.options.User, name, n, s.server.clock.Monotonic())
}

// refund takes back what was charged for ids that were not drawn.
func (s *Session) refund(name string, n int64) {
	if s.bounded {
		s.quotas.Give(s.options.User, name, n)
	}
}

// Draw is the warm door, the only one. For a statement that is just SELECT next_id(name),
// name a literal or (arg given, in text) its only parameter, it draws ids for
// up to n executions without waiting, locking or allocating. ok is false for
// every other statement and whenever the slow path must decide.
func (s *Session) Draw(st *Statement, arg []byte, n int64) (ids generator.Range, ok bool) {
	f := st.fast
	if f == nil || !s.upToDate() || s.options.Generators != nil || s.tx.state == txFailed || len(s.mysql.Warnings) > 0 ||
		s.dialect == syntax.MySQL && s.mysql.RowsAtMost == 0 {
		return generator.Range{}, false
	}
	s.drawn.Prepare(&s.memory)
	var e *generator.Entry
	if f.name == "" {
		if e = s.server.registry.Lookup(arg); e == nil {
			return generator.Range{}, false
		}
	} else if e = f.entry.Load(); e == nil {
		if e = s.server.registry.Lookup([]byte(f.name)); e == nil {
			return generator.Range{}, false // the slow path opens or creates it
		}
		f.entry.Store(e)
	}
	limited := s.limited()
	if limited && !s.quotas.TryTake(s.options.User, e.Name(), n, s.server.clock.Monotonic()) {
		return generator.Range{}, false
	}
	r, ok := e.TryNext(n)
	if limited {
		s.refund(e.Name(), n-r.Count)
	}
	if !ok {
		return generator.Range{}, false
	}
	s.drew(e, r.First+(r.Count-1)*r.Step)
	return r, true
}
