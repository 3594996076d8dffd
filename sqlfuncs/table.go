package sqlfuncs

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
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
func columnList(text string) (columns []tableColumn) {
	for column := range strings.FieldsSeq(text) {
		name, typ, _ := strings.Cut(column, ":")
		typ, notNull := strings.CutSuffix(typ, "!")
		t, ok := pgTypes().byName[typ]
		if !ok {
			panic("no type " + typ + " for column " + name)
		}
		base := t.base
		if typ == "inet" { // its values are texts here, as PostgreSQL prints them
			base = datum.Text
		}
		columns = append(columns, tableColumn{name: name, typ: base, declared: t.oid, null: !notNull})
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

// publicTables are found without a schema.
var tables = indexTables(idTables, operatorTables, catalogTables)

// fixedTables are the tables that are always there, by OID.
var fixedTables = slices.SortedFunc(maps.Values(tables), func(a, b *table) int { return cmp.Compare(a.oid, b.oid) })

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

// fixedTablesByOID is fixedTables by OID.
var fixedTablesByOID = sync.OnceValue(func() map[uint32]*table {
	m := map[uint32]*table{}
	for _, t := range fixedTables {
		m[t.oid] = t
	}
	return m
})

// fixedTable finds one of the tables that are always there, nil if none has that name.
func fixedTable(name []string) *table {
	schemas := searchPath
	if len(name) > 1 {
		schemas = name[len(name)-2 : len(name)-1]
	}
	for _, schema := range schemas {
		if t := tables[schema+"."+name[len(name)-1]]; t != nil {
			return t
		}
	}
	return nil
}

// lookupTable finds a table by name. NAME_id is a table of one row for every
// generator name.
func (s *Server) lookupTable(name syntax.Name) (*table, error) {
	if t := fixedTable(name); t != nil {
		return t, nil
	}
	last := name.Last()
	public := len(name) == 1 || name[len(name)-2] == "public" || name[len(name)-2] == nextidSchema
	if generatorName, ok := strings.CutSuffix(last, idTableSuffix); ok && public && generator.CheckName(generatorName) == nil {
		return s.singleIDTable(last, generatorName), nil
	}
	return nil, sqlstate.New(sqlstate.UndefinedTable, "relation %q does not exist", cut(strings.Join(name, "."), 128)).
		WithHint("Tables to read ids from: ids, id_batch, id_ranges, id_parts, and NAME_id for a generator NAME.")
}

// fixedRows makes a scan of rows that are computed when it begins.
func fixedRows(rows func(x *exec) ([][]datum.Value, error)) func(*exec, []keyValues) (rowIter, error) {
	return func(x *exec, _ []keyValues) (rowIter, error) {
		r, err := rows(x)
		return &sliceRows{rows: r}, err
	}
}
