package engine

import (
	"fmt"
	"slices"
	"sync"

	"nextid/sqlfuncs/datum"
)

// EmptyRow is a row of NULLs.
func (t *Table) EmptyRow() []datum.Value {
	row := make([]datum.Value, len(t.Columns))
	for i, c := range t.Columns {
		row[i] = datum.Null(c.Type)
	}
	return row
}

// Row makes a row: zero, false or empty where a column cannot be NULL, else
// NULL, but for the given pairs of column name and value; the last one holds.
func (t *Table) Row(pairs ...any) []datum.Value {
	shape, ok := rowShapes.Load(&t.Columns[0])
	if !ok {
		shape, _ = rowShapes.LoadOrStore(&t.Columns[0], shapeOf(t))
	}
	s := shape.(*rowShape)
	row := slices.Clone(s.zero)
	for i := 0; i < len(pairs); i += 2 {
		c, ok := s.column[pairs[i].(string)]
		if !ok {
			panic(t.Name + " has no column " + pairs[i].(string))
		}
		row[c] = valueOf(t.Columns[c].Type, pairs[i+1])
	}
	return row
}

// rowShape is what Row begins with.
type rowShape struct {
	zero   []datum.Value
	column map[string]int
}

var rowShapes sync.Map // by the first column of the table

func shapeOf(t *Table) *rowShape {
	s := &rowShape{zero: t.EmptyRow(), column: map[string]int{}}
	for i, c := range t.Columns {
		s.column[c.Name] = i
		if c.Null {
			continue
		}
		switch c.Type {
		case datum.Text, datum.Name, datum.Char:
			s.zero[i] = datum.MakeString(c.Type, "")
		case datum.Numeric:
			s.zero[i] = datum.MakeString(c.Type, "0")
		case datum.Bool, datum.Oid, datum.Int2, datum.Int4, datum.Int8, datum.Float4, datum.Xid, datum.RegProc:
			s.zero[i] = datum.Value{Type: c.Type, Valid: true}
		}
	}
	return s
}

func valueOf(t datum.OID, v any) datum.Value {
	switch v := v.(type) {
	case string:
		if IsString(t) {
			return datum.MakeString(t, v)
		}
		d, err := datum.ParseText(t, v, nil)
		if err != nil {
			panic(err)
		}
		return d
	case bool:
		return datum.MakeBool(v)
	case int:
		if t == datum.Float4 {
			return datum.Value{Type: t, Valid: true, Float: float64(v)}
		}
		return datum.Value{Type: t, Valid: true, Int: int64(v)}
	case int64:
		return datum.Value{Type: t, Valid: true, Int: v}
	case uint32:
		return datum.Value{Type: t, Valid: true, Int: int64(v)}
	case datum.OID:
		return datum.Value{Type: t, Valid: true, Int: int64(v)}
	case byte:
		return datum.MakeString(t, string(rune(v)))
	case datum.Value:
		return v
	}
	panic(fmt.Sprintf("a catalog value of type %T", v))
}
