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
	if f.t.Move {
		n, err := c.move(x, f.t)
		x.Moved = n
		return nil, err
	}
	return c.fetch(x, f.t)
}

// fetch yields the rows of one FETCH.
func (p *Portal) fetch(x *engine.Exec, t *syntax.Fetch) (engine.Rows, error) {
	switch {
	case t.Direction == syntax.FetchForward && t.Count > 0:
		left := t.Count
		return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
			if left <= 0 {
				return nil, io.EOF
			}
			left--
			return p.Next(x.Ctx)
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
			if _, err := p.Next(x.Ctx); err != nil {
				return &engine.SliceRows{}, eofIsNil(err)
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
func (p *Portal) again(x *engine.Exec) (engine.Rows, error) {
	if p.position < 1 || (p.done && !p.buffer) || (p.buffer && p.position > len(p.buffered)) {
		return &engine.SliceRows{}, nil // before the first row or after the last
	}
	if err := p.needScroll(); err != nil {
		return nil, err
	}
	return engine.SingleRow(p.buffered[p.position-1]...), nil
}

// backward reads n rows towards the start.
func (p *Portal) backward(x *engine.Exec, n int64) (engine.Rows, error) {
	if n == 0 {
		return p.again(x)
	}
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

// absolute is FETCH ABSOLUTE and RELATIVE to a row that was passed. Negative
// absolute numbers count from the end.
func (p *Portal) absolute(x *engine.Exec, t *syntax.Fetch) (engine.Rows, error) {
	if err := p.needScroll(); err != nil {
		return nil, err
	}
	to := t.Count
	switch {
	case t.Direction == syntax.FetchRelative:
		to += int64(p.position)
	case t.Count < 0:
		if err := p.materialize(x.Ctx); err != nil {
			return nil, err
		}
		to += int64(len(p.buffered)) + 1
	}
	if to < 1 {
		p.position = 0
		return &engine.SliceRows{}, nil
	}
	p.position = int(to) - 1
	return p.fetch(x, &syntax.Fetch{Count: 1})
}

// move passes rows without sending them.
func (p *Portal) move(x *engine.Exec, t *syntax.Fetch) (int64, error) {
	it, err := p.fetch(x, t)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for {
		if _, err := it.Next(x); err != nil {
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
	if err := p.x.HoldRow(row); err != nil {
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
		if err := p.x.HoldRow(row); err != nil {
			return err
		}
		p.buffered = append(p.buffered, slices.Clone(row))
	}
}
