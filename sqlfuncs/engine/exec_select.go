package engine

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
)

// selectPlan is an analysed SELECT core.
type selectPlan struct {
	frame    int
	width    int
	source   source // nil: no FROM, one row without columns
	filter   []*Expr
	groups   *groupPlan
	windows  *windowPlan
	sets     *setSlots
	targets  []*Expr
	visible  int    // targets that are shown; the rest are sort keys
	late     []int  // targets that are computed after the sort, see afterSort
	carried  []span // the columns that late targets read; rows carry them through the sort
	sort     []sortKey
	distinct bool
	folds    folds // of targets, with DISTINCT
}

func (p *selectPlan) open(x *Exec) (Rows, error) {
	x.Frame(p.frame, p.width)
	project := x.projection(p)
	var src rowSource = &project.one
	var err error
	if p.source != nil {
		src, err = p.source.open(x)
	}
	if err == nil && len(p.filter) > 0 {
		src = &filteredSource{src, p.filter}
	}
	base, width := p.frame, p.width
	if err == nil && p.groups != nil {
		src, err = p.groups.open(x, src)
		base, width = p.groups.frame, p.groups.width()
	}
	if err == nil && p.windows != nil {
		src, err = p.windows.open(x, src, base, width)
	}
	if err != nil {
		return nil, err
	}
	project.src, project.row, project.mark = src, x.Row(len(p.targets)), x.values
	var it Rows = project
	if p.distinct {
		it = &distinctRows{in: it, folds: p.folds}
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
	if p.late != nil {
		it = &lateRows{it, p, x.values}
	} else if p.visible < len(p.targets) {
		it = &mappedRows{in: it, f: func(_ *Exec, row []datum.Value) ([]datum.Value, error) { return row[:p.visible], nil }}
	}
	return it, nil
}

// afterSort finds the volatile targets that neither ORDER BY nor DISTINCT reads. As in
// PostgreSQL and MariaDB, they are computed after the sort: ids rise in the order of
// the rows, and rows that LIMIT leaves out draw none.
func (p *selectPlan) afterSort() {
	if p.sort == nil || p.sets.used || p.distinct {
		return
	}
	for i, e := range p.targets {
		sorts := slices.ContainsFunc(p.sort, func(k sortKey) bool { return k.column == i })
		if e.Volatile && !sorts {
			p.late = append(p.late, i)
		}
	}
	if p.late == nil {
		return
	}
	if p.carried = []span{{p.frame, 0, p.width}}; p.groups != nil {
		p.carried[0] = span{p.groups.frame, 0, p.groups.width()}
	}
	if p.windows != nil {
		p.carried = append(p.carried, span{p.windows.frame, 0, len(p.windows.calls)})
	}
}

// lateRows computes the late targets of rows that have been sorted.
type lateRows struct {
	Rows
	plan *selectPlan
	mark int64 // see Exec.rowDone
}

func (r *lateRows) Next(x *Exec) ([]datum.Value, error) {
	x.rowDone(r.mark)
	row, err := r.Rows.Next(x)
	if err != nil {
		return nil, err
	}
	at := len(r.plan.targets)
	for _, sp := range r.plan.carried {
		x.put(sp, row[at:at+sp.to])
		at += sp.to
	}
	for _, i := range r.plan.late {
		if row[i], err = r.plan.targets[i].Eval(x); err != nil {
			return nil, err
		}
	}
	return row[:r.plan.visible], nil
}

// oneRow is the source of a query without FROM: one row without columns.
type oneRow struct{ done bool }

func (o *oneRow) next(*Exec) error {
	if o.done {
		return io.EOF
	}
	o.done = true
	return nil
}

func (o *oneRow) close() {}

// filteredSource applies the conditions that no join step could apply.
type filteredSource struct {
	rowSource
	conds []*Expr
}

func (f *filteredSource) next(x *Exec) error { return advance(x, f.conds, f.rowSource.next) }

// projectRows computes the select list. Set-returning functions in the list turn
// one row into several. The functions run side by side until the longest ends.
type projectRows struct {
	plan *selectPlan
	src  rowSource
	one  oneRow // src without FROM
	row  []datum.Value
	sets []Rows // of the calls; nil: no rows left
	mark int64  // see Exec.rowDone
}

func (r *projectRows) Next(x *Exec) ([]datum.Value, error) {
	next := r.src.next
	if r.plan.sets.used {
		next = r.nextSet
	}
	x.rowDone(r.mark)
	err := next(x)
	if err == nil {
		err = x.Tick()
	}
	if err != nil {
		return nil, err
	}
	for i, t := range r.plan.targets {
		if slices.Contains(r.plan.late, i) {
			continue
		}
		if r.row[i], err = t.Eval(x); err != nil {
			return nil, err
		}
	}
	row := r.row
	for _, sp := range r.plan.carried {
		row = append(row, x.Frame(sp.frame, sp.to)[:sp.to]...)
	}
	return row, nil
}

func (r *projectRows) Close() {
	r.src.close()
	for _, it := range r.sets {
		if it != nil {
			it.Close()
		}
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

// nextSet advances the set-returning functions. When all have ended, it advances
// the source.
func (r *projectRows) nextSet(x *Exec) error {
	slots := r.plan.sets
	frame := x.Frame(slots.frame, len(slots.calls))
	for {
		live := false
		for i, it := range r.sets {
			frame[i] = datum.Value{}
			if it == nil {
				continue
			}
			row, err := it.Next(x)
			switch {
			case errors.Is(err, io.EOF):
				it.Close()
				r.sets[i] = nil
			case err != nil:
				return err
			case len(slots.calls[i].f.Columns) > 1:
				frame[i], live = datum.MakeArray(datum.Record, slices.Clone(row)), true
			default:
				frame[i], live = row[0], true
			}
		}
		if live {
			return nil
		}
		if err := r.src.next(x); err != nil {
			return err
		}
		if r.sets == nil {
			r.sets = make([]Rows, len(slots.calls))
		}
		for i, c := range slots.calls {
			values, null, err := EvalArgs(x, c.args)
			if err != nil {
				return err
			}
			if null && !c.f.Nullable {
				continue
			}
			if r.sets[i], err = c.rows(x, values); err != nil {
				return err
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
			c, err := datum.Compare(k.fold.Apply(v), k.fold.Apply(w))
			if err != nil {
				failed = err
			}
			reversed := k.desc
			if !v.Valid || !w.Valid { // NULL is the greatest
				reversed = k.nullsFirst
			}
			if reversed {
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
