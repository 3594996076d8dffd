package pgcatalog

import (
	"cmp"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/syntax"
)

// visible makes a function that reports whether an object is found by its name
// without a schema. It returns NULL if there is no such object. schema returns the
// OID of the object's schema, 0 for none.
func visible(name string, schema func(x *engine.Exec, oid uint32) (uint32, error)) engine.Function {
	return function(name, datum.Bool, []datum.OID{datum.Oid}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		s, err := schema(x, uint32(a[0].Int))
		if s == 0 || err != nil {
			return datum.Null(datum.Bool), err
		}
		return datum.MakeBool(slices.ContainsFunc(schemas(x), func(name string) bool { return schemaOIDs[name] == s })), nil
	})
}

// inCatalog makes a function for visible that returns pg_catalog for the rows of a
// catalog, whose objects are all there.
func inCatalog(catalog string) func(*engine.Exec, uint32) (uint32, error) {
	return func(x *engine.Exec, oid uint32) (uint32, error) {
		rows, err := rowsWith(x, systemOf(x).table(catalog), 0, []datum.Value{oidValue(datum.OID(oid))})
		if len(rows) == 0 {
			return 0, err
		}
		return schemaOIDs[engine.PGCatalog], nil
	}
}

// visibilityFunctions lists the functions pg_…_is_visible, which psql calls for each
// object that it lists.
var visibilityFunctions = []engine.Function{
	visible("pg_table_is_visible", func(x *engine.Exec, oid uint32) (uint32, error) {
		r, err := relationByOID(x, oid)
		if r == nil {
			return 0, err
		}
		return schemaOIDs[r.Schema], nil
	}),
	visible("pg_type_is_visible", func(x *engine.Exec, oid uint32) (uint32, error) {
		if oid&rowTypeOIDs != 0 {
			r, err := relationByOID(x, oid&^(rowTypeOIDs|rowArrayOIDs))
			if r == nil {
				return 0, err
			}
			return schemaOIDs[r.Schema], nil
		}
		return pgTypes().byOID[datum.OID(oid)].ns, nil
	}),
	visible("pg_function_is_visible", func(x *engine.Exec, oid uint32) (uint32, error) {
		if p := procByOID(x, oid); p != nil {
			return p.schema, nil
		}
		return 0, nil
	}),
	visible("pg_operator_is_visible", inCatalog("pg_operator")),
	visible("pg_collation_is_visible", inCatalog("pg_collation")),
	visible("pg_opclass_is_visible", inCatalog("pg_opclass")),
	visible("pg_opfamily_is_visible", inCatalog("pg_opfamily")),
	visible("pg_conversion_is_visible", inCatalog("pg_conversion")),
	visible("pg_statistics_obj_is_visible", inCatalog("pg_statistic_ext")),
	visible("pg_ts_config_is_visible", inCatalog("pg_ts_config")),
	visible("pg_ts_dict_is_visible", inCatalog("pg_ts_dict")),
	visible("pg_ts_parser_is_visible", inCatalog("pg_ts_parser")),
	visible("pg_ts_template_is_visible", inCatalog("pg_ts_template")),
}

// viewDef makes pg_get_viewdef. It returns NULL for a relation that is no view.
func viewDef(t datum.OID, more ...datum.OID) engine.Function {
	return function("pg_get_viewdef", datum.Text, append([]datum.OID{t}, more...), func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		var r *relation
		var err error
		if a[0].Type == datum.Text {
			r, err = relationByName(x, a[0].Str)
			if r == nil && err == nil {
				err = engine.NoRelation(a[0].Str)
			}
		} else {
			r, err = relationByOID(x, uint32(a[0].Int))
		}
		if r == nil || r.Kind != 'v' {
			return datum.Null(datum.Text), err
		}
		return datum.MakeText(viewDefinition(r.Table)), nil
	})
}

// definitionFunctions lists the functions that print the definition of an object,
// and others about objects. pg_dump and psql call them.
var definitionFunctions = append(slices.Clone(procFunctions),
	viewDef(datum.Oid), viewDef(datum.Text), viewDef(datum.Oid, datum.Bool), viewDef(datum.Text, datum.Bool), viewDef(datum.Oid, datum.Int4),
	getExpr(datum.PgNodeTree, datum.Oid), getExpr(datum.PgNodeTree, datum.Oid, datum.Bool),
	nothing("pg_get_constraintdef", datum.Text, datum.Oid), nothing("pg_get_constraintdef", datum.Text, datum.Oid, datum.Bool),
	nothing("pg_index_column_has_property", datum.Bool, datum.RegClass, datum.Int4, datum.Text),
	nothing("pg_get_indexdef", datum.Text, datum.Oid), nothing("pg_get_indexdef", datum.Text, datum.Oid, datum.Int4, datum.Bool),
	nothing("pg_get_triggerdef", datum.Text, datum.Oid, datum.Bool),
	nothing("pg_get_statisticsobjdef_columns", datum.Text, datum.Oid),
	nothing("pg_get_serial_sequence", datum.Text, datum.Text, datum.Text),
	ruleDef(datum.Oid), ruleDef(datum.Oid, datum.Bool),
	rowsFunc("pg_partition_tree", "relid:regclass parentrelid:regclass isleaf:bool level:int4", func([]datum.Value) [][]datum.Value { return nil },
		datum.RegClass),
	rowsFunc("pg_options_to_table", "option_name:text option_value:text", optionsToTable, datum.TextArray),
	rowsFunc("pg_get_keywords", "word:text catcode:char barelabel:bool catdesc:text baredesc:text", keywordRows),
	always("pg_relation_is_updatable", datum.MakeInt4(0), datum.RegClass, datum.Bool),
	always("pg_relation_is_publishable", datum.MakeBool(false), datum.RegClass),
)

// getExpr makes pg_get_expr. The only stored expressions are the defaults of
// functions' arguments, which are stored as text.
func getExpr(types ...datum.OID) engine.Function {
	return function("pg_get_expr", datum.Text, types, func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeText(a[0].Str), nil
	})
}

// ruleDef makes pg_get_ruledef. Each view has one rule, _RETURN.
func ruleDef(types ...datum.OID) engine.Function {
	return function("pg_get_ruledef", datum.Text, types, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		r, err := relationByOID(x, uint32(a[0].Int)&^ruleOIDs)
		if r == nil || r.Kind != 'v' || uint32(a[0].Int)&ruleOIDs == 0 {
			return datum.Null(datum.Text), err
		}
		return datum.MakeText("CREATE RULE \"_RETURN\" AS\n    ON SELECT TO " + r.Schema + "." + syntax.QuoteIdent(r.Name) +
			" DO INSTEAD " + viewDefinition(r.Table)), nil
	})
}

// optionsToTable implements pg_options_to_table.
func optionsToTable(a []datum.Value) [][]datum.Value {
	var rows [][]datum.Value
	for _, v := range a[0].Elems {
		name, value, ok := strings.Cut(v.Str, "=")
		row := []datum.Value{datum.MakeText(name), datum.Null(datum.Text)}
		if ok {
			row[1] = datum.MakeText(value)
		}
		rows = append(rows, row)
	}
	return rows
}

// keywordRows reads catalog/pg_get_keywords.tsv, where the unreserved words
// have no category.
func keywordRows([]datum.Value) [][]datum.Value {
	categories := map[string]string{"U": "unreserved", "C": "column name, no function or type", "T": "function or type, no column name", "R": "reserved"}
	labels := map[bool]string{true: "label without AS", false: "label with AS"}
	_, lines := readTSV("pg_get_keywords.tsv")
	rows := make([][]datum.Value, len(lines))
	for i, f := range lines {
		category, bare := cmp.Or(f[1], "U"), f[2] == ""
		rows[i] = []datum.Value{
			datum.MakeText(f[0]), datum.MakeString(datum.Char, category), datum.MakeBool(bare),
			datum.MakeText(categories[category]), datum.MakeText(labels[bare]),
		}
	}
	return rows
}

// describe makes obj_description and similar functions. They return the text in a
// catalog of descriptions for a class (the name of a catalog, "": any), an object
// and a column.
func describe(name, catalog string, types []datum.OID, key func(a []datum.Value) (class string, oid, column int64)) engine.Function {
	return function(name, datum.Text, types, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		t := systemOf(x).table(catalog)
		class, oid, column := key(a)
		want := int64(0)
		if c := systemOf(x).table(class); c != nil {
			want = int64(c.OID)
		} else if class != "" {
			return datum.Null(datum.Text), nil
		}
		rows, err := rowsWith(x, t, t.Column("objoid"), []datum.Value{oidValue(datum.OID(oid))})
		if err != nil {
			return datum.Null(datum.Text), err
		}
		for _, row := range rows {
			if want != 0 && row[t.Column("classoid")].Int != want {
				continue
			}
			if sub := slices.IndexFunc(t.Columns, func(c engine.TableColumn) bool { return c.Name == "objsubid" }); sub >= 0 && row[sub].Int != column {
				continue
			}
			return row[t.Column("description")], nil
		}
		return datum.Null(datum.Text), nil
	})
}

// descriptionFunctions lists the functions that return a comment on an object.
var descriptionFunctions = []engine.Function{
	describe("obj_description", "pg_description", []datum.OID{datum.Oid, datum.Name},
		func(a []datum.Value) (string, int64, int64) { return a[1].Str, a[0].Int, 0 }),
	describe("obj_description", "pg_description", []datum.OID{datum.Oid},
		func(a []datum.Value) (string, int64, int64) { return "", a[0].Int, 0 }),
	describe("col_description", "pg_description", []datum.OID{datum.Oid, datum.Int4},
		func(a []datum.Value) (string, int64, int64) { return "pg_class", a[0].Int, a[1].Int }),
	describe("shobj_description", "pg_shdescription", []datum.OID{datum.Oid, datum.Name},
		func(a []datum.Value) (string, int64, int64) { return a[1].Str, a[0].Int, 0 }),
}
