package pgcatalog

import (
	"cmp"
	"slices"
	"strconv"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
)

// This file has the tables of information_schema that clients read, and the views of
// pg_catalog on relations and roles. For their columns see PostgreSQL's manual,
// chapters "The Information Schema" and "System Views".

// relationViews maps the tables with rows about each relation that the session may
// see to the functions that make the rows of one relation.
var relationViews = map[string]func(x *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error){
	"information_schema.tables":    schemaTable,
	"information_schema.columns":   schemaColumns,
	"information_schema.views":     schemaView,
	"information_schema.sequences": schemaSequence,
	"pg_catalog.pg_tables":         tableView,
	"pg_catalog.pg_views":          viewView,
	"pg_catalog.pg_sequences":      sequenceView,
}

// scanRelations reads a table of relationViews. It makes only the rows of relations
// whose schema and name the statement's conditions allow.
func scanRelations(t *engine.Table) func(*engine.Exec, []engine.KeyValues) (engine.Rows, error) {
	rows := relationViews[t.Schema+"."+t.Name]
	return func(x *engine.Exec, keys []engine.KeyValues) (engine.Rows, error) {
		list, err := relationsWith(x, t, keys)
		if err != nil {
			return nil, err
		}
		return &relationRows{list: list, rows: func(x *engine.Exec, r *relation) ([][]datum.Value, error) {
			if r.generator != nil && x.Host.Client().May(r.generator.Name) != nil {
				return nil, nil //nolint:nilerr // the user may not see the generator
			}
			return rows(x, t, r)
		}}, nil
	}
}

// relationsWith lists the relations that have, in each key column, one of its
// values.
func relationsWith(x *engine.Exec, t *engine.Table, keys []engine.KeyValues) ([]*relation, error) {
	names, schemas := engine.KeyValues{}, engine.KeyValues{}
	for i, k := range keys {
		if !k.Fixed {
			continue
		}
		switch t.Columns[t.Keys[i]].Name {
		case "table_schema", "sequence_schema", "schemaname":
			schemas.Restrict(k.Values)
		default:
			names.Restrict(k.Values)
		}
	}
	var list []*relation
	add := func(r *relation) {
		if r != nil && (!schemas.Fixed || holdsName(schemas.Values, r.Schema)) {
			list = append(list, r)
		}
	}
	named := map[string][]*relation{}
	for _, fixed := range x.Host.Catalog().AllTables() {
		if !names.Fixed {
			add(&relation{Table: fixed})
		} else if holdsName(names.Values, fixed.Name) {
			named[fixed.Name] = append(named[fixed.Name], &relation{Table: fixed})
		}
	}
	dynamic, err := dynamicRelations(x)
	if err != nil {
		return nil, err
	}
	if !names.Fixed {
		for _, r := range dynamic.list {
			add(r)
		}
		return list, nil
	}
	for _, v := range names.Values {
		for _, r := range named[v.Str] {
			add(r)
		}
		add(dynamic.byName[v.Str])
	}
	return list, nil
}

// holdsName reports whether a name is one of the values.
func holdsName(values []datum.Value, name string) bool {
	return slices.ContainsFunc(values, func(v datum.Value) bool { return v.Str == name })
}

func yesOrNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// schemaTable makes the row of information_schema.tables.
func schemaTable(x *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error) {
	if r.Kind == 'S' {
		return nil, nil
	}
	kind := "VIEW"
	if r.Kind == 'r' {
		kind = "BASE TABLE"
	}
	return [][]datum.Value{t.Row("table_catalog", database(x), "table_schema", r.Schema, "table_name", r.Name, "table_type", kind,
		"is_insertable_into", yesOrNo(r.Kind == 'r'), "is_typed", "NO")}, nil
}

// database returns the catalog name in information_schema.
func database(x *engine.Exec) string { return x.Host.Client().Database }

// owns reports whether the session may see what PostgreSQL shows only to owners.
func owns(x *engine.Exec) bool { return x.Host.Client().Admin }

// schemaColumns makes the rows of information_schema.columns.
func schemaColumns(x *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error) {
	if r.Kind == 'S' {
		return nil, nil
	}
	var rows [][]datum.Value
	for i, c := range r.Columns {
		row := t.Row(append(typeColumns(x, cmp.Or(c.Declared, c.Type)),
			"table_catalog", database(x), "table_schema", r.Schema, "table_name", r.Name, "column_name", c.Name, "ordinal_position", i+1,
			"is_nullable", yesOrNo(c.Null || r.Kind == 'v'), "dtd_identifier", strconv.Itoa(i+1), "is_self_referencing", "NO",
			"is_identity", "NO", "identity_cycle", "NO", "is_generated", "NEVER", "is_updatable", yesOrNo(r.Kind == 'r'))...)
		rows = append(rows, row)
	}
	return rows, nil
}

// typeColumns returns the columns of information_schema.columns that describe a
// type.
func typeColumns(x *engine.Exec, oid datum.OID) []any {
	declared := pgTypes().byOID[oid]
	t := pgTypes().byOID[declared.base]
	pairs := append(typeNameColumns(x, t), "datetime_precision", int4When(datetimePrecision(t.oid, declared.mod)))
	if t.oid != declared.oid {
		pairs = append(pairs, "domain_catalog", database(x), "domain_schema", schemaName(declared.ns), "domain_name", declared.name)
	}
	if declared.collation != 0 && declared.collation != databaseCollation {
		name, _ := systemOf(x).nameOfRow("pg_collation", "collname", declared.collation)
		pairs = append(pairs, "collation_catalog", database(x), "collation_schema", engine.PGCatalog, "collation_name", name)
	}
	switch t.oid {
	case datum.Varchar, datum.BPChar, datum.Text:
		if declared.mod >= 0 {
			length := declared.mod - 4
			pairs = append(pairs, "character_maximum_length", length, "character_octet_length", length*4) // of UTF-8
		} else {
			pairs = append(pairs, "character_octet_length", 1<<30)
		}
	}
	bits, radix, scale := numberWidth(t.oid)
	return append(pairs, "numeric_precision", bits, "numeric_precision_radix", radix, "numeric_scale", scale)
}

// typeNameColumns returns the columns data_type and udt_… of a type that is no
// domain.
func typeNameColumns(x *engine.Exec, t pgType) []any {
	name := "USER-DEFINED"
	switch {
	case t.elem != 0 && t.length == -1:
		name = "ARRAY"
	case t.ns == pgCatalogOID:
		name = formatType(t.oid, -1)
	}
	return []any{"data_type", name, "udt_catalog", database(x), "udt_schema", schemaName(t.ns), "udt_name", t.name}
}

// int4When returns an int4, NULL unless ok.
func int4When(n int64, ok bool) datum.Value {
	return datum.Value{Type: datum.Int4, Valid: ok, Int: n}
}

// numberWidth returns the precision of a numeric type, its base, and the scale.
func numberWidth(t datum.OID) (precision, radix, scale datum.Value) {
	width := map[datum.OID]int64{datum.Int2: 16, datum.Int4: 32, datum.Int8: 64, datum.Float4: 24, datum.Float8: 53}[t]
	whole := t == datum.Int2 || t == datum.Int4 || t == datum.Int8
	precision, radix, scale = int4When(width, width > 0), int4When(2, width > 0), int4When(0, whole)
	if t == datum.Numeric {
		radix = int4When(10, true)
	}
	return precision, radix, scale
}

// datetimePrecision returns the number of decimals of seconds.
func datetimePrecision(t datum.OID, mod int) (decimals int64, ok bool) {
	switch t {
	case datum.Date:
		return 0, true
	case datum.Time, datum.Timestamp, datum.TimestampTZ, datum.Interval:
		if mod < 0 {
			return 6, true
		}
		return int64(mod), true
	}
	return 0, false
}

// schemaView makes the row of information_schema.views. Only administrators see the
// definition, as only owners do in PostgreSQL.
func schemaView(x *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error) {
	if r.Kind != 'v' {
		return nil, nil
	}
	pairs := []any{
		"table_catalog", database(x), "table_schema", r.Schema, "table_name", r.Name, "check_option", "NONE", "is_updatable", "NO",
		"is_insertable_into", "NO", "is_trigger_updatable", "NO", "is_trigger_deletable", "NO", "is_trigger_insertable_into", "NO",
	}
	if owns(x) {
		pairs = append(pairs, "view_definition", viewDefinition(r.Table))
	}
	return [][]datum.Value{t.Row(pairs...)}, nil
}

// schemaSequence makes the row of information_schema.sequences.
func schemaSequence(x *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error) {
	if r.Kind != 'S' {
		return nil, nil
	}
	b := r.sequenceBounds()
	return [][]datum.Value{t.Row("sequence_catalog", database(x), "sequence_schema", r.Schema, "sequence_name", r.Name,
		"data_type", "bigint", "numeric_precision", 64, "numeric_precision_radix", 2, "numeric_scale", 0,
		"start_value", strconv.FormatInt(b.start, 10), "minimum_value", strconv.FormatInt(b.lowest, 10),
		"maximum_value", strconv.FormatInt(b.highest, 10), "increment", strconv.FormatInt(b.increment, 10), "cycle_option", "NO")}, nil
}

// tableView makes the row of pg_tables.
func tableView(_ *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error) {
	if r.Kind != 'r' {
		return nil, nil
	}
	return [][]datum.Value{t.Row("schemaname", r.Schema, "tablename", r.Name, "tableowner", roleOwner,
		"hasindexes", false, "hasrules", false, "hastriggers", false, "rowsecurity", false)}, nil
}

// viewView makes the row of pg_views.
func viewView(_ *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error) {
	if r.Kind != 'v' {
		return nil, nil
	}
	return [][]datum.Value{t.Row("schemaname", r.Schema, "viewname", r.Name, "viewowner", roleOwner, "definition", viewDefinition(r.Table))}, nil
}

// sequenceView makes the row of pg_sequences. It reads the state of the generator
// from the store.
func sequenceView(x *engine.Exec, t *engine.Table, r *relation) ([][]datum.Value, error) {
	if r.Kind != 'S' {
		return nil, nil
	}
	b := r.sequenceBounds()
	last, err := ids.SequenceLast(x, r.Name)
	return [][]datum.Value{t.Row("schemaname", r.Schema, "sequencename", r.Name, "sequenceowner", roleOwner,
		"data_type", datum.Value{Type: datum.RegType, Valid: true, Int: int64(datum.Int8)}, "start_value", b.start, "min_value", b.lowest,
		"max_value", b.highest, "increment_by", b.increment, "cycle", false, "cache_size", b.cache, "last_value", last)}, err
}

// listSchemata makes the rows of information_schema.schemata.
func listSchemata(x *engine.Exec, t *engine.Table) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for _, name := range schemaNames() {
		rows = append(rows, t.Row("catalog_name", database(x), "schema_name", name, "schema_owner", roleOwner))
	}
	return rows, nil
}

// userColumns maps the columns of pg_user to those of pg_roles.
var userColumns = map[string]string{
	"usename": "rolname", "usesysid": "oid", "usecreatedb": "rolcreatedb", "usesuper": "rolsuper", "userepl": "rolreplication",
	"usebypassrls": "rolbypassrls", "passwd": "rolpassword", "valuntil": "rolvaliduntil", "useconfig": "rolconfig",
}

// roleViewRows makes the rows of pg_roles from those of pg_authid, and the rows of
// pg_user from those that can log in.
func roleViewRows(x *engine.Exec, t *engine.Table) ([][]datum.Value, error) {
	from := systemOf(x).table("pg_authid")
	set, err := rowsOf(x, from)
	if err != nil {
		return nil, err
	}
	var rows [][]datum.Value
	for _, authid := range set.rows {
		if t.Name == "pg_user" && authid[from.Column("rolcanlogin")].Int == 0 {
			continue
		}
		var pairs []any
		for _, c := range t.Columns {
			switch name := cmp.Or(userColumns[c.Name], c.Name); name {
			case "rolconfig": // NULL
			case "rolpassword":
				pairs = append(pairs, c.Name, "********") // as in PostgreSQL
			default:
				pairs = append(pairs, c.Name, authid[from.Column(name)])
			}
		}
		rows = append(rows, t.Row(pairs...))
	}
	return rows, nil
}
