package sqlfuncs

import (
	"context"
	"fmt"
	"io"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
)

// exec is one execution of a plan.
type exec struct {
	ctx     context.Context
	session *Session
	server  *Server
	params  []datum.Value
	started time.Time       // of the statement
	frames  [][]datum.Value // current row of each query level, see scope.frame
	ctes    []*cteRows
	portal  *Portal
	tag     string // command tag; a statement may change it (COMMIT → ROLLBACK)
	moved   int64  // rows passed by MOVE
	held    int64  // bytes held by sorts, joins, aggregates; see hold
	values  int64  // bytes of values that are being computed; see value
	steps   int    // rows since the context was looked at
	idRow   [1]datum.Value
	slots   map[*slotExpr]datum.Value

	catalogs  map[*table]*catalogRowSet // catalogs read so far
	relations *relationSet              // see dynamicRelations
	subplans  map[*subplan]any          // results of subqueries that are run once
}

func newExec(ctx context.Context, s *Session, params []datum.Value) *exec {
	x := &exec{ctx: ctx, session: s, server: s.server, params: params, started: s.server.now()}
	s.env.Now = x.now() // what 'now'::timestamp means
	return x
}

// frame returns the row buffer of a query level, of at least n columns.
func (x *exec) frame(i, n int) []datum.Value {
	for len(x.frames) <= i {
		x.frames = append(x.frames, nil)
	}
	if len(x.frames[i]) < n {
		x.frames[i] = make([]datum.Value, n)
	}
	return x.frames[i]
}

// contextEvery is how many rows may pass before a loop looks at its context.
const contextEvery = 256

// tick lets loops that draw nothing end with their context.
func (x *exec) tick() error {
	if x.steps++; x.steps%contextEvery == 0 {
		return x.ctx.Err()
	}
	return nil
}

func (x *exec) env() *datum.Env { return x.session.Env() }

// rowIter yields rows. A row is valid until the next call; io.EOF ends.
type rowIter interface {
	next(x *exec) ([]datum.Value, error)
	close()
}

// sliceRows yields rows that are in memory.
type sliceRows struct {
	rows [][]datum.Value
	i    int
}

func (r *sliceRows) next(*exec) ([]datum.Value, error) {
	if r.i >= len(r.rows) {
		return nil, io.EOF
	}
	r.i++
	return r.rows[r.i-1], nil
}

func (r *sliceRows) close() {}

// funcRows makes a rowIter of a function.
type funcRows func(x *exec) ([]datum.Value, error)

func (f funcRows) next(x *exec) ([]datum.Value, error) { return f(x) }
func (f funcRows) close()                              {}

// singleRow yields one row.
func singleRow(row ...datum.Value) rowIter { return &sliceRows{rows: [][]datum.Value{row}} }

// entry resolves a generator's name.
func (x *exec) entry(name string) (*generator.Entry, error) {
	if err := x.session.may(name); err != nil {
		return nil, err
	}
	if e := x.server.registry.Lookup([]byte(name)); e != nil {
		return e, nil
	}
	return x.registry().Get(x.ctx, name)
}

// registry is for questions that may reach the store: what was answered
// before need not wait for them.
func (x *exec) registry() *generator.Registry {
	x.session.waits()
	return x.server.registry
}

// nextID draws one id.
func (x *exec) nextID(e *generator.Entry) (int64, error) {
	r, err := x.draw(e, 1)
	return r.First, err
}

// draw draws a run of ids, waiting where it must.
func (x *exec) draw(e *generator.Entry, n int64) (generator.Range, error) {
	if err := x.session.may(e.Name()); err != nil {
		return generator.Range{}, err
	}
	r, ok := e.TryNext(n)
	if !ok {
		x.session.waits()
		var err error
		if r, err = e.Next(x.ctx, n); err != nil {
			return r, err
		}
		if x.session.warned != e {
			x.session.warned = e
			x.warnOfEnd(e.Name(), e.Ends())
		}
	}
	x.session.drew(e, r.Last())
	return r, nil
}

// warnOfEnd tells the client that the time of a generator runs out soon. The warm path does not come here: who opens the generator, or
// has to wait for it, is told.
func (x *exec) warnOfEnd(name string, ends time.Time) {
	now := x.server.now()
	if ends.IsZero() || ends.Sub(now) > generator.EndsSoon {
		return
	}
	x.session.notice(fmt.Sprintf("the time bits of generator %q run out at %s, in %d days; create its successor before",
		name, ends.Format(time.RFC3339), daysUntil(now, ends)))
}

// idRun draws a fixed number of ids as runs.
type idRun struct {
	entry *generator.Entry
	left  int64
}

func (r *idRun) next(x *exec, max int64) (generator.Range, error) {
	if r.left <= 0 {
		return generator.Range{}, io.EOF
	}
	run, err := x.draw(r.entry, min(max, r.left))
	r.left -= run.Count
	return run, err
}

// rows makes an idRun a rowIter.
func (r *idRun) rows() rowIter {
	var run generator.Range
	return funcRows(func(x *exec) ([]datum.Value, error) {
		if run.Count == 0 {
			var err error
			if run, err = r.next(x, 1); err != nil {
				return nil, err
			}
		}
		id := run.First
		run.First, run.Count = run.First+run.Step, run.Count-1
		x.idRow[0] = datum.MakeInt8(id)
		return x.idRow[:], nil
	})
}
