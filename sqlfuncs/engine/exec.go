package engine

import (
	"context"
	"io"
	"sync"
	"time"

	"nextid/sqlfuncs/datum"
)

// Exec is one execution of a plan. One goroutine uses it at a time.
type Exec struct {
	Ctx      context.Context
	Host     Host
	Dialect  Dialect
	Params   []datum.Value
	Started  time.Time       // of the statement
	Frames   [][]datum.Value // current row of each query level, see Scope.Frame
	rows     []datum.Value   // storage for Row; the first rowsUsed are in use
	rowsUsed int
	ctes     []*cteRows
	Caller   any    // the session's portal
	Tag      string // command tag; a statement may change it (COMMIT → ROLLBACK)
	Moved    int64  // rows passed by MOVE
	held     int64  // bytes held by sorts, joins, aggregates; see Hold
	lasting  int64  // part of held: results kept until the statement ends; see lasts
	encoded  int    // part of held: the longest row so far; see Encode
	values   int64  // bytes of values that are being computed; see value
	Done     Effort // since the session last waited for its client; see Work
	IDRow    [1]datum.Value
	project  projectRows // of the first query that is opened
	slots    map[*slotExpr]datum.Value

	subplans map[*subplan]any // results of subqueries that are run once
}

// spareExecs holds finished executions for reuse. Most statements are short; an
// Exec and its rows would be most of what they allocate.
var spareExecs = sync.Pool{New: func() any { return &Exec{rows: make([]datum.Value, spareRow)} }}

// spareRow limits the values of each row that a spare Exec keeps.
const spareRow = 16

// NewExec begins an execution.
func NewExec(ctx context.Context, host Host, dialect Dialect, params []datum.Value) *Exec {
	x := spareExecs.Get().(*Exec)
	x.Ctx, x.Host, x.Dialect, x.Params, x.Started = ctx, host, dialect, params, host.Now()
	return x
}

// Recycle makes x available to another statement. Call it after Release, and only
// when nothing refers to x any more.
func (x *Exec) Recycle() {
	x.recycle()
	spareExecs.Put(x)
}

// recycle clears x and keeps its storage.
func (x *Exec) recycle() {
	frames, rows := x.Frames, x.rows
	clear(rows[:x.rowsUsed])
	for i, f := range frames {
		if clear(f); len(f) > spareRow {
			frames[i] = nil
		}
	}
	if len(frames) > spareRow {
		frames = nil
	}
	*x = Exec{Frames: frames, rows: rows}
}

// Row returns storage for a row of n columns. It is valid until the statement ends.
func (x *Exec) Row(n int) []datum.Value {
	end := x.rowsUsed + n
	if end > len(x.rows) {
		return make([]datum.Value, n)
	}
	row := x.rows[x.rowsUsed:end:end]
	x.rowsUsed = end
	return row
}

// projection returns the rows of a select list.
func (x *Exec) projection(p *selectPlan) *projectRows {
	if x.project.plan != nil {
		return &projectRows{plan: p}
	}
	x.project.plan = p
	return &x.project
}

// Frame returns the row buffer of a query level, of at least n columns.
func (x *Exec) Frame(i, n int) []datum.Value {
	for len(x.Frames) <= i {
		x.Frames = append(x.Frames, nil)
	}
	if len(x.Frames[i]) < n {
		x.Frames[i] = make([]datum.Value, n)
	}
	return x.Frames[i]
}

// lookAfter is the work after which a statement checks its context: about a quarter
// of a millisecond.
const lookAfter = 1 << 14

// Effort counts the work of a session since the server last waited for the client.
// So many short statements that are sent together count like one long statement.
type Effort struct {
	worked int // since the last check of the context
	before int // until that check, at most long
}

// Work counts work, in bytes read or in steps that take as long. It returns an
// error when the statement was cancelled. Everything that takes long calls it while
// it runs.
func (x *Exec) Work(n int) error {
	if x.Done.worked += n; x.Done.worked < lookAfter {
		return nil
	}
	before := x.Done.before
	x.Done.before = min(before+x.Done.worked, long)
	x.Done.worked = 0
	if err := x.Ctx.Err(); err != nil {
		return err
	}
	switch {
	case x.Done.before == long:
		return x.Host.Long(x.Ctx)
	case before < aside && x.Done.before >= aside:
		x.Host.Aside()
	}
	return nil
}

// Short statements run one after another in the goroutine that reads them. After
// aside of work, another goroutine takes over the other connections. After long,
// the statement is a long one and acquires a CPU slot.
const (
	aside = 4 * lookAfter
	long  = 32 * lookAfter
)

// Tick counts the work of one row.
func (x *Exec) Tick() error { return x.Work(lookAfter / 64) }

// Env returns the session's Env with x as its Worker, so that a long conversion
// ends when the statement is cancelled.
func (x *Exec) Env() *datum.Env {
	env := x.Host.Env()
	env.Worker = x
	return env
}

// Rows yields rows. A row is valid until the next call. The error after the last
// row is io.EOF.
type Rows interface {
	Next(x *Exec) ([]datum.Value, error)
	Close()
}

// SliceRows yields rows that are in memory.
type SliceRows struct {
	Rows [][]datum.Value
	I    int
}

// Next implements Rows.
func (r *SliceRows) Next(*Exec) ([]datum.Value, error) {
	if r.I >= len(r.Rows) {
		return nil, io.EOF
	}
	r.I++
	return r.Rows[r.I-1], nil
}

// Close implements Rows.
func (r *SliceRows) Close() {}

// RowsFunc is a function that implements Rows.
type RowsFunc func(x *Exec) ([]datum.Value, error)

// Next implements Rows.
func (f RowsFunc) Next(x *Exec) ([]datum.Value, error) { return f(x) }

// Close implements Rows.
func (f RowsFunc) Close() {}

// ClosingRows is a RowsFunc with a function to call at Close.
type ClosingRows struct {
	RowsFunc
	OnClose func()
}

// Close implements Rows.
func (r ClosingRows) Close() { r.OnClose() }

// SingleRow yields one row.
func SingleRow(row ...datum.Value) Rows { return &SliceRows{Rows: [][]datum.Value{row}} }
