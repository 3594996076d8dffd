package engine

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

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

// scanSource reads a rowIter into its stretch of the row.
type scanSource struct {
	sp      span
	rows    func(x *Exec) (Rows, error)
	filter  []*Expr
	lateral []ref
	call    *setCall    // the set-returning function it reads, nil for others
	inner   *pushTarget // the subquery it reads, where conditions can be handed to it
}

func (s *scanSource) span() span  { return s.sp }
func (s *scanSource) deps() []ref { return s.lateral }

func (s *scanSource) addFilter(conds []*Expr) {
	for _, c := range conds {
		if s.inner == nil || !s.inner.push(s.sp, c) {
			s.filter = append(s.filter, c)
		}
	}
}

// pushTarget is a subquery in FROM that looks at conditions on its columns
// before it makes its rows.
type pushTarget struct {
	plan  *selectPlan
	types []datum.OID // of the columns as the outer query sees them
}

// newPushTarget returns nil for a query that must see all of its rows.
func newPushTarget(q *QueryPlan, columns []FromColumn) *pushTarget {
	if q.plain == nil {
		return nil
	}
	types := make([]datum.OID, len(columns))
	for i, c := range columns {
		types[i] = c.Type
	}
	return &pushTarget{q.plain, types}
}

// push hands a condition on the outer query's row to the subquery: where the
// subquery would make a row, the columns that the condition reads are put in
// their place first. It reports false where that would change what is drawn.
func (t *pushTarget) push(sp span, c *Expr) bool {
	if c.Volatile {
		return false
	}
	type column struct {
		at  int
		typ datum.OID
		e   *Expr
	}
	var columns []column
	pushed := &Expr{Type: datum.Bool, TypeMod: -1}
	for _, r := range c.Refs {
		if !sp.holds(r) {
			if r.frame == sp.frame {
				return false
			}
			pushed.Refs = append(pushed.Refs, r)
			continue
		}
		e := t.plan.targets[r.index-sp.from]
		if e.Volatile {
			return false
		}
		columns = append(columns, column{r.index, t.types[r.index-sp.from], e})
		pushed.Refs = append(pushed.Refs, e.Refs...)
	}
	pushed.Eval = func(x *Exec) (datum.Value, error) {
		row := x.Frame(sp.frame, sp.to)
		for _, col := range columns {
			v, err := col.e.Eval(x)
			if err == nil && v.Type != col.typ {
				v, err = castValue(x, v, col.typ)
			}
			if err != nil {
				return v, err
			}
			row[col.at] = v
		}
		return c.Eval(x)
	}
	for _, k := range c.Keys {
		if !sp.holds(k.Column) {
			continue
		}
		if e := t.plan.targets[k.Column.index-sp.from]; e.Column && e.Type == t.types[k.Column.index-sp.from] {
			pushed.Keys = append(pushed.Keys, &KeyTest{Column: e.Refs[0], Values: k.Values, Refs: k.Refs})
		}
	}
	t.plan.source.addFilter([]*Expr{pushed})
	return true
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

func (s *scanRows) next(x *Exec) (bool, error) {
	for {
		row, err := s.it.Next(x)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		copy(x.Frame(s.sp.frame, s.sp.to)[s.sp.from:s.sp.to], row)
		if err := x.Tick(); err != nil {
			return false, err
		}
		if ok, err := pass(x, s.filter); ok || err != nil {
			return ok, err
		}
	}
}

func (s *scanRows) close() { s.it.Close() }

// gateSource reads its source only where conditions that do not depend on it
// are true.
type gateSource struct {
	source
	conds []*Expr
}

func (g *gateSource) open(x *Exec) (rowSource, error) {
	if ok, err := pass(x, g.conds); !ok || err != nil {
		return noRows{}, err
	}
	return g.source.open(x)
}

// noRows is a source without rows.
type noRows struct{}

func (noRows) next(*Exec) (bool, error) { return false, nil }
func (noRows) close()                   {}

// tableSource is one of our tables. Conditions that fix a key column are
// handed to it: that is how WHERE name = 'orders' chooses a generator.
type tableSource struct {
	scanSource
	def  *Table
	keys [][]*KeyTest // by key column
}

// KeyTest is what a condition says about a column: it equals one of values.
type KeyTest struct {
	Column ref
	Values func(x *Exec) ([]datum.Value, error) // nil slice: NULL, no row can match
	Refs   []ref
}

func (s *tableSource) addFilter(conds []*Expr) {
	s.scanSource.addFilter(conds)
	if s.keys == nil {
		s.keys = make([][]*KeyTest, len(s.def.Keys))
	}
	for _, c := range conds {
		for _, k := range c.Keys {
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

// joinSource joins two sources with nested loops. A right side that does not
// depend on the left one is read once and, where a condition says
// left = right, found by hash.
type joinSource struct {
	kind        syntax.JoinKind
	left, right source
	on          []*Expr // decides which rows match
	filter      []*Expr // WHERE: applied to what comes out
	sp          span
}

// newJoin joins l and r; a right join is a left join the other way round.
func newJoin(kind syntax.JoinKind, l, r source, on []*Expr) *joinSource {
	ls, rs := l.span(), r.span()
	sp := span{ls.frame, ls.from, rs.to}
	if kind == syntax.RightJoin {
		kind, l, r = syntax.LeftJoin, r, l
	}
	if kind == syntax.CrossJoin {
		kind = syntax.InnerJoin
	}
	j := &joinSource{kind: kind, left: l, right: r, on: on, sp: sp}
	j.pushDown(on)
	return j
}

// pushDown tells the right side what the join condition says about its keys.
func (j *joinSource) pushDown(conds []*Expr) {
	if t, ok := j.right.(*tableSource); ok && len(t.def.Keys) > 0 {
		filter := t.filter
		t.addFilter(conds)
		t.filter = filter // the join itself checks its condition
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

func (j *joinSource) addFilter(conds []*Expr) {
	if j.kind == syntax.LeftJoin { // conditions on the side that is kept may come first
		var rest []*Expr
		for _, c := range conds {
			if readable(c, j.left.span()) && len(sameLevel(c.Refs, j.sp.frame)) > 0 {
				j.left.addFilter([]*Expr{c})
			} else {
				rest = append(rest, c)
			}
		}
		conds = rest
	}
	if j.kind != syntax.InnerJoin {
		j.filter = append(j.filter, conds...)
		j.pushDown(conds)
		return
	}
	var mine []*Expr
	for _, c := range conds {
		switch {
		case readable(c, j.left.span()) && len(sameLevel(c.Refs, j.sp.frame)) > 0:
			j.left.addFilter([]*Expr{c})
		case readable(c, j.right.span()) && len(sameLevel(c.Refs, j.sp.frame)) > 0:
			j.right.addFilter([]*Expr{c})
		default:
			mine = append(mine, c)
		}
	}
	j.on = append(j.on, mine...)
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
	index     map[string][]int // rightRows by hash key
	hash      *hashKey
	equal     [2][]*Expr // sides of the conditions left = right that the index is made of

	haveLeft   bool
	found      bool
	candidates []int // positions in rightRows, nil: all
	pos        int
	inner      rowSource // lateral right side
}

// hashKey is a condition left = right that an index can answer.
type hashKey struct {
	test   *KeyTest
	column int // in rightRows
}

func (j *joinRows) readRight(x *Exec) error {
	src, err := j.right.open(x)
	if err != nil {
		return err
	}
	defer src.close()
	sp := j.right.span()
	for {
		ok, err := src.next(x)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		row := x.Frame(sp.frame, sp.to)[sp.from:sp.to]
		if err := x.HoldRow(row); err != nil {
			return err
		}
		j.rightRows = append(j.rightRows, slices.Clone(row))
	}
	return j.buildIndex(x)
}

// buildIndex makes an index of the right rows: by all conditions left =
// right together, else by one that gives several values for a column.
func (j *joinRows) buildIndex(x *Exec) error {
	left, right := j.left0(), j.right.span()
	for _, c := range j.on {
		if c.equal == nil || c.Volatile {
			continue
		}
		for i, r := range c.equal {
			l := c.equal[1-i]
			if right.dependsOn(r.Refs) && !left.dependsOn(r.Refs) && left.dependsOn(l.Refs) && !right.dependsOn(l.Refs) {
				j.equal[0], j.equal[1] = append(j.equal[0], l), append(j.equal[1], r)
				break
			}
		}
	}
	if j.equal[0] != nil {
		j.index = make(map[string][]int, len(j.rightRows))
		for i, row := range j.rightRows {
			j.put(x, right, row)
			key, valid, err := joinKey(x, j.equal[1])
			if err != nil {
				return err
			}
			if valid {
				j.index[key] = append(j.index[key], i)
			}
		}
		return nil
	}
	for _, c := range j.on {
		for _, k := range c.Keys {
			if right.holds(k.Column) && left.dependsOn(k.Refs) && !right.dependsOn(k.Refs) {
				j.hash = &hashKey{k, k.Column.index - right.from}
			}
		}
	}
	if j.hash == nil {
		return nil
	}
	j.index = make(map[string][]int, len(j.rightRows))
	for i, row := range j.rightRows {
		if v := row[j.hash.column]; v.Valid {
			key := string(datum.AppendKey(nil, v))
			j.index[key] = append(j.index[key], i)
		}
	}
	return nil
}

// joinKey is the key of the values of expressions; one that is NULL equals
// nothing.
func joinKey(x *Exec, es []*Expr) (key string, valid bool, err error) {
	values, err := EvalAll(x, es)
	for _, v := range values {
		if !v.Valid {
			return "", false, err
		}
	}
	return string(rowKey(nil, values, nil)), err == nil, err
}

func (j *joinRows) left0() span { return j.joinSource.left.span() }

func (j *joinRows) next(x *Exec) (bool, error) {
	for {
		ok, err := j.step(x)
		if !ok || err != nil {
			return false, err
		}
		if ok, err := pass(x, j.filter); ok || err != nil {
			return ok, err
		}
	}
}

// step advances to the next joined row.
func (j *joinRows) step(x *Exec) (bool, error) {
	for {
		if err := x.Tick(); err != nil {
			return false, err
		}
		if !j.haveLeft {
			ok, err := j.left.next(x)
			if err != nil {
				return false, err
			}
			if !ok {
				return false, nil
			}
			if err := j.startLeft(x); err != nil {
				return false, err
			}
		}
		ok, err := j.nextRight(x)
		if err != nil {
			return false, err
		}
		if ok {
			match, err := pass(x, j.on)
			if err != nil {
				return false, err
			}
			if match {
				j.found = true
				return true, nil
			}
			continue
		}
		j.haveLeft = false
		if !j.found && j.kind != syntax.InnerJoin {
			j.fillNull(x, j.right.span())
			return true, nil
		}
	}
}

// startLeft prepares the right side for a new left row.
func (j *joinRows) startLeft(x *Exec) error {
	j.haveLeft, j.found, j.pos, j.candidates = true, false, 0, nil
	if j.lateral {
		if j.inner != nil {
			j.inner.close()
		}
		var err error
		j.inner, err = j.right.open(x)
		return err
	}
	if j.equal[0] != nil {
		key, _, err := joinKey(x, j.equal[0]) // a NULL has a key that no row has
		j.candidates = j.index[key]
		if j.candidates == nil {
			j.candidates = []int{}
		}
		return err
	}
	if j.hash == nil {
		return nil
	}
	values, err := j.hash.test.Values(x)
	if err != nil {
		return err
	}
	j.candidates = []int{}
	for _, v := range values {
		if v.Valid {
			j.candidates = append(j.candidates, j.index[string(datum.AppendKey(nil, v))]...)
		}
	}
	return nil
}

func (j *joinRows) nextRight(x *Exec) (bool, error) {
	if j.lateral {
		return j.inner.next(x)
	}
	i := j.pos
	if j.candidates != nil {
		if j.pos >= len(j.candidates) {
			return false, nil
		}
		i = j.candidates[j.pos]
	} else if i >= len(j.rightRows) {
		return false, nil
	}
	j.pos++
	j.put(x, j.right.span(), j.rightRows[i])
	return true, nil
}

func (j *joinRows) put(x *Exec, sp span, row []datum.Value) {
	copy(x.Frame(sp.frame, sp.to)[sp.from:sp.to], row)
}

func (j *joinRows) fillNull(x *Exec, sp span) {
	f := x.Frame(sp.frame, sp.to)
	for i := sp.from; i < sp.to; i++ {
		f[i] = datum.Null(f[i].Type)
	}
}

func (j *joinRows) close() {
	j.left.close()
	if j.inner != nil {
		j.inner.close()
	}
}

// zipRows is ROWS FROM and WITH ORDINALITY: the functions side by side.
func zipRows(x *Exec, opens []func(*Exec) (Rows, error), widths []int, ordinality bool) (Rows, error) {
	its := make([]Rows, len(opens))
	done := make([]bool, len(opens))
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
			if !done[i] {
				r, err := it.Next(x)
				switch {
				case err == nil:
					copy(part, r)
					live = true
					continue
				case !errors.Is(err, io.EOF):
					return nil, err
				}
				done[i] = true
			}
			for c := range part {
				part[c] = datum.Null(part[c].Type)
			}
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
