package sqlfuncs

import (
	"context"
	"slices"
	"time"

	"nextid/sqlfuncs/engine"
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

	seen any // the catalogs in the snapshot, see snapshot
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
// implicit transaction. In the MySQL dialect it does nothing.
func (s *Session) Fail() {
	if s.tx.state == txIdle && s.dialect == syntax.PostgreSQL {
		s.rollbackImplicit()
	}
	if s.tx.state == txOpen && s.dialect == syntax.PostgreSQL {
		s.tx.state = txFailed
	}
}

// rollbackImplicit restores the settings that the implicit transaction changed.
func (s *Session) rollbackImplicit() {
	if s.vars.Rollback() {
		s.settingsChanged()
	}
}

// checkTransaction returns an error for a statement in a failed block, unless the
// statement ends the block.
func (s *Session) checkTransaction(exits bool) error {
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

// snapshot reports whether the catalogs must stay unchanged until the transaction
// ends. pg_dump reads them in many statements and fails if a generator appears
// between two.
func (s *Session) snapshot() bool {
	if s.tx.state != txOpen || s.dialect != syntax.PostgreSQL {
		return false
	}
	isolation, _ := s.vars.Get("transaction_isolation")
	readOnly, _ := s.vars.Get("transaction_read_only")
	return readOnly == "on" && (isolation == "repeatable read" || isolation == "serializable")
}

// transactionPlan returns the tag and the action of a transaction statement.
func transactionPlan(t *syntax.Transaction) (tag string, run utilityFunc, err error) {
	switch t.Kind {
	case syntax.Begin, syntax.StartTransaction:
		tag = "BEGIN"
		if t.Kind == syntax.StartTransaction {
			tag = "START TRANSACTION"
		}
		return tag, func(x *engine.Exec) error { return sessionOf(x).begin(x, t) }, nil
	case syntax.Commit:
		return "COMMIT", func(x *engine.Exec) error { return sessionOf(x).endBlock(x, t, true) }, nil
	case syntax.Rollback:
		return "ROLLBACK", func(x *engine.Exec) error { return sessionOf(x).endBlock(x, t, false) }, nil
	case syntax.Savepoint:
		return "SAVEPOINT", func(x *engine.Exec) error { return sessionOf(x).savepoint(t.Savepoint) }, nil
	case syntax.ReleaseSavepoint:
		return "RELEASE", func(x *engine.Exec) error { return sessionOf(x).release(t.Savepoint) }, nil
	case syntax.RollbackToSavepoint:
		return "ROLLBACK", func(x *engine.Exec) error { return sessionOf(x).rollbackTo(x, t.Savepoint) }, nil
	default:
		return "", nil, sqlstate.New(sqlstate.FeatureNotSupported, "two-phase transactions are not supported").
			WithHint("nextid has no data to commit; use COMMIT or ROLLBACK.")
	}
}

// begin runs BEGIN. In an open block it warns and applies the modes, as PostgreSQL
// does.
func (s *Session) begin(x *engine.Exec, t *syntax.Transaction) error {
	if s.tx.state != txIdle {
		s.warn(sqlstate.ActiveTransaction, "there is already a transaction in progress")
		return s.setModes(x, t.Modes)
	}
	began := s.server.now()
	s.tx = transaction{state: txOpen, began: began, saved: s.vars.Before(), savepoints: s.tx.savepoints[:0]}
	s.envOK = false
	return s.setModes(x, t.Modes)
}

// setModes applies ISOLATION LEVEL, READ ONLY and DEFERRABLE to the block.
func (s *Session) setModes(x *engine.Exec, modes []syntax.SetItem) error {
	for _, m := range modes {
		m.Local = true
		if err := assign(x, &m); err != nil {
			return err
		}
	}
	return nil
}

// endBlock runs COMMIT or ROLLBACK. COMMIT of a failed block rolls back. AND CHAIN
// begins the next block with the same modes.
func (s *Session) endBlock(x *engine.Exec, t *syntax.Transaction, commit bool) error {
	state := s.tx.state
	if state == txIdle {
		if t.Chain {
			return sqlstate.New(sqlstate.NoActiveTransaction, "%s AND CHAIN can only be used in transaction blocks", x.Tag)
		}
		s.warn(sqlstate.NoActiveTransaction, "there is no transaction in progress")
		if !commit {
			s.rollbackImplicit()
		}
		s.vars.Settle()
		return nil
	}
	if state == txFailed {
		commit = false
		x.Tag = "ROLLBACK"
	}
	over := s.vars.Save()
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
	if t.Chain {
		if err := s.begin(x, &syntax.Transaction{Kind: syntax.Begin}); err != nil {
			return err
		}
		s.vars.Chain(over)
		s.settingsChanged()
	}
	return nil
}

// abort ends a block whose COMMIT failed.
func (s *Session) abort() {
	s.vars.Restore(s.tx.saved)
	s.leaveBlock(false)
}

// leaveBlock ends the transaction block: it settles the settings and closes the
// cursors that end with the block.
func (s *Session) leaveBlock(commit bool) {
	s.tx.state, s.tx.seen = txIdle, nil
	s.tx.savepoints = s.tx.savepoints[:0]
	s.vars.Settle()
	s.settingsChanged()
	s.closePortals(func(p *Portal) bool { return !p.held || (!commit && !p.committed) })
	for _, p := range s.portals {
		p.committed = true
	}
}

// savepoint runs SAVEPOINT.
func (s *Session) savepoint(name string) error {
	if s.tx.state == txIdle {
		return sqlstate.New(sqlstate.NoActiveTransaction, "SAVEPOINT can only be used in transaction blocks")
	}
	if len(s.tx.savepoints) >= maxSavepoints {
		return sqlstate.New(sqlstate.LimitExceeded, "a transaction may have at most %d savepoints", maxSavepoints)
	}
	s.tx.savepoints = append(s.tx.savepoints, savepoint{name, s.vars.Save(), s.opened})
	return nil
}

// findSavepoint returns the index of the newest savepoint of that name.
func (s *Session) findSavepoint(what, name string) (int, error) {
	if s.tx.state == txIdle {
		return 0, sqlstate.New(sqlstate.NoActiveTransaction, "%s can only be used in transaction blocks", what)
	}
	for i, v := range slices.Backward(s.tx.savepoints) {
		if v.name == name {
			return i, nil
		}
	}
	return 0, sqlstate.New(sqlstate.InvalidSavepoint, "savepoint %q does not exist", sqlstate.Cut(name, 64))
}

// release runs RELEASE SAVEPOINT. It also removes the savepoints after the named
// one.
func (s *Session) release(name string) error {
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
	s.vars.Restore(s.tx.savepoints[i].saved)
	s.settingsChanged()
	s.tx.savepoints = s.tx.savepoints[:i+1]
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
