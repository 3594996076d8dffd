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

// declare plans DECLARE name CURSOR FOR query. The query is analysed with the
// statement, so that both have the same parameters.
func declare(p *engine.Planner, st *Statement, t *syntax.Declare) error {
	inner := newStatement(t.Text, t.Query)
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
		c.buffer = t.Scroll || t.Hold
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

// closeCursorPlan plans CLOSE name and CLOSE ALL.
func closeCursorPlan(st *Statement, t *syntax.CloseCursor) {
	st.tag = "CLOSE CURSOR"
	if t.Name == "" {
		st.tag = "CLOSE CURSOR ALL"
	}
	st.utility = utilityFunc(func(x *engine.Exec) error {
		s := sessionOf(x)
		if t.Name == "" {
			s.closePortals(func(p *Portal) bool { return p != portalOf(x) && p != s.unnamedPo })
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

// cursorNamed returns an open cursor. The protocol's named portals are cursors, too.
func (s *Session) cursorNamed(name string) (*Portal, error) {
	if c, ok := s.portals[name]; ok {
		return c, nil
	}
	return nil, sqlstate.New(sqlstate.InvalidCursorName, "cursor %q does not exist", sqlstate.Cut(name, 64))
}

// fetchPlan runs FETCH and MOVE.
type fetchPlan struct{ t *syntax.Fetch }

// fetch plans FETCH and MOVE. Their columns depend on the session's cursors.
func fetch(p *engine.Planner, st *Statement, t *syntax.Fetch) {
	p.Private = true
	st.tag = "FETCH"
	if t.Move {
		st.tag = "MOVE"
	}
	f := &fetchPlan{t}
	st.utility, st.Columns = f, f.columns(plannedFor(p))
}

// columns returns the cursor's columns, which are known only while the cursor is
// open.
func (f *fetchPlan) columns(s *Session) []engine.Column {
	c, ok := s.portals[f.t.Cursor]
	if !ok || f.t.Move {
		return nil
	}
	return c.columns
}

// run implements utility.
func (f *fetchPlan) run(x *engine.Exec) (engine.Rows, error) {
	c, err := sessionOf(x).cursorNamed(f.t.Cursor)
	if err != nil {
		return nil, err
	}
	if f.t.Move {
		n, err := c.move(x, f.t.Count)
		x.Moved = n
		return nil, err
	}
	return c.fetch(f.t.Count)
}

// fetch yields the rows of one FETCH: n forward, -n backward, or the current row if
// n is 0.
func (p *Portal) fetch(n int64) (engine.Rows, error) {
	if n == 0 {
		return p.again()
	}
	if n < 0 {
		return p.backward(-n)
	}
	return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		if n--; n < 0 {
			return nil, io.EOF
		}
		return p.Next(x.Ctx)
	}), nil
}

// needScroll returns an error if the cursor cannot read backward because it keeps
// no rows.
func (p *Portal) needScroll() error {
	if p.buffer {
		return nil
	}
	return sqlstate.New(sqlstate.NotPrerequisite, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.")
}

// again returns the current row once more (FETCH 0).
func (p *Portal) again() (engine.Rows, error) {
	if p.position < 1 || (p.done && !p.buffer) || (p.buffer && p.position > len(p.buffered)) {
		return &engine.SliceRows{}, nil // before the first row or after the last
	}
	if err := p.needScroll(); err != nil {
		return nil, err
	}
	return engine.SingleRow(p.buffered[p.position-1]...), nil
}

// backward reads n rows towards the start.
func (p *Portal) backward(n int64) (engine.Rows, error) {
	if err := p.needScroll(); err != nil {
		return nil, err
	}
	return engine.RowsFunc(func(*engine.Exec) ([]datum.Value, error) {
		if n <= 0 || p.position <= 0 {
			return nil, io.EOF
		}
		n--
		if p.position--; p.position == 0 {
			return nil, io.EOF
		}
		return p.buffered[p.position-1], nil
	}), nil
}

// move skips rows without sending them. It returns their number.
func (p *Portal) move(x *engine.Exec, count int64) (int64, error) {
	it, err := p.fetch(count)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for {
		if _, err := it.Next(x); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return n, err
		}
		n++
	}
}

// nextBuffered returns the next row of a cursor that keeps its rows: one that was
// read before, or one from the plan.
func (p *Portal) nextBuffered(ctx context.Context) ([]datum.Value, error) {
	if p.position < len(p.buffered) {
		p.position++
		return p.buffered[p.position-1], nil
	}
	row, err := p.pull(ctx)
	if err != nil {
		p.position = len(p.buffered) + 1
		return nil, err
	}
	if err := p.x.HoldRow(row); err != nil {
		return nil, p.failed(err)
	}
	p.buffered = append(p.buffered, slices.Clone(row))
	p.position = len(p.buffered)
	return row, nil
}

// materialize reads a cursor to its end and keeps the rows, since a WITH HOLD
// cursor outlives its transaction.
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
		p.buffered = append(p.buffered, slices.Clone(row))
	}
}
