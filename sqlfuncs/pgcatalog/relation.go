package pgcatalog

import (
	"maps"
	"math"
	"slices"
	"strings"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/syntax"
)

// OIDs that are fixed in PostgreSQL, so that clients write them as numbers.
const (
	ownerOID          = 10      // the bootstrap superuser
	pgCatalogOID      = 11      // pg_namespace: pg_catalog
	internalLanguage  = 12      // pg_language: internal
	heapOID           = 2       // pg_am: heap
	classCatalog      = 1259    // pg_class
	databaseCollation = 100     // pg_collation: default
	procCatalog       = 1255    // pg_proc
	schemaCatalog     = 2615    // pg_namespace
	rowTypeOIDs       = 1 << 30 // relation's OID | rowTypeOIDs: its row type
	rowArrayOIDs      = 1 << 27 // row type's OID | rowArrayOIDs: its array type
	ruleOIDs          = 1 << 31 // view's OID | ruleOIDs: its rule
)

// relation is a row of pg_class.
type relation struct {
	*engine.Table
	generator *generator.Definition // of a sequence or of NAME_id; nil for other tables
}

// maxIdentifier is the length of PostgreSQL's names, in bytes.
const maxIdentifier = 63

// relationSet holds the relations of the generators: the sequence NAME and the view
// NAME_id of each. It does not change.
type relationSet struct {
	definitions []generator.Definition // the generators that it was made from
	list        []*relation
	byOID       map[uint32]*relation
	byName      map[string]*relation
}

// dynamicRelations returns the relations of the generators. It reads the generators
// once for a statement, or once for a transaction with a snapshot.
func dynamicRelations(x *engine.Exec) (*relationSet, error) {
	statement, snapshot := sessionOf(x).Catalogs(x)
	if snapshot == nil {
		snapshot = statement
	}
	if snapshot.relations != nil {
		return snapshot.relations, nil
	}
	definitions, err := ids.Registry(x).Numbered(x.Ctx)
	if err != nil {
		return nil, err
	}
	snapshot.relations = systemOf(x).relationSet(definitions)
	return snapshot.relations, nil
}

// relationSet returns the relations of the generators. It keeps the last set and
// makes a new one only if the definitions differ.
func (s *System) relationSet(definitions []generator.Definition) *relationSet {
	same := func(a, b generator.Definition) bool { return a.Name == b.Name && a.Version == b.Version }
	if set := s.relations.Load(); set != nil && slices.EqualFunc(set.definitions, definitions, same) {
		return set
	}
	set := &relationSet{definitions: definitions, byOID: map[uint32]*relation{}, byName: map[string]*relation{}}
	for i := range definitions {
		d := &definitions[i]
		oid, ok := s.known.OIDs.Sequence(d.Name)
		if !ok || len(d.Name) > maxIdentifier {
			continue
		}
		if s.known.Tables["public."+d.Name] == nil {
			set.list = append(set.list, &relation{
				Table: &engine.Table{Schema: "public", Name: d.Name, OID: oid, Kind: 'S', Columns: ids.SequenceColumns}, generator: d,
			})
		}
		if name := d.Name + engine.IDTableSuffix; len(name) <= maxIdentifier && s.known.Tables["public."+name] == nil {
			set.list = append(set.list, &relation{Table: ids.IDTable(s.known, d.Name), generator: d})
		}
	}
	for _, r := range set.list {
		set.byOID[r.OID], set.byName[r.Name] = r, r
	}
	s.relations.Store(set)
	return set
}

// about lists the relations that rows with one of these values in a key column
// belong to: OIDs or names of relations, or of their types and rules.
func (s *relationSet) about(values []datum.Value) []*relation {
	var out []*relation
	add := func(r *relation) {
		if r != nil && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for _, v := range values {
		if engine.IsString(v.Type) {
			add(s.byName[v.Str])
			add(s.byName[strings.TrimPrefix(v.Str, "_")]) // the array type of its rows
		} else {
			add(s.byOID[uint32(v.Int)&^(ruleOIDs|rowTypeOIDs|rowArrayOIDs)])
		}
	}
	return out
}

// source makes the rows of a catalog.
type source struct {
	fixed    func(s *System, t *engine.Table) [][]datum.Value                        // rows that never change; nil: those of the file
	relation func(s *System, t *engine.Table, r *relation) [][]datum.Value           // rows about one relation
	rows     func(x *engine.Exec, t *engine.Table) (rows [][]datum.Value, err error) // if set: all rows, made for each statement
}

// source returns the source of a table, nil if all rows are those of the file.
func (s *System) source(t *engine.Table) *source { return s.sources[t.Schema+"."+t.Name] }

// sources maps the catalogs that have rows about nextid.
func sources() map[string]*source {
	return map[string]*source{
		"pg_catalog.pg_class":         {relation: classRow},
		"pg_catalog.pg_attribute":     {relation: attributeRows},
		"pg_catalog.pg_type":          {relation: rowTypeRows},
		"pg_catalog.pg_sequence":      {relation: sequenceRows},
		"pg_catalog.pg_rewrite":       {relation: rewriteRow},
		"pg_catalog.pg_description":   {fixed: descriptionRows, relation: helpRows},
		"pg_catalog.pg_proc":          {fixed: procRows},
		"pg_catalog.pg_namespace":     {fixed: namespaceRows},
		"pg_catalog.pg_database":      {rows: databaseRows},
		"pg_catalog.pg_authid":        {rows: roleRows},
		"pg_catalog.pg_roles":         {rows: roleViewRows},
		"pg_catalog.pg_user":          {rows: roleViewRows},
		"pg_catalog.pg_settings":      {rows: settingRows},
		"pg_catalog.pg_stat_activity": {rows: activityRows},
		"pg_catalog.pg_stat_ssl":      {rows: tlsRows},

		"information_schema.schemata": {rows: listSchemata},
	}
}

// Sources returns the catalogs that have rows, as schema.name.
func Sources() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(sources())), maps.Keys(relationViews))
	for i := range relationFile() {
		if t := &relationFile()[i]; t.Schema == engine.PGCatalog && textOf(t.Name+".tsv") != "" && !slices.Contains(names, t.Schema+"."+t.Name) {
			names = append(names, t.Schema+"."+t.Name)
		}
	}
	return names
}

// classRow makes the row of pg_class.
func classRow(_ *System, t *engine.Table, r *relation) [][]datum.Value {
	am := 0
	if r.Kind == 'r' {
		am = heapOID
	}
	rowType, pages, tuples := uint32(0), 0, -1
	if r.Kind == 'S' {
		pages, tuples = 1, 1
	} else {
		rowType = r.OID | rowTypeOIDs
	}
	return [][]datum.Value{t.Row("oid", r.OID, "relname", r.Name, "relnamespace", schemaOIDs[r.Schema], "relowner", ownerOID, "relam", am, "reltype", rowType,
		"relpages", pages, "reltuples", tuples, "relpersistence", "p", "relkind", r.Kind, "relnatts", len(r.Columns), "relhasrules", r.Kind == 'v',
		"relispopulated", true, "relreplident", "n")}
}

// attributeRows makes the rows of pg_attribute.
func attributeRows(s *System, t *engine.Table, of *relation) [][]datum.Value {
	var rows [][]datum.Value
	for i, c := range of.Columns {
		typ := c.Type
		if c.Declared != 0 {
			typ = c.Declared
		}
		info := pgTypes().byOID[typ]
		rows = append(rows, t.Row("attrelid", of.OID, "attname", c.Name, "atttypid", typ, "attlen", info.length, "attnum", i+1,
			"attcacheoff", -1, "atttypmod", -1, "attbyval", info.byValue, "attalign", info.align, "attstorage", info.storage,
			"attnotnull", !c.Null && of.Kind != 'v', "attislocal", true, "attstattarget", -1, "attcollation", info.collation))
	}
	return rows
}

// rowTypeRows makes the rows of pg_type for a relation's row type and its array
// type. Sequences have none.
func rowTypeRows(s *System, t *engine.Table, of *relation) [][]datum.Value {
	if of.Kind == 'S' {
		return nil
	}
	common := []any{
		"typnamespace", schemaOIDs[of.Schema], "typowner", ownerOID, "typlen", -1, "typisdefined", true, "typdelim", ",",
		"typalign", "d", "typstorage", "x", "typtypmod", -1,
	}
	row, array := of.OID|rowTypeOIDs, of.OID|rowTypeOIDs|rowArrayOIDs
	io := func(prefix string) []any {
		var out []any
		for column, suffix := range map[string]string{"typinput": "in", "typoutput": "out", "typreceive": "recv", "typsend": "send"} {
			out = append(out, column, s.procs().byName[prefix+suffix][0].oid)
		}
		return out
	}
	return [][]datum.Value{
		t.Row(slices.Concat(common, io("record_"), []any{
			"oid", row, "typname", of.Name, "typtype", "c", "typcategory", "C",
			"typrelid", of.OID, "typarray", array,
		})...),
		t.Row(slices.Concat(common, io("array_"), []any{
			"oid", array, "typname", "_" + of.Name, "typtype", "b", "typcategory", "A",
			"typelem", row, "typsubscript", s.procs().byName["array_subscript_handler"][0].oid,
			"typanalyze", s.procs().byName["array_typanalyze"][0].oid,
		})...),
	}
}

// rowTypeName returns the name of a row type or of its array type.
func (s *System) rowTypeName(oid uint32) (string, bool) {
	if oid&rowTypeOIDs == 0 {
		return "", false
	}
	name, ok := s.ObjectName(datum.RegClass, oid&^(rowTypeOIDs|rowArrayOIDs))
	if oid&rowArrayOIDs != 0 {
		name += "[]"
	}
	return name, ok
}

// sequenceBounds holds what the catalogs show of a sequence.
type sequenceBounds struct{ start, increment, lowest, highest, cache int64 }

// sequenceBounds reads the options of the relation's generator. Kinds that do not
// count have the bounds of PostgreSQL's default sequence.
func (r *relation) sequenceBounds() sequenceBounds {
	b := sequenceBounds{start: 1, increment: ids.Increment(*r.generator), lowest: 1, highest: math.MaxInt64, cache: 1}
	s, counts := ids.SeriesOf(*r.generator)
	if !counts {
		return b
	}
	b.start, b.cache = s.Start, max(s.Step, 1)
	b.lowest, b.highest = s.Bounds(math.MinInt64, math.MaxInt64)
	return b
}

// sequenceRows makes the row of pg_sequence.
func sequenceRows(s *System, t *engine.Table, r *relation) [][]datum.Value {
	if r.Kind != 'S' {
		return nil
	}
	b := r.sequenceBounds()
	return [][]datum.Value{t.Row("seqrelid", r.OID, "seqtypid", datum.Int8, "seqstart", b.start, "seqincrement", b.increment,
		"seqmin", b.lowest, "seqmax", b.highest, "seqcache", b.cache)}
}

// rewriteRow makes the row of pg_rewrite for a view's rule _RETURN.
func rewriteRow(_ *System, t *engine.Table, r *relation) [][]datum.Value {
	if r.Kind != 'v' {
		return nil
	}
	return [][]datum.Value{t.Row("oid", r.OID|ruleOIDs, "rulename", "_RETURN", "ev_class", r.OID, "ev_type", "1", "ev_enabled", "O", "is_instead", true,
		"ev_qual", "<>", "ev_action", "<>")}
}

// descriptionRows makes the rows of pg_description for schemas and functions.
func descriptionRows(s *System, t *engine.Table) [][]datum.Value {
	var rows [][]datum.Value
	for schema, help := range map[string]string{"public": "tables and functions for applications", engine.NextidSchema: "tables for operators"} {
		rows = append(rows, t.Row("objoid", schemaOIDs[schema], "classoid", schemaCatalog, "description", help))
	}
	for _, p := range s.procs().list {
		if p.help != "" {
			rows = append(rows, t.Row("objoid", p.oid, "classoid", procCatalog, "description", p.help))
		}
	}
	return rows
}

// helpRows makes the row of pg_description for a relation with a help text.
func helpRows(s *System, t *engine.Table, r *relation) [][]datum.Value {
	if r.Help == "" {
		return nil
	}
	return [][]datum.Value{t.Row("objoid", r.OID, "classoid", classCatalog, "description", r.Help)}
}

// viewDefinition returns the query of a view. For a table without a query it returns
// the columns, as pg_dump writes for a view that it must declare before its query.
func viewDefinition(t *engine.Table) string {
	if t.Definition != "" {
		return t.Definition
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = "NULL::" + datum.FormatType(c.Type, -1) + " AS " + syntax.QuoteIdent(c.Name)
	}
	return " SELECT " + strings.Join(columns, ",\n    ") + ";"
}
