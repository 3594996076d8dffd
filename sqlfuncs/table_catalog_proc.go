package sqlfuncs

import (
	"slices"
	"strings"
	"sync"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// proc is a function of ours in pg_proc: one that PostgreSQL does not have.
type proc struct {
	*function
	oid    uint32
	schema string
}

// firstProcOID is where the OIDs of our own functions begin.
const firstProcOID = 20000

// ourProcs are the functions that PostgreSQL does not have. A function that
// it has, too, keeps the rows of PostgreSQL's pg_proc.
var ourProcs func() []proc

func init() { ourProcs = sync.OnceValue(readProcs) } // an init: the functions refer to the catalogs

func readProcs() []proc {
	head, rows := readTSV("pg_proc.tsv")
	known := map[string]bool{}
	column := slices.Index(head, "proname")
	for _, row := range rows {
		known[row[column]] = true
	}
	var out []proc
	for i, f := range allFunctions() {
		_, isType := datum.TypeByName(f.name)
		p := proc{function: f, oid: uint32(firstProcOID + i), schema: f.schema}
		switch {
		case f.schema == nextidSchema:
			p.schema = "public" // where those of an extension would be
		case known[f.name], isType, syntax.IsKeyword(f.name), f.schema == "information_schema":
			continue // COALESCE and CURRENT_USER are no functions, casts are in pg_cast
		}
		out = append(out, p)
	}
	return out
}

// procResult is the type that pg_proc shows.
func (f *function) procResult() datum.OID {
	if f.result == datum.Invalid {
		return datum.Record
	}
	return f.result
}

func procRows(t *table) [][]datum.Value {
	rows := fileRows(t)
	for _, p := range ourProcs() {
		rows = append(rows, procRow(t, p))
	}
	return rows
}

func procRow(t *table, f proc) []datum.Value {
	var in, all, modes, names []datum.Value
	named, defaults := false, 0
	add := func(mode, name string, typ datum.OID) {
		all = append(all, datum.Value{Type: datum.Oid, Valid: true, Int: int64(typ)})
		modes = append(modes, datum.MakeString(datum.Char, mode))
		names = append(names, datum.MakeText(name))
		named = named || name != ""
	}
	for i, a := range f.args {
		mode := "i"
		if f.variadic && i == len(f.args)-1 {
			mode = "v"
		}
		add(mode, a.name, f.declaredArg(i))
		in = append(in, all[i])
		if a.optional {
			defaults++
		}
	}
	outs := f.set || f.procResult() == datum.Record
	for _, c := range f.columns {
		if outs {
			add(map[bool]string{true: "t", false: "o"}[f.set], c.name, c.typ)
		}
	}
	row := t.rowOf("oid", f.oid, "proname", f.name, "pronamespace", schemaOIDs[f.schema], "proowner", ownerOID, "prolang", 12,
		"procost", 1, "prokind", map[bool]string{true: "a", false: "f"}[f.agg != nil], "proisstrict", !f.nullable,
		"proretset", f.set, "provolatile", byte(f.volatile), "proparallel", "u", "pronargs", len(f.args), "pronargdefaults", defaults,
		"prorettype", f.procResult(), "proargtypes", datum.MakeArray(datum.OidVector, in), "prosrc", f.name)
	set := func(name string, v datum.Value) {
		row[slices.IndexFunc(t.columns, func(c tableColumn) bool { return c.name == name })] = v
	}
	if f.set {
		set("prorows", datum.Value{Type: datum.Float4, Valid: true, Float: 1000})
	}
	set("procost", datum.Value{Type: datum.Float4, Valid: true, Float: 1})
	if len(all) > len(in) || f.variadic {
		set("proallargtypes", datum.MakeArray(datum.OidArray, all))
		set("proargmodes", datum.MakeArray(datum.CharArray, modes))
	}
	if f.variadic {
		last := len(f.args) - 1
		info, _ := datum.TypeInfo(f.args[last].typ)
		if f.args[last].typ == anyType {
			set("provariadic", datum.Value{Type: datum.Oid, Valid: true, Int: int64(anyType)})
		} else {
			set("provariadic", datum.Value{Type: datum.Oid, Valid: true, Int: int64(max(info.Elem, info.OID))})
		}
	}
	if named {
		set("proargnames", datum.MakeArray(datum.TextArray, names))
	}
	if defaults > 0 {
		var list []string
		for _, a := range f.args[len(f.args)-defaults:] {
			list = append(list, "NULL::"+formatType(a.typ, -1))
		}
		set("proargdefaults", datum.MakeString(datum.PgNodeTree, strings.Join(list, ", ")))
	}
	return row
}

// declaredArg is the type of an argument as it is declared: a variadic
// argument takes an array.
func (f *function) declaredArg(i int) datum.OID {
	t := f.args[i].typ
	if info, _ := datum.TypeInfo(t); f.variadic && i == len(f.args)-1 && info.Array != 0 {
		return info.Array
	}
	return t
}
