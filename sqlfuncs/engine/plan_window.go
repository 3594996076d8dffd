package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// windowPlan computes the window functions of one query level (9.22 and
// 4.2.8). Their results live in a frame of their own, one place a call.
type windowPlan struct {
	frame   int
	named   []syntax.NamedWindow
	windows []*windowDef
	calls   []*windowCall
}

// windowDef is one PARTITION BY … ORDER BY …. Calls with the same text
// share it.
type windowDef struct {
	tree      *syntax.FuncCall // its Over is the definition
	partition []*Expr
	order     []*Expr
	keys      []sortKey // of partition and order together
}

// windowCall is one window function.
type windowCall struct {
	f       *Function
	args    []*Expr
	folds   folds // of args
	argType datum.OID
	filter  *Expr
	window  int // index of its windowDef
}

// windowCall analyses a call with OVER.
func (p *Planner) windowCall(s *Scope, e *syntax.FuncCall) (*Expr, error) {
	if s == nil || s.windows == nil {
		return nil, At(e.Pos, sqlstate.New(sqlstate.WindowingError, "window functions are not allowed here"))
	}
	w, sets := s.windows, s.sets
	s.windows, s.sets = nil, nil // neither may stand in an argument or a definition
	defer func() { s.windows, s.sets = w, sets }()
	f, args, err := p.resolveCall(s, e)
	if err != nil {
		return nil, err
	}
	if err := checkWindowCall(f, e); err != nil {
		return nil, err
	}
	call := &windowCall{f: f, args: args, folds: p.foldsOf(args)}
	if len(args) > 0 {
		call.argType = args[0].Type
	}
	if e.Filter != nil {
		if call.filter, err = p.Boolean(s, e.Filter, "FILTER"); err != nil {
			return nil, err
		}
	}
	if call.window, err = p.window(s, w, e.Over); err != nil {
		return nil, err
	}
	slot, frame := len(w.calls), w.frame
	w.calls = append(w.calls, call)
	return &Expr{
		Type: f.resultFor(args), TypeMod: -1, name: f.Name, Refs: []ref{{frame, slot}}, Volatile: f.Volatile == Volatile,
		Eval: func(x *Exec) (datum.Value, error) { return x.Frames[frame][slot], nil },
	}, nil
}

func checkWindowCall(f *Function, e *syntax.FuncCall) error {
	switch {
	case f.Aggregate == nil && f.Window == nil:
		return At(e.Pos, sqlstate.New(sqlstate.WrongObjectType,
			"OVER specified, but %s is not a window function nor an aggregate function", f.Name))
	case e.Distinct:
		return At(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "DISTINCT is not implemented for window functions"))
	case len(e.OrderBy) > 0:
		return At(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "aggregate ORDER BY is not implemented for window functions"))
	case e.Filter != nil && f.Aggregate == nil:
		return At(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions"))
	}
	return nil
}

// window analyses what stands behind OVER and returns its index.
func (p *Planner) window(s *Scope, w *windowPlan, t *syntax.Window) (int, error) {
	t, err := w.resolve(t, len(w.named))
	if err != nil {
		return 0, err
	}
	for i, d := range w.windows {
		if syntax.Same(d.tree, &syntax.FuncCall{Over: t}) {
			return i, nil
		}
	}
	d := &windowDef{tree: &syntax.FuncCall{Over: t}}
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

// sortable analyses a key of a window; rows with equal ones belong together.
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

// resolve puts in what a definition takes from a named window. Only the
// first so many names are known to it: each may build on those before it.
func (w *windowPlan) resolve(t *syntax.Window, names int) (*syntax.Window, error) {
	if t.Name == "" {
		return t, nil
	}
	for i := range w.named[:names] {
		if w.named[i].Name != t.Name {
			continue
		}
		base, err := w.resolve(w.named[i].Window, i)
		if err != nil || t.Bare {
			return base, err
		}
		refuse := func(why string) (*syntax.Window, error) {
			return nil, At(t.Pos, sqlstate.New(sqlstate.WindowingError, "cannot %s window %q", why, sqlstate.Cut(t.Name, 64)))
		}
		switch {
		case t.PartitionBy != nil:
			return refuse("override PARTITION BY clause of")
		case t.OrderBy != nil && base.OrderBy != nil:
			return refuse("override ORDER BY clause of")
		}
		merged := &syntax.Window{Pos: t.Pos, PartitionBy: base.PartitionBy, OrderBy: base.OrderBy}
		if t.OrderBy != nil {
			merged.OrderBy = t.OrderBy
		}
		return merged, nil
	}
	return nil, At(t.Pos, sqlstate.New(sqlstate.UndefinedObject, "window %q does not exist", sqlstate.Cut(t.Name, 64)))
}

// namedWindows checks the WINDOW clause; a definition that no call uses may
// still be wrong.
func (p *Planner) namedWindows(s *Scope, w *windowPlan) error {
	for i, n := range w.named {
		for _, before := range w.named[:i] {
			if before.Name == n.Name {
				return At(n.Window.Pos, sqlstate.New(sqlstate.WindowingError, "window %q is already defined", sqlstate.Cut(n.Name, 64)))
			}
		}
		unused := &windowPlan{frame: w.frame, named: w.named[:i]}
		if _, err := p.window(s, unused, n.Window); err != nil {
			return err
		}
	}
	return nil
}

// windowRow is a row for which a window function answers.
type windowRow struct {
	*partition
	call int
	at   int
}

// WindowFunctions are PostgreSQL's window functions (9.22); aggregates are
// window functions, too.
var WindowFunctions = []Function{
	{
		Name: "row_number", Result: datum.Int8, Help: "number of the row in its partition, from 1",
		Window: func(w *windowRow) (datum.Value, error) { return datum.MakeInt8(int64(w.at) + 1), nil },
	},
	{
		Name: "rank", Result: datum.Int8, Help: "row_number of the first row that is ordered alike",
		Window: func(w *windowRow) (datum.Value, error) { return datum.MakeInt8(w.rank()), nil },
	},
}

func (w *windowRow) rank() int64 {
	from, _ := w.peers(w.at)
	return int64(from) + 1
}
