package sqlfuncs

import (
	"context"
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// declare plans DECLARE name CURSOR FOR query. The query is analysed with
// the statement, so that its parameters are the statement's.
func (p *planner) declare(st *Statement, t *syntax.Declare) error {
	inner := &Statement{Text: t.Text, tree: t.Query}
	if err := p.selectStatement(inner, t.Query); err != nil {
		return err
	}
	inner.fast = nil
	st.tag = "DECLARE CURSOR"
	st.utility = utilityFunc(func(x *exec) error {
		s := x.session
		if s.tx.state == txIdle && !t.Hold {
			return sqlstate.New(sqlstate.NoActiveTransaction, "DECLARE CURSOR can only be used in transaction blocks")
		}
		if t.Name == "" {
			return sqlstate.New(sqlstate.InvalidCursorName, "cursor name must not be empty")
		}
		if err := s.roomFor(x.portal.bytes); err != nil {
			return err
		}
		c, err := s.newPortal(t.Name)
		if err != nil {
			return err
		}
		c.init(s, inner, slices.Clone(x.params))
		c.bytes = x.portal.bytes
		s.bytes += c.bytes
		c.cursor, c.binary, c.held = true, t.Binary, t.Hold
		c.scroll = !t.NoScroll
		c.buffer = t.Scroll || t.Hold
		if s.tx.state == txIdle {
			if err := c.materialize(x.ctx); err != nil {
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
	st.utility = utilityFunc(func(x *exec) error {
		s := x.session
		if t.Name == "" {
			s.closePortals(func(p *Portal) bool { return p != x.portal && p != &s.unnamedPo })
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
	return nil, sqlstate.New(sqlstate.InvalidCursorName, "cursor %q does not exist", cut(name, 64))
}

// fetchPlan is FETCH and MOVE.
type fetchPlan struct{ t *syntax.Fetch }

func (p *planner) fetch(st *Statement, t *syntax.Fetch) {
	p.private = true
	st.tag = "FETCH"
	if t.Move {
		st.tag = "MOVE"
	}
	f := &fetchPlan{t}
	st.utility, st.Columns = f, f.columns(p.session)
}

// columns are the cursor's; they are known only while it is open.
func (f *fetchPlan) columns(s *Session) []Column {
	c, ok := s.portals[f.t.Cursor]
	if !ok || f.t.Move {
		return nil
	}
	return c.columns
}

func (f *fetchPlan) run(x *exec) (rowIter, error) {
	c, err := x.session.cursorNamed(f.t.Cursor)
	if err != nil {
		return nil, err
	}
	if f.t.Move {
		n, err := c.move(x, f.t)
		x.moved = n
		return nil, err
	}
	return c.fetch(x, f.t)
}

// fetch yields the rows of one FETCH.
func (p *Portal) fetch(x *exec, t *syntax.Fetch) (rowIter, error) {
	switch {
	case t.Direction == syntax.FetchForward && t.Count > 0:
		left := t.Count
		return funcRows(func(x *exec) ([]datum.Value, error) {
			if left <= 0 {
				return nil, io.EOF
			}
			left--
			return p.Next(x.ctx)
		}), nil
	case t.Direction == syntax.FetchForward && t.Count < 0:
		return p.backward(x, -t.Count)
	case t.Direction == syntax.FetchBackward:
		if t.Count < 0 {
			return p.fetch(x, &syntax.Fetch{Direction: syntax.FetchForward, Count: -t.Count})
		}
		return p.backward(x, t.Count)
	case t.Direction == syntax.FetchRelative && t.Count > 0, t.Direction == syntax.FetchAbsolute && t.Count > int64(p.position):
		skip := t.Count - 1
		if t.Direction == syntax.FetchAbsolute {
			skip -= int64(p.position)
		}
		for range skip {
			if _, err := p.Next(x.ctx); err != nil {
				return &sliceRows{}, eofIsNil(err)
			}
		}
		return p.fetch(x, &syntax.Fetch{Count: 1})
	case t.Direction == syntax.FetchForward, t.Direction == syntax.FetchRelative && t.Count == 0:
		return p.again(x)
	}
	return p.absolute(x, t)
}

func eofIsNil(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// needScroll refuses to go back in a cursor that keeps no rows.
func (p *Portal) needScroll() error {
	if p.buffer {
		return nil
	}
	return sqlstate.New(sqlstate.NotPrerequisite, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.")
}

// again is FETCH 0: the current row once more.
func (p *Portal) again(x *exec) (rowIter, error) {
	if p.position < 1 || (p.done && !p.buffer) || (p.buffer && p.position > len(p.buffered)) {
		return &sliceRows{}, nil // before the first row or after the last
	}
	if err := p.needScroll(); err != nil {
		return nil, err
	}
	return singleRow(p.buffered[p.position-1]...), nil
}

// backward reads n rows towards the start.
func (p *Portal) backward(x *exec, n int64) (rowIter, error) {
	if n == 0 {
		return p.again(x)
	}
	if err := p.needScroll(); err != nil {
		return nil, err
	}
	return funcRows(func(*exec) ([]datum.Value, error) {
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

// absolute is FETCH ABSOLUTE and RELATIVE to a row that was passed. Negative
// absolute numbers count from the end.
func (p *Portal) absolute(x *exec, t *syntax.Fetch) (rowIter, error) {
	if err := p.needScroll(); err != nil {
		return nil, err
	}
	to := t.Count
	switch {
	case t.Direction == syntax.FetchRelative:
		to += int64(p.position)
	case t.Count < 0:
		if err := p.materialize(x.ctx); err != nil {
			return nil, err
		}
		to += int64(len(p.buffered)) + 1
	}
	if to < 1 {
		p.position = 0
		return &sliceRows{}, nil
	}
	p.position = int(to) - 1
	return p.fetch(x, &syntax.Fetch{Count: 1})
}

// move passes rows without sending them.
func (p *Portal) move(x *exec, t *syntax.Fetch) (int64, error) {
	it, err := p.fetch(x, t)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for {
		if _, err := it.next(x); err != nil {
			return n, eofIsNil(err)
		}
		n++
	}
}

// nextBuffered reads a cursor that keeps its rows.
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
	if err := p.x.hold(1); err != nil {
		return nil, p.failed(err)
	}
	p.buffered = append(p.buffered, slices.Clone(row))
	p.position = len(p.buffered)
	return row, nil
}

// materialize reads a cursor to its end and keeps the rows: a WITH HOLD
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
		if err := p.x.hold(1); err != nil {
			return err
		}
		p.buffered = append(p.buffered, slices.Clone(row))
	}
}
