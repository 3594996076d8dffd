package pgcatalog

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// files holds facts about PostgreSQL 15's system catalogs: names, OIDs, types and
// flags, and no text or code of PostgreSQL. TestCatalogFilesAreWhatPostgreSQLSays
// reads them from a PostgreSQL, writes the files, and checks them.
//
//	relations.tsv       every table and view of pg_catalog and information_schema with its columns
//	pg_type.tsv         types
//	pg_proc.tsv         functions that nextid has under a name of PostgreSQL's, and those that pg_type names
//	pg_operator.tsv     operators on types that nextid has
//	pg_cast.tsv         casts between them
//	pg_range.tsv        range types with their subtypes
//	pg_am.tsv, pg_authid.tsv, pg_collation.tsv, pg_language.tsv, pg_tablespace.tsv
//	                    rows of every database
//	pg_get_keywords.tsv keywords and their categories
//
//go:embed catalog
var files embed.FS

// Tables returns the tables and views of pg_catalog and information_schema, all of
// them with PostgreSQL's columns. Their rows come from relationViews, sources or a
// file. A table without any of these is empty: nextid has no such objects, or no
// client reads the table.
func Tables() []engine.Table {
	list := slices.Clone(relationFile())
	for i := range list {
		if t := &list[i]; relationViews[t.Schema+"."+t.Name] != nil {
			t.Scan = scanRelations(t)
		} else {
			t.Scan = scan(t)
		}
	}
	return list
}

// relationFile returns the tables of relations.tsv. The caller must not change them.
var relationFile = sync.OnceValue(readRelations)

// textOf returns the text of a file in catalog/, "" when there is none.
func textOf(name string) string {
	text, err := files.ReadFile("catalog/" + name)
	if err != nil {
		return ""
	}
	return string(text)
}

// readRelations parses relations.tsv.
func readRelations() []engine.Table {
	var out []engine.Table
	for line := range strings.Lines(textOf("relations.tsv")) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 5 {
			panic("catalog/relations.tsv: " + line)
		}
		oid, err := strconv.ParseUint(f[2], 10, 32)
		if err != nil {
			panic(err)
		}
		t := engine.Table{Schema: f[0], Name: f[1], OID: uint32(oid), Kind: f[3][0], Catalog: true}
		t.Columns = engine.ColumnsOf(f[4], typeOfColumn)
		for i, c := range t.Columns {
			if isCatalogKey(c.Name) {
				t.Keys = append(t.Keys, i)
			}
		}
		out = append(out, t)
	}
	return out
}

// typeOfColumn returns a type of pg_type.tsv by its name. base is the type of the
// values, declared the type that the catalogs show.
func typeOfColumn(name string) (base, declared datum.OID, ok bool) {
	t, ok := pgTypes().byName[name]
	if base = t.base; name == "inet" { // its values are texts here, as PostgreSQL prints them
		base = datum.Text
	}
	return base, t.oid, ok
}

// Domains maps the domains of information_schema to their base types.
func Domains() map[string]datum.OID {
	m := map[string]datum.OID{}
	for name, t := range pgTypes().byName {
		if t.base != t.oid {
			m[name] = t.base
		}
	}
	return m
}

// isCatalogKey reports whether the rows of a catalog are looked up by a column: it
// holds the OID or the name of the object that a row is, or belongs to.
func isCatalogKey(column string) bool {
	switch column {
	case "oid", "attrelid", "adrelid", "objoid", "conrelid", "confrelid", "indrelid", "indexrelid", "seqrelid", "inhrelid", "refobjid",
		"tgrelid", "ev_class", "polrelid", "enumtypid", "rngtypid", "relname", "proname", "typname", "amopfamily", "roleid", "member",
		"table_schema", "table_name", "sequence_schema", "sequence_name", "schemaname", "tablename", "viewname", "sequencename":
		return true
	}
	return false
}

// pgType is a line of catalog/pg_type.tsv.
type pgType struct {
	oid  datum.OID
	base datum.OID // base type of a domain, otherwise oid
	name string
	elem datum.OID
	ns   uint32

	length         int
	mod            int // type modifier of a domain, otherwise -1
	byValue        bool
	align, storage byte
	collation      uint32
}

// pgTypeIndex holds the types of pg_type.tsv.
type pgTypeIndex struct {
	byName map[string]pgType
	byOID  map[datum.OID]pgType
	procs  map[uint32]bool // OIDs of the functions that the types name
}

// pgTypes returns the types of the catalogs: all types of PostgreSQL, which include
// those of package datum.
var pgTypes = sync.OnceValue(func() pgTypeIndex {
	x := pgTypeIndex{byName: map[string]pgType{}, byOID: map[datum.OID]pgType{}, procs: map[uint32]bool{}}
	head, rows := readTSV("pg_type.tsv")
	for _, row := range rows {
		t := pgType{ns: pgCatalogOID, mod: -1}
		for i, text := range row {
			if text == "" {
				continue
			}
			switch head[i] {
			case "oid":
				t.oid = parseOID(text)
				t.base = t.oid
			case "typname":
				t.name = text
			case "typnamespace":
				t.ns = uint32(parseOID(text))
			case "typelem":
				t.elem = parseOID(text)
			case "typlen":
				t.length, _ = strconv.Atoi(text)
			case "typtypmod":
				t.mod, _ = strconv.Atoi(text)
			case "typbyval":
				t.byValue = text == "t"
			case "typalign":
				t.align = text[0]
			case "typstorage":
				t.storage = text[0]
			case "typcollation":
				t.collation = uint32(parseOID(text))
			case "typbasetype":
				t.base = parseOID(text)
			case "typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze", "typsubscript":
				x.procs[uint32(parseOID(text))] = true
			}
		}
		x.byName[t.name], x.byOID[t.oid] = t, t
	}
	return x
})

// parseOID parses an OID of a file in catalog/. It panics if the file is wrong.
func parseOID(text string) datum.OID {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		panic(err)
	}
	return datum.OID(n)
}

// readTSV reads a file in catalog/: fields separated by tabs, the names of the
// columns in the first line.
func readTSV(file string) (head []string, rows [][]string) {
	for line := range strings.Lines(textOf(file)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if head == nil {
			head = fields
		} else {
			rows = append(rows, fields)
		}
	}
	return head, rows
}

// constants holds, by table, the values of columns that the lines of a file leave
// empty. Other columns have the zero value.
var constants = map[string][]any{
	"pg_type":       {"typnamespace", pgCatalogOID, "typowner", ownerOID, "typisdefined", true, "typdelim", ",", "typtypmod", -1},
	"pg_operator":   {"oprnamespace", pgCatalogOID, "oprowner", ownerOID, "oprkind", "b"},
	"pg_proc":       {"prokind", "f", "proisstrict", true, "provolatile", "i", "proparallel", "s"},
	"pg_authid":     {"rolinherit", true, "rolconnlimit", -1},
	"pg_language":   {"lanowner", ownerOID},
	"pg_tablespace": {"spcowner", ownerOID},
	"pg_collation":  {"collnamespace", pgCatalogOID, "collowner", ownerOID, "collisdeterministic", true},
}

// fileRows reads the rows of a catalog from its file, in the order of the
// table's columns.
func fileRows(t *engine.Table) [][]datum.Value {
	head, lines := readTSV(t.Name + ".tsv")
	rows := make([][]datum.Value, len(lines))
	places := make([]int, len(head))
	for i, name := range head {
		places[i] = t.Column(name)
	}
	blank := t.Row(constants[t.Name]...)
	for i, line := range lines {
		row := slices.Clone(blank)
		for j, text := range line {
			if text == "" {
				continue
			}
			v, err := datum.ParseText(t.Columns[places[j]].Type, text, nil)
			if err != nil {
				panic(fmt.Sprintf("catalog/%s.tsv: %s: %v", t.Name, head[j], err))
			}
			row[places[j]] = v
		}
		rows[i] = row
	}
	return rows
}

// rowSet holds rows of a catalog, with indexes by its key columns.
type rowSet struct {
	rows  [][]datum.Value
	mu    sync.Mutex
	index map[int]map[string][]int // by column, made at the first look-up; under mu
}

// find returns the rows whose column has one of the values.
func (s *rowSet) find(column int, values []datum.Value) [][]datum.Value {
	m := s.byColumn(column)
	var out [][]datum.Value
	var key []byte
	for _, v := range values {
		key = datum.AppendKey(key[:0], v)
		for _, i := range m[string(key)] {
			out = append(out, s.rows[i])
		}
	}
	return out
}

// byColumn returns the index of a column: from key to row numbers.
func (s *rowSet) byColumn(column int) map[string][]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.index[column]; m != nil {
		return m
	}
	m := make(map[string][]int, len(s.rows))
	for i, row := range s.rows {
		if v := row[column]; v.Valid {
			key := string(datum.AppendKey(nil, v))
			m[key] = append(m[key], i)
		}
	}
	if s.index == nil {
		s.index = map[int]map[string][]int{}
	}
	s.index[column] = m
	return m
}

// scan reads a catalog. If the statement's conditions fix a key column, it looks up
// the rows.
func scan(t *engine.Table) func(*engine.Exec, []engine.KeyValues) (engine.Rows, error) {
	return func(x *engine.Exec, keys []engine.KeyValues) (engine.Rows, error) {
		for i, k := range keys {
			if k.Fixed {
				rows, err := rowsWith(x, t, t.Keys[i], k.Values)
				return &engine.SliceRows{Rows: rows}, err
			}
		}
		set, err := rowsOf(x, t)
		if err != nil {
			return nil, err
		}
		s := systemOf(x).source(t)
		if s == nil || s.relation == nil {
			return &engine.SliceRows{Rows: set.rows}, nil
		}
		relations, err := dynamicRelations(x)
		if err != nil {
			return nil, err
		}
		return &relationRows{
			SliceRows: engine.SliceRows{Rows: set.rows}, list: relations.list,
			rows: func(x *engine.Exec, r *relation) ([][]datum.Value, error) { return s.relation(systemOf(x), t, r), nil },
		}, nil
	}
}

// relationRows yields the rows of SliceRows, then those about relations. It makes the
// rows of one relation at a time, since there may be very many generators.
type relationRows struct {
	engine.SliceRows
	list []*relation
	rows func(x *engine.Exec, r *relation) ([][]datum.Value, error)
}

// Next implements engine.Rows.
func (c *relationRows) Next(x *engine.Exec) ([]datum.Value, error) {
	for c.I >= len(c.SliceRows.Rows) && len(c.list) > 0 {
		more, err := c.rows(x, c.list[0])
		if err != nil {
			return nil, err
		}
		c.SliceRows, c.list = engine.SliceRows{Rows: more}, c.list[1:]
	}
	return c.SliceRows.Next(x)
}

// rowsWith returns the rows of a catalog with one of the values in a key column.
func rowsWith(x *engine.Exec, t *engine.Table, column int, values []datum.Value) ([][]datum.Value, error) {
	set, err := rowsOf(x, t)
	if err != nil {
		return nil, err
	}
	rows := set.find(column, values)
	s := systemOf(x).source(t)
	builtIn := func(v datum.Value) bool { return !engine.IsString(v.Type) && v.Int < engine.FirstSequenceOID }
	if s == nil || s.relation == nil || !slices.ContainsFunc(values, func(v datum.Value) bool { return !builtIn(v) }) {
		return rows, nil // without reading the generators from the store
	}
	relations, err := dynamicRelations(x)
	if err != nil {
		return nil, err
	}
	wanted := engine.SetOf(values)
	for _, r := range relations.about(values) {
		for _, row := range s.relation(systemOf(x), t, r) {
			if wanted.Holds(row[column]) {
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// rowsOf returns the rows of a catalog that are not about generators.
func rowsOf(x *engine.Exec, t *engine.Table) (*rowSet, error) {
	s := systemOf(x).source(t)
	if s == nil || s.rows == nil {
		return systemOf(x).staticRows(t), nil
	}
	statement, _ := sessionOf(x).Catalogs(x)
	if set := statement.rows[t]; set != nil {
		return set, nil
	}
	rows, err := s.rows(x, t)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := x.HoldRow(row); err != nil {
			return nil, err
		}
	}
	set := &rowSet{rows: rows}
	if statement.rows == nil {
		statement.rows = map[*engine.Table]*rowSet{}
	}
	statement.rows[t] = set
	return set, nil
}

// staticRows returns the rows of a catalog that never change.
func (s *System) staticRows(t *engine.Table) *rowSet {
	if set, ok := s.static.Load(t); ok {
		return set.(*rowSet)
	}
	var rows [][]datum.Value
	source := s.source(t)
	if source != nil && source.fixed != nil {
		rows = source.fixed(s, t)
	} else {
		rows = fileRows(t)
	}
	if source != nil && source.relation != nil {
		for _, r := range s.known.AllTables() {
			rows = append(rows, source.relation(s, t, &relation{Table: r})...)
		}
	}
	set, _ := s.static.LoadOrStore(t, &rowSet{rows: rows})
	return set.(*rowSet)
}
