package sqlfuncs

import (
	"strings"

	"nextid/sqlfuncs/datum"
)

// table describes one virtual table.
type table struct {
	schema  string
	name    string
	oid     uint32
	kind    byte // pg_class.relkind: 'v' view, 'r' table, 'S' sequence
	columns []tableColumn
	keys    []int // columns that scan wants to know the conditions on
	help    string

	catalog    bool   // one of PostgreSQL's system catalogs
	definition string // of a view: the query, as pg_get_viewdef prints it

	// scan yields rows. keys holds, for each key column, the values that
	// the WHERE leaves for it; the WHERE is checked again afterwards.
	scan func(x *exec, keys []keyValues) (rowIter, error)
}

type tableColumn struct {
	name string
	typ  datum.OID
	null bool
	// declared is the type in the catalogs where it is not typ: inet, or a domain of
	// information_schema, whose values have the type under it.
	declared datum.OID
}

// columnList reads columns as NAME:TYPE, with a ! behind the type of one that
// is never NULL: "name:text! step:int8". The types have pg_type's names.
func columnList(text string) []tableColumn {
	return columnsOf(text, func(name string) (base, declared datum.OID, ok bool) {
		t, ok := datum.TypeByName(name)
		return t, t, ok
	})
}

// columnsOf is columnList with the types that typ knows: what their values
// are, and what the catalogs say that they are.
func columnsOf(text string, typ func(name string) (base, declared datum.OID, ok bool)) (columns []tableColumn) {
	for column := range strings.FieldsSeq(text) {
		name, typeName, _ := strings.Cut(column, ":")
		typeName, notNull := strings.CutSuffix(typeName, "!")
		base, declared, ok := typ(typeName)
		if !ok {
			panic("no type " + typeName + " for column " + name)
		}
		columns = append(columns, tableColumn{name: name, typ: base, declared: declared, null: !notNull})
	}
	return columns
}

func (t *table) fromColumns() []fromColumn {
	out := make([]fromColumn, len(t.columns))
	for i, c := range t.columns {
		out[i] = fromColumn{name: c.name, typ: c.typ, mod: -1, table: t.oid, attr: int16(i + 1), collation: columnCollation}
	}
	return out
}

// firstTableOID is where the OIDs of our own tables begin (PostgreSQL's
// first normal object id).
const firstTableOID = 16384

func indexTables(families ...[]table) map[string]*table {
	m := map[string]*table{}
	oid := uint32(firstTableOID)
	for _, fam := range families {
		for i := range fam {
			t := &fam[i]
			if t.oid == 0 {
				t.oid = oid
				oid++
			}
			if t.kind == 0 {
				t.kind = 'v'
			}
			m[t.schema+"."+t.name] = t
		}
	}
	return m
}

// searchPath is the order in which a table name without schema is looked up,
// whatever the setting search_path says: a pool that sets it to the
// application's schema still finds ids.
var searchPath = []string{pgCatalog, "public", nextidSchema}

// idTableSuffix makes a table of a generator: orders_id has one new id.
const idTableSuffix = "_id"

// column is the place of a column that the table has.
func (t *table) column(name string) int {
	for i, c := range t.columns {
		if c.name == name {
			return i
		}
	}
	panic(t.name + " has no column " + name)
}

// fixedRows makes a scan of rows that are computed when it begins.
func fixedRows(rows func(x *exec) ([][]datum.Value, error)) func(*exec, []keyValues) (rowIter, error) {
	return func(x *exec, _ []keyValues) (rowIter, error) {
		r, err := rows(x)
		return &sliceRows{rows: r}, err
	}
}
