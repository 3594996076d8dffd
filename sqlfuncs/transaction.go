package sqlfuncs

import (
	"context"
	"slices"
	"strings"
	"time"

	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/pgcatalog"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// txState is the state of a session's transaction block. Status depends on the order
// of its values.
type txState uint8

const (
	txIdle   txState = iota // no block
	txOpen                  // in a block
	txFailed                // in a block with an error: only COMMIT and ROLLBACK are allowed
)

// transaction is the transaction block of a session. A rollback restores settings;
// drawn ids stay drawn. Outside a block, the statements of a simple query, or those
// up to a Sync, form an implicit transaction.
type transaction struct {
	state      txState
	readOnly   bool // of the MySQL dialect, see ReadOnlyTransaction
	began      time.Time
	saved      setting.Saved // settings to restore by ROLLBACK
	savepoints []savepoint   // oldest first

	catalogs pgcatalog.Cache // in the snapshot, see Catalogs
}

// savepoint holds what ROLLBACK TO restores.
type savepoint struct {
	name    string
	saved   setting.Saved
	portals int64 // Session.opened when it was set
}

// maxSavepoints limits the savepoints of a transaction.
const maxSavepoints = 1024

// Status returns the transaction status of ReadyForQuery: 'I', 'T' or 'E'.
func (s *Session) Status() byte { return "ITE"[s.tx.state] }

// Fail marks an open transaction block as failed. Outside a block it rolls back the
// implicit transaction. In a lenient dialect it does nothing.
func (s *Session) Fail() {
	switch {
	case s.lenient:
	case s.tx.state == txIdle:
		s.rollbackImplicit()
	default:
		s.tx.state = txFailed
	}
}

// rollbackImplicit restores the settings that the implicit transaction changed.
func (s *Session) rollbackImplicit() {
	if s.vars.Rollback() {
		s.SettingsChanged()
	}
}

// CheckTransaction returns an error (25P02) for a statement in a failed block, unless
// the statement ends the block.
func (s *Session) CheckTransaction(exits bool) error {
	if s.tx.state == txFailed && !exits {
		return sqlstate.New(sqlstate.FailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	return nil
}

// exitsTransaction reports whether the statement is allowed in a failed block.
func exitsTransaction(tree syntax.Statement) bool {
	t, ok := tree.(*syntax.Transaction)
	return ok && (t.Kind == syntax.Commit || t.Kind == syntax.Rollback || t.Kind == syntax.RollbackToSavepoint)
}

// Catalogs returns what the statement of an execution has read of the catalogs, and
// what its transaction has. The second is nil unless the transaction has a snapshot:
// pg_dump reads the catalogs in many statements and fails if a generator appears
// between two. Planning computes constants without a portal.
func (s *Session) Catalogs(x *engine.Exec) (statement, snapshot *pgcatalog.Cache) {
	isolation, _ := s.vars.Get("transaction_isolation")
	readOnly, _ := s.vars.Get("transaction_read_only")
	if s.tx.state == txOpen && readOnly == "on" && (isolation == "repeatable read" || isolation == "serializable") {
		snapshot = &s.tx.catalogs
	}
	if p := portalOf(x); p != nil {
		return &p.catalogs, snapshot
	}
	return &pgcatalog.Cache{}, snapshot
}

// transactionStatement plans BEGIN, COMMIT, SAVEPOINT and the like.
func transactionStatement(st *Statement, t *syntax.Transaction) {
	var do func(s *Session, x *engine.Exec) error
	switch t.Kind {
	case syntax.Begin:
		st.tag, do = "BEGIN", func(s *Session, x *engine.Exec) error { return s.begin(x, t.Modes) }
	case syntax.StartTransaction:
		st.tag, do = "START TRANSACTION", func(s *Session, x *engine.Exec) error { return s.begin(x, t.Modes) }
	case syntax.Commit:
		st.tag, do = "COMMIT", func(s *Session, x *engine.Exec) error { return s.endBlock(x, true) }
	case syntax.Rollback:
		st.tag, do = "ROLLBACK", func(s *Session, x *engine.Exec) error { return s.endBlock(x, false) }
	case syntax.Savepoint:
		st.tag, do = "SAVEPOINT", func(s *Session, x *engine.Exec) error { return s.savepoint(x, t.Savepoint) }
	case syntax.ReleaseSavepoint:
		st.tag, do = "RELEASE", func(s *Session, _ *engine.Exec) error { return s.releaseSavepoint(t.Savepoint) }
	case syntax.RollbackToSavepoint:
		st.tag, do = "ROLLBACK", func(s *Session, x *engine.Exec) error { return s.rollbackTo(x, t.Savepoint) }
	}
	st.do = func(x *engine.Exec) error { return do(sessionOf(x), x) }
}

// begin runs BEGIN. In an open block it warns and applies the modes, as PostgreSQL
// does; a lenient dialect begins another block.
func (s *Session) begin(x *engine.Exec, modes []syntax.SetItem) error {
	if s.tx.state != txIdle && !s.lenient {
		s.Warn(sqlstate.New(sqlstate.ActiveTransaction, "there is already a transaction in progress"))
	} else {
		s.tx = transaction{state: txOpen, began: s.Now(), saved: s.vars.Before(), savepoints: s.tx.savepoints[:0]}
		s.envOK = false
	}
	return s.dialect.setModes(x, s, modes)
}

// endBlock runs COMMIT or ROLLBACK. COMMIT of a failed block rolls back.
func (s *Session) endBlock(x *engine.Exec, commit bool) error {
	state := s.tx.state
	switch {
	case s.lenient:
		commit = true // a rollback restores nothing
	case state == txIdle:
		s.Warn(sqlstate.New(sqlstate.NoActiveTransaction, "there is no transaction in progress"))
		if !commit {
			s.rollbackImplicit()
		}
		s.leaveBlock(commit)
		return nil
	}
	if state == txFailed {
		commit = false
		x.Tag = "ROLLBACK"
	}
	if commit {
		if err := s.holdCursors(x.Ctx); err != nil {
			s.abort()
			return err
		}
		s.vars.EndTransaction()
	} else {
		s.vars.Restore(s.tx.saved)
	}
	s.leaveBlock(commit)
	return nil
}

// abort ends a block whose COMMIT failed.
func (s *Session) abort() {
	s.vars.Restore(s.tx.saved)
	s.leaveBlock(false)
}

// leaveBlock ends the transaction block, or the implicit transaction: it settles the
// settings and closes the cursors that end with it.
func (s *Session) leaveBlock(commit bool) {
	s.tx.state, s.tx.catalogs = txIdle, pgcatalog.Cache{}
	s.tx.savepoints = s.tx.savepoints[:0]
	s.vars.Settle()
	s.SettingsChanged()
	s.closePortals(func(p *Portal) bool { return !p.held || (!commit && !p.committed) })
	for _, p := range s.portals {
		p.committed = true
	}
}

// savepoint runs SAVEPOINT. In a lenient dialect a savepoint replaces one of the same
// name. It begins a block with autocommit off, and does nothing outside a block
// otherwise.
func (s *Session) savepoint(x *engine.Exec, name string) error {
	switch {
	case s.tx.state == txIdle && !s.lenient:
		return sqlstate.New(sqlstate.NoActiveTransaction, "SAVEPOINT can only be used in transaction blocks")
	case s.tx.state == txIdle && s.autocommit:
		return nil
	case s.tx.state == txIdle:
		if err := s.begin(x, nil); err != nil {
			return err
		}
	case s.lenient:
		if i, err := s.findSavepoint("SAVEPOINT", name); err == nil {
			s.tx.savepoints = slices.Delete(s.tx.savepoints, i, i+1)
		}
	}
	if len(s.tx.savepoints) >= maxSavepoints {
		return sqlstate.New(sqlstate.LimitExceeded, "a transaction may have at most %d savepoints", maxSavepoints)
	}
	s.tx.savepoints = append(s.tx.savepoints, savepoint{name, s.vars.Save(), s.opened})
	return nil
}

// findSavepoint returns the index of the newest savepoint of that name.
func (s *Session) findSavepoint(what, name string) (int, error) {
	if s.tx.state == txIdle && !s.lenient {
		return 0, sqlstate.New(sqlstate.NoActiveTransaction, "%s can only be used in transaction blocks", what)
	}
	for i, v := range slices.Backward(s.tx.savepoints) {
		if v.name == name || s.lenient && strings.EqualFold(v.name, name) {
			return i, nil
		}
	}
	return 0, sqlstate.New(sqlstate.InvalidSavepoint, s.noSavepoint, sqlstate.Cut(name, 64))
}

// releaseSavepoint runs RELEASE SAVEPOINT. It also removes the savepoints after the named
// one.
func (s *Session) releaseSavepoint(name string) error {
	i, err := s.findSavepoint("RELEASE SAVEPOINT", name)
	if err != nil {
		return err
	}
	s.tx.savepoints = s.tx.savepoints[:i]
	return nil
}

// rollbackTo runs ROLLBACK TO SAVEPOINT. It restores the settings and closes the
// portals that were opened since, and a failed block is open again.
func (s *Session) rollbackTo(x *engine.Exec, name string) error {
	i, err := s.findSavepoint("ROLLBACK TO SAVEPOINT", name)
	if err != nil {
		return err
	}
	s.tx.savepoints = s.tx.savepoints[:i+1]
	if s.lenient {
		return nil
	}
	s.vars.Restore(s.tx.savepoints[i].saved)
	s.SettingsChanged()
	opened := s.tx.savepoints[i].portals
	s.closePortals(func(p *Portal) bool { return p.opened > opened && p != portalOf(x) })
	s.tx.state = txOpen
	return nil
}

// holdCursors buffers the rows of WITH HOLD cursors, which stay open after COMMIT.
func (s *Session) holdCursors(ctx context.Context) error {
	for _, p := range s.portals {
		if p.held && !p.committed {
			if err := p.materialize(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
