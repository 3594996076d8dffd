package engine

import (
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// windowPlan computes the calls of row_number() of one query level (9.22 and 4.2.8).
// The results are in a frame of their own, one column for each call.
type windowPlan struct {
	frame int
	calls []windowCall
}

// windowCall is one row_number() OVER (PARTITION BY … ORDER BY …).
type windowCall struct {
	by        []*Expr // PARTITION BY, then ORDER BY
	keys      []sortKey
	partition int // how many of by are of PARTITION BY
}

// WindowFunctions lists the window functions that clients use (9.22).
var WindowFunctions = []Function{
	{Name: "row_number", Result: datum.Int8, Help: "number of the row in its partition, from 1", Does: RowNumber{}},
}

// windowCall analyses a call with OVER.
func (p *Planner) windowCall(s *Scope, e *syntax.FuncCall) (*Expr, error) {
	if s == nil || s.windows == nil {
		return nil, At(e.Pos, sqlstate.New(sqlstate.WindowingError, "window functions are not allowed here"))
	}
	defer s.noSets()() // neither is allowed in an argument or a definition
	w := s.windows
	s.windows = nil
	defer func() { s.windows = w }()
	f, _, err := p.resolveCall(s, e)
	if err != nil {
		return nil, err
	}
	_, ok := f.Does.(RowNumber)
	switch {
	case f.IsAggregate():
		return nil, Unsupported(e.Pos, f.Name+" with OVER")
	case !ok:
		return nil, At(e.Pos, sqlstate.New(sqlstate.WrongObjectType,
			"OVER specified, but %s is not a window function nor an aggregate function", f.Name))
	}
	call := windowCall{partition: len(e.Over.PartitionBy)}
	var order []syntax.OrderItem
	for _, by := range e.Over.PartitionBy {
		order = append(order, syntax.OrderItem{Expr: by})
	}
	for i, o := range append(order, e.Over.OrderBy...) {
		x, err := p.Expr(s, o.Expr)
		if err == nil {
			x, err = p.ResolveUnknown(x)
		}
		if err != nil {
			return nil, err
		}
		call.by, call.keys = append(call.by, p.Folded(x, x.Letters)), append(call.keys, p.newSortKey(i, o, nil))
	}
	w.calls = append(w.calls, call)
	return &Expr{Type: f.Result, TypeMod: -1, name: f.Name, Refs: []ref{{w.frame, len(w.calls) - 1}}}, nil
}

// windowRows yields rows with the results of their calls. A row has the columns of
// its level or group, the keys of each call, and the results.
type windowRows struct {
	plan        *windowPlan
	rows        [][]datum.Value
	base, width int // the frame of the level or group, and its columns
}

// open reads all rows of src and numbers them. The rows are width columns of the
// frame base.
func (w *windowPlan) open(x *Exec, src rowSource, base, width int) (rowSource, error) {
	r := &windowRows{plan: w, base: base, width: width}
	err := each(x, src, func() error {
		row, mark := slices.Clone(x.Frame(base, width)[:width]), x.values
		for _, c := range w.calls {
			keys, err := EvalAll(x, c.by)
			if err != nil {
				return err
			}
			row = append(row, keys...)
		}
		x.rowDone(mark)
		row = append(row, make([]datum.Value, len(w.calls))...)
		r.rows = append(r.rows, row)
		return x.HoldRow(row)
	})
	at := width
	for i, c := range w.calls {
		if err == nil {
			err = r.number(x, c, at, i-len(w.calls))
		}
		at += len(c.by)
	}
	return r, err
}

// number sorts the rows and numbers them, partition by partition. The keys of the
// call begin at the column at. result is the column of the result, from the end.
func (r *windowRows) number(x *Exec, c windowCall, at, result int) error {
	keys := slices.Clone(c.keys)
	for i := range keys {
		keys[i].column += at
	}
	if err := sortRows(x, r.rows, keys); err != nil {
		return err
	}
	n, partition := int64(0), ""
	for _, row := range r.rows {
		if err := x.Tick(); err != nil {
			return err
		}
		if p := string(rowKey(nil, row[at:at+c.partition], nil)); p != partition {
			n, partition = 0, p
		}
		n++
		row[len(row)+result] = datum.MakeInt8(n)
	}
	return nil
}

func (r *windowRows) next(x *Exec) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	row := r.rows[0]
	r.rows = r.rows[1:]
	copy(x.Frame(r.base, r.width), row[:r.width])
	copy(x.Frame(r.plan.frame, len(r.plan.calls)), row[len(row)-len(r.plan.calls):])
	return nil
}

func (r *windowRows) close() {}

// windowCallIn returns the first call with OVER in an expression, or nil.
func windowCallIn(e syntax.Expr) (found *syntax.FuncCall) {
	syntax.Walk(e, func(part syntax.Expr) bool {
		if call, ok := part.(*syntax.FuncCall); ok && call.Over != nil && found == nil {
			found = call
		}
		return found == nil
	})
	return found
}
