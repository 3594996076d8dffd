package sqlfuncs

import (
	"errors"
	"io"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// setOperation analyses UNION, INTERSECT and EXCEPT.
func (p *planner) setOperation(s *scope, o *syntax.SetOp) (*queryPlan, error) {
	l, err := p.query(o.Left, s)
	if err != nil {
		return nil, err
	}
	r, err := p.query(o.Right, s)
	if err != nil {
		return nil, err
	}
	if len(l.columns) != len(r.columns) {
		return nil, at(o.Pos, sqlstate.New(sqlstate.SyntaxError, "each %s query must have the same number of columns", o.Op).WithMySQL(1222, "21000"))
	}
	columns := append([]Column(nil), l.columns...)
	for i := range columns {
		t, err := p.commonType(l.columns[i].Type, r.columns[i].Type)
		if err != nil {
			return nil, at(o.Pos, sqlstate.New(sqlstate.DatatypeMismatch, "%s types %s and %s cannot be matched", o.Op,
				datum.FormatType(l.columns[i].Type, -1), datum.FormatType(r.columns[i].Type, -1)))
		}
		columns[i].Type, columns[i].Table, columns[i].Attr, columns[i].Origin = t, 0, 0, nil
		columns[i].collation = l.columns[i].collation.with(r.columns[i].collation)
		if l.columns[i].TypeMod != r.columns[i].TypeMod {
			columns[i].TypeMod = -1
		}
	}
	left, right := converted(l, columns), converted(r, columns)
	folds := p.columnFolds(columns)
	open := func(x *exec) (rowIter, error) {
		return &unionRows{parts: []func(*exec) (rowIter, error){left, right}}, nil
	}
	switch {
	case o.Op != "UNION":
		open = func(x *exec) (rowIter, error) { return openFiltered(x, left, right, o.Op == "EXCEPT", o.All, folds) }
	case !o.All:
		all := open
		open = func(x *exec) (rowIter, error) {
			it, err := all(x)
			return &distinctRows{in: it, seen: map[string]int{}, folds: folds}, err
		}
	}
	return &queryPlan{columns: columns, open: open}, nil
}

// converted casts the rows of a query to the types of the set operation.
func converted(q *queryPlan, columns []Column) func(*exec) (rowIter, error) {
	same := true
	for i, c := range q.columns {
		same = same && c.Type == columns[i].Type
	}
	if same {
		return q.open
	}
	return func(x *exec) (rowIter, error) {
		it, err := q.open(x)
		if err != nil {
			return nil, err
		}
		row := make([]datum.Value, len(columns))
		return &mappedRows{in: it, f: func(x *exec, in []datum.Value) ([]datum.Value, error) {
			for i, v := range in {
				if row[i] = v; v.Type != columns[i].Type {
					if row[i], err = castValue(x, v, columns[i].Type); err != nil {
						return nil, err
					}
				}
			}
			return row, nil
		}}, nil
	}
}

// castValue converts a value that may be an untyped literal or NULL.
func castValue(x *exec, v datum.Value, t datum.OID) (datum.Value, error) {
	switch {
	case !v.Valid:
		return datum.Null(t), nil
	case x.dialect != nil:
		return x.dialect.cast(x, v, t)
	case v.Type == datum.Unknown:
		return datum.ParseText(t, v.Str, x.env())
	}
	return x.cast(v, t)
}

// mappedRows changes rows one by one.
type mappedRows struct {
	in rowIter
	f  func(x *exec, row []datum.Value) ([]datum.Value, error)
}

func (m *mappedRows) next(x *exec) ([]datum.Value, error) {
	row, err := m.in.next(x)
	if err != nil {
		return nil, err
	}
	return m.f(x, row)
}

func (m *mappedRows) close() { m.in.close() }

// unionRows is UNION ALL: the parts one after another, opened when needed.
type unionRows struct {
	parts []func(*exec) (rowIter, error)
	in    rowIter
}

func (u *unionRows) next(x *exec) ([]datum.Value, error) {
	for {
		if u.in == nil {
			if len(u.parts) == 0 {
				return nil, io.EOF
			}
			var err error
			if u.in, err = u.parts[0](x); err != nil {
				return nil, err
			}
			u.parts = u.parts[1:]
		}
		row, err := u.in.next(x)
		if !errors.Is(err, io.EOF) {
			return row, err
		}
		u.close()
	}
}

func (u *unionRows) close() {
	if u.in != nil {
		u.in.close()
		u.in = nil
	}
}

// distinctRows leaves out rows that were there before.
type distinctRows struct {
	in    rowIter
	seen  map[string]int
	key   []byte
	on    []int // columns that count, nil for all
	folds folds
}

func (d *distinctRows) next(x *exec) ([]datum.Value, error) {
	for {
		row, err := d.in.next(x)
		if err != nil {
			return nil, err
		}
		if d.key = d.key[:0]; d.on == nil {
			d.key = rowKey(d.key, row, d.folds)
		}
		for _, i := range d.on {
			d.key = datum.AppendKey(d.key, d.folds.at(i).apply(row[i]))
		}
		if _, ok := d.seen[string(d.key)]; ok {
			continue
		}
		if err := x.hold(keyBytes + len(d.key)); err != nil {
			return nil, err
		}
		d.seen[string(d.key)] = 1
		return row, nil
	}
}

func (d *distinctRows) close() { d.in.close() }

// rowKey appends a key that is equal for rows that are not distinct.
func rowKey(dst []byte, row []datum.Value, folds folds) []byte {
	for i, v := range row {
		dst = datum.AppendKey(dst, folds.at(i).apply(v))
	}
	return dst
}

// openFiltered is EXCEPT and INTERSECT.
func openFiltered(x *exec, left, right func(*exec) (rowIter, error), except, all bool, folds folds) (rowIter, error) {
	it, err := right(x)
	if err != nil {
		return nil, err
	}
	rows, err := drain(x, it)
	it.close()
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, r := range rows {
		count[string(rowKey(nil, r, folds))]++
	}
	if it, err = left(x); err != nil {
		return nil, err
	}
	filtered := &filterRows{in: it, keep: func(row []datum.Value) bool {
		key := string(rowKey(nil, row, folds))
		found := count[key] > 0
		if found && all {
			count[key]--
		}
		return found != except
	}}
	if all {
		return filtered, nil
	}
	return &distinctRows{in: filtered, seen: map[string]int{}, folds: folds}, nil
}

// filterRows keeps some rows.
type filterRows struct {
	in   rowIter
	keep func(row []datum.Value) bool
}

func (f *filterRows) next(x *exec) ([]datum.Value, error) {
	for {
		row, err := f.in.next(x)
		if err != nil || f.keep(row) {
			return row, err
		}
		if err := x.tick(); err != nil {
			return nil, err
		}
	}
}

func (f *filterRows) close() { f.in.close() }
