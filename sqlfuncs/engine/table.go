package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nextid/sqlfuncs/datum"
)

// Table describes one virtual table.
type Table struct {
	Schema  string
	Name    string
	OID     uint32
	Kind    byte // pg_class.relkind: 'v' view, 'r' table, 'S' sequence
	Columns []TableColumn
	Keys    []int // columns that Scan wants to know the conditions on
	Help    string

	Catalog    bool   // one of PostgreSQL's system catalogs
	Definition string // of a view: the query, as pg_get_viewdef prints it

	// Scan yields rows. keys holds, for each key column, the values that
	// the WHERE leaves for it; the WHERE is checked again afterwards.
	Scan func(x *Exec, keys []KeyValues) (Rows, error)
}

// TableColumn is one column of a Table.
type TableColumn struct {
	Name string
	Type datum.OID
	Null bool
	// Declared is the type in the catalogs where it is not Type: inet, or a domain of
	// information_schema, whose values have the type under it.
	Declared datum.OID
	// Length bounds how many characters a text of the MySQL dialect has at most; 0
	// where that is not said.
	Length int32
}

// ColumnList reads columns as NAME:TYPE, with a ! behind the type of one that
// is never NULL: "name:text! step:int8 note:text(80)". The types have pg_type's names.
func ColumnList(text string) []TableColumn {
	return ColumnsOf(text, func(name string) (base, declared datum.OID, ok bool) {
		t, ok := datum.TypeByName(name)
		return t, t, ok
	})
}

// ColumnsOf is ColumnList with the types that typ knows: what their values
// are, and what the catalogs say that they are.
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

// FromColumns are the columns as a FROM item has them.
func (t *Table) FromColumns() []FromColumn {
	out := make([]FromColumn, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = FromColumn{Name: c.Name, Type: c.Type, TypeMod: TextMod(c.Length), table: t.OID, attr: int16(i + 1), letters: true}
	}
	return out
}

// TextMod is the type modifier of a text with so many characters at most, as
// PostgreSQL has it for varchar; 0: no end.
func TextMod(length int32) int32 {
	if length <= 0 {
		return -1
	}
	return length + 4
}

// TextLength is the length that a type modifier of TextMod tells, 0: none.
func TextLength(mod int32) int32 { return max(mod-4, 0) }

// FirstTableOID marks where the OIDs of our own tables begin (PostgreSQL's
// first normal object id).
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

// SearchPath is the order in which a table name without schema is looked up,
// whatever the setting search_path says: a pool that sets it to the
// application's schema still finds ids.
var SearchPath = []string{PGCatalog, "public", NextidSchema}

// IDTableSuffix makes a table of a generator: orders_id has one new id.
const IDTableSuffix = "_id"

// Column is the place of a column that the table has.
func (t *Table) Column(name string) int {
	for i, c := range t.Columns {
		if c.Name == name {
			return i
		}
	}
	panic(t.Name + " has no column " + name)
}

// FixedRows makes a scan of rows that are computed when it begins.
func FixedRows(rows func(x *Exec) ([][]datum.Value, error)) func(*Exec, []KeyValues) (Rows, error) {
	return func(x *Exec, _ []KeyValues) (Rows, error) {
		r, err := rows(x)
		return &SliceRows{Rows: r}, err
	}
}

// KeyValues are the values that the conditions leave for a key column.
type KeyValues struct {
	Fixed  bool
	Values []datum.Value
}

// Restrict leaves those values that are also in another condition.
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

// ValueSet is values of one type, without NULL.
type ValueSet map[string]struct{}

// SetOf is the set of some values.
func SetOf(values []datum.Value) ValueSet {
	s := make(ValueSet, len(values))
	for _, v := range values {
		s.add(v)
	}
	return s
}

// add adds a value, and reports whether it was not there.
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

// rowShape holds what Row begins with.
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
