package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// windowPlan computes the window functions of one query level (9.22 and 4.2.8). The
// results are in a frame of their own, one column for each call.
type windowPlan struct {
	frame   int
	windows []*windowDef
	calls   []windowCall
}

// windowDef is one window definition, PARTITION BY … ORDER BY …. Calls with the
// same definition share it.
type windowDef struct {
	tree      *syntax.FuncCall // the definition is its Over
	partition []*Expr
	order     []*Expr
	keys      []sortKey // of partition and order together
}

// windowCall is one window function.
type windowCall struct {
	number Window
	window int // index of its windowDef
}

// windowCall analyses a call with OVER.
func (p *Planner) windowCall(s *Scope, e *syntax.FuncCall) (*Expr, error) {
	if s == nil || s.windows == nil {
		return nil, At(e.Pos, sqlstate.New(sqlstate.WindowingError, "window functions are not allowed here"))
	}
	w, sets := s.windows, s.sets
	s.windows, s.sets = nil, nil // neither is allowed in an argument or a definition
	defer func() { s.windows, s.sets = w, sets }()
	f, _, err := p.resolveCall(s, e)
	if err != nil {
		return nil, err
	}
	number, ok := f.Does.(Window)
	switch {
	case f.IsAggregate():
		return nil, Unsupported(e.Pos, f.Name+" with OVER")
	case !ok:
		return nil, At(e.Pos, sqlstate.New(sqlstate.WrongObjectType,
			"OVER specified, but %s is not a window function nor an aggregate function", f.Name))
	case e.Filter != nil:
		return nil, Unsupported(e.Pos, "FILTER of a window function")
	}
	window, err := p.window(s, w, e.Over)
	if err != nil {
		return nil, err
	}
	slot, frame := len(w.calls), w.frame
	w.calls = append(w.calls, windowCall{number, window})
	return &Expr{
		Type: f.Result, TypeMod: -1, name: f.Name, Refs: []ref{{frame, slot}},
	}, nil
}

// window analyses the definition after OVER and returns its index.
func (p *Planner) window(s *Scope, w *windowPlan, t *syntax.Window) (int, error) {
	d := &windowDef{tree: &syntax.FuncCall{Over: t}}
	for i, known := range w.windows {
		if syntax.Same(known.tree, d.tree) {
			return i, nil
		}
	}
	for _, e := range t.PartitionBy {
		x, err := p.sortable(s, e)
		if err != nil {
			return 0, err
		}
		d.keys = append(d.keys, sortKey{column: len(d.keys)})
		d.partition = append(d.partition, x)
	}
	for _, o := range t.OrderBy {
		x, err := p.sortable(s, o.Expr)
		if err != nil {
			return 0, err
		}
		d.keys = append(d.keys, p.newSortKey(len(d.keys), o, nil)) // x is folded
		d.order = append(d.order, x)
	}
	w.windows = append(w.windows, d)
	return len(w.windows) - 1, nil
}

// sortable analyses a partition or sort key of a window.
func (p *Planner) sortable(s *Scope, e syntax.Expr) (*Expr, error) {
	x, err := p.Expr(s, e)
	if err != nil {
		return nil, err
	}
	if x, err = p.ResolveUnknown(x); err != nil {
		return nil, err
	}
	return p.Folded(x, x.Letters), nil
}

// WindowFunctions lists the window functions that clients use (9.22).
var WindowFunctions = []Function{
	{
		Name: "row_number", Result: datum.Int8, Help: "number of the row in its partition, from 1",
		Does: Window(func(row, _ int64) int64 { return row }),
	},
	{
		Name: "rank", Result: datum.Int8, Help: "row_number of the first row that is ordered alike",
		Does: Window(func(_, peer int64) int64 { return peer }),
	},
}
