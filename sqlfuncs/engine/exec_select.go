package engine

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
)

// selectPlan is an analysed SELECT core.
type selectPlan struct {
	frame      int
	width      int
	source     source // nil: no FROM, one row without columns
	filter     []*Expr
	groups     *groupPlan
	windows    *windowPlan
	sets       *setSlots
	targets    []*Expr
	visible    int // targets that are shown; the rest are sort keys
	sort       []sortKey
	distinct   bool
	distinctOn []int
	folds      folds       // of targets, with DISTINCT
	whole      *scanSource // set if its rows are the result rows, see wholeSource
}

// wholeSource returns the source of a query that returns its rows unchanged, such
// as SELECT * FROM a function. It returns nil for others.
func (p *selectPlan) wholeSource() *scanSource {
	scan, ok := p.source.(*scanSource)
	if !ok || p.filter != nil || p.groups != nil || p.windows != nil || p.sets.used || p.sort != nil || p.distinct ||
		scan.sp != (span{p.frame, 0, len(p.targets)}) || p.visible != len(p.targets) {
		return nil
	}
	for i, t := range p.targets {
		if !t.Column || t.compute != nil || t.Refs[0] != (ref{p.frame, i}) {
			return nil
		}
	}
	return scan
}

// wholeRows reads a query that returns its source's rows unchanged.
type wholeRows struct {
	Rows
	mark int64 // see Exec.rowDone
}

func (r *wholeRows) Next(x *Exec) ([]datum.Value, error) {
	x.rowDone(r.mark)
	row, err := r.Rows.Next(x)
	if err != nil {
		return nil, err
	}
	return row, x.Tick()
}

func (p *selectPlan) open(x *Exec) (Rows, error) {
	if p.whole != nil && p.whole.filter == nil {
		rows, err := p.whole.rows(x)
		if err != nil {
			return nil, err
		}
		return &wholeRows{rows, x.values}, nil
	}
	x.Frame(p.frame, p.width)
	project := x.projection(p)
	var src rowSource = &project.one
	if p.source != nil {
		var err error
		if src, err = p.source.open(x); err != nil {
			return nil, err
		}
	}
	if len(p.filter) > 0 {
		src = &filteredSource{src, p.filter}
	}
	if p.groups != nil {
		grouped, err := p.groups.open(x, src)
		src.close()
		if err != nil {
			return nil, err
		}
		src = grouped
	}
	if p.windows != nil {
		base, width := p.frame, p.width
		if p.groups != nil {
			base, width = p.groups.frame, p.groups.visible
		}
		rows, err := p.windows.open(x, src, base, width)
		src.close()
		if err != nil {
			return nil, err
		}
		src = rows
	}
	project.src, project.row, project.mark = src, x.Row(len(p.targets)), x.values
	var it Rows = project
	if p.distinct && p.distinctOn == nil {
		it = &distinctRows{in: it, seen: map[string]int{}, folds: p.folds}
	}
	if p.sort != nil {
		rows, err := Drain(x, it)
		it.Close()
		if err == nil {
			err = sortRows(x, rows, p.sort)
		}
		if err != nil {
			return nil, err
		}
		it = &sortedRows{SliceRows{Rows: rows}, x}
	}
	if p.distinctOn != nil {
		it = &distinctRows{in: it, seen: map[string]int{}, on: p.distinctOn}
	}
	if p.visible < len(p.targets) {
		it = &mappedRows{in: it, f: func(_ *Exec, row []datum.Value) ([]datum.Value, error) { return row[:p.visible], nil }}
	}
	return it, nil
}

// oneRow is the source of a query without FROM: one row without columns.
type oneRow struct{ done bool }

func (o *oneRow) next(*Exec) (bool, error) {
	more := !o.done
	o.done = true
	return more, nil
}

func (o *oneRow) close() {}

// filteredSource applies the conditions that no join step could apply.
type filteredSource struct {
	in    rowSource
	conds []*Expr
}

func (f *filteredSource) next(x *Exec) (bool, error) {
	for {
		ok, err := f.in.next(x)
		if !ok || err != nil {
			return false, err
		}
		if ok, err := pass(x, f.conds); ok || err != nil {
			return ok, err
		}
		if err := x.Tick(); err != nil {
			return false, err
		}
	}
}

func (f *filteredSource) close() { f.in.close() }

// projectRows computes the select list. Set-returning functions in the list turn
// one row into several. The functions run side by side until the longest ends.
type projectRows struct {
	plan *selectPlan
	src  rowSource
	one  oneRow // src without FROM
	row  []datum.Value
	sets []setRun
	mark int64 // see Exec.rowDone
}

func (r *projectRows) Next(x *Exec) ([]datum.Value, error) {
	advance := r.src.next
	if r.plan.sets != nil && r.plan.sets.used {
		advance = r.nextSet
	}
	x.rowDone(r.mark)
	ok, err := advance(x)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, io.EOF
	}
	if err := x.Tick(); err != nil {
		return nil, err
	}
	for i, t := range r.plan.targets {
		if r.row[i], err = t.Eval(x); err != nil {
			return nil, err
		}
	}
	return r.row, nil
}

func (r *projectRows) Close() {
	r.src.close()
	for i := range r.sets {
		r.sets[i].close()
	}
}

// setSlots holds the set-returning functions of a select list. Each has a column in
// a frame of its own, from which the rest of the list reads its value.
type setSlots struct {
	frame int
	calls []*setCall
	used  bool
}

type setCall struct {
	f    *Function
	args []*Expr
	rows Set
}

// add registers a call and returns the expression that reads its value.
func (s *setSlots) add(f *Function, args []*Expr) *Expr {
	slot := len(s.calls)
	s.calls = append(s.calls, &setCall{f, args, f.rows()})
	t := f.resultFor(args)
	var fields []FromColumn
	if len(f.Columns) > 1 { // one column is a plain value with a name
		t, fields = datum.Record, f.columnsFor(args)
	}
	frame := s.frame
	return &Expr{
		Type: t, TypeMod: -1, Volatile: true, known: columnOf(Known{Fields: fields}),
		compute: func(x *Exec) (datum.Value, error) { return x.Frames[frame][slot], nil },
	}
}

// setRun reads one set-returning function.
type setRun struct{ it Rows }

func (s *setRun) close() {
	if s.it != nil {
		s.it.Close()
		s.it = nil
	}
}

// nextSet advances the set-returning functions. When all have ended, it advances
// the source.
func (r *projectRows) nextSet(x *Exec) (bool, error) {
	slots := r.plan.sets
	frame := x.Frame(slots.frame, len(slots.calls))
	for {
		live := false
		for i := range r.sets {
			run := &r.sets[i]
			frame[i] = datum.Null(frame[i].Type)
			if run.it == nil {
				continue
			}
			row, err := run.it.Next(x)
			switch {
			case errors.Is(err, io.EOF):
				run.close()
			case err != nil:
				return false, err
			case len(slots.calls[i].f.Columns) > 1:
				frame[i], live = datum.MakeArray(datum.Record, slices.Clone(row)), true
			default:
				frame[i], live = row[0], true
			}
		}
		if live {
			return true, nil
		}
		ok, err := r.src.next(x)
		if !ok || err != nil {
			return false, err
		}
		if r.sets == nil {
			r.sets = make([]setRun, len(slots.calls))
		}
		for i, c := range slots.calls {
			values, null, err := EvalArgs(x, c.args)
			if err != nil {
				return false, err
			}
			if null && !c.f.Nullable {
				continue
			}
			if r.sets[i].it, err = c.rows(x, values); err != nil {
				return false, err
			}
		}
	}
}

// sortedRows yields sorted rows, which count as held until Close.
type sortedRows struct {
	SliceRows
	x *Exec
}

func (r *sortedRows) Close() {
	r.x.dropRows(r.Rows)
	r.Rows = nil
}

// sortRows sorts rows in place, stably. After the first error the remaining
// comparisons do nothing.
func sortRows(x *Exec, rows [][]datum.Value, keys []sortKey) error {
	var failed error
	slices.SortStableFunc(rows, func(a, b []datum.Value) int {
		for _, k := range keys {
			v, w := a[k.column], b[k.column]
			if failed == nil {
				failed = x.Work(callWork + len(v.Str) + len(v.Elems)*valueBytes)
			}
			if failed != nil {
				return 0
			}
			var c int
			switch {
			case !v.Valid && !w.Valid:
				continue
			case !v.Valid || !w.Valid:
				c = 1
				if v.Valid {
					c = -1
				}
				if k.nullsFirst {
					c = -c
				}
				return c
			}
			c, err := datum.Compare(k.fold.Apply(v), k.fold.Apply(w))
			if err != nil {
				failed = err
			}
			if k.desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return failed
}

// limitRows applies LIMIT and OFFSET.
type limitRows struct {
	in         Rows
	limited    bool
	left, skip int64
}

func (l *limitRows) Next(x *Exec) ([]datum.Value, error) {
	if l.limited && l.left <= 0 {
		return nil, io.EOF
	}
	for ; l.skip > 0; l.skip-- {
		if _, err := l.in.Next(x); err != nil {
			return nil, err
		}
	}
	row, err := l.in.Next(x)
	l.left--
	return row, err
}

func (l *limitRows) Close() { l.in.Close() }
