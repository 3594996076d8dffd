package sqlfuncs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
)

// OIDs that clients write as numbers, because PostgreSQL has fixed them.
const (
	ownerOID      = 10      // the bootstrap superuser
	heapOID       = 2       // pg_am: heap
	classCatalog  = 1259    // pg_class
	procCatalog   = 1255    // pg_proc
	schemaCatalog = 2615    // pg_namespace
	rowTypeOIDs   = 1 << 30 // added to a relation's OID gives that of its row type
	rowArrayOIDs  = 1 << 27 // added to that gives that of the arrays of it
	ruleOIDs      = 1 << 31 // added to a view's OID gives that of its rule
)

// relation is a row of pg_class.
type relation struct {
	*table
	generator *generator.Definition // a sequence's
}

// sequenceKinds are the kinds of generators that nextval takes, because their
// ids are bigints. pg_class shows them as sequences: mappers look for one
// before they use it.
var sequenceKinds = map[string]bool{
	"segment": true, "counter": true, "ticket": true, "snowflake": true, "ring": true, "dated": true,
}

// maxIdentifier is the length of PostgreSQL's names, in bytes.
const maxIdentifier = 63

// sequenceColumns are the columns of every sequence.
var sequenceColumns = []tableColumn{
	{name: "last_value", typ: datum.Int8}, {name: "log_cnt", typ: datum.Int8}, {name: "is_called", typ: datum.Bool},
}

// dynamicRelations are those of the generators: NAME_id, and the name
// itself as a sequence.
func (x *exec) dynamicRelations() ([]relation, error) {
	if x.relations != nil {
		return x.relations, nil
	}
	definitions, err := x.server.registry.Definitions(x.ctx)
	if err != nil {
		return nil, err
	}
	x.relations = []relation{}
	for i := range definitions {
		d := &definitions[i]
		oid, ok := x.server.sequenceOIDs.oid(d.Name)
		if !ok || len(d.Name) > maxIdentifier {
			continue
		}
		if sequenceKinds[d.Kind] && tables["public."+d.Name] == nil {
			x.relations = append(x.relations, relation{
				table: &table{schema: "public", name: d.Name, oid: oid, kind: 'S', columns: sequenceColumns}, generator: d})
		}
		if name := d.Name + idTableSuffix; len(name) <= maxIdentifier && tables["public."+name] == nil {
			x.relations = append(x.relations, relation{table: x.server.singleIDTable(name, d.Name)})
		}
	}
	return x.relations, nil
}

// catalogRows makes the rows of the catalogs that are about nextid, by
// schema and name.
var catalogRows map[string]func(x *exec, t *table) ([][]datum.Value, error)

func init() { // an init: the functions refer to tables, which refers to this
	catalogRows = map[string]func(x *exec, t *table) ([][]datum.Value, error){
		"pg_catalog.pg_class":               relationRows(classRow),
		"pg_catalog.pg_attribute":           attributeRows,
		"pg_catalog.pg_type":                typeRows,
		"pg_catalog.pg_sequence":            sequenceRows,
		"pg_catalog.pg_rewrite":             relationRows(rewriteRow),
		"pg_catalog.pg_description":         descriptionRows,
		"pg_catalog.pg_proc":                procRows,
		"pg_catalog.pg_namespace":           namespaceRows,
		"pg_catalog.pg_database":            databaseRows,
		"pg_catalog.pg_authid":              roleRows,
		"pg_catalog.pg_settings":            settingRows,
		"pg_catalog.pg_timezone_names":      timeZoneRows,
		"pg_catalog.pg_stat_activity":       activityRows,
		"pg_catalog.pg_prepared_statements": preparedRows,
		"pg_catalog.pg_cursors":             cursorRows,
	}
}

// staticRelations are the rows of a catalog for the relations that never
// change, made once a catalog.
func relationRows(row func(x *exec, t *table, r relation) []datum.Value) func(*exec, *table) ([][]datum.Value, error) {
	return func(x *exec, t *table) ([][]datum.Value, error) {
		rows := x.server.fixedRelationRows(x, t, row)
		dynamic, err := x.dynamicRelations()
		for _, r := range dynamic {
			if v := row(x, t, r); v != nil {
				rows = append(rows, v)
			}
		}
		return rows, err
	}
}

// fixedRelationRows are the rows of the relations that are always there.
func (s *Server) fixedRelationRows(x *exec, t *table, row func(x *exec, t *table, r relation) []datum.Value) [][]datum.Value {
	if rows, ok := staticRows.Load(t); ok {
		return clip(rows.([][]datum.Value))
	}
	var rows [][]datum.Value
	for _, r := range fixedTables {
		if v := row(x, t, relation{table: r}); v != nil {
			rows = append(rows, v)
		}
	}
	staticRows.Store(t, rows)
	return clip(rows)
}

// clip makes append copy.
func clip(rows [][]datum.Value) [][]datum.Value { return rows[:len(rows):len(rows)] }

func classRow(_ *exec, t *table, r relation) []datum.Value {
	am := 0
	if r.kind == 'r' {
		am = heapOID
	}
	rowType, pages, tuples := uint32(0), 0, -1
	switch {
	case r.kind == 'S':
		pages, tuples = 1, 1
	default:
		rowType = r.oid | rowTypeOIDs
	}
	return t.rowOf("oid", r.oid, "relname", r.name, "relnamespace", schemaOIDs[r.schema], "relowner", ownerOID, "relam", am, "reltype", rowType,
		"relpages", pages, "reltuples", tuples, "relpersistence", "p", "relkind", r.kind, "relnatts", len(r.columns), "relhasrules", r.kind == 'v',
		"relispopulated", true, "relreplident", "n")
}

func attributeRows(x *exec, t *table) ([][]datum.Value, error) {
	rows, ok := staticRows.Load(t)
	if !ok {
		var all [][]datum.Value
		for _, r := range fixedTables {
			all = appendAttributes(all, t, r)
		}
		rows, _ = staticRows.LoadOrStore(t, all)
	}
	out := clip(rows.([][]datum.Value))
	dynamic, err := x.dynamicRelations()
	for _, r := range dynamic {
		out = appendAttributes(out, t, r.table)
	}
	return out, err
}

func appendAttributes(rows [][]datum.Value, t, of *table) [][]datum.Value {
	for i, c := range of.columns {
		typ := c.typ
		if c.declared != 0 {
			typ = c.declared
		}
		info := pgTypes().byOID[typ]
		rows = append(rows, t.rowOf("attrelid", of.oid, "attname", c.name, "atttypid", typ, "attlen", info.length, "attnum", i+1,
			"attcacheoff", -1, "atttypmod", -1, "attbyval", info.byValue, "attalign", info.align, "attstorage", info.storage,
			"attnotnull", !c.null && of.kind != 'v', "attislocal", true, "attstattarget", -1, "attcollation", info.collation))
	}
	return rows
}

// typeRows are the types, and the row types of relations with their arrays.
func typeRows(x *exec, t *table) ([][]datum.Value, error) {
	rows, ok := staticRows.Load(t)
	if !ok {
		all := fileRows(t)
		for _, r := range fixedTables {
			all = append(all, rowTypeRows(t, r)...)
		}
		rows, _ = staticRows.LoadOrStore(t, all)
	}
	out := clip(rows.([][]datum.Value))
	dynamic, err := x.dynamicRelations()
	for _, r := range dynamic {
		if r.kind != 'S' {
			out = append(out, rowTypeRows(t, r.table)...)
		}
	}
	return out, err
}

func rowTypeRows(t, of *table) [][]datum.Value {
	common := []any{"typnamespace", schemaOIDs[of.schema], "typowner", ownerOID, "typlen", -1, "typisdefined", true, "typdelim", ",",
		"typalign", "d", "typstorage", "x", "typtypmod", -1}
	row, array := of.oid|rowTypeOIDs, of.oid|rowTypeOIDs|rowArrayOIDs
	io := func(prefix string) []any {
		var out []any
		for column, suffix := range map[string]string{"typinput": "in", "typoutput": "out", "typreceive": "recv", "typsend": "send"} {
			out = append(out, column, procs().byName[prefix+suffix][0].oid)
		}
		return out
	}
	return [][]datum.Value{
		t.rowOf(slices.Concat(common, io("record_"), []any{"oid", row, "typname", of.name, "typtype", "c", "typcategory", "C",
			"typrelid", of.oid, "typarray", array})...),
		t.rowOf(slices.Concat(common, io("array_"), []any{"oid", array, "typname", "_" + of.name, "typtype", "b", "typcategory", "A",
			"typelem", row, "typsubscript", procs().byName["array_subscript_handler"][0].oid,
			"typanalyze", procs().byName["array_typanalyze"][0].oid})...),
	}
}

// rowTypeName is the name of a row type or of the arrays of it.
func (s *Server) rowTypeName(oid uint32) (string, bool) {
	if oid&rowTypeOIDs == 0 {
		return "", false
	}
	name, ok := catalogNames{s}.ObjectName(datum.RegClass, oid&^(rowTypeOIDs|rowArrayOIDs))
	if oid&rowArrayOIDs != 0 {
		name += "[]"
	}
	return name, ok
}

// segmentOptions are what pg_sequence shows of a generator.
type segmentOptions struct {
	Start     int64  `json:"start"`
	Increment int64  `json:"increment"`
	Min       *int64 `json:"min"`
	Max       *int64 `json:"max"`
	Step      int64  `json:"step"`
}

func sequenceRows(x *exec, t *table) ([][]datum.Value, error) {
	dynamic, err := x.dynamicRelations()
	var rows [][]datum.Value
	for _, r := range dynamic {
		if r.generator == nil {
			continue
		}
		o := segmentOptions{Start: 1, Increment: 1, Step: 1}
		if err := json.Unmarshal(r.generator.Options, &o); err != nil {
			return nil, fmt.Errorf("options of generator %q: %w", r.name, err)
		}
		lowest, highest := int64(1), int64(1<<63-1)
		if o.Increment < 0 {
			lowest, highest = -1<<63, -1
		}
		if o.Min != nil {
			lowest = *o.Min
		}
		if o.Max != nil {
			highest = *o.Max
		}
		rows = append(rows, t.rowOf("seqrelid", r.oid, "seqtypid", datum.Int8, "seqstart", o.Start, "seqincrement", o.Increment,
			"seqmin", lowest, "seqmax", highest, "seqcache", o.Step))
	}
	return rows, err
}

// rewriteRow is the rule that makes a relation a view.
func rewriteRow(_ *exec, t *table, r relation) []datum.Value {
	if r.kind != 'v' {
		return nil
	}
	return t.rowOf("oid", r.oid|ruleOIDs, "rulename", "_RETURN", "ev_class", r.oid, "ev_type", "1", "ev_enabled", "O", "is_instead", true,
		"ev_qual", "<>", "ev_action", "<>")
}

func descriptionRows(x *exec, t *table) ([][]datum.Value, error) {
	rows := clip(staticCatalog(t).rows)
	describe := func(class int, oid uint32, help string) {
		if help != "" {
			rows = append(rows, t.rowOf("objoid", oid, "classoid", class, "description", help))
		}
	}
	for _, r := range fixedTables {
		describe(classCatalog, r.oid, r.help)
	}
	describe(schemaCatalog, schemaOIDs[nextidSchema], "what an operator asks")
	for _, f := range ourProcs() {
		describe(procCatalog, f.oid, f.help)
	}
	dynamic, err := x.dynamicRelations()
	for _, r := range dynamic {
		describe(classCatalog, r.oid, r.help)
	}
	return rows, err
}

// viewDefinition is the query of a view. Where no query says what a table of
// ours does, it is what pg_dump writes for a view that it must declare first:
// the columns.
func (t *table) viewDefinition() string {
	if t.definition != "" {
		return t.definition
	}
	columns := make([]string, len(t.columns))
	for i, c := range t.columns {
		columns[i] = "NULL::" + datum.FormatType(c.typ, -1) + " AS " + quoteIdent(c.name)
	}
	return " SELECT " + strings.Join(columns, ",\n    ") + ";"
}
