package engine

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

var errUnionColumns = sqlstate.New(sqlstate.SyntaxError, "each UNION query must have the same number of columns").WithMySQL(1222, "21000")

func errUnionTypes(l, r Column) error {
	return sqlstate.New(sqlstate.DatatypeMismatch, "UNION types %s and %s cannot be matched",
		datum.FormatType(l.Type, -1), datum.FormatType(r.Type, -1))
}

// targetPos returns the position of a query's column in the text, or otherwise if
// it has no single one.
func targetPos(q *syntax.Select, i int, otherwise syntax.Pos) syntax.Pos {
	switch body := q.Body.(type) {
	case *syntax.SelectCore:
		if i < len(body.Targets) {
			return leftmost(body.Targets[i].Expr)
		}
	case *syntax.Values:
		return leftmost(body.Rows[0][i])
	}
	return otherwise
}

// setOperation analyses UNION.
func (p *Planner) setOperation(s *Scope, o *syntax.SetOp) (*QueryPlan, error) {
	l, err := p.Query(o.Left, s)
	if err != nil {
		return nil, err
	}
	r, err := p.Query(o.Right, s)
	if err != nil {
		return nil, err
	}
	return p.union(o, l, r)
}

// sameField reports whether two fields of records have the same name and type.
func sameField(a, b FromColumn) bool {
	return a.Name == b.Name && a.Type == b.Type && slices.EqualFunc(a.fields, b.fields, sameField)
}

// union plans the rows of both sides of UNION.
func (p *Planner) union(o *syntax.SetOp, l, r *QueryPlan) (*QueryPlan, error) {
	if len(l.Columns) != len(r.Columns) {
		return nil, At(targetPos(o.Right, 0, o.Pos), errUnionColumns)
	}
	columns := append([]Column(nil), l.Columns...)
	for i := range columns {
		t, err := p.Dialect.Common([]datum.OID{l.Columns[i].Type, r.Columns[i].Type})
		if err != nil {
			return nil, At(targetPos(o.Right, i, o.Pos), errUnionTypes(l.Columns[i], r.Columns[i]))
		}
		for _, side := range []*QueryPlan{l, r} {
			if err := p.decideTarget(side, i, t); err != nil {
				return nil, err
			}
		}
		columns[i].Type, columns[i].Table, columns[i].Attr, columns[i].Origin = t, 0, 0, nil
		if !slices.EqualFunc(l.Columns[i].fields, r.Columns[i].fields, sameField) {
			columns[i].fields = nil
		}
		columns[i].letters = l.Columns[i].letters || r.Columns[i].letters
		if l.Columns[i].TypeMod != r.Columns[i].TypeMod {
			columns[i].TypeMod = -1
		}
	}
	left, right := converted(l, columns), converted(r, columns)
	folds := p.columnFolds(columns)
	open := func(x *Exec) (Rows, error) {
		return &unionRows{parts: []func(*Exec) (Rows, error){left, right}}, nil
	}
	if !o.All {
		all := open
		open = func(x *Exec) (Rows, error) {
			it, err := all(x)
			return &distinctRows{in: it, folds: folds}, err
		}
	}
	return &QueryPlan{Columns: columns, Open: open}, nil
}

// decideTarget gives a target that is a parameter without a type the type of the set
// operation.
func (p *Planner) decideTarget(q *QueryPlan, i int, t datum.OID) error {
	if q.targets == nil || q.targets[i].Param == 0 || q.Columns[i].Type != datum.Unknown {
		return nil
	}
	x, err := p.Coerce(q.targets[i], t, datum.ImplicitCast)
	if err == nil {
		q.targets[i], q.Columns[i].Type = x, x.Type
	}
	return err
}

// converted casts the rows of a query to the types of the set operation.
func converted(q *QueryPlan, columns []Column) func(*Exec) (Rows, error) {
	same := true
	for i, c := range q.Columns {
		same = same && c.Type == columns[i].Type
	}
	if same {
		return q.Open
	}
	return func(x *Exec) (Rows, error) {
		it, err := q.Open(x)
		if err != nil {
			return nil, err
		}
		row := make([]datum.Value, len(columns))
		return &mappedRows{in: it, f: func(x *Exec, in []datum.Value) ([]datum.Value, error) {
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

// castValue converts a value, which may be an untyped literal or NULL.
func castValue(x *Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	if !v.Valid {
		return datum.Null(t), nil
	}
	return x.Dialect.Cast(x, v, t)
}

// Cast implements Dialect.
func (PostgreSQL) Cast(x *Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	if v.Type == datum.Unknown {
		return datum.ParseText(t, v.Str, x.Env())
	}
	return x.Cast(v, t)
}

// mappedRows applies a function to each row.
type mappedRows struct {
	in Rows
	f  func(x *Exec, row []datum.Value) ([]datum.Value, error)
}

func (m *mappedRows) Next(x *Exec) ([]datum.Value, error) {
	row, err := m.in.Next(x)
	if err != nil {
		return nil, err
	}
	return m.f(x, row)
}

func (m *mappedRows) Close() { m.in.Close() }

// unionRows yields the rows of UNION ALL. It opens each part when the part before
// it has ended.
type unionRows struct {
	parts []func(*Exec) (Rows, error)
	in    Rows
}

func (u *unionRows) Next(x *Exec) ([]datum.Value, error) {
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
		row, err := u.in.Next(x)
		if !errors.Is(err, io.EOF) {
			return row, err
		}
		u.Close()
	}
}

func (u *unionRows) Close() {
	if u.in != nil {
		u.in.Close()
		u.in = nil
	}
}

// distinctRows omits rows that have come before.
type distinctRows struct {
	in    Rows
	seen  keySet
	key   []byte
	folds folds
}

func (d *distinctRows) Next(x *Exec) ([]datum.Value, error) {
	for {
		row, err := d.in.Next(x)
		if err != nil {
			return nil, err
		}
		d.key = rowKey(d.key[:0], row, d.folds)
		if added, err := d.seen.add(x, d.key); added || err != nil {
			return row, err
		}
	}
}

func (d *distinctRows) Close() { d.in.Close() }

// keySet holds the keys of rows that have come before. They count as memory until the
// statement ends.
type keySet map[string]struct{}

// add reports whether the key is new, and adds it.
func (s *keySet) add(x *Exec, key []byte) (added bool, err error) {
	if _, ok := (*s)[string(key)]; ok {
		return false, nil
	}
	if *s == nil {
		*s = keySet{}
	}
	(*s)[string(key)] = struct{}{}
	return true, x.Hold(keyBytes + len(key))
}

// rowKey appends a key to dst. Keys are equal exactly for rows that are not
// distinct.
func rowKey(dst []byte, row []datum.Value, folds folds) []byte {
	for i, v := range row {
		dst = datum.AppendKey(dst, folds.at(i).Apply(v))
	}
	return dst
}
