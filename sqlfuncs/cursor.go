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
	inner := &Statement{Text: t.Text}
	if err := selectStatement(p, inner, t.Query); err != nil {
		return err
	}
	inner.fast = nil
	st.tag = "DECLARE CURSOR"
	st.do = func(x *engine.Exec) error {
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
		c.held, c.buffer = t.Hold, t.Scroll || t.Hold
		err = c.keeps(portalOf(x).bytes, st.cost, x.Params)
		if err == nil && s.tx.state == txIdle {
			err = c.materialize(x.Ctx)
			c.committed = true
		}
		if err != nil {
			s.dropPortal(c)
		}
		return err
	}
	return nil
}

// closeCursor plans CLOSE name and CLOSE ALL.
func closeCursor(st *Statement, t *syntax.CloseCursor) {
	st.tag = "CLOSE CURSOR"
	if t.Name == "" {
		st.tag = "CLOSE CURSOR ALL"
	}
	st.do = func(x *engine.Exec) error {
		s := sessionOf(x)
		if t.Name == "" {
			s.closePortals(func(p *Portal) bool { return p != portalOf(x) && p != s.unnamedPo })
			return nil
		}
		c, err := s.cursorNamed(t.Name)
		if err == nil {
			s.dropPortal(c)
		}
		return err
	}
}

// cursorNamed returns an open cursor. The protocol's named portals are cursors, too.
func (s *Session) cursorNamed(name string) (*Portal, error) {
	if c, ok := s.portals[name]; ok {
		return c, nil
	}
	return nil, sqlstate.New(sqlstate.InvalidCursorName, "cursor %q does not exist", sqlstate.Cut(name, 64))
}

// fetch plans FETCH and MOVE. The columns of FETCH are those of the session's cursor.
func fetch(p *engine.Planner, st *Statement, t *syntax.Fetch) {
	p.Private = true
	open := func(x *engine.Exec) (engine.Rows, error) {
		c, err := sessionOf(x).cursorNamed(t.Cursor)
		if err != nil {
			return nil, err
		}
		return c.fetch(t.Count)
	}
	if !t.Move {
		st.tag, st.fetch, st.query = "FETCH", t, &engine.QueryPlan{Open: open}
		if c := plannedFor(p).portals[t.Cursor]; c != nil {
			st.Columns = c.columns
		}
		return
	}
	st.tag = "MOVE"
	st.do = func(x *engine.Exec) error {
		rows, err := open(x)
		for err == nil {
			if _, err = rows.Next(x); err == nil {
				x.Moved++
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}

// fetch yields the rows of one FETCH: n forward, -n backward, or the current row if
// n is 0. Only a cursor that keeps its rows can go backward.
func (p *Portal) fetch(n int64) (engine.Rows, error) {
	if n > 0 {
		return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
			if n--; n < 0 {
				return nil, io.EOF
			}
			return p.Next(x.Ctx)
		}), nil
	}
	if n == 0 && (p.position < 1 || (p.done && !p.buffer) || (p.buffer && p.position > len(p.buffered))) {
		return &engine.SliceRows{}, nil // before the first row or after the last
	}
	if !p.buffer {
		return nil, sqlstate.New(sqlstate.NotPrerequisite, "cursor can only scan forward").
			WithHint("Declare it with SCROLL option to enable backward scan.")
	}
	if n == 0 {
		return engine.SingleRow(p.buffered[p.position-1]...), nil
	}
	return engine.RowsFunc(func(*engine.Exec) ([]datum.Value, error) {
		if n++; n > 0 || p.position <= 0 {
			return nil, io.EOF
		}
		if p.position--; p.position == 0 {
			return nil, io.EOF
		}
		return p.buffered[p.position-1], nil
	}), nil
}

// nextBuffered returns the next row of a cursor that keeps its rows: one that was
// read before, or one from the plan.
func (p *Portal) nextBuffered(ctx context.Context) ([]datum.Value, error) {
	if p.position >= len(p.buffered) {
		if err := p.pullBuffered(ctx); err != nil {
			p.position = len(p.buffered) + 1
			return nil, err
		}
	}
	p.position++
	return p.buffered[p.position-1], nil
}

// pullBuffered reads a row from the plan and keeps it.
func (p *Portal) pullBuffered(ctx context.Context) error {
	row, err := p.pull(ctx)
	if err != nil {
		return err
	}
	if err := p.x.HoldRow(row); err != nil {
		return p.failed(err)
	}
	p.buffered = append(p.buffered, slices.Clone(row))
	return nil
}

// materialize reads a cursor to its end and keeps the rows, since a WITH HOLD
// cursor outlives its transaction.
func (p *Portal) materialize(ctx context.Context) error {
	for {
		if err := p.pullBuffered(ctx); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
