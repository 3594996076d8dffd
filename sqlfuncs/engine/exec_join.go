package engine

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

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

// newJoin joins l and r. A right join becomes a left join with the sides exchanged.
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

// pushDown passes the join condition's tests on key columns to the right side.
func (j *joinSource) pushDown(conds []*Expr) {
	if t, ok := j.right.(*tableSource); ok && len(t.def.Keys) > 0 {
		filter := t.filter
		t.addFilter(conds)
		t.filter = filter // joinSource checks the join condition
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
	if j.kind == syntax.LeftJoin { // conditions on the left side may be checked first
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
			j.fillNull(x, j.right.span())
			return nil
		}
	}
}

// startLeft prepares the right side for a new left row.
func (j *joinRows) startLeft(x *Exec) error {
	j.haveLeft, j.found, j.candidates = true, false, j.rightRows
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
