package sqlfuncs

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
	source     source // nil: one row of nothing
	filter     []*expr
	groups     *groupPlan
	windows    *windowPlan
	sets       *setSlots
	targets    []*expr
	visible    int // targets that are shown; the rest are sort keys
	sort       []sortKey
	distinct   bool
	distinctOn []int
	folds      folds // of targets, with DISTINCT
}

func (p *selectPlan) open(x *exec) (rowIter, error) {
	x.frame(p.frame, p.width)
	var src rowSource = &oneRow{}
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
	var it rowIter = &projectRows{plan: p, src: src, row: make([]datum.Value, len(p.targets)), mark: x.values}
	if p.distinct && p.distinctOn == nil {
		it = &distinctRows{in: it, seen: map[string]int{}, folds: p.folds}
	}
	if p.sort != nil {
		rows, err := drain(x, it)
		it.close()
		if err == nil {
			err = sortRows(rows, p.sort)
		}
		if err != nil {
			return nil, err
		}
		it = &sliceRows{rows: rows}
	}
	if p.distinctOn != nil {
		it = &distinctRows{in: it, seen: map[string]int{}, on: p.distinctOn}
	}
	if p.visible < len(p.targets) {
		it = &mappedRows{in: it, f: func(_ *exec, row []datum.Value) ([]datum.Value, error) { return row[:p.visible], nil }}
	}
	return it, nil
}

// oneRow is the FROM of a query without FROM.
type oneRow struct{ done bool }

func (o *oneRow) next(*exec) (bool, error) {
	more := !o.done
	o.done = true
	return more, nil
}

func (o *oneRow) close() {}

// filteredSource applies the conditions that no join step could take.
type filteredSource struct {
	in    rowSource
	conds []*expr
}

func (f *filteredSource) next(x *exec) (bool, error) {
	for {
		ok, err := f.in.next(x)
		if !ok || err != nil {
			return false, err
		}
		if ok, err := pass(x, f.conds); ok || err != nil {
			return ok, err
		}
		if err := x.tick(); err != nil {
			return false, err
		}
	}
}

func (f *filteredSource) close() { f.in.close() }

// projectRows computes the select list. Set-returning functions in it make
// several rows of one: they run side by side until the longest ends.
type projectRows struct {
	plan *selectPlan
	src  rowSource
	row  []datum.Value
	sets []setRun
	mark int64 // see exec.rowDone
}

func (r *projectRows) next(x *exec) ([]datum.Value, error) {
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
	if err := x.tick(); err != nil {
		return nil, err
	}
	for i, t := range r.plan.targets {
		if r.row[i], err = t.eval(x); err != nil {
			return nil, err
		}
	}
	return r.row, nil
}

func (r *projectRows) close() {
	r.src.close()
	for i := range r.sets {
		r.sets[i].close()
	}
}

// setSlots are the set-returning functions of a select list. Each has a
// place in a frame of its own where the rest of the list reads its value.
type setSlots struct {
	frame int
	calls []*setCall
	used  bool
}

type setCall struct {
	f    *function
	args []*expr
}

// add registers a call and returns the expression that reads its value.
func (s *setSlots) add(f *function, args []*expr) *expr {
	slot := len(s.calls)
	s.calls = append(s.calls, &setCall{f, args})
	t := f.resultFor(args)
	var fields []fromColumn
	if len(f.columns) > 1 { // one column is a plain value with a name
		t, fields = datum.Record, f.columnsFor(args)
	}
	frame := s.frame
	return &expr{
		typ: t, mod: -1, volatile: true, fields: fields,
		eval: func(x *exec) (datum.Value, error) { return x.frames[frame][slot], nil },
	}
}

// setRun is one set-returning function being read.
type setRun struct{ it rowIter }

func (s *setRun) close() {
	if s.it != nil {
		s.it.close()
		s.it = nil
	}
}

// nextSet advances the set-returning functions, and the source when all of
// them have ended.
func (r *projectRows) nextSet(x *exec) (bool, error) {
	slots := r.plan.sets
	frame := x.frame(slots.frame, len(slots.calls))
	for {
		live := false
		for i := range r.sets {
			run := &r.sets[i]
			frame[i] = datum.Null(frame[i].Type)
			if run.it == nil {
				continue
			}
			row, err := run.it.next(x)
			switch {
			case errors.Is(err, io.EOF):
				run.close()
			case err != nil:
				return false, err
			case len(slots.calls[i].f.columns) > 1:
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
			values, null, err := evalArgs(x, c.args)
			if err != nil {
				return false, err
			}
			if null && !c.f.nullable {
				continue
			}
			if r.sets[i].it, err = c.f.rows(x, values); err != nil {
				return false, err
			}
		}
	}
}

// sortRows sorts in place, stable.
func sortRows(rows [][]datum.Value, keys []sortKey) error {
	var failed error
	slices.SortStableFunc(rows, func(a, b []datum.Value) int {
		for _, k := range keys {
			v, w := a[k.column], b[k.column]
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
			c, err := datum.Compare(k.fold.apply(v), k.fold.apply(w))
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

// limitRows is LIMIT and OFFSET.
type limitRows struct {
	in         rowIter
	limited    bool
	left, skip int64
}

func (l *limitRows) next(x *exec) ([]datum.Value, error) {
	if l.limited && l.left <= 0 {
		return nil, io.EOF
	}
	for ; l.skip > 0; l.skip-- {
		if _, err := l.in.next(x); err != nil {
			return nil, err
		}
	}
	row, err := l.in.next(x)
	l.left--
	return row, err
}

func (l *limitRows) close() { l.in.close() }
