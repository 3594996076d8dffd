package sqlfuncs

import (
	"context"
	"io"
	"time"

	"nextid/sqlfuncs/datum"
)

// exec is one execution of a plan.
type exec struct {
	ctx     context.Context
	host    Host
	dialect dialect
	params  []datum.Value
	started time.Time       // of the statement
	frames  [][]datum.Value // current row of each query level, see scope.frame
	ctes    []*cteRows
	caller  any    // what the statement runs for: the session's portal
	tag     string // command tag; a statement may change it (COMMIT → ROLLBACK)
	moved   int64  // rows passed by MOVE
	held    int64  // bytes held by sorts, joins, aggregates; see hold
	values  int64  // bytes of values that are being computed; see value
	steps   int    // rows since the context was looked at
	idRow   [1]datum.Value
	slots   map[*slotExpr]datum.Value

	memo     map[any]any      // what tables remember for the time of the statement
	subplans map[*subplan]any // results of subqueries that are run once
}

// newExec begins an execution. dialect is nil for PostgreSQL's.
func newExec(ctx context.Context, host Host, dialect dialect, params []datum.Value) *exec {
	return &exec{ctx: ctx, host: host, dialect: dialect, params: params, started: host.Started()}
}

// remember keeps something for the time of the statement, see memo.
func (x *exec) remember(key, value any) {
	if x.memo == nil {
		x.memo = map[any]any{}
	}
	x.memo[key] = value
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

func (x *exec) env() *datum.Env { return x.host.Env() }

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
