package engine

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// Ahead prepares what calls in the next rows will need, such as names that
// nobody knows yet, all together. values are the first arguments of these
// calls. It returns how many there was something to prepare for. What fails
// the calls find out themselves.
type Ahead func(x *Exec, values []datum.Value) int

// aheadPlan are the calls of a select list that are made for each of its rows,
// whatever their values, and that have something to prepare.
type aheadPlan struct {
	calls   []*syntax.FuncCall
	args    []*Expr
	prepare []Ahead
}

// aheadOf looks for such calls: a column of the select list, or the argument of an
// aggregate there. With LIMIT fewer rows may be read than there are.
func (p *Planner) aheadOf(t *syntax.Select) *aheadPlan {
	core, ok := t.Body.(*syntax.SelectCore)
	if !ok || p.depth > 1 || t.Limit != nil {
		return nil
	}
	plan := &aheadPlan{}
	for _, target := range core.Targets {
		call, ok := Unparen(target.Expr).(*syntax.FuncCall)
		if ok && p.Catalog.IsAggregate(call) && call.Filter == nil && len(call.Args) == 1 {
			call, ok = Unparen(call.Args[0].Value).(*syntax.FuncCall)
		}
		if ok {
			plan.calls = append(plan.calls, call)
		}
	}
	return plan
}

// note is told of every call that was analysed.
func (a *aheadPlan) note(call *syntax.FuncCall, f *Function, args []*Expr) {
	does, ok := f.Does.(EvalOrIDs)
	if a == nil || !ok || does.Ahead == nil || len(args) == 0 || args[0].Volatile || args[0].IsConstant() || !slices.Contains(a.calls, call) {
		return
	}
	a.args, a.prepare = append(a.args, args[0]), append(a.prepare, does.Ahead)
}

// mostAhead is how many rows are read ahead at most.
const mostAhead = 256

// aheadRows reads rows ahead once a call had to do alone what could have been
// prepared: as many rows as had to be prepared for already, so that a
// statement which fails has prepared for twice as many rows as it came to.
type aheadRows struct {
	in           rowSource
	plan         *aheadPlan
	frame, width int

	rows  [][]datum.Value // read ahead, of which those from i on are to come
	i     int
	count int // how many to read
	alone int64
	ended bool
	err   error
}

func (a *aheadRows) next(x *Exec) (bool, error) {
	if a.i == len(a.rows) {
		if a.drop(x); a.ended {
			return false, a.err
		}
		if x.Alone == a.alone {
			return a.in.next(x)
		}
		if err := a.read(x); err != nil {
			return false, err
		}
		if len(a.rows) == 0 {
			return false, a.err
		}
	}
	copy(x.Frame(a.frame, a.width), a.rows[a.i])
	a.i++
	return true, nil
}

// read reads rows and prepares for them.
func (a *aheadRows) read(x *Exec) error {
	values := make([][]datum.Value, len(a.plan.args))
	a.count = min(max(2*a.count, 1), mostAhead)
	for len(a.rows) < a.count && !a.ended {
		more, err := a.in.next(x)
		if !more || err != nil {
			a.ended, a.err = true, err
			break
		}
		row := slices.Clone(x.Frame(a.frame, a.width)[:a.width])
		if err := x.HoldRow(row); err != nil {
			return err
		}
		a.rows = append(a.rows, row)
		for i, arg := range a.plan.args {
			if v, err := arg.Eval(x); err == nil && v.Valid {
				values[i] = append(values[i], v)
			}
		}
	}
	found := 0
	for i, prepare := range a.plan.prepare {
		found += prepare(x, values[i])
	}
	if found == 0 { // the rows from here on need nothing
		a.count, a.alone = 0, x.Alone
	}
	return nil
}

// drop forgets rows that were read ahead.
func (a *aheadRows) drop(x *Exec) {
	x.dropRows(a.rows)
	a.rows, a.i = a.rows[:0], 0
}

func (a *aheadRows) close() { a.in.close() }
