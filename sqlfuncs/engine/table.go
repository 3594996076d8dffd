package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nextid/sqlfuncs/datum"
)

// Table describes one virtual table.
type Table struct {
	Schema  string
	Name    string
	OID     uint32
	Kind    byte // pg_class.relkind: 'v' view, 'r' table, 'S' sequence
	Columns []TableColumn
	Keys    []int // columns whose conditions are passed to Scan
	Help    string

	Catalog    bool   // one of PostgreSQL's system catalogs
	Definition string // of a view: the query, as pg_get_viewdef prints it

	// Scan yields rows. For each key column, keys holds the values that WHERE
	// allows. Rows with other values may be returned, since WHERE is checked
	// afterwards.
	Scan func(x *Exec, keys []KeyValues) (Rows, error)
}

// TableColumn is one column of a Table.
type TableColumn struct {
	Name string
	Type datum.OID
	Null bool
	// Declared is the type in the catalogs where it differs from Type: inet, or a
	// domain of information_schema, whose values have its base type.
	Declared datum.OID
	// Length is the most characters of a text in the MySQL dialect; 0: not known.
	Length int32
}

// ColumnList parses columns NAME:TYPE, with a ! after the type if the column is
// never NULL: "name:text! step:int8 note:text(80)". Types have pg_type's names.
func ColumnList(text string) []TableColumn {
	return ColumnsOf(text, func(name string) (base, declared datum.OID, ok bool) {
		t, ok := datum.TypeByName(name)
		return t, t, ok
	})
}

// ColumnsOf is ColumnList with a function that finds types: the type of the values
// and the one in the catalogs.
func ColumnsOf(text string, typ func(name string) (base, declared datum.OID, ok bool)) (columns []TableColumn) {
	for column := range strings.FieldsSeq(text) {
		name, typeName, _ := strings.Cut(column, ":")
		typeName, notNull := strings.CutSuffix(typeName, "!")
		typeName, size, _ := strings.Cut(typeName, "(")
		length, _ := strconv.Atoi(strings.TrimSuffix(size, ")")) // 0 without one
		base, declared, ok := typ(typeName)
		if !ok {
			panic("no type " + typeName + " for column " + name)
		}
		columns = append(columns, TableColumn{Name: name, Type: base, Declared: declared, Null: !notNull, Length: int32(length)})
	}
	return columns
}

// OutColumns is ColumnList for the columns of the record that a function returns.
func OutColumns(text string) (columns []FromColumn) {
	for _, c := range ColumnList(text) {
		columns = append(columns, FromColumn{Name: c.Name, Type: c.Type, TypeMod: -1})
	}
	return columns
}

// FromColumns returns the columns in the form of a FROM item.
func (t *Table) FromColumns() []FromColumn {
	out := make([]FromColumn, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = FromColumn{Name: c.Name, Type: c.Type, TypeMod: TextMod(c.Length), table: t.OID, attr: int16(i + 1), letters: true}
	}
	return out
}

// TextMod returns varchar's type modifier for a length in characters; 0: no limit.
func TextMod(length int32) int32 {
	if length <= 0 {
		return -1
	}
	return length + 4
}

// TextLength returns the length of a type modifier made by TextMod, 0: none.
func TextLength(mod int32) int32 { return max(mod-4, 0) }

// FirstTableOID is the first OID of nextid's tables (PostgreSQL's
// FirstNormalObjectId).
const FirstTableOID = 16384

func indexTables(families [][]Table) map[string]*Table {
	m := map[string]*Table{}
	oid := uint32(FirstTableOID)
	for _, family := range families {
		for i := range family {
			t := &family[i]
			if t.OID == 0 {
				t.OID = oid
				oid++
			}
			if t.Kind == 0 {
				t.Kind = 'v'
			}
			m[t.Schema+"."+t.Name] = t
		}
	}
	return m
}

// SearchPath lists the schemas that are searched for a table name without schema.
// The setting search_path does not change it: pools that set search_path to the
// application's schema still find ids.
var SearchPath = []string{PGCatalog, "public", NextidSchema}

// IDTableSuffix is the end of the name of a generator's table: each read of
// orders_id yields one new id.
const IDTableSuffix = "_id"

// Column returns the index of a column. The table must have it.
func (t *Table) Column(name string) int {
	for i, c := range t.Columns {
		if c.Name == name {
			return i
		}
	}
	panic(t.Name + " has no column " + name)
}

// FixedRows makes a Scan of rows that are computed when it starts. A row without
// values for its last columns has NULL there.
func FixedRows(columns []TableColumn, rows func(x *Exec) ([][]any, error)) func(*Exec, []KeyValues) (Rows, error) {
	return func(x *Exec, _ []KeyValues) (Rows, error) {
		list, err := rows(x)
		out := make([][]datum.Value, len(list))
		for i, row := range list {
			out[i] = make([]datum.Value, len(columns))
			for j, c := range columns {
				if out[i][j] = datum.Null(c.Type); err == nil && j < len(row) {
					out[i][j], err = toValue(c.Type, row[j])
				}
			}
		}
		return &SliceRows{Rows: out}, err
	}
}

// KeyValues holds the values that the conditions allow for a key column.
type KeyValues struct {
	Fixed  bool
	Values []datum.Value
}

// Restrict removes the values that another condition excludes.
func (k *KeyValues) Restrict(values []datum.Value) {
	if !k.Fixed {
		k.Fixed = true
		seen := ValueSet{}
		for _, v := range values {
			if seen.add(v) {
				k.Values = append(k.Values, v)
			}
		}
		return
	}
	set := SetOf(values)
	k.Values = slices.DeleteFunc(k.Values, func(v datum.Value) bool { return !set.Holds(v) })
}

// ValueSet is a set of values of one type, without NULL.
type ValueSet map[string]struct{}

// SetOf returns the set of values.
func SetOf(values []datum.Value) ValueSet {
	s := make(ValueSet, len(values))
	for _, v := range values {
		s.add(v)
	}
	return s
}

// add adds a value and reports whether it is new.
func (s ValueSet) add(v datum.Value) bool {
	if !v.Valid {
		return false
	}
	n := len(s)
	s[string(datum.AppendKey(nil, v))] = struct{}{}
	return len(s) > n
}

// Holds reports whether a value is in the set.
func (s ValueSet) Holds(v datum.Value) bool {
	_, ok := s[string(datum.AppendKey(nil, v))]
	return ok
}

// EmptyRow returns a row of NULLs.
func (t *Table) EmptyRow() []datum.Value {
	row := make([]datum.Value, len(t.Columns))
	for i, c := range t.Columns {
		row[i] = datum.Null(c.Type)
	}
	return row
}

// Row makes a row from pairs of column name and value; the last of a name counts.
// Other columns are NULL, or zero, false or empty if they cannot be NULL.
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
		var err error
		if row[c], err = toValue(t.Columns[c].Type, pairs[i+1]); err != nil {
			panic(err)
		}
	}
	return row
}

// rowShape caches what Row starts with.
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

// toValue makes a value of type t. nil and the zero time are NULL.
func toValue(t datum.OID, v any) (datum.Value, error) {
	whole := func(n int64) (datum.Value, error) { return datum.Value{Type: t, Valid: true, Int: n}, nil }
	switch v := v.(type) {
	case nil:
		return datum.Null(t), nil
	case string:
		if IsString(t) {
			return datum.MakeString(t, v), nil
		}
		return datum.ParseText(t, v, nil)
	case bool:
		return datum.MakeBool(v), nil
	case int:
		if t == datum.Float4 {
			return datum.Value{Type: t, Valid: true, Float: float64(v)}, nil
		}
		return whole(int64(v))
	case int64:
		return whole(v)
	case float64:
		return datum.MakeFloat8(v), nil
	case uint32:
		return whole(int64(v))
	case datum.OID:
		return whole(int64(v))
	case byte:
		return datum.MakeString(t, string(rune(v))), nil
	case time.Time:
		if v.IsZero() {
			return datum.Null(t), nil
		}
		return datum.TimestampTZFromTime(v), nil
	case datum.Value:
		return v, nil
	}
	panic(fmt.Sprintf("a catalog value of type %T", v))
}
