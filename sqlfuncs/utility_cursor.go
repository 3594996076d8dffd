package sqlfuncs

import (
	"context"
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// declare plans DECLARE name CURSOR FOR query. The query is analysed with
// the statement, so that its parameters are the statement's.
func declare(p *engine.Planner, st *Statement, t *syntax.Declare) error {
	inner := &Statement{Text: t.Text, tree: t.Query}
	if err := selectStatement(p, inner, t.Query); err != nil {
		return err
	}
	inner.fast = nil
	st.tag = "DECLARE CURSOR"
	st.utility = utilityFunc(func(x *engine.Exec) error {
		s := sessionOf(x)
		if s.tx.state == txIdle && !t.Hold {
			return sqlstate.New(sqlstate.NoActiveTransaction, "DECLARE CURSOR can only be used in transaction blocks")
		}
		if t.Name == "" {
			return sqlstate.New(sqlstate.InvalidCursorName, "cursor name must not be empty")
		}
		c, err := s.newPortal(t.Name)
		if err != nil {
			return err
		}
		c.init(s, inner, slices.Clone(x.Params))
		if err := c.keeps(portalOf(x).bytes, st.cost, x.Params); err != nil {
			s.dropPortal(c)
			return err
		}
		c.cursor, c.binary, c.held = true, t.Binary, t.Hold
		if s.tx.state == txIdle {
			if err := c.materialize(x.Ctx); err != nil {
				s.dropPortal(c)
				return err
			}
			c.committed = true
		}
		return nil
	})
	return nil
}

func closeCursorPlan(st *Statement, t *syntax.CloseCursor) {
	st.tag = "CLOSE CURSOR"
	if t.Name == "" {
		st.tag = "CLOSE CURSOR ALL"
	}
	st.utility = utilityFunc(func(x *engine.Exec) error {
		s := sessionOf(x)
		if t.Name == "" {
			s.closePortals(func(p *Portal) bool { return p != portalOf(x) && p != &s.unnamedPo })
			return nil
		}
		c, err := s.cursorNamed(t.Name)
		if err != nil {
			return err
		}
		s.dropPortal(c)
		return nil
	})
}

func (s *Session) cursorNamed(name string) (*Portal, error) {
	if c, ok := s.portals[name]; ok {
		return c, nil
	}
	return nil, sqlstate.New(sqlstate.InvalidCursorName, "cursor %q does not exist", sqlstate.Cut(name, 64))
}

// fetchPlan is FETCH and MOVE.
type fetchPlan struct{ t *syntax.Fetch }

func fetch(p *engine.Planner, st *Statement, t *syntax.Fetch) {
	p.Private = true
	st.tag = "FETCH"
	if t.Move {
		st.tag = "MOVE"
	}
	f := &fetchPlan{t}
	st.utility, st.Columns = f, f.columns(plannedFor(p))
}

// columns are the cursor's; they are known only while it is open.
func (f *fetchPlan) columns(s *Session) []engine.Column {
	c, ok := s.portals[f.t.Cursor]
	if !ok || f.t.Move {
		return nil
	}
	return c.columns
}

func (f *fetchPlan) run(x *engine.Exec) (engine.Rows, error) {
	c, err := sessionOf(x).cursorNamed(f.t.Cursor)
	if err != nil {
		return nil, err
	}
	if f.t.Count == 0 && c.position > 0 { // PHP's PDO asks so for the columns of a cursor that is before its first row
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "%s 0, the row of the cursor again, is not supported by nextid", x.Tag)
	}
	left := f.t.Count
	rows := engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		if left <= 0 {
			return nil, io.EOF
		}
		left--
		return c.Next(x.Ctx)
	})
	if !f.t.Move {
		return rows, nil
	}
	for ; ; x.Moved++ {
		if _, err := rows.Next(x); errors.Is(err, io.EOF) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// nextKept reads a cursor whose transaction is over.
func (p *Portal) nextKept() ([]datum.Value, error) {
	if len(p.kept) == 0 {
		return nil, io.EOF
	}
	row := p.kept[0]
	p.kept = p.kept[1:]
	p.position++
	return row, nil
}

// materialize reads the rest of a WITH HOLD cursor and keeps the rows, which
// outlive the transaction.
func (p *Portal) materialize(ctx context.Context) error {
	for {
		row, err := p.pull(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.x.HoldRow(row); err != nil {
			return err
		}
		p.kept = append(p.kept, slices.Clone(row))
	}
}
