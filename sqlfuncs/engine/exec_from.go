package engine

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// put copies values to the columns of a span.
func (x *Exec) put(sp span, values []datum.Value) {
	copy(x.Frame(sp.frame, sp.to)[sp.from:sp.to], values)
}

// pass reports whether every condition is true for the current rows.
func pass(x *Exec, conds []*Expr) (bool, error) {
	defer x.rowDone(x.values)
	for _, c := range conds {
		v, err := c.Eval(x)
		if err != nil || !v.Valid || v.Int != 1 {
			return false, err
		}
	}
	return true, nil
}

// advance calls next until every condition is true for the row.
func advance(x *Exec, conds []*Expr, next func(x *Exec) error) error {
	for {
		if err := next(x); err != nil {
			return err
		}
		if ok, err := pass(x, conds); ok || err != nil {
			return err
		}
		if err := x.Tick(); err != nil {
			return err
		}
	}
}

// each calls f for each row of a source, and closes the source.
func each(x *Exec, src rowSource, f func() error) error {
	defer src.close()
	for {
		if err := src.next(x); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
}

// scanSource reads Rows into the columns that its item has in the level's row.
type scanSource struct {
	sp      span
	rows    func(x *Exec) (Rows, error)
	filter  []*Expr
	lateral []ref
	call    *setCall    // the set-returning function it reads, nil for others
	inner   *selectPlan // the plain subquery it reads, nil for others
	cte     *ctePlan    // the WITH item it reads, nil for others
}

func (s *scanSource) span() span  { return s.sp }
func (s *scanSource) deps() []ref { return s.lateral }

func (s *scanSource) addFilter(conds []*Expr) {
	s.filter = append(s.filter, conds...)
	if s.inner != nil {
		s.inner.addKeys(s.sp, conds)
	}
	for _, c := range conds {
		if s.cte != nil && len(c.Refs) == 1 { // the same for all rows of the query
			s.cte.tests = append(s.cte.tests, cteTest{s.sp, c})
		}
	}
}

// addKeys passes the key tests of conditions on a subquery's columns to the tables in
// it: SELECT id FROM (SELECT * FROM ids) t WHERE t.name = 'orders' draws an id. Tests
// that read other items of the outer level stay there.
func (p *selectPlan) addKeys(sp span, conds []*Expr) {
	for _, c := range conds {
		for _, k := range c.Known().Keys {
			if !sp.holds(k.Column) || len(sameLevel(k.Refs, sp.frame)) > 0 {
				continue
			}
			if e := p.targets[k.Column.index-sp.from]; e.Column {
				test := Derive(datum.Bool, func(*Exec) (datum.Value, error) { return datum.MakeBool(true), nil }, e)
				test.Know(Known{Keys: []*KeyTest{{Column: e.Refs[0], Values: k.Values, Refs: k.Refs}}})
				p.source.addFilter([]*Expr{test})
			}
		}
	}
}

func (s *scanSource) open(x *Exec) (rowSource, error) {
	it, err := s.rows(x)
	if err != nil {
		return nil, err
	}
	return &scanRows{s, it}, nil
}

type scanRows struct {
	*scanSource
	it Rows
}

func (s *scanRows) next(x *Exec) error {
	return advance(x, s.filter, func(x *Exec) error {
		row, err := s.it.Next(x)
		if err != nil {
			return err
		}
		x.put(s.sp, row)
		return x.Tick()
	})
}

func (s *scanRows) close() { s.it.Close() }

// gateSource reads its source only if conditions that do not depend on the source
// are true.
type gateSource struct {
	source
	conds []*Expr
}

func (g *gateSource) open(x *Exec) (rowSource, error) {
	if ok, err := pass(x, g.conds); !ok || err != nil {
		return &oneRow{done: true}, err
	}
	return g.source.open(x)
}

// tableSource reads a Table. It passes conditions on key columns to the table's
// Scan: so WHERE name = 'orders' selects a generator.
type tableSource struct {
	scanSource
	def  *Table
	keys [][]*KeyTest // by key column
}

// KeyTest records that a condition requires a column to equal one of some values.
type KeyTest struct {
	Column ref
	Values func(x *Exec) ([]datum.Value, error) // nil slice: NULL, no row can match
	Refs   []ref
}

func (s *tableSource) addFilter(conds []*Expr) {
	s.scanSource.addFilter(conds)
	s.addKeys(conds)
}

func (s *tableSource) addKeys(conds []*Expr) {
	if s.keys == nil {
		s.keys = make([][]*KeyTest, len(s.def.Keys))
	}
	for _, c := range conds {
		for _, k := range c.Known().Keys {
			if !s.sp.holds(k.Column) || s.sp.dependsOn(k.Refs) {
				continue
			}
			for i, column := range s.def.Keys {
				if k.Column.index-s.sp.from == column {
					s.keys[i] = append(s.keys[i], k)
					s.lateral = append(s.lateral, sameLevel(k.Refs, s.sp.frame)...)
				}
			}
		}
	}
}

func sameLevel(refs []ref, frame int) []ref {
	var out []ref
	for _, r := range refs {
		if r.frame == frame {
			out = append(out, r)
		}
	}
	return out
}

func (s *tableSource) open(x *Exec) (rowSource, error) {
	wanted := make([]KeyValues, len(s.def.Keys))
	for i, tests := range s.keys {
		for _, t := range tests {
			values, err := t.Values(x)
			if err != nil {
				return nil, err
			}
			wanted[i].Restrict(values)
		}
	}
	it, err := s.def.Scan(x, wanted)
	if err != nil {
		return nil, err
	}
	return &scanRows{&s.scanSource, it}, nil
}

// zipRows reads several row sources side by side, for unnest of several arrays and
// WITH ORDINALITY.
func zipRows(x *Exec, opens []func(*Exec) (Rows, error), widths []int, ordinality bool) (Rows, error) {
	its := make([]Rows, len(opens))
	width := 0
	for i, open := range opens {
		var err error
		if its[i], err = open(x); err != nil {
			return nil, err
		}
		width += widths[i]
	}
	if ordinality {
		width++
	}
	row := make([]datum.Value, width)
	n := int64(0)
	return RowsFunc(func(x *Exec) ([]datum.Value, error) {
		at, live := 0, false
		for i, it := range its {
			part := row[at : at+widths[i]]
			at += widths[i]
			if it != nil {
				r, err := it.Next(x)
				switch {
				case err == nil:
					copy(part, r)
					live = true
					continue
				case !errors.Is(err, io.EOF):
					return nil, err
				}
				it.Close()
				its[i] = nil
			}
			clear(part)
		}
		if !live {
			return nil, io.EOF
		}
		if n++; ordinality {
			row[width-1] = datum.MakeInt8(n)
		}
		return row, nil
	}), nil
}

// joinSource joins two sources by nested loops. A right side that does not depend
// on the left one is read once. Where a condition is left = right, its rows are
// found by hash.
type joinSource struct {
	kind        syntax.JoinKind
	left, right source
	on          []*Expr // decides which rows match
	filter      []*Expr // WHERE: applied to joined rows
	sp          span
}

// newJoin joins l and r.
func newJoin(kind syntax.JoinKind, l, r source, on []*Expr) *joinSource {
	if kind == syntax.CrossJoin {
		kind = syntax.InnerJoin
	}
	j := &joinSource{kind: kind, left: l, right: r, on: on, sp: span{l.span().frame, l.span().from, r.span().to}}
	j.pushDown(on)
	return j
}

// pushDown passes the join condition's tests on key columns to the right side.
func (j *joinSource) pushDown(conds []*Expr) {
	if t, ok := j.right.(*tableSource); ok && len(t.def.Keys) > 0 {
		t.addKeys(conds)
	}
}

func (j *joinSource) span() span { return j.sp }

func (j *joinSource) deps() []ref {
	var out []ref
	for _, r := range append(j.left.deps(), j.right.deps()...) {
		if !j.sp.holds(r) {
			out = append(out, r)
		}
	}
	return out
}

// addFilter passes on conditions on one side: on the left one always, on the right one
// only where no row of NULLs may take its place.
func (j *joinSource) addFilter(conds []*Expr) {
	var mine []*Expr
	for _, c := range conds {
		reads := len(sameLevel(c.Refs, j.sp.frame)) > 0
		switch {
		case reads && readable(c, j.left.span()):
			j.left.addFilter([]*Expr{c})
		case reads && j.kind == syntax.InnerJoin && readable(c, j.right.span()):
			j.right.addFilter([]*Expr{c})
		default:
			mine = append(mine, c)
		}
	}
	if j.kind == syntax.InnerJoin {
		j.on = append(j.on, mine...)
	} else {
		j.filter = append(j.filter, mine...)
	}
	j.pushDown(mine)
}

func (j *joinSource) open(x *Exec) (rowSource, error) {
	left, err := j.left.open(x)
	if err != nil {
		return nil, err
	}
	run := &joinRows{joinSource: j, left: left, lateral: j.left.span().dependsOn(j.right.deps())}
	if !run.lateral {
		if err := run.readRight(x); err != nil {
			left.close()
			return nil, err
		}
	}
	return run, nil
}

// joinRows is a join being read.
type joinRows struct {
	*joinSource
	left    rowSource
	lateral bool

	rightRows [][]datum.Value
	index     map[string][][]datum.Value // rightRows by hash key
	equal     [2][]*Expr                 // left and right sides of the conditions that form the index

	haveLeft   bool
	found      bool
	candidates [][]datum.Value // right rows that are still to be read
	inner      rowSource       // lateral right side
}

func (j *joinRows) readRight(x *Exec) error {
	src, err := j.right.open(x)
	if err != nil {
		return err
	}
	sp := j.right.span()
	err = each(x, src, func() error {
		row := slices.Clone(x.Frame(sp.frame, sp.to)[sp.from:sp.to])
		j.rightRows = append(j.rightRows, row)
		return x.HoldRow(row)
	})
	if err != nil {
		return err
	}
	return j.buildIndex(x)
}

// buildIndex indexes the right rows by all conditions left = right together.
func (j *joinRows) buildIndex(x *Exec) error {
	left, right := j.joinSource.left.span(), j.right.span()
	for _, c := range j.on {
		equal := c.Known().equal
		if equal == nil || c.Volatile {
			continue
		}
		for i, r := range equal {
			l := equal[1-i]
			if right.dependsOn(r.Refs) && !left.dependsOn(r.Refs) && left.dependsOn(l.Refs) && !right.dependsOn(l.Refs) {
				j.equal[0], j.equal[1] = append(j.equal[0], l), append(j.equal[1], r)
				break
			}
		}
	}
	if j.equal[0] == nil {
		return nil
	}
	j.index = make(map[string][][]datum.Value, len(j.rightRows))
	for _, row := range j.rightRows {
		if err := x.Tick(); err != nil {
			return err
		}
		x.put(right, row)
		key, valid, err := joinKey(x, j.equal[1])
		if err != nil {
			return err
		}
		if valid {
			j.index[key] = append(j.index[key], row)
		}
	}
	return nil
}

// joinKey returns the hash key of the values of expressions. valid is false when
// one is NULL, which equals nothing.
func joinKey(x *Exec, es []*Expr) (key string, valid bool, err error) {
	values, err := EvalAll(x, es)
	for _, v := range values {
		if !v.Valid {
			return "", false, err
		}
	}
	return string(rowKey(nil, values, nil)), err == nil, err
}

func (j *joinRows) next(x *Exec) error { return advance(x, j.filter, j.step) }

// step advances to the next joined row.
func (j *joinRows) step(x *Exec) error {
	for {
		if !j.haveLeft {
			if err := j.left.next(x); err != nil {
				return err
			}
			if err := j.startLeft(x); err != nil {
				return err
			}
		}
		err := advance(x, j.on, j.nextRight)
		if !errors.Is(err, io.EOF) {
			j.found = true
			return err
		}
		j.haveLeft = false
		if !j.found && j.kind != syntax.InnerJoin {
			sp := j.right.span()
			clear(x.Frame(sp.frame, sp.to)[sp.from:sp.to])
			j.missing(x, datum.MakeBool(true))
			return nil
		}
	}
}

// startLeft prepares the right side for a new left row.
func (j *joinRows) startLeft(x *Exec) error {
	j.haveLeft, j.found, j.candidates = true, false, j.rightRows
	j.missing(x, datum.Value{})
	if j.lateral {
		if j.inner != nil {
			j.inner.close()
		}
		var err error
		j.inner, err = j.right.open(x)
		return err
	}
	if j.equal[0] == nil {
		return nil
	}
	key, _, err := joinKey(x, j.equal[0]) // the key of a NULL matches no row
	j.candidates = j.index[key]
	return err
}

func (j *joinRows) nextRight(x *Exec) error {
	if j.lateral {
		return j.inner.next(x)
	}
	if len(j.candidates) == 0 {
		return io.EOF
	}
	x.put(j.right.span(), j.candidates[0])
	j.candidates = j.candidates[1:]
	return x.Tick()
}

// missing stores whether the right side has no row, see FromItem.missing.
func (j *joinRows) missing(x *Exec, v datum.Value) {
	if j.kind != syntax.InnerJoin {
		x.Frames[j.sp.frame][j.sp.to-1] = v
	}
}

func (j *joinRows) close() {
	j.left.close()
	if j.inner != nil {
		j.inner.close()
	}
}
