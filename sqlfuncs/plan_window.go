package sqlfuncs

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
	partition []*expr
	order     []*expr
	keys      []sortKey // of partition and order together
}

// windowCall is one window function.
type windowCall struct {
	f       *function
	args    []*expr
	folds   folds // of args
	argType datum.OID
	filter  *expr
	window  int // index of its windowDef
}

// windowCall analyses a call with OVER.
func (p *planner) windowCall(s *scope, e *syntax.FuncCall) (*expr, error) {
	if s == nil || s.windows == nil {
		return nil, at(e.Pos, sqlstate.New(sqlstate.WindowingError, "window functions are not allowed here"))
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
		call.argType = args[0].typ
	}
	if e.Filter != nil {
		if call.filter, err = p.boolean(s, e.Filter, "FILTER"); err != nil {
			return nil, err
		}
	}
	if call.window, err = p.window(s, w, e.Over); err != nil {
		return nil, err
	}
	slot, frame := len(w.calls), w.frame
	w.calls = append(w.calls, call)
	return &expr{
		typ: f.resultFor(args), mod: -1, name: f.name, refs: []ref{{frame, slot}}, volatile: f.volatile == isVolatile,
		eval: func(x *exec) (datum.Value, error) { return x.frames[frame][slot], nil },
	}, nil
}

func checkWindowCall(f *function, e *syntax.FuncCall) error {
	switch {
	case f.agg == nil && f.window == nil:
		return at(e.Pos, sqlstate.New(sqlstate.WrongObjectType,
			"OVER specified, but %s is not a window function nor an aggregate function", f.name))
	case e.Distinct:
		return at(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "DISTINCT is not implemented for window functions"))
	case len(e.OrderBy) > 0:
		return at(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "aggregate ORDER BY is not implemented for window functions"))
	case e.Filter != nil && f.agg == nil:
		return at(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions"))
	}
	return nil
}

// window analyses what stands behind OVER and returns its index.
func (p *planner) window(s *scope, w *windowPlan, t *syntax.Window) (int, error) {
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
func (p *planner) sortable(s *scope, e syntax.Expr) (*expr, error) {
	x, err := p.expr(s, e)
	if err != nil {
		return nil, err
	}
	if x, err = p.resolveUnknown(x); err != nil {
		return nil, err
	}
	return p.folded(x, x.collation), nil
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
			return nil, at(t.Pos, sqlstate.New(sqlstate.WindowingError, "cannot %s window %q", why, sqlstate.Cut(t.Name, 64)))
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
	return nil, at(t.Pos, sqlstate.New(sqlstate.UndefinedObject, "window %q does not exist", sqlstate.Cut(t.Name, 64)))
}

// namedWindows checks the WINDOW clause; a definition that no call uses may
// still be wrong.
func (p *planner) namedWindows(s *scope, w *windowPlan) error {
	for i, n := range w.named {
		for _, before := range w.named[:i] {
			if before.Name == n.Name {
				return at(n.Window.Pos, sqlstate.New(sqlstate.WindowingError, "window %q is already defined", sqlstate.Cut(n.Name, 64)))
			}
		}
		unused := &windowPlan{frame: w.frame, named: w.named[:i]}
		if _, err := p.window(s, unused, n.Window); err != nil {
			return err
		}
	}
	return nil
}
