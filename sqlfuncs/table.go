package sqlfuncs

import (
	"strings"

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

	// scan yields rows. keys holds, for each key column, the values that
	// the WHERE leaves for it; the WHERE is checked again afterwards.
	scan func(x *exec, keys []keyValues) (rowIter, error)
}

type tableColumn struct {
	name string
	typ  datum.OID
	null bool
}

func (t *table) fromColumns() []fromColumn {
	out := make([]fromColumn, len(t.columns))
	for i, c := range t.columns {
		out[i] = fromColumn{name: c.name, typ: c.typ, mod: -1, table: t.oid, attr: int16(i + 1)}
	}
	return out
}

// firstTableOID is where the OIDs of our own tables begin (PostgreSQL's
// first normal object id).
const firstTableOID = 16384

// publicTables are found without a schema.
var tables = indexTables(idTables, operatorTables)

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

// searchPath is the order in which a table name without schema is looked up.
var searchPath = []string{pgCatalog, "public", nextidSchema}

// idTableSuffix makes a table of a generator: orders_id has one new id.
const idTableSuffix = "_id"

// lookupTable finds a table by name. NAME_id is a table of one row for every
// generator name.
func (s *Server) lookupTable(name syntax.Name) (*table, error) {
	last := name.Last()
	schemas := searchPath
	if len(name) > 1 {
		schemas = name[len(name)-2 : len(name)-1]
	}
	for _, schema := range schemas {
		if t := tables[schema+"."+last]; t != nil {
			return t, nil
		}
	}
	public := len(name) == 1 || schemas[0] == "public" || schemas[0] == nextidSchema
	if generatorName, ok := strings.CutSuffix(last, idTableSuffix); ok && public && generator.CheckName(generatorName) == nil {
		return singleIDTable(last, generatorName), nil
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
