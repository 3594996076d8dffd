package sqlfuncs

import (
	"sync/atomic"

	"nextid/generator"
	"nextid/generator/quota"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/ids"
)

// FastPath draws the id of a statement that is only SELECT next_id(name) or a
// sequence's nextval, see fastStatement. FastPath allocates nothing and does not
// wait. It takes no lock, except for the buckets of quotas that concern the user. If
// ok is false, nothing was drawn. The statement must then run through a Portal,
// which may wait, create the generator or return an error.
//
// A FastPath belongs to one Session. Only the session's goroutine uses it.
type FastPath struct {
	session *Session
	cached  *Statement // cached statement of the last simple query
	drawn   ids.Drawn
	quotas  *quota.Set // the server's quotas for which limited holds
	limited bool       // a quota concerns the session's user
}

// fastID is the part of a Statement that FastPath reads.
type fastID struct {
	name  string                          // the literal, "" for the parameter
	entry atomic.Pointer[generator.Entry] // of name, nil before the first draw
}

// Cached returns the cached statement of a simple query, nil if there is none.
func (f *FastPath) Cached(text []byte) *Statement {
	if st := f.cached; st != nil && string(text) == st.Text {
		return st
	}
	if st := f.session.cache().get(text); st != nil && len(st.Params) == 0 {
		f.cached = st
		return st
	}
	return nil
}

// Query draws up to n ids for n identical simple queries. It drops what Simple drops,
// and ends the batch as EndBatch does.
func (f *FastPath) Query(text []byte, n int) (st *Statement, drawn generator.Range, ok bool) {
	if st = f.Cached(text); st == nil {
		return nil, drawn, false
	}
	if drawn, ok = f.Execute(st, nil, n); ok {
		if s := f.session; s.unnamed != nil || s.hasPortal {
			s.dropUnnamed()
		}
		f.endBatch()
	}
	return st, drawn, ok
}

// Prepared returns a prepared statement if Execute can answer it, otherwise nil.
func (f *FastPath) Prepared(name []byte) *Statement {
	st := f.session.unnamed
	if len(name) > 0 {
		st = f.session.prepared[string(name)]
	}
	if st == nil || st.fast == nil {
		return nil
	}
	return st
}

// Execute draws up to n ids for n executions of a statement with the same arguments.
// The first drawn.Count executions are answered. It leaves all statements of users
// who may use only some generators to the slow path, which checks the names. So it
// does where a draw would begin a transaction.
func (f *FastPath) Execute(st *Statement, args []Arg, n int) (drawn generator.Range, ok bool) {
	s, fast := f.session, st.fast
	if fast == nil || !s.upToDate() || s.options.Generators != nil || s.tx.state == txFailed || len(args) != len(st.Params) ||
		s.rowsAtMost == 0 || !s.autocommit && s.tx.state == txIdle {
		return drawn, false
	}
	f.drawn.Prepare(&s.memory)
	var e *generator.Entry
	switch {
	case fast.name != "" && len(args) == 0:
		if e = fast.entry.Load(); e == nil {
			if e = s.server.registry.Lookup([]byte(fast.name)); e == nil {
				return drawn, false
			}
			fast.entry.Store(e)
		}
	case fast.name == "" && !args[0].Null && (args[0].Type == datum.Invalid || args[0].Type == datum.Text):
		if e = s.server.registry.Lookup(args[0].Data); e == nil {
			return drawn, false
		}
	default:
		return drawn, false
	}
	limited := f.isLimited()
	if limited && !f.quotas.TryTake(s.options.User, e.Name(), int64(n), s.server.clock.Monotonic()) {
		return drawn, false
	}
	drawn, ok = e.TryNext(int64(n))
	if limited {
		f.quotas.Give(s.options.User, e.Name(), int64(n)-drawn.Count)
	}
	if ok {
		f.drawn.Note(e, drawn.Last(), &s.memory)
	}
	return drawn, ok
}

// Answered completes Bind and Execute of the unnamed portal after Execute has
// answered them. The portal stays open, without rows, until a Sync outside a
// transaction block. formats are the result formats of the Bind.
func (f *FastPath) Answered(st *Statement, formats []int16, sync bool) {
	s := f.session
	if sync && s.tx.state == txIdle {
		f.endBatch()
		return
	}
	p := s.unnamedPortal()
	if !p.answered {
		if s.hasPortal {
			p.Close()
		}
		*p = Portal{session: s, answered: true, done: true, formats: p.formats}
	}
	p.st, p.columns, p.tag = st, st.Columns, st.tag
	p.formats = append(p.formats[:0], formats...)
	s.hasPortal, s.unsettled = true, true
}

// endBatch calls EndBatch if a batch is open.
func (f *FastPath) endBatch() {
	if f.session.unsettled {
		f.session.EndBatch()
	}
}

// Drew implements ids.Session for an id that was drawn on the slow path. With
// autocommit off, it begins a transaction.
func (s *Session) Drew(e *generator.Entry, id int64) {
	s.Fast.drawn.Note(e, id, &s.memory)
	if !s.autocommit && s.tx.state == txIdle {
		_ = s.begin(nil, nil) // without modes there is no error
	}
}

// isLimited reports whether quotas may limit the session's draws.
func (f *FastPath) isLimited() bool {
	q := f.session.server.quotas.Load()
	if q != f.quotas {
		f.quotas, f.limited = q, q != nil && q.Concerns(f.session.options.User)
	}
	return f.limited
}

// Charge implements ids.Session: it counts n ids of a name against the quotas. If one is
// exceeded, it counts nothing and returns a *quota.Exceeded.
func (s *Session) Charge(name string, n int64) error {
	if !s.Fast.isLimited() {
		return nil
	}
	return s.Fast.quotas.Take(s.options.User, name, n, s.server.clock.Monotonic())
}

// Refund implements ids.Session: it returns the charge for n ids that were not drawn.
func (s *Session) Refund(name string, n int64) {
	if s.Fast.limited {
		s.Fast.quotas.Give(s.options.User, name, n)
	}
}

// upToDate reports whether the session's options have the user's present rights.
func (s *Session) upToDate() bool {
	return s.present == nil || s.present.Load() == s.rights
}
